"""Metrics: quantities, answers and refusals."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perfq.viewer.kinds import Usage
from perfq.viewer.metrics import MetricsPoll, parse_quantity, read_metrics
from perfq.viewer.transport import Rejected, Stream, Unreachable


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("250m", 0.25),
        ("2", 2.0),
        ("1500000n", 0.0015),
        ("7u", 7e-6),
        ("1.5Gi", 1.5 * 2**30),
        ("100Ki", 102400.0),
        ("3k", 3000.0),
        ("1E", 1e18),
        ("", None),
        ("x", None),
        ("-1", None),
        ("1Zi", None),
        ("1 Ki", None),
    ],
)
def test_a_quantity_is_read_as_kubernetes_writes_it(text: str, value: float | None) -> None:
    assert parse_quantity(text) == (None if value is None else pytest.approx(value))


@given(st.text(max_size=12))
def test_any_other_text_is_no_quantity_and_no_crash(text: str) -> None:
    found = parse_quantity(text)
    assert found is None or found >= 0


def test_usage_by_node_and_in_all() -> None:
    answer = read_metrics(
        b'{"items":[{"metadata":{"name":"a"},"usage":{"cpu":"1500m","memory":"2Gi"}},'
        b'{"metadata":{"name":"b"},"usage":{"cpu":"500000000n"}}]}'
    )
    assert answer.usage == {"a": Usage("1500m", "2048Mi"), "b": Usage("500m", "0Mi")}
    assert (answer.cores, answer.bytes) == (2.0, 2.0 * 2**30)


class Answers:
    """A transport with one answer."""

    def __init__(self, answer: bytes | Exception) -> None:
        self.answer = answer

    def get(self, path: str, query: Mapping[str, str] | None = None) -> bytes:
        assert path == "/apis/metrics.k8s.io/v1beta1/nodes"
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def stream(self, path: str, query: Mapping[str, str]) -> Stream:
        raise AssertionError("metrics are not watched")

    def refresh(self) -> bool:
        return False


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Rejected(503, "down"), "metrics unavailable (503)"),
        (Rejected(404, "no"), "metrics not served here"),
        (Unreachable("connection refused"), "metrics unavailable (connection refused)"),
        (b"<html>", "metrics unreadable"),
        (b'{"items":[]}', None),
    ],
)
def test_why_there_are_none_is_said_in_a_few_words(answer: bytes | Exception, said: str | None) -> None:
    assert MetricsPoll(Answers(answer), lambda _: None).ask().problem == said
