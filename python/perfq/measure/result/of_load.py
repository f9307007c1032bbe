"""The result of a request load."""

from __future__ import annotations

from perfq.measure.result import Result
from perfq.measure.result.load import Load


class LoadResult(Result):
    """One load, measured and judged. In JSON it is what a `WholeResult` with this block is."""

    load: Load | None = None
