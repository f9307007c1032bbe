"""The record of a request load → everything that its result says, before it is judged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from perfq.measure.definitions import DEFINITIONS
from perfq.measure.harness import BUSY
from perfq.measure.identity import finished_at
from perfq.measure.load.block import figures, load_block
from perfq.measure.load.evidence import gather
from perfq.measure.load.held_back import FAILURES, held_back
from perfq.measure.load.manifest import LoadManifest
from perfq.measure.load.rates import engine_cpu_share
from perfq.measure.load.recorded import LoadRecorded
from perfq.measure.load.recording import LATENCIES, LoadRecording
from perfq.measure.load.server import server_figures
from perfq.measure.load.unknown import reasons
from perfq.measure.notes import reading_notes
from perfq.measure.process import Window, process_figures
from perfq.measure.result.common import Latency, LatencyName, ManifestPart, Processes, ResultWarning
from perfq.measure.result.load import Load

if TYPE_CHECKING:
    from perfq._core import RecorderStatus


def fold_load(
    manifest: LoadManifest, recording: LoadRecording, *, recorder: RecorderStatus | None = None
) -> LoadRecorded:
    """`recorder` is what became of the lines, where the run is still there."""
    latency = {name: _latency(recording, name) for name in LATENCIES}
    process = _processes(manifest, recording)
    load = load_block(manifest, recording)
    return LoadRecorded(
        manifest=manifest,
        part=_manifest_part(manifest, recording),
        latency=latency,
        process=process,
        api=None,
        warnings=(
            *_explained(load, latency),
            *_failures(manifest, load),
            *_notes(manifest, recording),
            *reasons(latency, process, load, server_figures(recording.server)[1]),
        ),
        evidence=gather(recording, manifest, load, recorder),
        load=load,
        recording=recording,
    )


def _explained(load: Load, latency: Mapping[LatencyName, Latency | None]) -> list[ResultWarning]:
    found = held_back(load, latency)
    return [] if found is None else [found]


def _failures(manifest: LoadManifest, load: Load) -> list[ResultWarning]:
    """That requests failed is no verdict of its own; where no budget speaks of it, it is said."""
    if not load.error_share or any(one.metric == "load.error_share" for one in manifest.budgets):
        return []
    classes = [*load.errors.items(), *([("timed out", load.timed_out)] if load.timed_out else [])]
    most = ", ".join(f"{key} {count:,}" for key, count in sorted(classes, key=lambda one: -one[1])[:3])
    failed = sum(count for _, count in classes)
    text = f"{failed:,} of {load.ok + failed:,} requests failed ({most}), and no budget judges that"
    advice = "hold them to a share with --budget 'load.error_share<=0.1%'"
    return [ResultWarning(code=FAILURES, text=text, advice=advice, field="/load/error_share")]


def _latency(recording: LoadRecording, name: LatencyName) -> Latency | None:
    """Over all segments, and by segment where there are several."""
    whole = figures(recording.merged(name))
    if whole is None:
        return None
    phases = {}
    for number, segment in enumerate(recording.measured):
        if name in segment.latency and not (name == "response" and segment.start.closed):
            found = figures(segment.latency[name])
            if found is not None:
                phases[f"segment-{number}"] = found
    return Latency(
        **whole.fields(),
        method="histogram",
        definition=DEFINITIONS[name],
        phases=phases if len(recording.measured) > 1 else {},
    )


def _processes(manifest: LoadManifest, recording: LoadRecording) -> Processes:
    """The generator, and the embedded server where it is the target: both are in this process."""
    samples = recording.processes.get("harness", [])
    last = recording.last_t or manifest.anchor.mono_ns
    end = max((one.last_t for one in recording.measured), default=last)
    begin = recording.t0 or (samples[0].t if samples else last)
    return Processes(
        harness=process_figures(
            [one for one in samples if one.t >= begin], Window(begin, populated=None, end=end, earlier=True)
        )
    )


def _manifest_part(manifest: LoadManifest, recording: LoadRecording) -> ManifestPart:
    return ManifestPart(
        profile_id=manifest.subject,
        profile_hash=manifest.input.sha256,
        object_hash=manifest.object_hash,
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
    )


def _notes(manifest: LoadManifest, recording: LoadRecording) -> list[ResultWarning]:
    """What a reader should know beside the nulls."""
    notes = reading_notes(recording.reading)
    notes += [ResultWarning(code="input", text=text) for text in manifest.notes]
    share = engine_cpu_share(one for one in recording.measured if one.start.closed)
    if share is not None and share > BUSY:
        text = f"in the closed loop the generator was the limit: its busiest thread was {share:.0%} busy"
        advice = "the rate and the service times are its own; more CPUs or more machines show the target's"
        notes.append(ResultWarning(code="generator_busy", text=text, advice=advice, field="/load/achieved_rate"))
    notes += _of_the_end(manifest, recording)
    if manifest.target.kind == "embedded":
        text = "the embedded server ran in this process: it and the generator shared the CPUs"
        advice = "name a server of another process with --context to tell one from the other"
        notes.append(ResultWarning(code="shared_process", text=text, advice=advice, field="/process/harness"))
    return notes


def _of_the_end(manifest: LoadManifest, recording: LoadRecording) -> Iterator[ResultWarning]:
    """What came to light as the load ended."""
    if "credential" in recording.marks:
        text = f"the credential could not be renewed: {recording.marks['credential'].why}"
        advice = "requests went on with the former one; errors http/401 may come of that"
        yield ResultWarning(code="credential", text=text, advice=advice)
    ends = [one.end for one in recording.measured if one.end is not None]
    raw = next((one.raw_data for one in reversed(ends) if one.raw_data is not None), None)
    if raw is not None and raw.lost:
        text = f"{raw.lost:,} samples are not in the raw data ({raw.error or 'they could not be written'})"
        yield ResultWarning(code="raw_data", text=text, advice="all of them are in the figures")
    asked = any(one.accept == "protobuf" for one in manifest.segments if not one.warm_up)
    if asked and any(one.ok for one in ends) and not any(one.envelopes for one in ends):
        text = "answers were asked for as protobuf, and none came so"
        yield ResultWarning(code="accept", text=text, advice="their bytes and times are those of JSON")
