"""An input as a file: what a URL names is fetched, what can be read once only is written down first."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO, Final

from perfq import units
from perfq.errors import UsageError
from perfq.load.fetch import LARGEST, fetch, shown_url
from perfq.load.told import is_url, tell
from perfq.profile.load.reading import load_document
from perfq.profile.shown import show_text
from perfq.profile.source import STDIN, read_source

#: A load profile that people write is nowhere near this long.
LARGEST_DOCUMENT: Final = 16 << 20
_PIECE: Final = 1 << 20


@dataclass(frozen=True)
class Replayed:
    """The requests that a runner group replays: how they are called, and the file; None where it was not fetched."""

    name: str
    path: Path | None


@dataclass(frozen=True)
class Input:
    """An input that is at hand, and how it is called in reports and errors."""

    path: Path
    name: str
    replayed: Replayed | None = None


@contextmanager
def at_hand(argument: str, *, fetching: bool) -> Iterator[Input]:
    """Has an input as a file for as long as the block runs; nothing is fetched unless `fetching`.

    `-` is standard input. UsageError (2) where it cannot be had.
    """
    with TemporaryDirectory(prefix="perfq-load-") as folder:
        path, name = _had(argument, Path(folder) / "input", fetching=fetching)
        replay = _replay_of(path, name)
        if replay is None:
            yield Input(path, name)
        elif is_url(replay):
            fetched = Path(folder) / "replayed"
            if fetching:
                fetch(replay, fetched)
            yield Input(path, name, Replayed(shown_url(replay), fetched if fetching else None))
        else:
            yield Input(path, name, Replayed(show_text(replay), _beside(argument, replay)))


def _had(argument: str, target: Path, *, fetching: bool) -> tuple[Path, str]:
    """The file (`target` where it has to be made first) and what it is called."""
    if is_url(argument):
        if not fetching:
            raise UsageError(f"{shown_url(argument)}: not fetched, so that nothing was checked; add --fetch")
        fetch(argument, target)
        return target, shown_url(argument)
    if argument == "-":
        _write_down(sys.stdin.buffer, target, STDIN)
        return target, STDIN
    name = show_text(argument) or '""'
    try:
        if not Path(argument).is_fifo():
            return Path(argument), name
        with Path(argument).open("rb") as pipe:
            _write_down(pipe, target, name)
    except (OSError, ValueError) as error:
        raise UsageError(f"{name}: cannot be read: {error}") from error
    return target, name


def _write_down(source: BinaryIO, target: Path, name: str) -> None:
    with target.open("xb") as file:
        while piece := source.read(_PIECE):
            file.write(piece)
            if file.tell() > LARGEST:
                raise UsageError(f"{name}: got more than {units.format_bytes(LARGEST)}, expected at most that")


def _replay_of(path: Path, name: str) -> str | None:
    """The path or URL that a runner group replays; None for any other input."""
    if tell(path, name) != "document":
        return None
    source = read_source(path, LARGEST_DOCUMENT, name)
    return load_document(source, allow_unknown=True).replay_profile if b"replayProfile" in source.data else None


def _beside(argument: str, path: str) -> Path:
    """A path in a group: from here, as kperf takes it, else from the group's own folder."""
    here = Path(path)
    beside = Path(argument).parent / path
    return beside if not here.exists() and not is_url(argument) and beside.exists() else here
