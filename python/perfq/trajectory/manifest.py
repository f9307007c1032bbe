"""The manifest of replayed sessions: everything that judging needs and the samples do not say."""

from __future__ import annotations

import datetime
import hashlib
import shlex
from pathlib import Path

from perfq.measure.load.manifest import InputFacts
from perfq.measure.manifest import Anchor, HostFacts, PerfqFacts, TargetFacts
from perfq.measure.trajectory.facts import SessionFacts
from perfq.measure.trajectory.manifest import TrajectoryManifest
from perfq.trajectory.options import TrajectoryOptions
from perfq.trajectory.plan import SessionPlan

_MS = 1_000_000


def build_manifest(options: TrajectoryOptions, workspaces: Path | None) -> TrajectoryManifest:
    """The manifest as it is written before anything starts."""
    plan = options.plan
    backend = plan.profile.backend.kind
    return TrajectoryManifest(
        run_id=options.run_id,
        command=shlex.join(options.command),
        started_at=datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds"),
        anchor=Anchor.now(),
        target=TargetFacts(kind="cluster" if backend == "pods" else backend),
        host=HostFacts.here(),
        perfq=PerfqFacts.here(),
        budgets=list(options.budgets),
        input=InputFacts(
            kind="trajectory profile", name=options.file, sha256=options.sha256, description=plan.profile.name
        ),
        sessions=facts(plan),
        workspaces=None if workspaces is None else str(workspaces),
    )


def facts(plan: SessionPlan) -> SessionFacts:
    """The work, and how it is to be done."""
    profile = plan.profile
    admission, command, sampling = profile.admission, profile.command, profile.sampling
    return SessionFacts(
        plan_sha256=plan.sha256,
        work_sha256=work_sha256(plan),
        sessions=len(plan.sessions),
        commands=plan.commands,
        planned_wait_ns=plan.planned_wait_ms * _MS,
        arrivals=profile.arrivals.mode,
        last_arrival_ns=plan.last_arrival_ms * _MS,
        budget_bytes=admission.budget_bytes,
        headroom_bytes=admission.headroom_bytes,
        max_concurrent=admission.max_concurrent,
        launch_interval_ns=profile.launch.interval_ms * _MS,
        timeout_ns=command.timeout_ms * _MS,
        term_grace_ns=command.term_grace_ms * _MS,
        wait_mode=profile.wait.mode,
        backend=profile.backend.kind,
        sampling=sampling.mode,
        sampling_workers=sampling.workers,
        sampling_delay_after_ns=sampling.delay_after_ms * _MS,
        inject_read_delay_ns=sampling.inject_read_delay_ms * _MS,
    )


def work_sha256(plan: SessionPlan) -> str:
    """Of the sessions' own hashes, one a line, sorted: the same work has the same, in whatever order it arrives."""
    hashes = sorted(session.trajectory.sha256 for session in plan.sessions)
    return hashlib.sha256("".join(f"{one}\n" for one in hashes).encode()).hexdigest()
