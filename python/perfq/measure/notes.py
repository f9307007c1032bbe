"""What a reader should know of how the record was read; the same for every kind of run."""

from __future__ import annotations

from perfq.measure.result.common import ResultWarning
from perfq.measure.samples import Reading


def reading_notes(reading: Reading, file: str = "samples.ndjson") -> list[ResultWarning]:
    """Torn and unreadable lines of a recording."""
    notes = []
    if reading.torn:
        notes.append(ResultWarning(code="torn_line", text=f"the last line of {file} was torn and left out"))
    if reading.bad:
        text = f"{reading.bad} lines of {file} could not be read ({'; '.join(reading.named)})"
        notes.append(ResultWarning(code="bad_lines", text=text))
    return notes
