"""A load profile or runner group → a planned load."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from perfq.load.planned import PlannedLoad, PlannedSegment, Remark
from perfq.load.shape import Runners, Shape
from perfq.measure.load.manifest import InputFacts, SegmentFacts
from perfq.profile.load.connections import RunnerLoad, connection_advice
from perfq.profile.load.reading import LoadDocument
from perfq.profile.load.segments import Segment, segments_of, timeout_us
from perfq.profile.shown import show_path
from perfq.profile.source import Source


def planned_profile(source: Source, document: LoadDocument, shape: Shape) -> PlannedLoad:
    """What each runner does, by all of them."""
    assert document.profile is not None
    profile, runners = document.profile, shape.runners_of(document.count)
    segments = [_reshaped(one, shape) for one in segments_of(profile)]
    facts = InputFacts(
        kind="load profile" if document.count is None else "runner group",
        name=source.name,
        bytes=len(source.data),
        sha256=hashlib.sha256(source.data).hexdigest(),
        description=profile.description or None,
    )
    return PlannedLoad(
        facts=facts,
        segments=[_segment(one, runners) for one in segments],
        timeout_ms=max(1, timeout_us(profile) // 1_000),
        verbs=dict.fromkeys(sorted(set(_verbs(segments)))),
        remarks=[*_unknown(document), *_advice(segments, runners)],
        seed=profile.seed,
        text=source.data.decode("utf-8", "replace"),
    )


def _reshaped(segment: Segment, shape: Shape) -> Segment:
    """With what flags say of its connections."""
    return replace(
        segment,
        connections=shape.connections or segment.connections,
        in_flight=shape.in_flight or segment.in_flight,
        protocol=shape.protocol or segment.protocol,
        accept=shape.accept or segment.accept,
    )


def _segment(segment: Segment, runners: Runners) -> PlannedSegment:
    plan = segment.plan(runners=runners.count, runner_index=runners.index)
    rate = segment.requested_rate(plan)
    duration_us = plan.end_us if segment.duration_us is None else segment.duration_us
    return PlannedSegment(
        options=segment.options(runners=runners.count, runner_index=runners.index, plan=plan),
        facts=SegmentFacts(
            runners=runners.count,
            runner_index=runners.index,
            connections=segment.connections,
            in_flight=segment.in_flight,
            protocol=segment.protocol,
            accept=segment.accept,
            max_retries=segment.max_retries,
            rate=None if rate is None else rate * runners.here,
            closed=segment.closed,
            planned=plan.requests,
            duration_ns=None if duration_us is None else duration_us * 1_000,
            warm_up=segment.warmup,
        ),
    )


def _verbs(segments: Sequence[Segment]) -> Iterator[str]:
    for segment in segments:
        yield from ("WATCH" for _ in segment.mix["watches"])
        for weighted in segment.mix["requests"]:
            yield from _verbs_of(weighted["request"])


def _verbs_of(shape: Mapping[str, Any]) -> tuple[str, ...]:
    if shape["shape"] == "plain":
        return (str(shape["verb"]),)
    return ("CREATE", "DELETE") if shape.get("delete_millionths") else ("CREATE",)


def _unknown(document: LoadDocument) -> list[Remark]:
    return [Remark(f"{one.origin}: {show_path(one.path)}: an unknown key, left out") for one in document.warnings]


def _advice(segments: Sequence[Segment], runners: Runners) -> list[Remark]:
    """Where connections or workers are few or many for what is asked."""
    remarks: dict[str, Remark] = {}
    for segment in segments:
        peak = segment.peak_rate
        each = [RunnerLoad(index, peak, segment.in_flight, segment.connections) for index in range(runners.count)]
        for one in connection_advice(each):
            remarks.setdefault(one.code, Remark(one.text, one.advice))
    return list(remarks.values())
