"""One run, or several in turn, that signals and `--max-time` may end: in order at first, at once when asked again."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from perfq.drive.progress import Progress
from perfq.drive.signals import Interruption, interruption
from perfq.errors import Interrupted


@dataclass(frozen=True)
class Leaving:
    """What is said when perfq leaves at once, and the exit code of that."""

    #: Goes on after `perfq: left at once`: how to clean up, what was recorded and where.
    text: str
    exit_code: int = Interrupted.exit_code
    #: What must not stay as it is, though all else does.
    undo: Callable[[], object] = lambda: None


@contextmanager
def ended_by_signals(progress: Progress, leaving: Leaving, max_time_s: float | None = None) -> Iterator[Interruption]:
    """`max_time_s` is of the block from now on."""

    def leave() -> int:
        leaving.undo()
        progress.close()
        sys.stderr.write(f"perfq: left at once{leaving.text}\n")
        return leaving.exit_code

    with interruption(leave) as interrupted:
        interrupted.limit(max_time_s)
        yield interrupted
