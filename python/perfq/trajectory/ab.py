"""`trajectory ab`: two or three arms of one profile, run in turn over several rounds, medians side by side."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from perfq.drive.leaving import ended_by_signals
from perfq.drive.progress import Progress
from perfq.drive.rounds import rounds
from perfq.drive.rundir import RunDirectory, place
from perfq.errors import CleanupIncomplete, Interrupted, InvalidRun, UsageError, worst
from perfq.profile.override import Override, parse_set
from perfq.profile.shown import show_text
from perfq.report.side_by_side import side_by_side, side_by_side_document, side_by_side_markdown
from perfq.report.sides import Side
from perfq.report.summary import style_of
from perfq.trajectory.command import TrajectoryRequest, leaving, measured, resolve

if TYPE_CHECKING:
    from perfq.measure.result import Result
    from perfq.trajectory.options import TrajectoryOptions

SCHEMA: Final = "perfq.trajectory-ab/v1"
ARMS: Final = (2, 3)


@dataclass(frozen=True)
class Arm:
    """One way to run the profile."""

    text: str
    changes: tuple[Override, ...]

    @classmethod
    def of(cls, text: str) -> Arm:
        """`sampling.mode=off`, or several assignments with commas between. UsageError (2)."""
        return cls(show_text(text), tuple(parse_set(one, "--arm") for one in re.split(r",(?=[A-Za-z_.0-9]+=)", text)))


@dataclass(frozen=True)
class AbRequest:
    """The command line."""

    run: TrajectoryRequest
    arms: Sequence[Arm]
    rounds: int


def ab_request(request: AbRequest) -> int:
    """Runs every arm in every round, shows the medians; gives the exit code: 0 whatever the verdicts of the runs."""
    if not ARMS[0] <= len(request.arms) <= ARMS[1]:
        raise UsageError(f"--arm: got {len(request.arms)}, expected two or three, such as --arm sampling.mode=off")
    if len({arm.text for arm in request.arms}) < len(request.arms):
        raise UsageError("--arm: two are the same; name each way to run the profile once")
    given = request.run.given
    planned = [resolve(request.run, arm.changes) for arm in request.arms]
    run_id, out = place(given, f"ab-{planned[0].plan.profile.name}")
    directory = RunDirectory.create(out)
    results: dict[int, list[Result]] = {arm: [] for arm in range(len(planned))}
    codes = []
    progress = Progress(quiet=given["quiet"])
    # The time is of all runs together.
    with ended_by_signals(progress, leaving(directory.path / "arm-…"), planned[0].limits.max_time_s) as interrupted:
        for number, arm in rounds(len(planned), request.rounds, planned[0].plan.sha256):
            progress.say(f"perfq: round {number + 1} of {request.rounds}: {request.arms[arm].text}")
            run = _numbered(planned[arm], directory.path / f"arm-{arm + 1}" / f"run-{number + 1}", run_id)
            judgement = measured(run, progress, interrupted)
            results[arm].append(judgement.result)
            codes.append(judgement.exit_code)
            if judgement.result.verdict.status == "ABORTED":
                break
    _show(directory, request, results)
    return _code(codes, [one for each in results.values() for one in each])


def _numbered(options: TrajectoryOptions, out: Path, run_id: str) -> TrajectoryOptions:
    name = f"{run_id[:30]}-{out.parent.name.removeprefix('arm-')}-{out.name.removeprefix('run-')}"
    return replace(options, out=out, run_id=name)


def _show(directory: RunDirectory, request: AbRequest, results: Mapping[int, list[Result]]) -> None:
    """ab.json and ab.md in the directory, and the table, or the JSON, on stdout; arms that never ran are left out."""
    sides = [Side(request.arms[arm].text, found) for arm, found in results.items() if found]
    document = {**side_by_side_document(sides), "schema": SCHEMA, "rounds": request.rounds}
    text = json.dumps(document, indent=1) + "\n"
    directory.write("ab.json", text)
    directory.write("ab.md", side_by_side_markdown(sides))
    if request.run.given["as_json"]:
        sys.stdout.write(text)
    else:
        sys.stdout.write(side_by_side(sides, style_of(sys.stdout).width))
        sys.stdout.write(f"report: {directory.path / 'ab.md'}\n")


def _code(codes: Sequence[int], results: Sequence[Result]) -> int:
    """That an arm is invalid or misses a budget is what was to be seen; one that was aborted shows nothing."""
    aborted = [InvalidRun.exit_code] if any(one.verdict.status == "ABORTED" for one in results) else []
    kept = {Interrupted.exit_code, CleanupIncomplete.exit_code}
    return worst([*aborted, *(code for code in codes if code in kept)])
