"""What requests need and the target lacks, found before any is sent."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from perfq.load.planned import PlannedLoad, Remark
from perfq.load.target import Target

if TYPE_CHECKING:
    from perfq.kube import Endpoint

#: So many things of a kind are named.
_NAMED: Final = 10


def preflight(planned: PlannedLoad, target: Target) -> Iterator[Remark]:
    """A remark on each kind of thing that is not there, or could not be asked for.

    Of a list of requests alone. It is no error: a request that failed where it was recorded may fail again.
    TargetUnreachable (7) where the target does not answer any more.
    """
    needs = planned.needs
    if needs is None or not any(needs.values()):
        return
    from perfq.kube.presence import lacking

    # The embedded server takes a Pod whoever it runs as.
    accounts = [] if target.endpoint is None else needs["service_accounts"]
    with _asked(target) as endpoint:
        found = lacking(
            endpoint,
            namespaces=needs["namespaces"],
            service_accounts=accounts,
            resources=needs["custom_resources"],
        )
    yield from _lacks("namespaces", found.namespaces, "make them, or map them to others with --namespace-map")
    yield from _lacks("service accounts", found.service_accounts, "make them, or leave out what needs them with --skip")
    yield from _lacks("resources", found.resources, "install what defines them, or leave them out with --skip")
    for what, why in found.untold.items():
        yield Remark(f"whether the target has the {what} that are needed is not known: {why}")


@contextmanager
def _asked(target: Target) -> Iterator[Endpoint]:
    """The server, or for the embedded one, which is started with its run, one that holds the same."""
    if target.endpoint is not None:
        yield target.endpoint
        return
    from perfq import _core
    from perfq.kube import Endpoint
    from perfq.kube.credential import Static

    server = _core.ApiServer.start({"plan": target.plan, "recorder": None, "start": "never"})
    try:
        yield Endpoint(server.url, "embedded", "default", Static(token=server.token), ca_pem=server.ca_pem)
    finally:
        server.stop()


def _lacks(what: str, names: list[str], advice: str) -> Iterator[Remark]:
    if names:
        more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
        yield Remark(f"the target lacks the {what} {', '.join(names[:_NAMED])}{more}: requests will fail there", advice)
