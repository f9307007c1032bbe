"""The viewer as a program: its arguments, its connection, its exit code."""

from __future__ import annotations

import argparse
import gc
import sys
from collections.abc import Sequence

from perfq import __version__
from perfq.errors import PerfqError, UsageError
from perfq.probe import Probe
from perfq.viewer.parts import Parts, View

__all__ = ["main", "run"]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m perfq.viewer", description="Look at a cluster in the terminal.", allow_abbrev=False
    )
    parser.add_argument("--context", metavar="NAME", help="the kubeconfig's context (default: its current one)")
    parser.add_argument("--kubeconfig", metavar="FILE", help="default: KUBECONFIG, then ~/.kube/config")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("-A", "--all-namespaces", action="store_true", help="Pods of all namespaces")
    where.add_argument("-n", "--namespace", metavar="NS", help="Pods of one namespace")
    parser.add_argument("--split", choices=["nodes"], help="a second pane from the start")
    return parser


def main(argv: Sequence[str] | None = None, parts: Parts | None = None) -> None:
    """Runs the viewer and exits with a documented code (perfq.errors)."""
    arguments = _parser().parse_args(argv)
    try:
        run(arguments, parts or Parts())
    except PerfqError as error:
        print(f"perfq: {error}", file=sys.stderr)  # noqa: T201 - the program's own word, before or after its screen
        sys.exit(error.exit_code)
    sys.exit(0)


def run(arguments: argparse.Namespace, parts: Parts) -> None:
    """Runs the viewer until it is left. UsageError without a terminal or with a broken kubeconfig."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError("the viewer needs a terminal on its standard input and standard error")
    # Nothing that is made while starting is garbage.
    gc.disable()
    import logging
    import platform
    from importlib.metadata import version

    import msgspec
    import textual

    from perfq.kube import connect
    from perfq.viewer.transport import ApiTransport

    # A library's warning must not be written over the screen.
    logging.getLogger("urllib3").addHandler(logging.NullHandler())
    probe = Probe.from_environment()
    libraries = {
        "python": platform.python_version(),
        "textual": textual.__version__,
        "urllib3": version("urllib3"),
        "msgspec": msgspec.__version__,
    }
    probe.hello("perfq-viewer", __version__, libraries)
    endpoint = connect(arguments.context, arguments.kubeconfig)
    transport = ApiTransport(endpoint, user_agent=f"perfq-viewer/{__version__}")
    namespace = "" if arguments.all_namespaces else arguments.namespace or endpoint.namespace
    view = View(namespace, arguments.split == "nodes", endpoint.context, endpoint.host)
    app = parts.app()(parts, view, transport, probe)
    gc.enable()
    # Rows and records are tuples and structs of plain values: collecting often finds nothing.
    gc.set_threshold(50_000, 20, 50)
    app.run()
    app.allocations.end()
    probe.close()
    if app.return_code:
        sys.exit(1)
