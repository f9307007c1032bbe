"""The part of a result that all kinds of run share."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from msgspec import Meta, field

from perfq.measure.client_facts import ClientFacts
from perfq.measure.document import Document
from perfq.measure.load.manifest import InputFacts
from perfq.measure.manifest import HostFacts, PerfqFacts, TargetFacts
from perfq.measure.trajectory.facts import SessionFacts

Status = Literal["PASS", "FAIL", "INVALID", "ABORTED"]
#: How a verdict's reason begins where it is a budget's.
MISSED: Final = "budget missed"
CheckStatus = Literal["passed", "failed", "unknown", "not_applicable"]
BudgetStatus = Literal["met", "missed", "not_applicable", "not_measurable"]
Op = Literal["<=", "<", ">=", ">", "=="]
LatencyName = Literal[
    "response",
    "service",
    "order_wait",
    "slot_wait",
    "lag",
    "ttfb",
    "commit_lag",
    "event_to_written",
    "event_to_client",
    "event_to_render",
    "commit_to_render",
    "event_to_screen",
    "event_to_diff",
    "input",
]


class Verdict(Document):
    """The answer, and why."""

    status: Status
    reasons: list[str]


class Check(Document):
    """One rule of validity: what was seen, and what it may be."""

    name: str
    observed: float | int | str | None
    limit: float | int | str | None
    unit: str | None = None
    status: CheckStatus
    advice: Annotated[str | None, Meta(description="What to do where it failed")] = None


class Validity(Document):
    """Whether the run proves anything."""

    valid: bool
    checks: list[Check]


class ManifestPart(Document):
    """What was run, on what."""

    profile_id: str | None
    profile_hash: str | None
    object_hash: str | None
    event_hash: str | None
    final_hash: str | None
    perfq: PerfqFacts
    client: ClientFacts | None
    host: HostFacts
    target: TargetFacts
    command: str
    started_at: str
    finished_at: str | None
    input: Annotated[InputFacts | None, Meta(description="Of a load: what was sent; of sessions: their profile")] = None
    sessions: Annotated[
        SessionFacts | None, Meta(description="Of replayed sessions: the work, and how it was done")
    ] = None


class Figures(Document):
    """Quantiles by nearest rank, in nanoseconds; null where there are too few samples."""

    count: int
    p50: int | None = None
    p90: int | None = None
    p95: int | None = None
    p99: Annotated[int | None, Meta(description="Null below 100 samples")] = None
    p999: Annotated[int | None, Meta(description="Null below 1,000 samples")] = None
    max: int | None = None


class Latency(Figures):
    """One latency under its one name."""

    unit: Literal["ns"] = "ns"
    method: Literal["exact", "histogram"]
    definition: str
    censored: Annotated[int, Meta(description="Samples that are only known to be at least this long")] = 0
    phases: dict[str, Figures] = field(default_factory=dict)


class SeriesPoint(Document):
    """One point of a chart."""

    t_ns: Annotated[int, Meta(description="After churn, or the load, began")]
    value: int


class ProcessFigures(Document):
    """CPU and memory of a process tree."""

    cpu_seconds: float | None = None
    cpu_percent_max: Annotated[float | None, Meta(description="Of one CPU, over one second at least")] = None
    rss_peak_bytes: int | None = None
    rss_slope_bytes_per_min: Annotated[float | None, Meta(description="Least squares, after warm-up")] = None
    rss_slope_from_ns: Annotated[int | None, Meta(description="End of the warm-up, after churn began")] = None
    rss_slope_samples: int | None = None
    samples: int = 0


class Processes(Document):
    """The embedded server is part of the harness."""

    client: ProcessFigures | None = None
    harness: ProcessFigures | None = None


class Operation(Document):
    """Requests of one verb on one (kind, scope)."""

    count: Annotated[int, Meta(description="A chain of continue pages is one LIST")]
    pages: int
    bytes: int
    objects: int = 0
    errors: Annotated[int, Meta(description="Answers of status 400 and above")] = 0


class PathFigures(Document):
    """Requests of one verb on one path template."""

    requests: int
    bytes: int
    statuses: dict[str, int]


class Api(Document):
    """What the server saw of the client."""

    operations: dict[str, Operation] = field(default_factory=dict)
    by_path: dict[str, PathFigures] = field(default_factory=dict)
    decoded_bytes: int | None = None
    watch_events: int | None = None
    reconnects: Annotated[int | None, Meta(description="Recoveries from a dropped watch")] = None
    relists: Annotated[int | None, Meta(description="LISTs after a 410")] = None
    lists_per_scope_max: Annotated[
        int | None, Meta(description="LISTs of one (kind, scope), re-lists and reconnects aside: the most")
    ] = None
    watches_per_scope_max: Annotated[
        int | None, Meta(description="WATCHes of one (kind, scope), recoveries and expiries aside: the most")
    ] = None
    throttles: int | None = None
    authorization_failures: int | None = None
    unexpected_gets: Annotated[
        int | None, Meta(description="GETs of one object of a served kind outside a scenario")
    ] = None


class BudgetResult(Document):
    """One budget, judged."""

    metric: str
    phase: str | None = None
    op: Op
    limit: bool | int | float | str
    unit: str | None = None
    observed: bool | int | float | str | None = None
    margin: Annotated[float | int | None, Meta(description="How far inside the limit; negative outside")] = None
    n: Annotated[int | None, Meta(description="Samples behind the observed figure")] = None
    status: BudgetStatus
    why: Annotated[
        str | None,
        Meta(description="Why it is not applicable or not measurable; of a missed one, what missed it, by name"),
    ] = None
    was: str | None = None
    rationale: str | None = None


class ResultWarning(Document):
    """What a reader should know; `field` is the JSON pointer of what it is about."""

    code: str
    text: str
    advice: str | None = None
    field: str | None = None


class Artifact(Document):
    """An input or a recording of the run."""

    path: str
    bytes: int
    sha256: str


class Cleanup(Document):
    """Whether anything was left behind, and what removes it."""

    complete: bool
    left: list[str] = field(default_factory=list)
    command: str | None = None
