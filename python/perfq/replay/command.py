"""From what the command line said to runs, results and an exit code."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perfq.drive.cpu_profile import find_profiler
from perfq.drive.definition import argv_of
from perfq.drive.progress import Progress
from perfq.drive.repeat import repeat
from perfq.drive.rundir import RunDirectory, check_run_id, new_run_id
from perfq.drive.signals import interruption
from perfq.drive.stop import StopLimits
from perfq.errors import CleanupIncomplete, Interrupted, InvalidRun, UsageError
from perfq.replay.allocations import first_run, refuse_untraceable, traced_run
from perfq.replay.failures import refuse_what_cannot_be_exercised
from perfq.replay.options import ReplayOptions, Size

if TYPE_CHECKING:
    from perfq._core import RecorderStatus
    from perfq.drive.rebuild import CleanUp
    from perfq.judge.verdict import Judgement
    from perfq.measure.result import Result
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
    times = given["repeat"]
    if given["allocations"]:
        refuse_untraceable(options.client, times)
        return run_linked(options, given)
    if times == 1:
        return run_once(options, given)

    def one(directory: Path, number: int) -> int:
        return run_once(replace(options, out=directory, run_id=numbered(options.run_id, number)), given)

    code = repeat(options.out, times, one)
    if not given["as_json"]:
        show_repeats(options.out / "summary.json")
    return code


def numbered(run_id: str, number: int) -> str:
    """The run id of one of several runs, still of at most 40 characters."""
    suffix = f"-{number}"
    return run_id[: 40 - len(suffix)] + suffix


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
    from perfq.drive.rebuild import CleanUp
    from perfq.replay.manifest import build_manifest
    from perfq.replay.run import drive

    run = RunDirectory.create(options.out)
    progress = Progress(quiet=quiet)
    home = ClientHome.create()
    remove = f"rm -r {home.path}"

    def leave() -> int:
        progress.close()
        sys.stderr.write(
            f"perfq: left at once. To clean up: {remove}; to see what was recorded: perfq report {run.path}\n"
        )
        return CleanupIncomplete.exit_code

    try:
        manifest = build_manifest(options).model_copy(update={"client_home": str(home.path)})
        run.write("manifest.json", manifest.to_json())
        run.write("plan.json", plan_json(options))
        with interruption(leave) as interrupted:
            recorder = drive(options, run, home, progress, interrupted)
            return _settle(run, recorder, CleanUp(home.remove, remove))
    finally:
        home.remove()


def _settle(run: RunDirectory, recorder: RecorderStatus, clean_up: CleanUp) -> Judgement:
    from perfq.drive.rebuild import settle

    try:
        return settle(run, recorder=recorder, clean_up=clean_up)
    except OSError as error:
        raise InvalidRun(
            f"the result could not be written to {run.path} ({error.strerror}); what was recorded is kept: "
            f"make room, then run: perfq report {run.path}"
        ) from error


def show(result: Result, out: Path, given: Mapping[str, Any]) -> None:
    """The result on stdout: JSON where asked, else the summary for people and where the report is."""
    if given["as_json"]:
        sys.stdout.write(result.to_json())
        return
    from perfq.report.summary import style_of, summary

    sys.stdout.write(summary(result, style_of(sys.stdout)))
    sys.stdout.write(f"report: {out / 'report.md'}\n")


def show_repeats(path: Path) -> None:
    """What the runs came to, on stdout; nothing where none of them has a result."""
    if path.exists():
        from perfq.report.repeats import repeats

        sys.stdout.write(f"\n{repeats(json.loads(path.read_text(encoding='utf-8')))}summary: {path}\n")


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
    run_id = check_run_id(given["run_id"]) if given["run_id"] else new_run_id(plan.id)
    return ReplayOptions(
        plan=plan,
        profile=profile.model_dump(),
        client=client,
        argv=argv,
        out=Path(given["out"]) if given["out"] else Path("runs") / run_id,
        run_id=run_id,
        budgets=given["budgets"],
        limits=StopLimits(
            max_time_s=given["max_time"],
            lag_ms=given["stop_lag"],
            error_share=given["stop_error_share"],
            throttle_share=given["stop_429_share"],
            harness_memory_bytes=given["stop_memory"],
        ),
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
