"""The part of a result that all kinds of run share."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import Field

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
    advice: str | None = Field(default=None, description="What to do where it failed")


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
    input: InputFacts | None = Field(default=None, description="Of a load: what was sent; of sessions: their profile")
    sessions: SessionFacts | None = Field(
        default=None, description="Of replayed sessions: the work, and how it was done"
    )


class Figures(Document):
    """Quantiles by nearest rank, in nanoseconds; null where there are too few samples."""

    count: int
    p50: int | None = None
    p90: int | None = None
    p95: int | None = None
    p99: int | None = Field(default=None, description="Null below 100 samples")
    p999: int | None = Field(default=None, description="Null below 1,000 samples")
    max: int | None = None


class Latency(Figures):
    """One latency under its one name."""

    unit: Literal["ns"] = "ns"
    method: Literal["exact", "histogram"]
    definition: str
    censored: int = Field(default=0, description="Samples that are only known to be at least this long")
    phases: dict[str, Figures] = Field(default_factory=dict)


class SeriesPoint(Document):
    """One point of a chart."""

    t_ns: int = Field(description="After churn, or the load, began")
    value: int


class ProcessFigures(Document):
    """CPU and memory of a process tree."""

    cpu_seconds: float | None = None
    cpu_percent_max: float | None = Field(default=None, description="Of one CPU, over one second at least")
    rss_peak_bytes: int | None = None
    rss_slope_bytes_per_min: float | None = Field(default=None, description="Least squares, after warm-up")
    rss_slope_from_ns: int | None = Field(default=None, description="End of the warm-up, after churn began")
    rss_slope_samples: int | None = None
    samples: int = 0


class Processes(Document):
    """The embedded server is part of the harness."""

    client: ProcessFigures | None = None
    harness: ProcessFigures | None = None


class Operation(Document):
    """Requests of one verb on one (kind, scope)."""

    count: int = Field(description="A chain of continue pages is one LIST")
    pages: int
    bytes: int
    objects: int = 0
    errors: int = Field(default=0, description="Answers of status 400 and above")


class PathFigures(Document):
    """Requests of one verb on one path template."""

    requests: int
    bytes: int
    statuses: dict[str, int]


class Api(Document):
    """What the server saw of the client."""

    operations: dict[str, Operation] = Field(default_factory=dict)
    by_path: dict[str, PathFigures] = Field(default_factory=dict)
    decoded_bytes: int | None = None
    watch_events: int | None = None
    reconnects: int | None = Field(default=None, description="Recoveries from a dropped watch")
    relists: int | None = Field(default=None, description="LISTs after a 410")
    lists_per_scope_max: int | None = Field(
        default=None, description="LISTs of one (kind, scope), re-lists and reconnects aside: the most"
    )
    watches_per_scope_max: int | None = Field(
        default=None, description="WATCHes of one (kind, scope), recoveries and expiries aside: the most"
    )
    throttles: int | None = None
    authorization_failures: int | None = None
    unexpected_gets: int | None = Field(
        default=None, description="GETs of one object of a served kind outside a scenario"
    )


class BudgetResult(Document):
    """One budget, judged."""

    metric: str
    phase: str | None = None
    op: Op
    limit: bool | int | float | str
    unit: str | None = None
    observed: bool | int | float | str | None = None
    margin: float | int | None = Field(default=None, description="How far inside the limit; negative outside")
    n: int | None = Field(default=None, description="Samples behind the observed figure")
    status: BudgetStatus
    why: str | None = Field(
        default=None,
        description="Why it is not applicable or not measurable; of a missed one, what missed it, by name",
    )
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
    left: list[str] = Field(default_factory=list)
    command: str | None = None
