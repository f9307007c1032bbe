"""The block of a replay: one client, one workload."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, field

from perfq.measure.document import Document
from perfq.measure.result.common import SeriesPoint

FailureKind = Literal["gone", "throttled", "forbidden", "slow", "metrics_unavailable", "slow_logs"]


class Start(Document):
    """From nothing to a full table."""

    interactive_ns: Annotated[int | None, Meta(description="Process start → the client takes keys")] = None
    list_to_populated_ns: Annotated[
        int | None, Meta(description="The Pod LIST was written → every row is in the client's table (probe)")
    ] = None
    populated_screen_ns: Annotated[
        int | None, Meta(description="Process start → the screen shows the expected rows")
    ] = None


class Churn(Document):
    """The load as it was asked for, and as it was executed."""

    planned: Annotated[int | None, Meta(description="Events of the plan, extension included")] = None
    committed: int | None = None
    skipped: Annotated[int | None, Meta(description="On objects that a user had deleted")] = None
    wall_ns: Annotated[int | None, Meta(description="First due instant → last commit")] = None
    requested_rate: Annotated[float | None, Meta(description="Events/s of the plan")] = None
    achieved_rate: Annotated[float | None, Meta(description="Events/s committed")] = None
    probe_rate: Annotated[float | None, Meta(description="What probe events add, in events/s")] = None


class Updates(Document):
    """Counts of two independent parties: the server's, and the client's."""

    requested: Annotated[int | None, Meta(description="Events of the plan")] = None
    delivered: Annotated[int | None, Meta(description="Written to the client's Pod watches (server)")] = None
    rendered: int | None = None
    coalesced: int | None = None
    dropped: int | None = None


class Backlog(Document):
    """delivered − (rendered + coalesced + dropped), over time."""

    max_depth: int | None = None
    drain_ns: Annotated[
        list[int | None],
        Meta(description="For each burst: its end → back at the median before it; null where it never came back"),
    ] = field(default_factory=list)


class Digests(Document):
    """SHA-256 of the canonical text of the objects."""

    expected: str | None = None
    store: str | None = None
    table: str | None = None
    match: Annotated[bool | None, Meta(description="Every digest that was given equals the expected one")] = None


class Probes(Document):
    """Probe events: a schedule beside the plan."""

    planned: int = 0
    seen: int = 0
    superseded: Annotated[int, Meta(description="The plan changed the Pod before the number was seen")] = 0
    lost: Annotated[int, Meta(description="Committed and never seen in time")] = 0
    unsent: Annotated[int, Meta(description="Never committed: no row of a Pod was on the screen")] = 0


class Input(Document):
    """Keys pressed while events flowed."""

    planned: int = 0
    pairs: Annotated[int, Meta(description="Pairs whose both keys had their effect")] = 0
    failed: Annotated[int, Meta(description="Keys after which the cursor stood elsewhere: no sample")] = 0
    censored: Annotated[int, Meta(description="Keys without effect in time: samples of at least that")] = 0


class FailureInjected(Document):
    """One kind of failure that the profile asked for."""

    injected: int
    exercised: int
    shown: Annotated[bool | None, Meta(description="The client's reaction held its predicate")] = None
    why: Annotated[str | None, Meta(description="The clause that did not hold, or could not be told")] = None


class ScenarioResult(Document):
    """A key sequence and whether its screen came."""

    name: str
    ok: bool
    screen: Annotated[str | None, Meta(description="The last screen where it did not")] = None


class ClientExit(Document):
    """The client ended by itself after churn had begun."""

    code: int | None
    signal: int | None
    after_ns: Annotated[int, Meta(description="After churn began")]


class TerminalFigures(Document):
    """What the client wrote to its terminal."""

    bytes: int
    chunks: int
    frames: int
    redraws: int
    sync_timeouts: int
    seconds: float
    idle_cpu_percent: Annotated[float | None, Meta(description="Of one CPU, while nothing happened")] = None
    resizes: int = 0
    resizes_failed: Annotated[
        int, Meta(description="Changes of size after which the screen was not drawn anew in time")
    ] = 0
    resize_max_ns: Annotated[int | None, Meta(description="From the change of size to the frame that fills it")] = None


class Replay(Document):
    """What only a replay has."""

    start: Start = field(default_factory=Start)
    churn: Churn = field(default_factory=Churn)
    updates: Updates = field(default_factory=Updates)
    backlog: Backlog = field(default_factory=Backlog)
    digests: Digests = field(default_factory=Digests)
    probes: Probes = field(default_factory=Probes)
    input: Input = field(default_factory=Input)
    failures_injected: dict[FailureKind, FailureInjected] = field(default_factory=dict)
    scenarios: list[ScenarioResult] = field(default_factory=list)
    scenarios_failed: int = 0
    extended_seconds: int = 0
    client_exit: ClientExit | None = None
    terminal: TerminalFigures | None = None
    series: Annotated[
        dict[str, list[SeriesPoint]], Meta(description="Down-sampled for charts; the extremes survive")
    ] = field(default_factory=dict)
    bursts: Annotated[list[tuple[int, int]], Meta(description="Begin and end of each burst, ns after churn began")] = (
        field(default_factory=list)
    )
