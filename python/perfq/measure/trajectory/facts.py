"""The work of replayed sessions, as manifest and result tell it."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from perfq.measure.document import Document


class SessionFacts(Document):
    """What was to be done, and how. Two runs whose `work_sha256` differ did not do the same."""

    plan_sha256: Annotated[str, Meta(description="Of plan.json: the work, its arrivals and every option")]
    work_sha256: Annotated[str, Meta(description="Of the commands and waits of all sessions, whatever their arrivals")]
    sessions: int
    commands: int
    planned_wait_ns: Annotated[int, Meta(description="Of all sessions")]
    arrivals: Annotated[str, Meta(description="waves, explicit or poisson")]
    last_arrival_ns: Annotated[int, Meta(description="When the last session is meant to arrive")]
    budget_bytes: int | None = None
    headroom_bytes: int = 0
    max_concurrent: int | None = None
    launch_interval_ns: int = 0
    timeout_ns: Annotated[int, Meta(description="Of commands that have none of their own")]
    term_grace_ns: int
    wait_mode: Literal["idle", "freeze", "offload"]
    backend: Literal["local", "command", "pods"]
    sampling: Literal["isolated", "inline", "off"]
    sampling_workers: int
    sampling_delay_after_ns: int
    inject_read_delay_ns: int = 0
