"""The rules between the fields of a session and of a profile. They read the document as it was written.

So each rule is checked whose own fields are sound, whatever else is wrong: a document's errors are all named at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from perfq import units
from perfq.profile.document import Broken
from perfq.profile.shown import show_value

_PAUSES: Final = {"freeze": ("pause_argv", "resume_argv"), "offload": ("offload_argv", "restore_argv")}


def session_rules(session: Any) -> Iterator[Broken]:
    """Every broken rule of a session."""
    steps = [step for step in _list(session, "steps") if isinstance(step, dict)]
    kinds = {step.get("kind") for step in steps}
    if steps and kinds <= {"wait"}:
        yield ("steps",), "waits only", "at least one exec"
    yield from _ids(session)
    persistent = _mapping(session, "environment").get("session", "stateless") == "persistent"
    for index, step in enumerate(_list(session, "steps")):
        if isinstance(step, dict) and step.get("reset") is True and not persistent:
            yield ("steps", index, "reset"), "true", "false, as environment.session is not persistent"


def _ids(session: Any) -> Iterator[Broken]:
    seen: Counter[str] = Counter()
    for index, step in enumerate(_list(session, "steps")):
        if isinstance(step, dict) and isinstance(step.get("id"), str):
            seen[step["id"]] += 1
            if seen[step["id"]] == 2:
                yield ("steps", index, "id"), show_value(step["id"]), "an id that no other step has"


def profile_rules(profile: Any) -> Iterator[Broken]:
    """Every broken rule of a profile."""
    yield from _admission(_mapping(profile, "admission"))
    backend = _mapping(profile, "backend")
    yield from _backend(backend)
    yield from _wait(profile, backend)


def _admission(admission: dict[str, Any]) -> Iterator[Broken]:
    """A session that can never be admitted is said before the run."""
    budget, headroom = _number(admission, "budget_bytes", None), _number(admission, "headroom_bytes", 0)
    reserve = _number(admission, "reserve_bytes", 0)
    if budget is None or headroom is None:
        return
    if headroom > budget:
        yield (
            ("admission", "headroom_bytes"),
            show_value(headroom),
            f"at most the budget of {budget} ({units.format_bytes(budget)}): no session could ever be admitted",
        )
    elif reserve is not None and reserve > budget - headroom:
        yield (
            ("admission", "reserve_bytes"),
            show_value(reserve),
            f"at most {budget - headroom}, which the budget less the headroom leaves: no session could ever fit",
        )


def _backend(backend: dict[str, Any]) -> Iterator[Broken]:
    if backend.get("kind") == "pods":
        yield ("backend", "kind"), '"pods"', "local or command; pods comes later"
    for key, argv in backend.items():
        if not key.endswith("_argv") or not isinstance(argv, list):
            continue
        has_script = any(isinstance(item, str) and "{script}" in item for item in argv)
        if key == "exec_argv" and not has_script:
            yield ("backend", key), show_value(argv), "an item with {script}, where the command stands"
        elif key != "exec_argv" and has_script:
            yield ("backend", key), show_value(argv), "no {script}, which only exec_argv has"
    for first, second in _PAUSES.values():
        if (backend.get(first) is None) != (backend.get(second) is None):
            there, missing = (first, second) if backend.get(second) is None else (second, first)
            yield (
                ("backend", missing),
                "nothing",
                f"what undoes {there}" if missing == second else f"what {there} undoes",
            )


def _wait(profile: Any, backend: dict[str, Any]) -> Iterator[Broken]:
    mode = _mapping(profile, "wait").get("mode", "idle")
    kind = backend.get("kind", "local")
    if mode == "offload" and kind == "local":
        yield ("wait", "mode"), '"offload"', "idle or freeze with the backend local, which has no offload commands"
    elif kind == "command" and mode in _PAUSES:
        for key in _PAUSES[mode]:
            if backend.get(key) is None:
                yield ("backend", key), "nothing", f"a command, as wait.mode is {mode}"


def _list(value: Any, key: str) -> list[Any]:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, list) else []


def _mapping(value: Any, key: str) -> dict[str, Any]:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def _number(value: dict[str, Any], key: str, absent: int | None) -> int | None:
    """The integer there; `absent` where there is none; None where something else is."""
    found = value.get(key)
    if found is None:
        return absent
    return found if isinstance(found, int) and not isinstance(found, bool) else None
