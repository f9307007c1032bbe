"""`--repeat N`: N runs beside each other and a summary with the median and the spread of each figure."""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from perfq.drive.rundir import RunDirectory
from perfq.errors import worst

#: Parts of a result whose numbers are figures of the run (the rest is identity or text).
_FIGURES = ("latency", "process", "api", "replay", "load", "live", "fleet", "trajectory")


def figures(result: Mapping[str, Any]) -> dict[str, float | int]:
    """Every number of a result by its dotted metric path."""
    found: dict[str, float | int] = {}
    for part in _FIGURES:
        for path, value in _numbers(part, result.get(part)):
            found[path] = value
    return found


def _numbers(path: str, value: object) -> Iterator[tuple[str, float | int]]:
    if isinstance(value, bool):
        return
    if isinstance(value, int | float):
        yield path, value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _numbers(f"{path}.{key}", inner)


def summarize(results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """`{runs[], metrics{PATH: {median, min, max, values[]}}}`; a run without a figure has null there."""
    by_run = [figures(result) for result in results]
    metrics: dict[str, Any] = {}
    for path in sorted({path for one in by_run for path in one}):
        values = [one.get(path) for one in by_run]
        known = [value for value in values if value is not None]
        metrics[path] = {
            "median": statistics.median(known),
            "min": min(known),
            "max": max(known),
            "values": values,
        }
    runs = [
        {"run_id": result["run_id"], "status": result["verdict"]["status"], "directory": f"run-{number}"}
        for number, result in enumerate(results, 1)
    ]
    return {"schema": "perfq.summary/v1", "runs": runs, "metrics": metrics}


def repeat(out: Path, times: int, run: Callable[[Path, int], int]) -> int:
    """Calls `run(directory, number)` for `run-1` … `run-N`, writes summary.json; the worst exit code.

    A run that was interrupted (130) is the last one.
    """
    directory = RunDirectory.create(out)
    codes: list[int] = []
    for number in range(1, times + 1):
        codes.append(run(directory.path / f"run-{number}", number))
        if codes[-1] == 130:
            break
    results = []
    for number in range(1, len(codes) + 1):
        path = directory.path / f"run-{number}" / "result.json"
        if path.exists():
            results.append(json.loads(path.read_text(encoding="utf-8")))
    if results:
        directory.write("summary.json", json.dumps(summarize(results), indent=1) + "\n")
    return worst(codes)
