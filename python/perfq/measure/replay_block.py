"""The block of a replay, put together from its parts."""

from __future__ import annotations

import json

from perfq import _core
from perfq.measure import backlog, keys, rendering, screen, series, start
from perfq.measure.backlog import Depths
from perfq.measure.definitions import REPLAY_LATENCIES
from perfq.measure.figures import LatencySamples
from perfq.measure.phases import SECOND
from perfq.measure.process import cpu_between
from perfq.measure.recording import Recording
from perfq.measure.result.common import LatencyName
from perfq.measure.result.replay import (
    Backlog,
    Churn,
    ClientExit,
    Digests,
    Replay,
    ScenarioResult,
    TerminalFigures,
    Updates,
)
from perfq.measure.run import Run


def replay_block(run: Run) -> tuple[dict[LatencyName, LatencySamples], Replay]:
    """The latencies' samples and the block, failures aside (these need the API accounting too)."""
    recording, manifest = run.recording, run.manifest
    latencies = {name: LatencySamples(run.timeline, run.t0) for name in REPLAY_LATENCIES}
    commits = recording.commits
    for row in range(len(commits)):
        if commits.src[row] == "plan" and commits.due[row] >= 0:
            latencies["commit_lag"].add(commits.due[row], commits.t[row] - commits.due[row])
    rendering.collect(
        recording,
        rendering.UpdateLatencies(
            written=latencies["event_to_written"],
            client=latencies["event_to_client"],
            render=latencies["event_to_render"],
            commit_render=latencies["commit_to_render"],
        ),
    )
    probes = screen.collect(recording, manifest.options.probes, latencies["event_to_screen"])
    limits = keys.InputLimits(
        planned_pairs=manifest.options.input_pairs,
        timeout_ns=manifest.options.key_timeout_ms * 1_000_000,
        churn_end=recording.mark("churn_end"),
    )
    pairs = keys.collect(recording, limits, latencies["input"])
    depths = depths_of(run)
    scenarios = [
        ScenarioResult(name=one.name, ok=one.ok, screen=None if one.ok else one.screen) for one in recording.scenarios
    ]
    return latencies, Replay(
        start=start.start_figures(recording, manifest.plan.objects),
        churn=_churn(run),
        updates=_updates(run),
        backlog=_backlog(run, depths),
        digests=_digests(run),
        probes=probes,
        input=pairs,
        scenarios=scenarios,
        scenarios_failed=sum(not one.ok for one in scenarios),
        extended_seconds=recording.extended_seconds,
        client_exit=_client_exit(run),
        terminal=_terminal(recording),
        series=series.replay_series(recording, run.t0, latencies, depths) if recording.t0 is not None else {},
        bursts=[(burst.begin, burst.end) for burst in run.timeline.bursts],
    )


def depths_of(run: Run) -> Depths | None:
    """The backlog over time; None where the client told nothing of its updates, or has no table for them."""
    told = run.manifest.client.has_table and rendering.client_counts(run.recording) is not None
    return Depths.of(run.recording) if told else None


def _churn(run: Run) -> Churn:
    recording, commits = run.recording, run.recording.commits
    if recording.t0 is None:
        return Churn(planned=run.timeline.events, requested_rate=run.timeline.events / run.timeline.seconds)
    of_plan = [commits.t[row] for row in range(len(commits)) if commits.src[row] == "plan"]
    beside = sum(src in ("probe", "restore") for src in commits.src)
    wall = max(of_plan) - run.t0 if of_plan else None
    # The last event is due before the plan's last second is over: that second counts in full.
    whole = recording.mark("churn_end") is not None and not recording.stops
    lasted = max(wall or 0, run.timeline.end if whole else run.churn_end - run.t0, 1)
    return Churn(
        planned=run.timeline.events,
        committed=len(of_plan),
        skipped=len(recording.skips),
        wall_ns=wall,
        requested_rate=run.timeline.events / run.timeline.seconds,
        achieved_rate=len(of_plan) * SECOND / lasted,
        probe_rate=beside * SECOND / lasted,
    )


def _updates(run: Run) -> Updates:
    counts = rendering.client_counts(run.recording) if run.manifest.client.has_table else None
    return Updates(
        requested=run.timeline.events,
        delivered=rendering.delivered(run.recording),
        rendered=None if counts is None else counts.rendered,
        coalesced=None if counts is None else counts.coalesced,
        dropped=None if counts is None else counts.dropped,
    )


def _backlog(run: Run, depths: Depths | None) -> Backlog:
    if depths is None or run.recording.t0 is None:
        return Backlog()
    return Backlog(
        max_depth=max(depths.depth, default=0),
        drain_ns=backlog.drains(depths, run.timeline, run.t0, run.recording.last_t),
    )


def _digests(run: Run) -> Digests:
    """The last digests that the client gave, against the plan as it was executed."""
    expected = run.manifest.plan.final_hash
    if run.recording.extended_seconds:
        plan = _core.Plan(json.dumps(run.manifest.plan.profile))
        expected = plan.extended(run.recording.extended_seconds).final_hash
    said = [line for line in run.recording.probe.digests if line.kind == "pods"]
    if not said:
        return Digests(expected=expected)
    given = [digest for digest in (said[-1].store, said[-1].table) if digest is not None]
    return Digests(
        expected=expected,
        store=said[-1].store,
        table=said[-1].table,
        match=all(digest == expected for digest in given) if given else None,
    )


def _client_exit(run: Run) -> ClientExit | None:
    """The client's end, where it came after churn began and before we ended it."""
    stopping = run.recording.mark("stopping")
    if run.recording.t0 is None:
        return None
    for one in run.recording.exits:
        if one.t >= run.recording.t0 and (stopping is None or one.t < stopping):
            return ClientExit(code=one.code, signal=one.signal, after_ns=one.t - run.recording.t0)
    return None


def _terminal(recording: Recording) -> TerminalFigures | None:
    if not recording.terms:
        return None
    last = recording.terms[-1]
    begin = recording.mark("spawned") or recording.terms[0].t
    idle, idle_end = recording.mark("idle"), recording.mark("idle_end")
    cpus = None
    if idle is not None and idle_end is not None:
        cpus = cpu_between(recording.processes.get("client", []), idle, idle_end)
    filled = [one.filled - one.t for one in recording.resizes if one.filled is not None]
    return TerminalFigures(
        bytes=last.bytes,
        chunks=last.chunks,
        frames=last.frames,
        redraws=last.redraws,
        sync_timeouts=last.sync_timeouts,
        seconds=(last.t - begin) / SECOND,
        idle_cpu_percent=None if cpus is None else 100 * cpus,
        resizes=len(recording.resizes),
        resizes_failed=len(recording.resizes) - len(filled),
        resize_max_ns=max(filled, default=None),
    )
