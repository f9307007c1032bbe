"""`perfq serve`: the embedded Kubernetes API server, standing alone."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from perfq.cli import options as shared
from perfq.errors import TargetUnreachable, UsageError

if TYPE_CHECKING:
    from perfq._core import ApiServer

EPILOG = """
Examples:

\b
  perfq serve                                    1,000 Pods; prints the path of a kubeconfig
  perfq serve burst-50k --start now --kubeconfig-out kc.yaml
  kubectl --kubeconfig kc.yaml get pods -A -w
  perfq serve smoke-1k --plain-http --limit 500/s
"""


class Limit(shared.AnyParamType):
    """Requests (500/s) or bytes (10MiB/s) a second, as (option of the server, number)."""

    name = "RATE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, int]:
        """A usage error where it is neither, or not at least 1 a second."""
        from perfq import units

        if isinstance(value, tuple):
            return value
        for option, parse in (
            ("limit_requests_per_second", units.parse_rate),
            ("limit_bytes_per_second", units.parse_byte_rate),
        ):
            try:
                number = parse(value)
            except ValueError:
                continue
            if number >= 1:
                return option, int(number)
        raise click.BadParameter(f"got {value!r}, expected requests such as 500/s or bytes such as 10MiB/s", ctx, param)


class Address(shared.AnyParamType):
    """An IP address to listen on; names are not looked up."""

    name = "ADDRESS"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The address; a usage error where it is none."""
        from ipaddress import ip_address

        try:
            return str(ip_address(value))
        except ValueError:
            self.fail(f"got {value!r}, expected an IP address such as 127.0.0.1 or ::1", param, ctx)


@click.command(epilog=EPILOG)
@click.argument("profile", type=shared.PROFILE, metavar="[PROFILE]", default="smoke-1k")
@shared.plan_options
@click.option("--port", type=click.IntRange(0, 65535), default=0, metavar="N", help="Port (default: any free one).")
@click.option(
    "--listen",
    type=Address(),
    default="127.0.0.1",
    show_default=True,
    metavar="ADDRESS",
    help="Address to listen on. Other machines reach anything but a loopback address; the token protects it.",
)
@click.option(
    "--start",
    type=click.Choice(["watch", "now", "never"]),
    default="watch",
    show_default=True,
    help="When the profile's events begin: with the first WATCH of Pods, at once, or not at all.",
)
@click.option("--pod-bytes", type=shared.POD_BYTES, default=0, metavar="BYTES", help="Pad each Pod up to this size.")
@click.option("--limit", type=Limit(), metavar="RATE", help="Serve no faster (500/s, 10MiB/s); the rest queues.")
@click.option("--metrics/--no-metrics", default=True, show_default=True, help="Serve metrics.k8s.io (kubectl top).")
@click.option("--plain-http", is_flag=True, help="HTTP without TLS and token, on loopback only: for benches.")
@click.option(
    "--kubeconfig-out", type=click.Path(path_type=Path), metavar="FILE", help="Where to write the kubeconfig."
)
@shared.json_option
def serve(profile: str, **given: Any) -> None:
    """Runs a Kubernetes API server with the objects and events of PROFILE (default: smoke-1k).

    Its first line of stdout, once it is ready, is the absolute path of a kubeconfig (--json: an object with
    kubeconfig, server and pid); it runs until it is interrupted.

    It has no controllers: objects are stored as they are written, deletion is immediate, and a created Pod
    stays as it was sent.
    """
    from perfq._core import Plan
    from perfq.drive.kubeconfig import write_kubeconfig
    from perfq.drive.signals import interruption
    from perfq.profile.workload import resolve_profile

    changes = {name: given[name] for name in ("duration", "seed", "assignments")}
    plan = Plan(resolve_profile(profile, **changes).to_json())
    with ExitStack() as stack, interruption() as stop:
        server = stack.enter_context(_started(plan, given))
        path = given["kubeconfig_out"]
        if path is None:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="perfq-serve-"))
            path = Path(folder, "kubeconfig")
        path = path.absolute()
        try:
            write_kubeconfig(path, url=server.url, ca_pem=server.ca_pem, token=server.token)
        except OSError as error:
            raise UsageError(
                f"{path}: cannot be written ({error.strerror}); give --kubeconfig-out another path"
            ) from error
        if given["as_json"]:
            click.echo(json.dumps({"kubeconfig": str(path), "server": server.url, "pid": os.getpid()}))
        else:
            click.echo(path)
        sys.stdout.flush()
        click.echo(f"perfq: {plan.objects:,} Pods at {server.url}; Ctrl-C ends it", err=True)
        while not stop.wait(3600):
            pass


def _started(plan: Any, given: dict[str, Any]) -> ApiServer:
    """The server; UsageError for options that do not fit, TargetUnreachable where the address is taken."""
    from perfq._core import ApiServer

    options = {
        "plan": plan,
        "listen": given["listen"],
        "port": given["port"],
        "tls": not given["plain_http"],
        "start": given["start"],
        "pod_bytes": given["pod_bytes"],
        "metrics": given["metrics"],
    }
    if given["limit"] is not None:
        option, number = given["limit"]
        options[option] = number
    try:
        return ApiServer.start(options)
    except ValueError as error:
        raise UsageError(str(error)) from error
    except OSError as error:
        where = f"{given['listen']}:{given['port']}"
        raise TargetUnreachable(f"{where}: cannot be listened on ({error.strerror}); choose another --port") from error
