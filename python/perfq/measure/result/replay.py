"""The block of a replay: one client, one workload."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from perfq.measure.document import Document
from perfq.measure.result.common import SeriesPoint

FailureKind = Literal["gone", "throttled", "forbidden", "slow", "metrics_unavailable", "slow_logs"]


class Start(Document):
    """From nothing to a full table."""

    interactive_ns: int | None = Field(default=None, description="Process start → the client takes keys")
    list_to_populated_ns: int | None = Field(
        default=None, description="The Pod LIST was written → every row is in the client's table (probe)"
    )
    populated_screen_ns: int | None = Field(
        default=None, description="Process start → the screen shows the expected rows"
    )


class Churn(Document):
    """The load as it was asked for, and as it was executed."""

    planned: int | None = Field(default=None, description="Events of the plan, extension included")
    committed: int | None = None
    skipped: int | None = Field(default=None, description="On objects that a user had deleted")
    wall_ns: int | None = Field(default=None, description="First due instant → last commit")
    requested_rate: float | None = Field(default=None, description="Events/s of the plan")
    achieved_rate: float | None = Field(default=None, description="Events/s committed")
    probe_rate: float | None = Field(default=None, description="What probe events add, in events/s")


class Updates(Document):
    """Counts of two independent parties: the server's, and the client's."""

    requested: int | None = Field(default=None, description="Events of the plan")
    delivered: int | None = Field(default=None, description="Written to the client's Pod watches (server)")
    rendered: int | None = None
    coalesced: int | None = None
    dropped: int | None = None


class Backlog(Document):
    """delivered − (rendered + coalesced + dropped), over time."""

    max_depth: int | None = None
    drain_ns: list[int | None] = Field(
        default_factory=list,
        description="For each burst: its end → back at the median before it; null where it never came back",
    )


class Digests(Document):
    """SHA-256 of the canonical text of the objects."""

    expected: str | None = None
    store: str | None = None
    table: str | None = None
    match: bool | None = Field(default=None, description="Every digest that was given equals the expected one")


class Probes(Document):
    """Probe events: a schedule beside the plan."""

    planned: int = 0
    seen: int = 0
    superseded: int = Field(default=0, description="The plan changed the Pod before the number was seen")
    lost: int = Field(default=0, description="Committed and never seen in time")
    unsent: int = Field(default=0, description="Never committed: no row of a Pod was on the screen")


class Input(Document):
    """Keys pressed while events flowed."""

    planned: int = 0
    pairs: int = Field(default=0, description="Pairs whose both keys had their effect")
    failed: int = Field(default=0, description="Keys after which the cursor stood elsewhere: no sample")
    censored: int = Field(default=0, description="Keys without effect in time: samples of at least that")


class FailureInjected(Document):
    """One kind of failure that the profile asked for."""

    injected: int
    exercised: int
    shown: bool | None = Field(default=None, description="The client's reaction held its predicate")
    why: str | None = Field(default=None, description="The clause that did not hold, or could not be told")


class ScenarioResult(Document):
    """A key sequence and whether its screen came."""

    name: str
    ok: bool
    screen: str | None = Field(default=None, description="The last screen where it did not")


class ClientExit(Document):
    """The client ended by itself after churn had begun."""

    code: int | None
    signal: int | None
    after_ns: int = Field(description="After churn began")


class TerminalFigures(Document):
    """What the client wrote to its terminal."""

    bytes: int
    chunks: int
    frames: int
    redraws: int
    sync_timeouts: int
    seconds: float
    idle_cpu_percent: float | None = Field(default=None, description="Of one CPU, while nothing happened")
    resizes: int = 0
    resizes_failed: int = Field(
        default=0, description="Changes of size after which the screen was not drawn anew in time"
    )
    resize_max_ns: int | None = Field(default=None, description="From the change of size to the frame that fills it")


class Replay(Document):
    """What only a replay has."""

    start: Start = Field(default_factory=Start)
    churn: Churn = Field(default_factory=Churn)
    updates: Updates = Field(default_factory=Updates)
    backlog: Backlog = Field(default_factory=Backlog)
    digests: Digests = Field(default_factory=Digests)
    probes: Probes = Field(default_factory=Probes)
    input: Input = Field(default_factory=Input)
    failures_injected: dict[FailureKind, FailureInjected] = Field(default_factory=dict)
    scenarios: list[ScenarioResult] = Field(default_factory=list)
    scenarios_failed: int = 0
    extended_seconds: int = 0
    client_exit: ClientExit | None = None
    terminal: TerminalFigures | None = None
    series: dict[str, list[SeriesPoint]] = Field(
        default_factory=dict, description="Down-sampled for charts; the extremes survive"
    )
    bursts: list[tuple[int, int]] = Field(
        default_factory=list, description="Begin and end of each burst, ns after churn began"
    )
