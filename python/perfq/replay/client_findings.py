"""What a check of a client definition found, with the keys of the definition that each finding is about."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from perfq.profile.client import ClientDefinition, Screen

#: What stands between titles of a header: blanks, borders, scroll bars.
_BETWEEN = re.compile(r"[ |\u2500-\u259f]+")
#: Pods of the built-in profiles.
_POD = re.compile(r"\bpod-\d{6}\b")


@dataclass(frozen=True)
class Finding:
    """One part of the definition: fits is None where it could not be tried, or is not declared.

    `keys` of the definition, as dotted paths, are those that it was read from; where it does not fit, those to
    look at first. None where no key would help.
    """

    what: str
    keys: tuple[str, ...]
    fits: bool | None
    seen: str


def declared_scopes(client: ClientDefinition, opened: set[tuple[str, str]]) -> list[Finding]:
    """Whether each scope is watched; `opened` are (resource, namespace) of what is."""
    found = []
    for index, scope in enumerate(client.scopes):
        held = (scope.resource, scope.namespace) in opened
        seen = "watched" if held else f"not watched; watched: {watched(opened)}"
        where = f"{scope.resource} in {scope.namespace or 'all namespaces'}"
        found.append(Finding(f"scope {where}", (f"scopes.{index}",), held, seen))
    return found


def watched(opened: set[tuple[str, str]]) -> str:
    """What the client watches, in words."""
    return (
        ", ".join(f"{resource} in {namespace or 'all namespaces'}" for resource, namespace in sorted(opened)) or "none"
    )


def no_rows(client: ClientDefinition, lines: Sequence[str], *, once: bool) -> Finding:
    """Why no row of the table is found on these lines; `once`: some were seen before."""
    keys, seen = _why_no_rows(client.screen, lines, once=once)
    return Finding("rows", keys, None if client.rows == "maybe" else False, seen)


def _why_no_rows(screen: Screen, lines: Sequence[str], *, once: bool) -> tuple[tuple[str, ...], str]:
    titles = (screen.name, *screen.required)
    shown = [_titles(line) for line in lines]
    if any(line.issuperset(titles) for line in shown):
        keys = ("screen.namespace", "screen.row") if screen.row is None else ("screen.row",)
        return keys, f"below the header with {', '.join(titles)} no line is told as the row of an object"
    missing = [title for title in titles if not any(title in line for line in shown)]
    pods = any(_POD.search(line) for line in lines)
    if not screen.append and (once or (pods and len(missing) == len(titles))):
        return ("screen.append",), "there are rows, and their header has scrolled away: append: true keeps it"
    if len(missing) == len(titles) and not pods:
        return ("rows", "screen.name"), f"no line has a title of {', '.join(titles)}, none a Pod; rows: never says so"
    if not missing:
        return ("screen.name", "screen.required"), f"no line of the screen has all of {', '.join(titles)}"
    keys = (
        *(("screen.name",) if screen.name in missing else ()),
        *(("screen.required",) if set(missing) & set(screen.required) else ()),
    )
    return keys, f"no line of the screen has the title {' or '.join(missing)}"


def _titles(line: str) -> set[str]:
    """Titles as the terminal engine reads them: words without the arrows that show the sort order."""
    return {re.sub(r"^[^\w%]+|[^\w%]+$", "", word) for word in _BETWEEN.split(line)}


def columns(cells: Mapping[str, str]) -> Finding:
    """The columns of a row; probe events are looked for in RESTARTS."""
    fits = "RESTARTS" in cells
    seen = ", ".join(cells) + ("" if fits else "; without RESTARTS there is no event_to_screen")
    return Finding("columns", ("screen.required",), fits, seen)


def no_cursor_declared(client: ClientDefinition) -> Finding:
    """Input is not measured."""
    keys = (
        *(("moves",) if client.moves is None else ()),
        *(("screen.cursor",) if client.screen.cursor == "none" else ()),
    )
    return Finding("keys", keys, None, "the definition has no cursor or no keys that move it")


def no_cursor_seen(screen: Screen) -> Finding:
    """The table has rows, and none is told from the others."""
    beside = {"marker": ("screen.marker",), "text": ()}.get(screen.cursor, ("screen.not_cursor",))
    seen = f"no row, or more than one, looks selected ({screen.cursor})"
    return Finding("cursor", ("screen.cursor", *beside), False, seen)


def key_pressed(direction: str, pressed: Mapping[str, Any], timeout_s: float) -> Finding:
    """What a key did that moves the cursor."""
    if pressed["outcome"] == "ok":
        seen = f"{(pressed['seen'] - pressed['sent']) / 1e6:.1f} ms, to {'/'.join(pressed['after'])}"
    elif pressed["outcome"] == "drifted":
        seen = f"the selection went to {'/'.join(pressed['after'])}, which is not the next row"
    else:
        seen = f"no effect within {timeout_s:g} s" if pressed["outcome"] == "censored" else "the client ended"
    return Finding(f"key {direction}", (f"moves.{direction}",), pressed["outcome"] == "ok", seen)


def unknown_object(screen: Screen, key: tuple[str, str]) -> Finding:
    """A row was read as an object that is not there."""
    keys = ("screen.row",) if screen.row is not None else ("screen.name", "screen.namespace")
    return Finding("event to screen", keys, False, f"the server knows no Pod {'/'.join(key)}: the row is read wrongly")


def scenario_walked(index: int, name: str, missed: str | None, pattern: str) -> Finding:
    """`missed`: expect or back_expect, whose screen did not come; None where both came."""
    where = f"scenarios.{index}"
    if missed is None:
        return Finding(f"scenario {name}", (where,), True, "reached")
    keys = (f"{where}.{missed}", f"{where}.{'keys' if missed == 'expect' else 'back'}")
    return Finding(f"scenario {name}", keys, False, f"no screen matched {pattern}")
