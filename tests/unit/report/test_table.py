"""Escaping in Markdown: whatever a client wrote stays what it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perfq.report.table import code, escaped, fenced, table


@given(st.text())
def test_a_cell_never_ends_early(text: str) -> None:
    cells = (escaped(text), code(text))
    for cell in cells:
        assert "\n" not in cell
        assert "\r" not in cell
        assert "|" not in cell.replace("\\|", "")


@pytest.mark.parametrize(("text", "expected"), [("a", "`a`"), ("a`b", "``a`b``"), ("`", "`` ` ``"), ("", "` `")])
def test_code_is_fenced_by_more_ticks_than_it_holds(text: str, expected: str) -> None:
    assert code(text) == expected


@given(st.text())
def test_a_block_is_fenced_by_a_longer_fence_than_it_holds(text: str) -> None:
    fence = fenced(text).partition("text\n")[0]
    assert fence not in text


def test_numbers_are_aligned_to_the_right() -> None:
    assert table(["a", "n"], [["x", "1"]], numbers=(1,)) == "| a | n |\n|---|---:|\n| x | 1 |\n"
