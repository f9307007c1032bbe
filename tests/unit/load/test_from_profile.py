"""A load profile as a planned load."""

from __future__ import annotations

from typing import Any

import pytest

from perfq.load.from_profile import planned_profile
from perfq.load.shape import Shape
from perfq.profile.load import segments
from perfq.profile.load.planned import plan_mix
from perfq.profile.load.reading import load_document
from perfq.profile.source import Source

POISSON = b"""\
version: 1
specs:
- rate: 40
  duration: 5
  arrival: poisson
  requests: [{shares: 1, staleList: {version: v1, resource: pods}}]
"""


def test_poisson_arrivals_are_drawn_once_for_all_that_is_said_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = []

    def counted(mix: Any, **runners: Any) -> Any:
        drawn.append(runners)
        return plan_mix(mix, **runners)

    monkeypatch.setattr(segments, "plan_mix", counted)
    source = Source("load.yaml", POISSON)
    planned = planned_profile(source, load_document(source), Shape(runners=2))
    (segment,) = planned.segments
    assert drawn == [{"runners": 2, "runner_index": None}]
    assert segment.facts.planned is not None
    assert segment.facts.rate == pytest.approx(segment.facts.planned / 5)
    assert segment.options["rate"] == pytest.approx(segment.facts.planned / 2 / 5)
