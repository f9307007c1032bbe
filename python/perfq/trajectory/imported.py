"""What an import did: the same for people and for machines; and what its files are called."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from perfq.errors import UsageError
from perfq.profile.shown import show_text
from perfq.profile.trajectory.trajectory import Loss
from perfq.trajectory.importers.building import Imported, Lost

_FILLED: Final = {
    "zero": "taken as none (--missing-wait zero)",
    "seeded": "drawn (--missing-wait seeded)",
    "reject": "",
}


def written(imported: Sequence[Imported], folder: Path) -> list[Path]:
    """Writes each session to a file named after its id. UsageError (2), before any is written, where one exists."""
    taken: set[str] = set()
    paths = [folder / _name(one, taken) for one in imported]
    there = [path for path in paths if path.exists()]
    if there:
        raise UsageError(f"--out: got {show_text(str(there[0]))}, which exists, expected a folder without it")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for one, path in zip(imported, paths, strict=True):
            path.write_text(one.trajectory.to_json(), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"--out {show_text(str(folder))}: cannot be written: {error.strerror or error}") from error
    return paths


def _name(imported: Imported, taken: set[str]) -> str:
    """A name that no other session of this import has."""
    text = imported.trajectory.id
    kept = "".join(char if char.isascii() and (char.isalnum() or char in "._-") else "-" for char in text)
    base = kept.strip("-.")[:120] or "session"
    name, number = f"{base}.json", 2
    while name in taken:
        name, number = f"{base}-{number}.json", number + 1
    taken.add(name)
    return name


def report(imported: Imported | Lost, out: str | None) -> dict[str, Any]:
    """What an import did, for machines."""
    if isinstance(imported, Lost):
        return {
            "recording": imported.name,
            "session": imported.id,
            "out": None,
            "format": imported.format,
            "actions": imported.actions,
            "fates": imported.fates,
            "replayed": 0,
            "waits": None,
            "losses": [loss.model_dump() for loss in imported.losses],
        }
    source = imported.trajectory.source
    assert source is not None
    return {
        "recording": imported.name,
        "session": imported.trajectory.id,
        "out": out,
        "format": source.format,
        "actions": imported.actions,
        "fates": imported.fates,
        "replayed": len(imported.trajectory.commands),
        "waits": {
            "provenance": source.wait_provenance,
            "by_provenance": imported.waits,
            "missing_wait": source.missing_wait,
            "filled": imported.filled,
            "planned_ms": imported.trajectory.planned_wait_ms,
            "long": [{"at": one.at, "wait_ms": one.wait_ms} for one in imported.long_waits],
        },
        "losses": [loss.model_dump() for loss in imported.losses],
    }


def described(imported: Imported | Lost, out: str | None) -> Iterator[str]:
    """What an import did, in lines for people."""
    told = report(imported, out)
    yield f"{imported.name} → {'nothing' if isinstance(imported, Lost) else out or 'standard output'}"
    yield f"  session   {told['session']} ({told['format']})"
    yield f"  actions   {told['actions']}: {counted(imported.fates)}"
    if isinstance(imported, Lost):
        yield "  lost      the session: no command of it can be replayed"
    else:
        yield from _replayed(imported, told)
    for said, places in _grouped(imported.losses).items():
        yield f"  lost      {said}: {', '.join(places)}"


def _replayed(imported: Imported, told: Mapping[str, Any]) -> Iterator[str]:
    waits = told["waits"]
    yield f"  replayed  {told['replayed']} command{'s' if told['replayed'] != 1 else ''}"
    filled = f"; {imported.filled} missing, {_FILLED[waits['missing_wait']]}" if imported.filled else ""
    provenance = f"{waits['provenance']} ({counted(imported.waits)})".replace("_", " ")
    yield f"  waits     {waits['planned_ms'] / 1000:,.1f} s, {provenance}{filled}"
    for one in imported.long_waits:
        yield f"  long      {one.wait_ms / 3_600_000:.1f} h before {one.at}, kept in full"


def _grouped(losses: Sequence[Loss]) -> dict[str, list[str]]:
    """Every loss: what was lost and why → where."""
    found: dict[str, list[str]] = {}
    for loss in losses:
        said = f"{loss.fate.replace('_', ' ')}, {loss.why}" if loss.fate else loss.why
        found.setdefault(said, []).append(loss.at or "the recording")
    return found


def counted(counts: Mapping[Any, int]) -> str:
    """Names with their numbers, in one line."""
    return ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in counts.items()) or "none"
