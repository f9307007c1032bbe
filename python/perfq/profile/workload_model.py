"""The workload profile, schema version 1, and `perfq.plan/v1`, as models. The rules between fields are the core's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from pydantic import Field, field_validator

from perfq.profile.document import Strict

if TYPE_CHECKING:
    from perfq._core import Plan

FailureKind = Literal["gone", "throttled", "forbidden", "slow", "metrics_unavailable", "slow_logs"]


class Burst(Strict):
    """Seconds with a rate of their own."""

    start_second: int = Field(ge=0, le=86_399, description="First second, from the start of the churn.")
    duration_seconds: int = Field(ge=1, le=86_400, description="How many seconds.")
    events_per_second: int = Field(ge=1, le=100_000, description="Events in each of these seconds.")


class Failure(Strict):
    """A failure that the server injects when it commits an event."""

    kind: FailureKind = Field(description="What happens.")
    at_event: int = Field(ge=1, le=10_000_000, description="Number of the event, from 1; one failure an event.")


class Profile(Strict):
    """How many Pods there are, and how they change: everything is drawn from this and the seed."""

    schema_version: Literal[1] = Field(description="Always 1.")
    id: str = Field(min_length=1, max_length=128, description="A name in printable characters.")
    seed: int = Field(ge=0, le=2**63 - 1, description="Seed of CPython's random.Random.")
    object_count: int = Field(ge=1, le=1_000_000, description="Pods; a multiple of namespace_count.")
    namespace_count: int = Field(ge=1, le=10_000, description="Namespaces that the Pods are spread over.")
    steady_events_per_second: int = Field(ge=0, le=100_000, description="Events in each second outside bursts.")
    duration_seconds: int = Field(ge=1, le=86_400, description="How long the churn lasts.")
    bursts: list[Burst] = Field(default_factory=list, description="Within the duration, not overlapping.")
    failures: list[Failure] = Field(default_factory=list, description="In the order of the file.")

    @field_validator("schema_version", mode="before")
    @classmethod
    def _known(cls, value: object) -> object:
        if type(value) is not int or value != 1:  # True and 1.0 equal 1
            raise ValueError("1, the only version that this perfq reads")
        return value

    @field_validator("id")
    @classmethod
    def _printable(cls, value: str) -> str:
        if not value.isprintable():
            raise ValueError("1 to 128 printable characters")
        return value

    def to_json(self) -> str:
        """What the core plans from."""
        return self.model_dump_json()


PLAN_SCHEMA: Final = "perfq.plan/v1"
_HASH: Final = "^[0-9a-f]{64}$"


class PlanDocument(Strict):
    """Counts, rates and hashes of a resolved profile. The same plan gives the same bytes."""

    schema_: Literal["perfq.plan/v1"] = Field(alias="schema", description="The name of this format.")
    id: str = Field(description="The profile's id.")
    profile_hash: str = Field(pattern=_HASH, description="SHA-256 of the profile's canonical line.")
    object_hash: str = Field(pattern=_HASH, description="SHA-256 of the initial objects' canonical text.")
    event_hash: str = Field(pattern=_HASH, description="SHA-256 of the events' canonical text.")
    final_hash: str = Field(pattern=_HASH, description="SHA-256 of the objects' text after all events.")
    objects: int = Field(ge=1, description="Pods.")
    events: int = Field(ge=0, description="Planned events.")
    namespaces: int = Field(ge=1, description="Namespaces that hold the Pods.")
    peak_rate: int = Field(ge=0, description="Events in the busiest second.")
    mean_rate: float = Field(ge=0, description="Events per second over the duration.")
    duration_seconds: int = Field(ge=1, description="Length of the churn, s.")
    bursts: list[Burst] = Field(description="Seconds with a rate of their own.")
    failures: list[Failure] = Field(description="Injected failures.")
    profile: Profile = Field(description="The resolved profile itself, from which the plan can be made again.")

    @classmethod
    def of(cls, plan: Plan) -> PlanDocument:
        """What a plan comes to."""
        profile = Profile.model_validate_json(plan.profile_json)
        return cls(
            schema=PLAN_SCHEMA,
            id=plan.id,
            profile_hash=plan.profile_hash,
            object_hash=plan.object_hash,
            event_hash=plan.event_hash,
            final_hash=plan.final_hash,
            objects=plan.objects,
            events=plan.events,
            namespaces=plan.namespaces,
            peak_rate=plan.peak_rate,
            mean_rate=plan.events / plan.duration_seconds,
            duration_seconds=plan.duration_seconds,
            bursts=profile.bursts,
            failures=profile.failures,
            profile=profile,
        )

    def to_json(self) -> str:
        """Indented, with a newline at the end: the bytes of a run's plan.json."""
        return self.model_dump_json(by_alias=True, indent=2) + "\n"
