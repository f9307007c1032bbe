"""The flags that the commands of `perfq load` share.

`input_options` gives runners, runner_index, connections, in_flight, protocol, accept, seed, assignments and
allow_unknown; `engine_options` serve, those of `target_options`, timeout (s), watch_timeout (s), grace (s),
overload and ordering.
"""

from __future__ import annotations

from typing import Any

import click

from perfq import units
from perfq.cli import options as shared

file_argument = click.argument("file", metavar="FILE|URL")

allow_unknown_option = click.option(
    "--allow-unknown", is_flag=True, help="Unknown keys of the input are warnings, not errors."
)


class Window(shared.AnyParamType):
    """`FROM..UNTIL`, either may be left out: microseconds after the recording's T0."""

    name = "FROM..UNTIL"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int | None]:
        """The two instants; a usage error where they are none."""
        if isinstance(value, tuple):
            return value
        begin, sign, end = value.partition("..")
        try:
            if not sign:
                raise ValueError
            found = tuple(units.parse_duration(text) // 1_000 if text else None for text in (begin, end))
        except ValueError:
            self.fail(f"got {value!r}, expected FROM..UNTIL such as 30s..2m, 5m.. or ..90s", param, ctx)
        return found[0] or 0, found[1]


rewrite_options = shared.together(
    click.option("--speed", type=float, default=1.0, metavar="N", help="Replay a recording so many times as fast."),
    click.option(
        "--window", type=Window(), metavar="FROM..UNTIL", help="Of a recording, only this time: 30s..2m, 5m.."
    ),
    click.option(
        "--only", multiple=True, metavar="WHAT", help="Only this verb or resource: GET, pods, deployments.apps."
    ),
    click.option("--skip", multiple=True, metavar="WHAT", help="Not this verb or resource. May be repeated."),
    click.option(
        "--namespace-map", multiple=True, metavar="FROM=TO", help="Another namespace; * is for all others. Repeatable."
    ),
    click.option(
        "--name-prefix", multiple=True, metavar="FROM=TO", help="Another beginning of objects' names. Repeatable."
    ),
    click.option("--keep-versions", is_flag=True, help="Leave resourceVersions and uids as they were recorded."),
)

input_options = shared.together(
    rewrite_options,
    click.option(
        "--runners", type=click.IntRange(1, 10_000), metavar="N", help="Another number of runners than the input's."
    ),
    click.option(
        "--runner-index",
        type=click.IntRange(min=0),
        metavar="N",
        help="Be only this one of the runners, from 0 (default: all of them).",
    ),
    click.option(
        "--connections",
        type=click.IntRange(1, 65_535),
        metavar="N",
        help="Connections of each runner, not the input's.",
    ),
    click.option(
        "--in-flight", type=click.IntRange(1, 1_000_000), metavar="N", help="Requests in flight of each runner at most."
    ),
    click.option("--protocol", type=click.Choice(["http1", "http2"]), help="HTTP/1.1 or HTTP/2, not the input's."),
    click.option("--accept", type=click.Choice(["json", "protobuf"]), help="In which form answers are asked for."),
    shared.seed_option,
    shared.set_option,
    allow_unknown_option,
)

fetch_option = click.option("--fetch", is_flag=True, help="Fetch what a URL names, too, and check it.")

engine_options = shared.together(
    click.option(
        "--serve",
        type=shared.PROFILE,
        metavar="PROFILE",
        help="What the embedded server holds (default: smoke-1k); nothing churns.",
    ),
    shared.target_options,
    click.option(
        "--timeout",
        type=shared.SECONDS,
        metavar="TIME",
        help="Of a request, from its send (default: the input's, 60s).",
    ),
    click.option(
        "--watch-timeout",
        type=shared.SECONDS,
        default="10m",
        show_default=True,
        metavar="TIME",
        help="A watch that says nothing for so long has timed out.",
    ),
    click.option(
        "--grace",
        type=shared.SECONDS,
        default="30s",
        show_default=True,
        metavar="TIME",
        help="After the planned end: how long what is still out may take.",
    ),
    click.option(
        "--overload",
        type=click.Choice(["queue", "drop"]),
        default="queue",
        show_default=True,
        help="A request that is due while no slot is free waits, or is dropped and counted.",
    ),
    click.option(
        "--ordering",
        type=click.Choice(["object", "none", "strict"]),
        default="object",
        show_default=True,
        help="Requests on one object wait for each other, none do, or each waits for the one before.",
    ),
)
