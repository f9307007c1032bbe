"""The driver's own lines in the record: when a phase began, and what ended the run."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from perfq.drive.input import Records
    from perfq.drive.stop import Stop


class Journal:
    """Writes marks and stops to a recorder."""

    def __init__(self, recorder: Records) -> None:
        self._recorder = recorder

    def mark(self, name: str, **fields: object) -> int:
        """Records that a phase began; gives the instant. `boot` tells whether the machine slept since."""
        boot = time.clock_gettime_ns(time.CLOCK_BOOTTIME) - time.monotonic_ns()
        return self.write("mark", name=name, boot=boot, **fields)

    def write(self, kind: str, **fields: object) -> int:
        """Records a line of another kind; gives the instant."""
        now = time.monotonic_ns()
        self._recorder.write(json.dumps({"k": kind, "t": now, **fields}))
        return now

    def stop(self, stop: Stop) -> None:
        """Records that a stop condition, or a signal, ended the run."""
        self.write("stop", why=stop.why, figure=stop.figure)
