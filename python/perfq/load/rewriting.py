"""What flags change in a recording before it is replayed: its time, what of it, names, versions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from perfq.errors import UsageError

#: The flags, by the names under which the commands give them.
FLAGS = ("speed", "window", "only", "skip", "namespace_map", "name_prefix", "keep_versions")


def reading_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """How the native reader reads a file of requests. UsageError (2) for a flag that does not fit.

    Without any flag of rewriting, only what the recorded cluster alone understood is changed: versions keep their
    class, uids go.
    """
    return {"allow_unknown": given["allow_unknown"], "rewrite": rewrite_of(given)}


def rewrite_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """The rewriting alone."""
    begin, end = given["window"] or (0, None)
    return {
        "speed": given["speed"],
        "from_us": begin,
        "until_us": end,
        "only": list(given["only"]),
        "skip": list(given["skip"]),
        "namespaces": _pairs("--namespace-map", given["namespace_map"]),
        "name_prefixes": _pairs("--name-prefix", given["name_prefix"]),
        "keep_versions": given["keep_versions"],
    }


def asked(given: Mapping[str, Any]) -> str | None:
    """The first of the flags that was given; None where none was."""
    for name in FLAGS:
        if given[name] not in (None, (), False, 1.0):
            return f"--{name.replace('_', '-')}"
    return None


def _pairs(flag: str, texts: Sequence[str]) -> dict[str, str]:
    """`FROM=TO`, each once."""
    pairs: dict[str, str] = {}
    for text in texts:
        old, sign, new = text.partition("=")
        if not sign or not old or old in pairs:
            raise UsageError(f"{flag}: got {text!r}, expected FROM=TO, each FROM once")
        pairs[old] = new
    return pairs
