"""A client is ready when what it declared is watched; a generic one when it has settled."""

from __future__ import annotations

from typing import Any

from perfq.drive.ready import SETTLED_NS, scopes_ready
from perfq.profile.client import Scope


def watch(kind: str, scope: str = "", opened_ns: int = 0, *, is_open: bool = True) -> dict[str, Any]:
    return {"kind": kind, "scope": scope, "open": is_open, "opened_ns": opened_ns}


def listed(kind: str, scope: str = "") -> dict[str, Any]:
    return {"kind": kind, "scope": scope, "chains_complete": 1}


def test_every_declared_scope_must_be_watched() -> None:
    declared = [Scope(resource="pods"), Scope(resource="nodes")]
    progress = {"watches": [watch("pods", opened_ns=5)], "lists": [listed("pods")]}
    state = scopes_ready(declared, progress, 10)
    assert state.ready_ns is None
    assert state.missing == "no open WATCH of nodes in all namespaces"
    progress["watches"].append(watch("nodes", opened_ns=7))
    assert scopes_ready(declared, progress, 10).ready_ns == 7


def test_a_watch_that_ended_does_not_count() -> None:
    progress = {"watches": [watch("pods", is_open=False)], "lists": [listed("pods")]}
    assert scopes_ready([Scope(resource="pods")], progress, 10).ready_ns is None


def test_a_generic_client_is_ready_a_second_after_its_last_new_scope() -> None:
    progress = {"watches": [watch("pods", opened_ns=1), watch("events", opened_ns=9)], "lists": [listed("pods")]}
    assert scopes_ready([], progress, 9 + SETTLED_NS - 1).ready_ns is None
    assert scopes_ready([], progress, 9 + SETTLED_NS).ready_ns == 9


def test_a_generic_client_without_pods_says_what_is_missing() -> None:
    assert scopes_ready([], {"watches": [], "lists": []}, 10).missing == "no complete LIST of pods"
    assert scopes_ready([], {"watches": [], "lists": [listed("pods")]}, 10).missing == "no open WATCH of pods"
