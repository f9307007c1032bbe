"""A load profile → the segments that the engine runs one after another; no clock and no target is needed for it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Literal

from perfq.profile.load.mix import Draws, MixSpec, Stage, mix_of, rate_micros
from perfq.profile.load.planned import MixPlan, plan_mix
from perfq.profile.load.profile import DEFAULT_TOTAL, LoadProfile, Spec
from perfq.profile.load.profile import Stage as ProfileStage

DEFAULT_TIMEOUT_US: Final = 60_000_000


@dataclass(frozen=True, slots=True)
class Segment:
    """One load, in the words of the engine. Rates and counts are those of one runner."""

    #: Number of its spec in the profile, from 0.
    spec: int
    #: It warms up for the segment behind it, and is no part of the measured load.
    warmup: bool
    mix: MixSpec
    #: Requests a second on average; None in a closed loop, and where there are only watches.
    rate: float | None
    #: A closed loop: a request is due when one of `in_flight` workers is free.
    closed: bool
    #: None where the number of requests is the end.
    duration_us: int | None
    connections: int
    in_flight: int
    protocol: Literal["http1", "http2"]
    accept: Literal["json", "protobuf"]
    max_retries: int

    def options(self, *, runners: int, runner_index: int | None = None, plan: MixPlan | None = None) -> dict[str, Any]:
        """What the engine takes; `runner_index` where this process is one runner of several, `plan` if it is known."""
        plan = plan or self.plan(runners=runners, runner_index=runner_index)
        return {
            "source": {"mix": self.mix},
            "runners": runners,
            "runner_index": runner_index,
            "connections": self.connections,
            "in_flight": self.in_flight,
            "protocol": self.protocol,
            "accept": self.accept,
            "max_retries": self.max_retries,
            "duration_us": self.duration_us,
            "rate": 0 if self.closed else self.requested_rate(plan),
        }

    @property
    def peak_rate(self) -> float | None:
        """The highest rate of one runner; None where it has none."""
        if self.rate is None:
            return None
        peak: int = max(max(stage["from_micros"], stage["to_micros"]) for stage in self.mix["stages"])
        return peak / 1_000_000

    def plan(self, *, runners: int, runner_index: int | None = None) -> MixPlan:
        """What will be sent, counted."""
        return plan_mix(self.mix, runners=runners, runner_index=runner_index)

    def requested_rate(self, plan: MixPlan) -> float | None:
        """Requests a second of one runner, as asked.

        Of Poisson arrivals it is what was drawn, not its expectation: a run that sends all of it has kept its word.
        """
        if self.rate is None or self.mix["arrival"] != "poisson":
            return self.rate
        drawn = (plan.requests or 0) - len(plan.runners) * sum(watch["count"] for watch in self.mix["watches"])
        return drawn * 1_000_000 / plan.end_us / len(plan.runners) if plan.end_us else self.rate


def segments_of(profile: LoadProfile) -> list[Segment]:
    """The profile's specs, each with its warm-up before it."""
    return [
        _segment(profile, number, warmup=warmup)
        for number, spec in enumerate(profile.specs)
        for warmup in (True, False)
        if spec.warmup or not warmup
    ]


def timeout_us(profile: LoadProfile) -> int:
    """How long a response may take, from the send."""
    return DEFAULT_TIMEOUT_US if profile.timeout is None else int(profile.timeout)


def _segment(profile: LoadProfile, number: int, *, warmup: bool) -> Segment:
    spec = profile.specs[number]
    course = _warmup_course(spec) if warmup else _course(spec)
    sent = spec.model_copy(update={"watch": []}) if warmup else spec
    # A number of its own, so that a warm-up that is added changes none of the draws behind it.
    segment = 2 * number + int(warmup)
    return Segment(
        spec=number,
        warmup=warmup,
        mix=mix_of(sent, Draws(profile.seed, segment, course.total, course.stages)),
        rate=_mean_rate(course) if sent.requests else None,
        closed=bool(sent.requests) and not course.stages,
        duration_us=course.duration_us,
        connections=spec.conns or 1,
        in_flight=spec.client or 1,
        protocol="http1" if spec.disable_http2 else "http2",
        accept=spec.content_type,
        max_retries=max(spec.max_retries, 0),
    )


@dataclass(frozen=True, slots=True)
class _Course:
    """How a spec goes over time: no stages for a closed loop, a duration only where no total ends it."""

    stages: list[Stage]
    total: int | None
    duration_us: int | None


def _course(spec: Spec) -> _Course:
    if spec.stages:
        stages = [_stage(stage) for stage in spec.stages]
        total = spec.total or None
        return _Course(stages, total, None if total else sum(stage.duration_us or 0 for stage in stages))
    duration_us = spec.duration * 1_000_000
    if not spec.requests:
        return _Course([Stage(duration_us, 0, 0)], None, duration_us)
    if spec.total or not spec.duration:
        return _Course(_at(spec.rate, None), spec.total or DEFAULT_TOTAL, None)
    return _Course(_at(spec.rate, duration_us), None, duration_us)


def _warmup_course(spec: Spec) -> _Course:
    """At the spec's rate, or the first above 0 of its stages."""
    warmup_us = int(spec.warmup)
    ends = (end for stage in spec.stages for end in (stage.rate, stage.from_, stage.to))
    rate = next((end for end in ends if end), 0) if spec.stages else spec.rate
    return _Course(_at(rate, warmup_us), None, warmup_us)


def _at(rate: float, duration_us: int | None) -> list[Stage]:
    return [Stage(duration_us, rate_micros(rate), rate_micros(rate))] if rate else []


def _stage(stage: ProfileStage) -> Stage:
    start = stage.rate if stage.from_ is None else stage.from_
    end = stage.rate if stage.to is None else stage.to
    return Stage(int(stage.duration), rate_micros(start or 0), rate_micros(end or 0))


def _mean_rate(course: _Course) -> float | None:
    if not course.stages:
        return None
    lengths = [stage.duration_us or 1 for stage in course.stages]
    halves = sum(
        (stage.from_micros + stage.to_micros) * length for stage, length in zip(course.stages, lengths, strict=True)
    )
    return float(Fraction(halves, 2_000_000 * sum(lengths)))
