"""What commands ran in, as far as a recording says it: only what a session can hold, the rest is noted as lost."""

from __future__ import annotations

from typing import Literal

from perfq.profile.trajectory.trajectory import Environment
from perfq.trajectory.importers.actions import Found
from perfq.trajectory.importers.recording import Node


def surroundings(
    found: Found,
    *,
    workdir: Node | None = None,
    shell: list[str] | None = None,
    session: Literal["stateless", "persistent"] = "stateless",
    env: Node | None = None,
) -> Environment:
    """The environment of a session; what cannot be taken over is noted in `found`."""
    return Environment(
        workdir=None if workdir is None else _directory(found, workdir),
        shell=shell or ["bash", "-c"],
        session=session,
        env={} if env is None else _variables(found, env),
    )


def argument(node: Node) -> str:
    """Text that a process can be given; "" where it is absent. What cannot be given is noted as a problem."""
    text = node.text() or ""
    if _can_be_passed(text):
        return text
    node.problem("an argument without NUL characters and lone surrogates")
    return ""


def _directory(found: Found, node: Node) -> str | None:
    text = node.text()
    if not text:
        return None
    if text.startswith("/") and _can_be_passed(text):
        return text
    found.notes.append((node.path, "a directory that is not absolute"))
    return None


def _variables(found: Found, node: Node) -> dict[str, str]:
    taken = {}
    for name, given in node.value.items() if isinstance(node.value, dict) else ():
        number = isinstance(given, int) and not isinstance(given, bool)
        value = str(given) if number else given
        if isinstance(value, str) and name and "=" not in name and _can_be_passed(name + value):
            taken[name] = value
        else:
            found.notes.append((node[name].path, "a variable that no process can be given"))
    return taken


def _can_be_passed(text: str) -> bool:
    return "\0" not in text and not any("\ud800" <= char <= "\udfff" for char in text)
