"""One run: its manifest, its record, and the instants that its parts have in common."""

from __future__ import annotations

from dataclasses import dataclass

from perfq.measure.phases import Timeline
from perfq.measure.recording import Recording
from perfq.measure.replay_manifest import ReplayManifest


@dataclass(frozen=True)
class Run:
    """A run and what its parts have in common. Without T0, times are told from the first mark."""

    manifest: ReplayManifest
    recording: Recording
    timeline: Timeline
    t0: int
    churn_end: int
    end: int

    @classmethod
    def of(cls, manifest: ReplayManifest, recording: Recording) -> Run:
        last = recording.last_t or manifest.anchor.mono_ns
        end = recording.mark("stopping") or last
        return cls(
            manifest=manifest,
            recording=recording,
            timeline=Timeline.of(manifest.plan.profile, recording.extended_seconds),
            t0=recording.t0 or manifest.anchor.mono_ns,
            churn_end=recording.mark("churn_end") or end,
            end=end,
        )
