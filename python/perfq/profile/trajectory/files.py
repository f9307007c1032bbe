"""The files that a profile names → their sessions, in the order in which they are replayed."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from perfq.errors import UsageError
from perfq.profile.document import Problem, refuse
from perfq.profile.shown import show_text, show_value
from perfq.profile.source import STDIN, read_source
from perfq.profile.trajectory.profile import TrajectorySource
from perfq.profile.trajectory.reading import LARGEST_SESSION, LoadedProfile, load_sessions
from perfq.profile.trajectory.trajectory import Trajectory


@dataclass(frozen=True, slots=True)
class SessionFile:
    """A session and the file that it came from."""

    trajectory: Trajectory
    path: Path


def sessions_of(loaded: LoadedProfile, base: Path | None = None) -> list[SessionFile]:
    """What is replayed: each entry's files by name, all of them once, then again as `repeat` says.

    Paths count from `base`, where there is none from the profile's folder (for standard input, from here). UsageError
    (2) with every path that leads nowhere and every error of every file, one a line; each file is read once.
    """
    base = folder_of(loaded) if base is None else base
    problems: list[Problem] = []
    details: list[str] = []
    read: dict[Path, list[Trajectory]] = {}
    found: list[SessionFile] = []
    for index, source in enumerate(loaded.profile.trajectories):
        paths = list(_paths(source, base))
        if not paths:
            at = ("trajectories", index, "path")
            got = f"{show_value(source.path)}, which matches no file in {show_text(os.fspath(base))}"
            problems.append(loaded.positions.problem(at, got, "files of sessions"))
        for path in paths:
            if path not in read:
                read[path] = _read(path, details)
        once = [SessionFile(one, path) for path in paths for one in read[path]]
        found += once * source.repeat
    if problems or details:
        raise _refused(loaded.positions.name, problems, details)
    return found


def folder_of(loaded: LoadedProfile) -> Path:
    """The profile's folder; for standard input, where we are."""
    name = loaded.positions.name
    return Path.cwd() if name == STDIN else Path(name).parent


def _paths(source: TrajectorySource, base: Path) -> Iterator[Path]:
    plain = base / source.path
    if plain.is_file():  # a name may hold characters that a glob gives a meaning
        yield plain
        return
    # Not Path.glob, which refuses absolute patterns.
    for path in sorted(glob.glob(source.path, root_dir=base, recursive=True)):  # noqa: PTH207
        if (base / path).is_file():
            yield base / path


def _read(path: Path, details: list[str]) -> list[Trajectory]:
    try:
        return load_sessions(read_source(path, LARGEST_SESSION))
    except UsageError as error:
        details += error.details or (error.sentence,)
        return []


def _refused(name: str, problems: list[Problem], details: list[str]) -> UsageError:
    if not details:
        return refuse(name, problems)
    count = len(problems) + len(details)
    lines = [*(str(problem) for problem in problems), *details]
    sentence = f"{show_text(name)} and the sessions that it names have {count} error{'s' if count != 1 else ''}"
    return UsageError(sentence, details=lines)
