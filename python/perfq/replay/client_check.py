"""Whether a client definition fits its client: what a short replay found of all that it declares."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from perfq import units
from perfq.drive.definition import argv_of
from perfq.drive.rundir import new_run_id
from perfq.errors import UsageError
from perfq.replay.options import ReplayOptions

if TYPE_CHECKING:
    from perfq.measure.result import Result
    from perfq.measure.result.replay import Replay
    from perfq.profile.client import ClientDefinition


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a definition declares. `fits` is None where it declares nothing."""

    what: str
    fits: bool | None
    seen: str


#: Enough to see whether cells and cursor are found; the check measures nothing.
_SAMPLES: Final = 10


def check_options(client: ClientDefinition, command: tuple[str, ...], seconds: int, out: Path) -> ReplayOptions:
    """A short replay of smoke-1k. UsageError (2) where there is nothing to start, or a burst is left outside."""
    from perfq._core import Plan
    from perfq.profile.workload import resolve_profile

    argv = command or argv_of(client)
    if not argv:
        raise UsageError(f"client {client.name!r} names no command; give one after `--`")
    profile = resolve_profile("smoke-1k", duration=seconds)
    plan = Plan(profile.to_json())
    return ReplayOptions(
        plan=plan,
        profile=profile.model_dump(),
        client=client,
        argv=argv,
        out=out,
        run_id=new_run_id(plan.id),
        pairs=_SAMPLES,
        probes=_SAMPLES,
        command=("perfq", "client", "check", client.name),
    )


def findings(client: ClientDefinition, result: Result) -> list[Finding]:
    """In the order in which a client is driven. A run without a replay block found nothing."""
    replay = result.replay
    if replay is None:
        return [Finding("ready", False, "; ".join(result.verdict.reasons) or "the run measured nothing")]
    found = [_ready(replay), *_scopes(client, result), _rows(client, replay), _cells(client, replay)]
    return [*found, _cursor(client, replay), *_scenarios(client, replay), _probe(client, replay)]


def _ready(replay: Replay) -> Finding:
    after = replay.start.interactive_ns
    if after is None:
        return Finding("ready", False, "the pattern never matched a screen")
    return Finding("ready", True, f"after {units.show_duration(after)}")


def _scopes(client: ClientDefinition, result: Result) -> Iterator[Finding]:
    if not client.scopes:
        yield Finding("scopes", None, "none declared: ready when no new one was opened for 1 s")
    operations = result.api.operations if result.api else {}
    for scope in client.scopes:
        calls = [operations.get(f"{verb} {scope.resource}") for verb in ("list", "watch")]
        lists, watches = [call.count if call else 0 for call in calls]
        yield Finding(f"scope {scope.resource}", watches > 0, f"{lists} LIST, {watches} WATCH")


def _rows(client: ClientDefinition, replay: Replay) -> Finding:
    if client.rows == "never":
        return Finding("rows", None, "none declared")
    after = replay.start.populated_screen_ns
    if after is None:
        return Finding("rows", None if client.rows == "maybe" else False, "no header with rows of Pods was seen")
    return Finding("rows", True, f"the first page after {units.show_duration(after)}")


def _cells(client: ClientDefinition, replay: Replay) -> Finding:
    probes = replay.probes
    if client.rows == "never" or not probes.planned:
        return Finding("cells", None, "no rows, no cells")
    seen = f"{probes.seen} of {probes.planned} numbers in the RESTARTS column"
    return Finding("cells", None if client.rows == "maybe" and not probes.seen else probes.seen > 0, seen)


def _cursor(client: ClientDefinition, replay: Replay) -> Finding:
    if not client.has_cursor:
        return Finding("cursor", None, "none declared")
    pairs = replay.input
    seen = f"{pairs.pairs} of {pairs.planned} pairs of keys, {pairs.censored} keys without effect"
    return Finding("cursor", pairs.pairs > 0 and not pairs.censored, seen)


def _scenarios(client: ClientDefinition, replay: Replay) -> Iterator[Finding]:
    walked = {one.name: one for one in replay.scenarios}
    for scenario in client.scenarios:
        one = walked.get(scenario.name)
        seen = "not walked" if one is None else "its screen came" if one.ok else "its screen did not come"
        yield Finding(f"scenario {scenario.name}", one is not None and one.ok, seen)


def _probe(client: ClientDefinition, replay: Replay) -> Finding:
    if not client.probe:
        return Finding("probe", None, "none declared")
    rendered = replay.updates.rendered
    seen = "nothing was reported" if rendered is None else f"{rendered} updates reported as rendered"
    return Finding("probe", rendered is not None, seen)
