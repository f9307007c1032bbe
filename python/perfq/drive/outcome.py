"""What every driver does once a run has ended: settle it, show it, sum up several."""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perfq.errors import InvalidRun

if TYPE_CHECKING:
    from perfq._core import RecorderStatus
    from perfq.drive.rebuild import CleanUp
    from perfq.drive.rundir import RunDirectory
    from perfq.judge.verdict import Judgement
    from perfq.measure.result import Result


def settled(run: RunDirectory, recorder: RecorderStatus, clean_up: CleanUp | None = None) -> Judgement:
    """Folds, judges and writes what comes of it; InvalidRun, with what is kept, where it cannot be written."""
    from perfq.drive.rebuild import settle

    try:
        return settle(run, recorder=recorder, clean_up=clean_up)
    except OSError as error:
        raise InvalidRun(
            f"the result could not be written to {run.path} ({error.strerror}); what was recorded is kept: "
            f"make room, then run: perfq report {run.path}"
        ) from error


def could_not_start(error: OSError) -> InvalidRun:
    """What to say where the system refused what a run needs."""
    return InvalidRun(f"the run could not start: {error}{_remedy(error)}")


def _remedy(error: OSError) -> str:
    # An error that names a program around the cause has no errno of its own.
    if error.errno in (errno.EMFILE, errno.ENFILE) or os.strerror(errno.EMFILE) in str(error):
        return "; allow perfq more file descriptors: ulimit -n 1024"
    if error.errno in (errno.ENOSPC, errno.EDQUOT) or os.strerror(errno.ENOSPC) in str(error):
        return "; make room, or name another directory with --out"
    return ""


def show(result: Result, out: Path, given: Mapping[str, Any]) -> None:
    """The result on stdout: JSON where asked, else the summary for people and where the report is."""
    if given["as_json"]:
        sys.stdout.write(result.to_json())
        return
    from perfq.report.summary import style_of, summary

    sys.stdout.write(summary(result, style_of(sys.stdout)))
    sys.stdout.write(f"report: {out / 'report.md'}\n")


def run_times(out: Path, run_id: str, given: Mapping[str, Any], one: Callable[[Path, str], int]) -> int:
    """`--repeat N`: calls `one(directory, run_id)` so many times and shows the spread; the worst exit code."""
    if given["repeat"] == 1:
        return one(out, run_id)
    from perfq.drive.repeat import repeat

    code = repeat(out, given["repeat"], lambda directory, number: one(directory, numbered(run_id, number)))
    if not given["as_json"]:
        _show_repeats(out / "summary.json")
    return code


def numbered(run_id: str, number: int) -> str:
    """The run id of one of several runs, still of at most 40 characters."""
    suffix = f"-{number}"
    return run_id[: 40 - len(suffix)] + suffix


def _show_repeats(path: Path) -> None:
    """What the runs came to, on stdout; nothing where none of them has a result."""
    if path.exists():
        from perfq.report.repeats import repeats

        sys.stdout.write(f"\n{repeats(json.loads(path.read_text(encoding='utf-8')))}summary: {path}\n")
