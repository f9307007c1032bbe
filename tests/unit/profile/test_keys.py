"""Keys in definitions are typed as written; special ones stand in angle brackets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perfq.profile.keys import parse_keys


def test_text_and_named_keys_mix() -> None:
    assert parse_keys("/web<Enter><Esc><C-c><Down><lt>") == b"/web\r\x1b\x03\x1b[B<"


@pytest.mark.parametrize("bad", ["<Entr>", "a<b", "<>", "<C-1>"])
def test_an_unknown_key_is_named(bad: str) -> None:
    with pytest.raises(ValueError, match="keys: "):
        parse_keys(bad)


@given(st.text(st.characters(codec="utf-8", exclude_characters="<")))
def test_text_without_brackets_is_typed_as_it_is(text: str) -> None:
    assert parse_keys(text) == text.encode()
