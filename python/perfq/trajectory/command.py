"""From what the command line said to runs, results and an exit code."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from perfq.drive.leaving import Leaving, ended_by_signals
from perfq.drive.outcome import run_times, settled, show
from perfq.drive.progress import Progress
from perfq.drive.rebuild import CleanUp
from perfq.drive.rundir import RunDirectory, place
from perfq.drive.signals import Interruption
from perfq.drive.stop import StopLimits
from perfq.errors import CleanupIncomplete, UsageError
from perfq.profile.override import Override
from perfq.profile.shown import show_text
from perfq.profile.source import STDIN, read_source
from perfq.profile.trajectory.reading import is_profile, load_profile
from perfq.trajectory.ground import refuse
from perfq.trajectory.options import TrajectoryOptions
from perfq.trajectory.plan import resolve as resolve_plan

if TYPE_CHECKING:
    from perfq.judge.verdict import Judgement

#: What is replayed where no profile is named.
BUILTIN: Final = "small-sessions"


@dataclass(frozen=True)
class TrajectoryRequest:
    """The command line, parsed and not yet checked. `file` is None for the built-in profile."""

    file: str | None
    given: Mapping[str, Any]
    argv: tuple[str, ...]


def run_request(request: TrajectoryRequest) -> int:
    """Checks everything, runs once or `--repeat` times, reports; gives the exit code."""
    options, given = resolve(request), request.given

    def one(directory: Path, run_id: str) -> int:
        judgement = conduct(replace(options, out=directory, run_id=run_id), quiet=given["quiet"])
        show(judgement.result, directory, given)
        return judgement.exit_code

    return run_times(options.out, options.run_id, given, one)


def resolve(request: TrajectoryRequest, changes: tuple[Override, ...] = ()) -> TrajectoryOptions:
    """Everything that can be wrong with the request is found here: UsageError (2), GuardRefused (5); nothing runs."""
    given = request.given
    path = builtin() if request.file is None else request.file
    source = read_source(path)
    if not is_profile(source):
        raise UsageError(
            f"{source.name}: is a session; name a profile (perfq.trajectory-profile/v1), whose `trajectories` name it"
        )
    seed = [] if given["seed"] is None else [Override(("seed",), given["seed"], "--seed")]
    loaded = load_profile(source, [*given["assignments"], *seed, *changes])
    plan = resolve_plan(loaded, Path.cwd() if source.name == STDIN else Path(path).parent)
    refuse(plan, given["allow_local_exec"])
    run_id, out = place(given, plan.profile.name)
    return TrajectoryOptions(
        plan=plan,
        file=f"{BUILTIN} (built-in)" if request.file is None else show_text(os.fspath(request.file)),
        sha256=hashlib.sha256(source.data).hexdigest(),
        out=out,
        run_id=run_id,
        budgets=given["budgets"],
        limits=StopLimits.of(given),
        command=("perfq", *request.argv[1:]),
    )


def builtin() -> str:
    """The file of the built-in profile: its commands are our own, so that they need no leave."""
    return os.fspath(Path(str(files("perfq.profiles"))) / "sessions" / f"{BUILTIN}.yaml")


def conduct(options: TrajectoryOptions, *, quiet: bool) -> Judgement:
    """One run until it has ended, a signal comes or its `--max-time` is over, and what it comes to."""
    progress = Progress(quiet=quiet)
    with ended_by_signals(progress, leaving(options.out), options.limits.max_time_s) as interrupted:
        return measured(options, progress, interrupted)


def leaving(out: Path) -> Leaving:
    """Whether one run is left at once, or several below the same folder."""
    from perfq.trajectory.places import thaw_own

    return Leaving(
        ". The next `perfq trajectory run` ends and removes what is left of the sessions; to see what was recorded: "
        f"perfq trajectory report {out}",
        CleanupIncomplete.exit_code,
        thaw_own,
    )


def measured(options: TrajectoryOptions, progress: Progress, interrupted: Interruption) -> Judgement:
    """One run: drive, fold, judge; its files are written, nothing is printed but progress."""
    from perfq.trajectory.conducted import drive
    from perfq.trajectory.manifest import build_manifest
    from perfq.trajectory.places import Place

    directory = RunDirectory.create(options.out)
    where = Place.of(options.run_id)
    directory.write("manifest.json", build_manifest(options, where.workspaces).to_json())
    directory.write("plan.json", options.plan.document())
    recorder = drive(options, directory, where, progress, interrupted)
    return settled(directory, recorder, CleanUp(where.close, f"rm -r {where.workspaces}"))
