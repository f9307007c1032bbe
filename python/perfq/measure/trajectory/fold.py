"""The record of replayed sessions → everything that its result says, before it is judged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from perfq.measure.identity import finished_at
from perfq.measure.notes import reading_notes
from perfq.measure.process import Window, process_figures
from perfq.measure.result.common import ManifestPart, Processes, ResultWarning
from perfq.measure.trajectory.block import trajectory_block
from perfq.measure.trajectory.evidence import gather
from perfq.measure.trajectory.manifest import TrajectoryManifest
from perfq.measure.trajectory.recorded import TrajectoryRecorded
from perfq.measure.trajectory.recording import TrajectoryRecording
from perfq.measure.trajectory.resources import FILE, Resources
from perfq.measure.trajectory.unknown import reasons

if TYPE_CHECKING:
    from perfq._core import RecorderStatus

#: Sessions whose measurement failed that are named.
_TOLD = 3


def fold_trajectory(
    manifest: TrajectoryManifest,
    recording: TrajectoryRecording,
    resources: Resources | None = None,
    *,
    recorder: RecorderStatus | None = None,
) -> TrajectoryRecorded:
    """`resources` is None where nothing was sampled; `recorder` is what became of the lines, where the run is still
    there."""
    process = _processes(manifest, recording)
    block = trajectory_block(manifest, recording, resources)
    notes = reading_notes(recording.reading)
    notes += [ResultWarning(code="input", text=text) for text in manifest.notes]
    notes += [ResultWarning(code="machine", text=one.text) for one in recording.notes]
    return TrajectoryRecorded(
        manifest=manifest,
        part=_manifest_part(manifest, recording),
        latency={},
        process=process,
        api=None,
        warnings=(*notes, *_sampling_notes(resources), *reasons(manifest, process, block)),
        evidence=gather(recording, manifest, recorder),
        trajectory=block,
    )


def _sampling_notes(resources: Resources | None) -> list[ResultWarning]:
    """Why sessions were not measured to their end, and what the file does not hold."""
    if resources is None:
        return []
    notes = reading_notes(resources.reading, FILE)
    failures = resources.failures
    if failures:
        more = f" and {len(failures) - _TOLD} more" if len(failures) > _TOLD else ""
        text = f"the sampler could not measure {'; '.join(failures[:_TOLD])}{more}"
        notes.append(ResultWarning(code="sampling", text=text, field="/trajectory/sampling"))
    if resources.close is not None and resources.close.error is not None:
        text = (
            f"{FILE} could not be written to its end ({resources.close.error}), {resources.close.lost} lines are lost"
        )
        notes.append(ResultWarning(code="sampling", text=text, field="/trajectory/sampling/lost"))
    return notes


def _processes(manifest: TrajectoryManifest, recording: TrajectoryRecording) -> Processes:
    """The harness alone: what the sessions use is their own."""
    samples = recording.processes.get("harness", [])
    end = recording.mark("drive_end") or recording.last_t or manifest.anchor.mono_ns
    begin = recording.t0 or (samples[0].t if samples else end)
    driven = [one for one in samples if one.t >= begin]
    return Processes(harness=process_figures(driven, Window(begin, populated=None, end=end, earlier=True)))


def _manifest_part(manifest: TrajectoryManifest, recording: TrajectoryRecording) -> ManifestPart:
    return ManifestPart(
        profile_id=manifest.subject,
        profile_hash=manifest.input.sha256,
        object_hash=None,
        event_hash=None,
        final_hash=None,
        perfq=manifest.perfq,
        client=None,
        host=manifest.host,
        target=manifest.target,
        command=manifest.command,
        started_at=manifest.started_at,
        finished_at=finished_at(manifest, recording.last_t),
        input=manifest.input,
        sessions=manifest.sessions,
    )
