"""Keys in definitions are typed as written; special ones stand in angle brackets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perfq.profile.keys import encode_keys, key_name, parse_keys


def test_text_and_named_keys_mix() -> None:
    assert parse_keys("/web<Enter><Esc><C-c><page_down><lt>") == (
        ("/web", False),
        ("enter", True),
        ("escape", True),
        ("ctrl+c", True),
        ("page_down", True),
        ("<", True),
    )


def test_the_terminal_says_what_a_key_is_in_bytes() -> None:
    assert encode_keys("a<Down>é", {"down": b"\x1bOB"}.__getitem__) == b"a\x1bOB\xc3\xa9"


@pytest.mark.parametrize("bad", ["<Entr>", "a<b", "<>", "<hyper+x>"])
def test_an_unknown_key_is_refused(bad: str) -> None:
    with pytest.raises(ValueError, match="key"):
        parse_keys(bad)


def test_a_key_that_moves_the_cursor_is_a_name_or_a_character() -> None:
    assert [key_name(text) for text in ("Down", "j", "J", "C-n", "shift+up")] == [
        "down",
        "j",
        "J",
        "ctrl+n",
        "shift+up",
    ]


@given(st.text(st.characters(codec="utf-8", exclude_characters="<")))
def test_text_without_brackets_is_typed_as_it_is(text: str) -> None:
    no_keys: dict[str, bytes] = {}
    assert encode_keys(text, no_keys.__getitem__) == text.encode()
