"""Files of other programs → sessions: which format a file has, and its importer."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from perfq.errors import UsageError
from perfq.profile.shown import nearest, show_text
from perfq.profile.source import read_source
from perfq.trajectory.imported import counted
from perfq.trajectory.importers import atif, mini_swe_agent, openhands, swe_agent
from perfq.trajectory.importers.actions import Found
from perfq.trajectory.importers.building import Imported, ImportOptions, Lost, build
from perfq.trajectory.importers.recording import Recording, parse_recording

#: Recordings hold all output that a model saw; some have images in it.
LARGEST_RECORDING: Final = 1 << 30
#: Lines under one sentence.
_MOST_SAID: Final = 20
_SUFFIXES: Final = (".json", ".jsonl", ".traj", ".trajectory", ".events", ".output")

IMPORTERS: Final[dict[str, Callable[[Recording], Iterable[Found]]]] = {
    "mini-swe-agent": lambda recording: [mini_swe_agent.find(recording)],
    "openhands": openhands.find,
    "swe-agent": lambda recording: [swe_agent.find(recording)],
    "atif": lambda recording: [atif.find(recording)],
}


@dataclass(slots=True)
class Imports:
    """The sessions of recordings, and those of files with several sessions of which nothing can be replayed."""

    sessions: list[Imported] = field(default_factory=list)
    lost: list[Lost] = field(default_factory=list)


def import_files(paths: Sequence[str], options: ImportOptions, format_: str | None = None) -> Imports:
    """The sessions of all files. UsageError (2) with every problem of every file; then none is imported."""
    all_of_them = Imports()
    errors: list[UsageError] = []
    for path in paths:
        try:
            imports = import_file(path, options, format_)
            all_of_them.sessions += imports.sessions
            all_of_them.lost += imports.lost
        except UsageError as error:
            errors.append(error)
    if len(errors) == 1:
        raise errors[0]
    if errors:
        details = [line for error in errors for line in str(error).splitlines()]
        raise UsageError(f"{len(errors)} of {len(paths)} recordings cannot be imported", details=details)
    return all_of_them


def import_file(path: str, options: ImportOptions, format_: str | None = None) -> Imports:
    """The sessions of one file, or of a folder of event files. UsageError (2) with every problem of it, one a line."""
    return import_recording(_read(path), options, format_)


def import_recording(recording: Recording, options: ImportOptions, format_: str | None = None) -> Imports:
    """Its sessions. UsageError (2) with every problem of it, one a line; also where nothing of it can be replayed."""
    importer = IMPORTERS[format_ or tell(recording)]
    built = [build(recording, found, options) for found in importer(recording)]
    recording.refuse_if_flawed()
    lost = [one for one in built if isinstance(one, Lost)]
    if len(lost) == len(built):
        raise _nothing(recording, lost)
    return Imports([one for one in built if isinstance(one, Imported)], lost)


def _nothing(recording: Recording, lost: Sequence[Lost]) -> UsageError:
    """Says of each session what became of its actions; of a single one, where they stand."""
    expected = "expected at least one command that ran"
    if len(lost) == 1:
        (one,) = lost
        losses = [f"{loss.at}: {loss.fate or 'note'}: {loss.why}" for loss in one.losses[:_MOST_SAID]]
        sentence = f"{recording.name}: got nothing that can be replayed ({_became(one)}), {expected}"
        return UsageError(sentence, details=losses)
    sentence = f"{recording.name}: got {len(lost)} sessions of which nothing can be replayed, {expected}"
    return UsageError(sentence, details=[f"session {one.id}: {_became(one)}" for one in lost[:_MOST_SAID]])


def _became(lost: Lost) -> str:
    return counted(lost.fates) if lost.fates else "no action at all"


def format_named(name: str) -> str:
    """A format by its name. UsageError (2), with the nearest, for an unknown one."""
    if name not in IMPORTERS:
        known = ", ".join(IMPORTERS)
        raise UsageError(f"--format: got {show_text(name)}, expected one of {known}{nearest(name, IMPORTERS)}")
    return name


def tell(recording: Recording) -> str:
    """The format of a recording, by its content. UsageError (2) where it is none of them."""
    value = recording.value
    first = value[0] if isinstance(value, list) and value else None
    if (isinstance(value, dict) and "trajectory_format" in value) or _is_message(first):
        return "mini-swe-agent"
    if isinstance(value, dict) and str(value.get("schema_version", "")).startswith("ATIF-"):
        return "atif"
    if isinstance(value, dict) and (_is_step(_first(value, "trajectory")) or _is_message(_first(value, "history"))):
        return "swe-agent"
    if openhands.is_event(first) or any(openhands.is_event(_event_in(one)) for one in (value, first)):
        return "openhands"
    raise UsageError(
        f"{recording.name}: got a document of no format that is known, expected a recording of "
        f"{', '.join(IMPORTERS)}; --format names one"
    )


def _first(value: Any, key: str) -> Any:
    found = value.get(key) if isinstance(value, dict) else None
    return found[0] if isinstance(found, list) and found else None


def _event_in(value: Any) -> Any:
    """The first event of an object that holds some; those of older evaluations come in pairs."""
    found = next((one for key in openhands.LISTS if (one := _first(value, key)) is not None), None)
    return found[0] if isinstance(found, list) and found else found


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and "role" in value


def _is_step(value: Any) -> bool:
    return isinstance(value, dict) and "action" in value and "observation" in value


def _read(path: str) -> Recording:
    if path != "-" and Path(path).is_dir():
        return _read_folder(Path(path))
    return parse_recording(read_source(path, LARGEST_RECORDING), _stem(path))


def _read_folder(folder: Path) -> Recording:
    """A folder of OpenHands' events, a file each: `events/0.json` … of V0, `events/event-00000-ID.json` … of V1."""
    name = show_text(os.fspath(folder))
    inner = folder / "events" if (folder / "events").is_dir() else folder
    files = sorted((number, path) for path in inner.glob("*.json") if (number := _number(path)) is not None)
    if not files:
        raise UsageError(f"{name}: got a folder without events, expected a file, or a folder of OpenHands' events")
    digest, events = hashlib.sha256(), []
    for _, path in files:
        source = read_source(path, LARGEST_RECORDING)
        digest.update(source.data)
        events.append(parse_recording(source, path.stem).value)
    return Recording(name, _stem(os.fspath(folder)), events, digest.hexdigest())


def _number(path: Path) -> int | None:
    digits = path.stem.removeprefix("event-").split("-", 1)[0]
    return int(digits) if digits.isdecimal() else None


def _stem(path: str) -> str:
    name = "session" if path == "-" else Path(path).name
    while name.endswith(_SUFFIXES):
        name = name[: name.rindex(".")]
    return show_text(name) or "session"
