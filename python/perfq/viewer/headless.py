"""`python -m perfq.viewer.headless`: LIST in pages, then WATCH, into the store, and nothing drawn.

The viewer's own transport, watch manager and store without its app: what is left is the server's side of
the path and the decoding. It has no table, so it reports no `populated`, `rendered` or table digest.
"""

from __future__ import annotations

import argparse
import gc
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence

from perfq import __version__
from perfq.errors import PerfqError
from perfq.probe import Probe
from perfq.viewer.allocations import AllocationReport
from perfq.viewer.digest import store_digest
from perfq.viewer.inbox import Inbox, Problem
from perfq.viewer.kinds import PODS, Scope
from perfq.viewer.store import Store
from perfq.viewer.transport import Transport
from perfq.viewer.watch import Link, ScopeWatcher

__all__ = ["Headless", "main"]

#: The digest is made once nothing has come for so long.
QUIET_SECONDS = 0.25
#: Objects taken from the inbox at once.
TAKE_OBJECTS = 5_000


class Headless:
    """One scope of Pods, kept until `stop`."""

    def __init__(self, transport: Transport, namespace: str, probe: Probe, say: Callable[[str], None]) -> None:
        """`say` is given one line for each thing that a person should know."""
        self._scope = Scope("pods", namespace)
        self._probe = probe
        self._say = say
        self._allocations = AllocationReport(probe)
        self._came = threading.Event()
        self._stopped = False
        self.store = Store()
        self._inbox = Inbox(self._came.set)
        self._watcher = ScopeWatcher(PODS, self._scope, Link(transport, self._inbox, probe))
        self._digest_due: float | None = None

    def stop(self) -> None:
        """Ends `run`; from any thread or signal handler."""
        self._stopped = True
        self._came.set()

    def run(self) -> None:
        """Takes in what comes, until stopped."""
        self.store.open(self._scope)
        self._watcher.start()
        while not self._stopped:
            due = self._digest_due
            self._came.wait(None if due is None else max(0.0, due - time.monotonic()))
            self._came.clear()
            self._take()
            due = self._digest_due
            if due is not None and time.monotonic() >= due:
                self._digest_due = None
                self._probe.digest("pods", store_digest(self.store.objects(self._scope)), None)
        self._watcher.stop()
        self._inbox.close()
        self._allocations.end()

    def _take(self) -> None:
        while batches := self._inbox.take(TAKE_OBJECTS):
            for batch in batches:
                if isinstance(batch, Problem):
                    self._say(batch.text or "well again")
                else:
                    self.store.apply(batch)
        for changes in self.store.take().values():
            if changes.listed is not None:
                self._say(f"{changes.listed} Pods listed, watching")
                self._allocations.begin()
            if self._probe.active:
                self._probe.backlog(self._inbox.events)
                self._digest_due = time.monotonic() + QUIET_SECONDS


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m perfq.viewer.headless",
        description="Lists and watches Pods and draws nothing, until it is interrupted.",
        allow_abbrev=False,
    )
    parser.add_argument("--context", metavar="NAME", help="the kubeconfig's context (default: its current one)")
    parser.add_argument("--kubeconfig", metavar="FILE", help="default: KUBECONFIG, then ~/.kube/config")
    parser.add_argument("-n", "--namespace", metavar="NS", default="", help="Pods of one namespace (default: all)")
    return parser


def _say(text: str) -> None:
    print(f"perfq-watch: {text}", file=sys.stderr, flush=True)  # noqa: T201 - the program's own word


def main(argv: Sequence[str] | None = None) -> None:
    """Runs until SIGINT or SIGTERM and exits with a documented code (perfq.errors)."""
    arguments = _parser().parse_args(argv)
    import platform
    from importlib.metadata import version

    import msgspec

    from perfq.kube import connect
    from perfq.viewer.transport import ApiTransport

    probe = Probe.from_environment()
    libraries = {"python": platform.python_version(), "urllib3": version("urllib3"), "msgspec": msgspec.__version__}
    probe.hello("perfq-watch", __version__, libraries)
    try:
        endpoint = connect(arguments.context, arguments.kubeconfig)
    except PerfqError as error:
        _say(str(error))
        sys.exit(error.exit_code)
    transport = ApiTransport(endpoint, user_agent=f"perfq-watch/{__version__}")
    client = Headless(transport, arguments.namespace, probe, _say)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda _number, _frame: client.stop())
    # Records are structs of plain values: collecting often finds nothing.
    gc.set_threshold(50_000, 20, 50)
    client.run()
    probe.close()


if __name__ == "__main__":
    main()
