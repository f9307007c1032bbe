"""The files of `--kperf-result`: whether they can be written is found before the run, the figures come after."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perfq.errors import InvalidRun, UsageError

if TYPE_CHECKING:
    from perfq.measure.load.recorded import LoadRecorded


def kperf_files(given: Mapping[str, Any]) -> tuple[Path, ...]:
    """The file that was asked for, or with `--repeat` one of each run (`result.json` → `result-1.json`, …).

    UsageError (2) where one of them cannot be written; what it holds is left as it is.
    """
    if given["kperf_result"] is None:
        return ()
    path = Path(given["kperf_result"])
    files: tuple[Path, ...] = (path,)
    if given["repeat"] > 1:
        files = tuple(path.with_name(f"{path.stem}-{number + 1}{path.suffix}") for number in range(given["repeat"]))
    for one in files:
        _refuse_unwritable(one)
    return files


def _refuse_unwritable(path: Path) -> None:
    try:
        existed = path.exists()
        with path.open("ab"):
            pass
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise UsageError(f"--kperf-result {path}: cannot be written ({reason})") from error
    if not existed:
        path.unlink()


def write_kperf_result(recorded: LoadRecorded, path: Path) -> None:
    """The figures of a run in kperf's form. InvalidRun (4) where the file cannot be written any more."""
    from perfq.report.kperf import kperf_result

    try:
        path.write_text(kperf_result(recorded), encoding="utf-8")
    except OSError as error:
        raise InvalidRun(
            f"--kperf-result {path}: cannot be written any more ({error.strerror}); the run itself is whole"
        ) from error
