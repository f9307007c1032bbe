"""When is a client ready? Its declared scopes are listed and watched, and it shows what it holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from perfq.profile.client import Scope

#: Without declared scopes: no new scope may have been opened for this long.
SETTLED_NS = 1_000_000_000
#: A client that shows nothing recognisable is waited for this long after its scopes are ready.
SCREEN_GRACE_NS = 3_000_000_000


@dataclass(frozen=True)
class ScopeState:
    """Whether the scopes are ready, since when, and what is missing (for the message)."""

    ready_ns: int | None
    missing: str | None


def scopes_ready(declared: Sequence[Scope], progress: Mapping[str, Any], now_ns: int) -> ScopeState:
    """Judges the server's progress: every declared scope has its WATCH open.

    Where none is declared (a generic client): the first Pod LIST is complete, its WATCH is open, and
    no new scope was opened for a second.
    """
    watches = [watch for watch in progress["watches"] if watch["open"]]
    lists = {(one["kind"], one["scope"]) for one in progress["lists"] if one["chains_complete"]}
    opened = {(watch["kind"], watch["scope"]): int(watch["opened_ns"]) for watch in watches}
    if declared:
        for scope in declared:
            key = (scope.resource, scope.namespace)
            where = f"{scope.resource} in {scope.namespace or 'all namespaces'}"
            if key not in opened:
                return ScopeState(None, f"no open WATCH of {where}")
        return ScopeState(max(opened[scope.resource, scope.namespace] for scope in declared), None)
    pods = [at for (kind, _), at in opened.items() if kind == "pods"]
    if not any(kind == "pods" for kind, _ in lists) and not pods:
        return ScopeState(None, "no complete LIST of pods")
    if not pods:
        return ScopeState(None, "no open WATCH of pods")
    newest = max(opened.values())
    if now_ns - newest < SETTLED_NS:
        return ScopeState(None, "new scopes are still being opened")
    return ScopeState(newest, None)
