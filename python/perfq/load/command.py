"""From what the command line said to runs, results and an exit code."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from perfq.drive.leaving import Leaving, ended_by_signals
from perfq.drive.outcome import run_times, settled, show
from perfq.drive.progress import Progress
from perfq.drive.rundir import RunDirectory, place
from perfq.drive.signals import Interruption
from perfq.drive.stop import StopLimits
from perfq.errors import UsageError
from perfq.load.at_hand import Input, at_hand
from perfq.load.checked import remarks
from perfq.load.convert import as_trace
from perfq.load.fetch import shown_url
from perfq.load.kperf_file import kperf_files, write_kperf_result
from perfq.load.options import LoadOptions
from perfq.load.planned import PlannedLoad
from perfq.load.preflight import preflight
from perfq.load.reading import read_input
from perfq.load.target import find_target, refuse_writes
from perfq.load.told import is_url

if TYPE_CHECKING:
    from perfq.judge.verdict import Judgement
    from perfq.measure.load.recorded import LoadRecorded


@dataclass(frozen=True)
class LoadRequest:
    """The command line, parsed and not yet checked."""

    file: str
    given: Mapping[str, Any]
    argv: tuple[str, ...]


def run_request(request: LoadRequest) -> int:
    """Checks everything, runs once or `--repeat` times, reports; gives the exit code."""
    with at_hand(request.file, fetching=True) as found:
        options = resolve(request, found)
        given = request.given
        if not given["quiet"]:
            for line in remarks(options.planned):
                sys.stderr.write(f"perfq: {line}\n")

        files = iter(options.kperf_results)

        def one(directory: Path, run_id: str) -> int:
            judgement = conduct(replace(options, out=directory, run_id=run_id), quiet=given["quiet"])
            show(judgement.result, directory, given)
            if (file := next(files, None)) is not None:
                write_kperf_result(cast("LoadRecorded", judgement.recorded), file)
            return judgement.exit_code

        return run_times(options.out, options.run_id, given, one)


def prepared(planned: PlannedLoad, given: Mapping[str, Any]) -> PlannedLoad:
    """With an end, which `--max-time` gives to what has none of its own."""
    if not planned.endless:
        return planned
    if given["max_time"] is None:
        raise UsageError(f"{planned.facts.name}: holds only watches without an end; say when it ends with --max-time")
    return planned.lasting(given["max_time"])


def resolve(request: LoadRequest, found: Input) -> LoadOptions:
    """Everything that can be wrong with the request is found here; nothing was sent but questions who the server is."""
    given = request.given
    read = read_input(found, given)
    planned = prepared(read, given)
    run_id, out = place(given, Path(planned.facts.name).stem)
    target = find_target(given)
    if given["server_metrics"] and target.endpoint is None:
        raise UsageError("--server-metrics: the embedded server has none; name another one with --context")
    refuse_writes(target, writes=planned.writes, yes=given["yes"])
    planned = replace(planned, remarks=[*planned.remarks, *preflight(planned, target)])
    limits = StopLimits.of(given)
    return LoadOptions(
        planned=planned,
        target=target,
        out=out,
        run_id=run_id,
        timeout_ms=planned.timeout_ms if given["timeout"] is None else max(1, round(given["timeout"] * 1000)),
        watch_timeout_ms=max(1, round(given["watch_timeout"] * 1000)),
        grace_ms=round(given["grace"] * 1000),
        overload=given["overload"],
        ordering=given["ordering"],
        budgets=given["budgets"],
        limits=replace(limits, max_time_s=None) if read.endless else limits,
        raw_data=given["raw_data"],
        server_metrics=given["server_metrics"],
        kperf_results=kperf_files(given),
        command=("perfq", *(shown_url(word) if is_url(word) else word for word in request.argv[1:])),
    )


def conduct(options: LoadOptions, *, quiet: bool) -> Judgement:
    """One load until it has ended, a signal comes or its `--max-time` is over, and what it comes to."""
    progress = Progress(quiet=quiet)
    leaving = Leaving(f"; to see what was recorded: perfq report {options.out}")
    with ended_by_signals(progress, leaving, options.limits.max_time_s) as interrupted:
        return measured(options, progress, interrupted)


def measured(options: LoadOptions, progress: Progress, interrupted: Interruption) -> Judgement:
    """One load: drive, fold, judge; its files are written, nothing is printed but progress."""
    from perfq.load.manifest import build_manifest
    from perfq.load.run import drive

    run = RunDirectory.create(options.out)
    run.write("manifest.json", build_manifest(options).to_json())
    run.write("plan.json", options.planned.document())
    if options.planned.text is not None:
        run.write("input.yaml", options.planned.text)
    if options.planned.replay is not None:
        trace = run.path / "input.trace.zst"
        as_trace((options.planned.replay, options.planned.facts.name), trace, options.planned.reading)
        options = replace(options, planned=options.planned.converted(trace))
    recorder = drive(options, run, progress, interrupted)
    return settled(run, recorder)
