"""Allocation growth as the client reported it, and what links the run that traced it to the one that did not."""

from __future__ import annotations

from perfq.measure.recording import Recording
from perfq.measure.result.allocations import AllocationGrowth, Allocations
from perfq.measure.result.common import ResultWarning
from perfq.measure.run import Run


def allocations_of(recording: Recording) -> Allocations | None:
    """The last report; None where the client sent none."""
    last = recording.probe.alloc
    if last is None:
        return None
    growth = sorted(last.growth, key=lambda one: -one.bytes)
    return Allocations(
        seconds=last.seconds,
        traced_bytes=last.traced_bytes,
        growth=[AllocationGrowth(file=one.file, line=one.line, bytes=one.bytes, count=one.count) for one in growth],
    )


def linked_run(run: Run) -> list[ResultWarning]:
    """The link between the two runs of `--allocations`, said in both; nothing of any other run."""
    options = run.manifest.options
    if options.linked_run is None:
        return []
    if not options.allocations:
        text = (
            f"a second, linked run that traces allocations follows in {options.linked_run}/; tracing changes timing, "
            "so the two are never compared"
        )
        return [ResultWarning(code="linked_run", text=text)]
    text = (
        f"this run traced the client's allocations and is linked to the one in {options.linked_run}/; tracing changes "
        "timing, so its figures are never compared"
    )
    notes = [ResultWarning(code="linked_run", text=text)]
    if run.recording.probe.alloc is None:
        text = "the client sent no alloc line, so its allocation growth is not known"
        advice = "only a Python client that speaks the probe and sends alloc can: docs/reference/probe.md"
        notes.append(ResultWarning(code="unknown", text=text, advice=advice, field="/allocations"))
    return notes
