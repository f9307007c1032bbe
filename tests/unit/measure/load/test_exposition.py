"""Metrics as a server exposes them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perfq.measure.load.exposition import Metric, lines_of, metrics_of

NAMES = st.from_regex(r"[a-zA-Z_:][a-zA-Z0-9_:]{0,10}", fullmatch=True)
LABELS = st.from_regex(r"[a-zA-Z_][a-zA-Z0-9_]{0,10}", fullmatch=True)
#: Anything but what ends a line.
VALUES = st.text(st.characters(exclude_categories=["Cs", "Zl", "Zp", "Cc"]) | st.sampled_from('\n\\"{},='))
METRICS = st.builds(Metric, NAMES, st.dictionaries(LABELS, VALUES, max_size=3), st.floats(allow_nan=False))


def exposed(metric: Metric) -> str:
    """As client_golang writes it."""
    escaped = {
        name: value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        for name, value in metric.labels.items()
    }
    labels = ",".join(f'{name}="{value}"' for name, value in escaped.items())
    return f"{metric.name}{{{labels}}} {metric.value!r}\n" if labels else f"{metric.name} {metric.value!r}\n"


@given(st.lists(METRICS, max_size=5))
def test_what_is_exposed_is_read(metrics: list[Metric]) -> None:
    text = "# HELP a b\n# TYPE a counter\n\n" + "".join(map(exposed, metrics))
    assert list(metrics_of(text)) == metrics


def test_time_stamps_and_infinity_are_read() -> None:
    text = 'a_bucket{le="+Inf"} 3 1395066363000\nb +Inf\n'
    assert [(one.name, one.value) for one in metrics_of(text)] == [("a_bucket", 3.0), ("b", float("inf"))]


@pytest.mark.parametrize("line", ["<html>", "a{b} 1", 'a{b="c} 1', "a", "a b", 'a{b="c"x} 1'])
def test_what_is_no_sample_is_an_error_with_its_line(line: str) -> None:
    with pytest.raises(ValueError):
        list(metrics_of(f"a 1\n{line}\n"))


def test_only_what_is_wanted_is_kept() -> None:
    text = '# HELP a b\na 1\nab 2\na{b="c"} 3\n'
    assert lines_of(text, {"a"}) == 'a 1\na{b="c"} 3\n'
