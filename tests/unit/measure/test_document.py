"""What a run writes is closed, immutable and typed as it is read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.unit.synthetic import ideal_run

from perfq.measure.manifest import FILE
from perfq.measure.manifests import read_manifest
from perfq.measure.result.common import Figures, Latency

LATENCY = Latency(count=3, p50=2, max=3, method="exact", definition="between two instants", phases={})


def changed(**values: Any) -> str:
    return json.dumps({**LATENCY.plain(), **values})


def test_a_document_reads_back_as_it_was_written() -> None:
    assert Latency.from_json(LATENCY.to_json()) == LATENCY
    assert Latency.from_plain(LATENCY.plain()) == LATENCY


def test_every_field_is_written_and_null_where_it_is_not_known() -> None:
    assert json.loads(Figures(count=0).to_json()) == dict.fromkeys(Figures.__struct_fields__) | {"count": 0}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (changed(p96=1), "unknown field `p96`"),
        (changed(p50="2"), r"Expected `int \| null`, got `str` - at `\$.p50`"),
        (changed(p50=2.5), r"got `float` - at `\$.p50`"),
        (changed(method="guessed"), r"Invalid enum value 'guessed' - at `\$.method`"),
        (changed(phases={"steady": {"p50": 1}}), r"missing required field `count` - at `\$.phases\[...\]`"),
        ("{", "truncated"),
    ],
)
def test_what_does_not_fit_is_named_with_its_place(text: str, complaint: str) -> None:
    with pytest.raises(msgspec.DecodeError, match=complaint):
        Latency.from_json(text)


def test_a_document_cannot_be_changed_but_copied_with_changes() -> None:
    with pytest.raises(AttributeError, match="immutable"):
        LATENCY.count = 4  # type: ignore[misc]
    assert LATENCY.replace(count=4).count == 4
    assert LATENCY.count == 3


@pytest.mark.parametrize("text", ["[" * 100_000, "{}", '{"kind": "dance"}', "\x00", '{"kind": "load"}'])
def test_what_is_no_manifest_is_said_to_be_none(text: str, tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(text)
    with pytest.raises(msgspec.DecodeError):
        read_manifest(tmp_path)


def test_a_manifest_reads_back_as_the_kind_that_it_is_of(tmp_path: Path) -> None:
    run = ideal_run()
    assert read_manifest(run.write(tmp_path)) == run.manifest
