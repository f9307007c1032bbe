"""Progress on stderr: a line that is redrawn on a terminal, else one plain line every ten seconds."""

from __future__ import annotations

import math
import os
import sys
import time
from typing import TextIO

PLAIN_EVERY_S = 10.0
REDRAW_EVERY_S = 0.2


class Progress:
    """Where a run stands. Nothing is written when quiet."""

    def __init__(self, *, quiet: bool = False, stream: TextIO | None = None) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._quiet = quiet
        self._live = self._stream.isatty()
        self._last = -math.inf
        self._drawn = False

    def say(self, text: str) -> None:
        """A line that stays: a phase began."""
        if not self._quiet:
            self._erase()
            print(text, file=self._stream, flush=True)

    @property
    def due(self) -> bool:
        """Whether an update would be written now: until then nobody has to find out where the phase stands."""
        return self._is_due(time.monotonic())

    def _is_due(self, now: float) -> bool:
        return not self._quiet and now - self._last >= (REDRAW_EVERY_S if self._live else PLAIN_EVERY_S)

    def update(self, text: str, now: float | None = None) -> None:
        """Where the phase stands; most calls write nothing."""
        now = time.monotonic() if now is None else now
        if not self._is_due(now):
            return
        self._last = now
        if self._live:
            print(f"\r\x1b[2K{text[: self._width()]}", end="", file=self._stream, flush=True)
            self._drawn = True
        else:
            print(text, file=self._stream, flush=True)

    def close(self) -> None:
        """Leaves no half line behind."""
        self._erase()

    def _width(self) -> int | None:
        """One less than the terminal is wide: a line that wraps could not be erased. None where it is unknown."""
        try:
            columns = os.get_terminal_size(self._stream.fileno()).columns
        except OSError:
            return None
        return columns - 1 if columns > 1 else None

    def _erase(self) -> None:
        if self._drawn:
            print("\r\x1b[2K", end="", file=self._stream, flush=True)
            self._drawn = False
