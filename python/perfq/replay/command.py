"""From what the command line said to runs, results and an exit code."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perfq.drive.cpu_profile import find_profiler
from perfq.drive.definition import argv_of
from perfq.drive.leaving import Leaving, ended_by_signals
from perfq.drive.outcome import run_times, settled, show
from perfq.drive.progress import Progress
from perfq.drive.rundir import RunDirectory, place
from perfq.drive.stop import StopLimits
from perfq.errors import CleanupIncomplete, Interrupted, InvalidRun, UsageError
from perfq.replay.allocations import first_run, refuse_untraceable, traced_run
from perfq.replay.failures import refuse_what_cannot_be_exercised
from perfq.replay.options import ReplayOptions, Size

if TYPE_CHECKING:
    from perfq.drive.environment import ClientHome
    from perfq.drive.leftovers import Leftover
    from perfq.judge.verdict import Judgement
    from perfq.profile.client import ClientDefinition


@dataclass(frozen=True)
class ReplayRequest:
    """The command line, parsed and not yet checked."""

    profile: str
    command: tuple[str, ...]
    given: Mapping[str, Any]
    argv: tuple[str, ...]


def run_request(request: ReplayRequest) -> int:
    """Checks everything, runs once or `--repeat` times, reports; gives the exit code."""
    options = resolve(request)
    given = request.given
    if given["allocations"]:
        refuse_untraceable(options.client, given["repeat"])
        return run_linked(options, given)

    def one(directory: Path, run_id: str) -> int:
        return run_once(replace(options, out=directory, run_id=run_id), given)

    return run_times(options.out, options.run_id, given, one)


def run_once(options: ReplayOptions, given: Mapping[str, Any]) -> int:
    """One run: drive, fold, judge, report. Gives the exit code."""
    judgement = conduct(options, quiet=given["quiet"])
    show(judgement.result, options.out, given)
    return judgement.exit_code


def run_linked(options: ReplayOptions, given: Mapping[str, Any]) -> int:
    """The run, then one that traces allocations, unless the first was interrupted. Gives the first one's exit code."""
    code = run_once(first_run(options), given)
    if code != Interrupted.exit_code:
        traced = traced_run(options)
        try:
            status = conduct(traced, quiet=given["quiet"]).result.verdict.status
        except InvalidRun as error:
            sys.stderr.write(f"perfq: --allocations: {error}\n")
            return code
        if not given["as_json"]:
            sys.stdout.write(f"allocations: {status}, {traced.out / 'report.md'}\n")
    return code


def conduct(options: ReplayOptions, *, quiet: bool) -> Judgement:
    """One run: drive, fold, judge; its files are written, nothing is printed but progress."""
    from perfq.drive.environment import ClientHome
    from perfq.drive.leftovers import home_left
    from perfq.drive.rebuild import CleanUp
    from perfq.replay.manifest import build_manifest
    from perfq.replay.run import drive

    run = RunDirectory.create(options.out)
    progress = Progress(quiet=quiet)
    home = ClientHome.create()
    remove = home_left(home.path).remove
    leaving = Leaving(
        f". To clean up: {remove}; to see what was recorded: perfq report {run.path}", CleanupIncomplete.exit_code
    )
    try:
        manifest = build_manifest(options).replace(client_home=str(home.path))
        run.write("manifest.json", manifest.to_json())
        run.write("plan.json", plan_json(options))
        with ended_by_signals(progress, leaving) as interrupted:
            driven = drive(options, run, home, progress, interrupted)
            return settled(run, driven.recorder, CleanUp(lambda: clean_up(home, driven.left), remove))
    finally:
        home.remove()


def clean_up(home: ClientHome, processes: Sequence[int]) -> list[Leftover]:
    """Removes the client's home; gives what is left of it and of the processes that had outlived the client."""
    from perfq.drive.leftovers import home_left, processes_left

    return [*processes_left(processes), *([home_left(home.path)] if home.remove() else [])]


def plan_json(options: ReplayOptions) -> str:
    """plan.json: the same bytes for the same plan, no run id."""
    from perfq.profile.workload import plan_document

    return plan_document(options.plan)


def resolve(request: ReplayRequest) -> ReplayOptions:
    """Everything that can be wrong with the request is found here: UsageError, nothing was started."""
    from perfq._core import Plan
    from perfq.profile.workload import resolve_profile

    given = request.given
    profile = resolve_profile(
        request.profile, duration=given["duration"], seed=given["seed"], assignments=given["assignments"]
    )
    plan = Plan(profile.to_json())
    client = resolve_client(request)
    argv = request.command or argv_of(client)
    if not argv:
        raise UsageError(f"client {client.name!r} names no command; give one after `--`")
    if shutil.which(argv[0]) is None:
        if os.path.lexists(argv[0]):
            raise UsageError(f"the client {argv[0]!r} is not a program that can be run; is it executable?")
        raise UsageError(f"the client {argv[0]!r} was not found on PATH; install it or name its path")
    refuse_what_cannot_be_exercised(profile.model_dump(), client)
    run_id, out = place(given, plan.id)
    return ReplayOptions(
        plan=plan,
        profile=profile.model_dump(),
        client=client,
        argv=argv,
        out=out,
        run_id=run_id,
        budgets=given["budgets"],
        limits=StopLimits.of(given),
        pairs=given["pairs"],
        probes=given["probes"],
        pod_bytes=given["pod_bytes"],
        size=parse_size(given["size"]),
        ready_timeout_s=given["ready_timeout"],
        quiet=given["quiet"],
        scenarios=given["scenarios"],
        profiler=find_profiler() if given["cpu_profile"] else None,
        command=("perfq", *request.argv[1:]),
    )


def resolve_client(request: ReplayRequest) -> ClientDefinition:
    """--client-file, else --client, else generic for a COMMAND, else the viewer."""
    from perfq.profile.client_files import load_client_file, load_client_named

    name, path = request.given["client_name"], request.given["client_file"]
    if name and path:
        raise UsageError("--client and --client-file: give one of them")
    if path:
        return load_client_file(path)
    return load_client_named(name or ("generic" if request.command else "viewer"))


def parse_size(text: str) -> Size:
    """`160x50`; UsageError outside 40x10 to 500x200."""
    match = re.fullmatch(r"([0-9]{1,4})x([0-9]{1,4})", text)
    if match and 40 <= int(match[1]) <= 500 and 10 <= int(match[2]) <= 200:
        return Size(cols=int(match[1]), rows=int(match[2]))
    raise UsageError(f"--size: got {text!r}, expected COLSxROWS from 40x10 to 500x200, such as 160x50")
