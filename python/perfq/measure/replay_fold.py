"""The record of a replay → everything that its result says, before it is judged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from perfq.measure import allocations, api, evidence, start, unknown
from perfq.measure.definitions import DEFINITIONS
from perfq.measure.failures import Background, failures_injected
from perfq.measure.figures import LatencySamples
from perfq.measure.identity import finished_at
from perfq.measure.notes import reading_notes
from perfq.measure.process import Window, process_figures
from perfq.measure.recording import Recording
from perfq.measure.replay_block import depths_of, replay_block
from perfq.measure.replay_manifest import ReplayManifest
from perfq.measure.replay_recorded import ReplayRecorded
from perfq.measure.result.common import Api, LatencyName, ManifestPart, Processes, ResultWarning
from perfq.measure.result.replay import FailureInjected, FailureKind, Replay
from perfq.measure.run import Run

if TYPE_CHECKING:
    from perfq._core import RecorderStatus


def fold_replay(
    manifest: ReplayManifest, recording: Recording, *, recorder: RecorderStatus | None = None
) -> ReplayRecorded:
    """`recorder` is what became of the lines, where the run is still there."""
    run = Run.of(manifest, recording)
    latencies, replay = replay_block(run)
    process = _processes(run)
    accounted = api.account(recording)
    replay = replay.replace(failures_injected=_failures(run, latencies, replay, accounted))
    latency = {name: samples.latency(DEFINITIONS[name]) for name, samples in latencies.items()}
    measured = unknown.Measured(latency=latency, process=process, api=accounted, replay=replay)
    return ReplayRecorded(
        manifest=manifest,
        part=_manifest_part(run),
        latency=latency,
        process=process,
        api=accounted,
        replay=replay,
        warnings=(*_notes(run), *unknown.reasons(measured, manifest.client, recording.t0 is not None)),
        evidence=evidence.gather(recording, manifest, recorder),
        allocations=allocations.allocations_of(recording),
    )


def _processes(run: Run) -> Processes:
    populated = start.populated_at(run.recording, run.manifest.plan.objects) or start.screen_at(
        run.recording, "populated"
    )

    def window(who: str) -> Window:
        samples = run.recording.processes.get(who, [])
        begin = run.recording.mark("spawned") or (samples[0].t if samples else run.t0)
        return Window(begin=begin, populated=populated, end=run.end, earlier=who == "harness")

    return Processes(
        client=process_figures(run.recording.processes.get("client", []), window("client")),
        harness=process_figures(run.recording.processes.get("harness", []), window("harness")),
    )


def _failures(
    run: Run, latencies: dict[LatencyName, LatencySamples], replay: Replay, accounted: Api
) -> dict[FailureKind, FailureInjected]:
    known = None
    if run.recording.t0 is not None:
        keys = latencies["input"]
        known = Background(
            t0=run.t0,
            churn_end=run.churn_end,
            timeline=run.timeline,
            relists=accounted.relists or 0,
            digests=replay.digests,
            depths=depths_of(run),
            input=[(at + run.t0, value) for at, value in zip(keys.instants, keys.values, strict=True)],
        )
    return failures_injected(run.recording, run.manifest.plan.profile, known)


def _manifest_part(run: Run) -> ManifestPart:
    manifest, hello = run.manifest, run.recording.probe.hello
    client = manifest.client
    if hello is not None:
        client = client.replace(
            version=client.version or hello.version, libraries={**hello.libraries, **client.libraries}
        )
    return ManifestPart(
        profile_id=manifest.plan.id,
        profile_hash=manifest.plan.profile_hash,
        object_hash=manifest.plan.object_hash,
        event_hash=manifest.plan.event_hash,
        final_hash=manifest.plan.final_hash,
        perfq=manifest.perfq,
        client=client,
        host=manifest.host,
        target=manifest.target,
        command=manifest.command,
        started_at=manifest.started_at,
        finished_at=finished_at(manifest, run.recording.last_t),
    )


def _notes(run: Run) -> list[ResultWarning]:
    """What a reader should know beside the nulls."""
    recording = run.recording
    notes = [*allocations.linked_run(run), *reading_notes(recording.reading)]
    if recording.probe.bad:
        text = f"{recording.probe.bad} lines of the client's probe could not be read"
        notes.append(ResultWarning(code="probe_bad_lines", text=text, advice="see docs/reference/probe.md"))
    if run.manifest.options.cpu_profile:
        failed = recording.marks.get("cpu_profile")
        text = "the client was profiled during the churn: its latencies and CPU hold the profiler's cost"
        advice = "never compare a profiled run with others"
        if failed is not None and failed.why is not None:
            text, advice = f"no CPU profile came: {failed.why}", "py-spy profiles Python clients that perfq may trace"
        notes.append(ResultWarning(code="cpu_profile", text=text, advice=advice, field="/process/client"))
    stopping = recording.marks.get("stopping")
    if stopping is not None and stopping.unanswered:
        text = f"the terminal did not answer what the client asked: {', '.join(stopping.unanswered)}"
        advice = "a client that waited for an answer waited in its start time"
        pointer = "/replay/start/interactive_ns"
        notes.append(ResultWarning(code="unanswered", text=text, advice=advice, field=pointer))
    if recording.terms and recording.terms[-1].sync_timeouts:
        count = recording.terms[-1].sync_timeouts
        text = f"{count} synchronized updates were not ended within 1 s and were drawn then"
        notes.append(ResultWarning(code="sync_timeouts", text=text, field="/replay/terminal/sync_timeouts"))
    if recording.extended_seconds:
        text = f"the run was extended by {recording.extended_seconds} s, so that all input samples could be taken"
        notes.append(ResultWarning(code="extended", text=text, field="/replay/extended_seconds"))
    return notes
