"""The part of report.md on where a Python client's memory grew."""

from __future__ import annotations

from perfq.measure.result import Result
from perfq.measure.wording import number, size
from perfq.report.table import code, table

#: Lines of source that are listed; all that the client named are in allocations.json.
MAX_GROWTHS = 10


def allocations(result: Result) -> str:
    """The largest growths by line of source; nothing of a run that traced none."""
    found = result.allocations
    if found is None:
        return ""
    rows = [[code(f"{one.file}:{one.line}"), size(one.bytes), number(one.count)] for one in found.growth[:MAX_GROWTHS]]
    text = (
        f"From populated to {found.seconds:.1f} s later; {size(found.traced_bytes)} were traced in all. "
        "Tracing changes timing: no figure of this run is to be compared.\n"
    )
    return f"## Allocation growth\n\n{text}\n" + table(["source", "grew by", "blocks"], rows, numbers=(1, 2))
