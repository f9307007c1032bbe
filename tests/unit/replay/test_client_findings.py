"""What does not fit a client is said with the key of the definition to look at."""

from __future__ import annotations

from typing import Any

import pytest

from perfq.profile.client import ClientDefinition
from perfq.replay import client_findings as findings

HEADER = "NAMESPACE   NAME         READY  RESTARTS↑  AGE"
POD = "bench-0000  pod-000000   1/1    0          1d"


def client(**changes: Any) -> ClientDefinition:
    return ClientDefinition.model_validate({"schema": "perfq.client/v1", "name": "mine", **changes})


@pytest.mark.parametrize(
    ("lines", "once", "screen", "keys", "said"),
    [
        ([POD, POD], False, {}, ("screen.append",), "append: true"),
        (["RESTARTS 4"], True, {}, ("screen.append",), "scrolled away"),
        ([POD], True, {"append": True}, ("screen.name", "screen.required"), "NAME or RESTARTS"),
        (["Loading …"], False, {}, ("rows", "screen.name"), "rows: never"),
        ([HEADER, POD], False, {"required": ["READY", "RESTARTZ"]}, ("screen.required",), "the title RESTARTZ"),
        ([HEADER, POD], False, {"name": "POD"}, ("screen.name",), "the title POD"),
        (["NAME", "RESTARTS", POD], False, {}, ("screen.name", "screen.required"), "all of NAME, RESTARTS"),
        (["│" + HEADER + "│", "nothing"], False, {}, ("screen.namespace", "screen.row"), "below the header"),
        ([HEADER, POD], False, {"row": "(?P<name>x)"}, ("screen.row",), "below the header"),
    ],
)
def test_why_no_row_is_found(
    lines: list[str], once: bool, screen: dict[str, Any], keys: tuple[str, ...], said: str
) -> None:
    found = findings.no_rows(client(screen=screen), lines, once=once)
    assert (found.what, found.keys, found.fits) == ("rows", keys, False)
    assert said in found.seen
    assert findings.no_rows(client(screen=screen, rows="maybe"), lines, once=once).fits is None


def test_a_scope_is_named_by_its_place_in_the_definition() -> None:
    two = client(scopes=[{"resource": "pods"}, {"resource": "nodes"}])
    held, missed = findings.declared_scopes(two, {("pods", "")})
    assert (held.keys, held.fits, held.seen) == (("scopes.0",), True, "watched")
    assert (missed.keys, missed.fits) == (("scopes.1",), False)
    assert missed.seen == "not watched; watched: pods in all namespaces"


@pytest.mark.parametrize(
    ("screen", "keys"),
    [
        ({"cursor": "reverse"}, ("screen.cursor", "screen.not_cursor")),
        ({"cursor": "marker", "marker": ">"}, ("screen.cursor", "screen.marker")),
        ({"cursor": "text"}, ("screen.cursor",)),
    ],
)
def test_a_cursor_that_is_not_seen_is_a_question_of_how_it_looks(screen: dict[str, Any], keys: tuple[str, ...]) -> None:
    assert findings.no_cursor_seen(client(screen=screen).screen).keys == keys


def test_without_a_cursor_the_keys_that_would_declare_one_are_named() -> None:
    assert findings.no_cursor_declared(client()).keys == ("moves", "screen.cursor")
    assert findings.no_cursor_declared(client(moves={})).keys == ("screen.cursor",)
    assert findings.no_cursor_declared(client(screen={"cursor": "auto"})).keys == ("moves",)


def test_a_key_that_does_something_else_is_named_by_its_direction() -> None:
    went = {"outcome": "drifted", "after": ("bench-0000", "pod-000005")}
    found = findings.key_pressed("up", went, 5)
    assert (found.keys, found.fits) == (("moves.up",), False)
    assert "bench-0000/pod-000005, which is not the next row" in found.seen
    assert findings.key_pressed("down", {"outcome": "censored"}, 5).seen == "no effect within 5 s"
    done = {"outcome": "ok", "sent": 0, "seen": 2_000_000, "after": ("a", "b")}
    assert findings.key_pressed("down", done, 5).seen == "2.0 ms, to a/b"


@pytest.mark.parametrize(
    ("missed", "keys"),
    [
        (None, ("scenarios.3",)),
        ("expect", ("scenarios.3.expect", "scenarios.3.keys")),
        ("back_expect", ("scenarios.3.back_expect", "scenarios.3.back")),
    ],
)
def test_a_scenario_is_named_by_the_screen_that_did_not_come(missed: str | None, keys: tuple[str, ...]) -> None:
    found = findings.scenario_walked(3, "filter", missed, "Pods 1")
    assert (found.keys, found.fits) == (keys, missed is None)
    assert ("Pods 1" in found.seen) is (missed is not None)


def test_a_row_that_is_read_wrongly_is_a_question_of_its_columns_or_its_pattern() -> None:
    assert findings.unknown_object(client().screen, ("a", "b")).keys == ("screen.name", "screen.namespace")
    assert findings.unknown_object(client(screen={"row": "(?P<name>x)"}).screen, ("a", "b")).keys == ("screen.row",)


def test_a_table_without_restarts_has_no_cell_for_probe_events() -> None:
    columns = findings.columns({"NAME": "x"})
    assert (columns.keys, columns.fits) == (("screen.required",), False)
    assert "NAME; without RESTARTS there is no event_to_screen" in columns.seen
    assert findings.columns({"RESTARTS": "0"}).fits is True
