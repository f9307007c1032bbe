"""Loading documents: every error at once, each with its line, whatever the bytes are."""

from __future__ import annotations

import io
import os
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field, field_validator

from perfq.errors import UsageError
from perfq.profile.document import Strict, load
from perfq.profile.shown import show_path, show_value
from perfq.profile.source import MAX_BYTES, Source, read_source


class Part(Strict):
    size: int = Field(gt=0)
    note: str | None = None


class Example(Strict):
    name: str = Field(min_length=1, max_length=8)
    mode: str = Field("a", pattern="^[a-z]+$")
    share: float = Field(0.5, gt=0, le=1)
    on: bool = False
    parts: list[Part] = Field(default_factory=list, min_length=1)
    extra: dict[str, int] = Field(default_factory=dict)

    @field_validator("name")
    @classmethod
    def _not_bad(cls, value: str) -> str:
        if value == "bad":
            raise ValueError("a good name")
        return value


def errors(text: str | bytes, name: str = "doc") -> list[str]:
    """The lines that loading this text complains with."""
    data = text.encode() if isinstance(text, str) else text
    with pytest.raises(UsageError) as caught:
        load(Source(name, data), Example)
    assert caught.value.exit_code == 2
    return list(caught.value.details)


def test_a_sound_document_is_a_model_and_knows_its_lines() -> None:
    model, positions = load(Source("doc", b"name: x\nparts:\n  - size: 1\n  - {size: 2}\n"), Example)
    assert [part.size for part in model.parts] == [1, 2]
    assert str(positions.problem(("parts", 1, "size"), "2", "3")) == "doc:4: parts.1.size: got 2, expected 3"


def test_every_error_is_named_at_once_in_the_order_of_the_text() -> None:
    text = """
name: ""
mode: "7"
share: 2
on: 1
parts:
  - size: true
    nte: x
  - {}
  - 7
extra: {a: x, b: 1.5}
nam: 1
"""
    assert errors(text) == [
        'doc:2: name: got "", expected text of 1 to 8 characters',
        'doc:3: mode: got "7", expected text that matches ^[a-z]+$',
        "doc:4: share: got 2, expected a number above 0, at most 1",
        "doc:5: on: got 1, expected true or false",
        "doc:7: parts.0.size: got true, expected an integer of at least 1",
        "doc:8: parts.0.nte: got an unknown key, expected one of size, note (did you mean note?)",
        "doc:9: parts.1.size: got nothing, expected an integer of at least 1",
        "doc:10: parts.2: got 7, expected a mapping with the keys size, note",
        'doc:11: extra.a: got "x", expected an integer',
        "doc:11: extra.b: got 1.5, expected an integer",
        "doc:12: nam: got an unknown key, expected one of name, mode, share, on, parts, extra (did you mean name?)",
    ]


def test_the_sentence_above_the_errors_counts_them() -> None:
    with pytest.raises(UsageError, match=r"^doc has 1 error\ndoc:1: name: got 3, expected text of 1 to 8 characters$"):
        load(Source("doc", b'{"name": 3, "parts": [{"size": 1}]}'), Example)


def test_a_validator_says_what_it_expects_in_its_own_words() -> None:
    assert errors('{"name": "bad", "parts": [{"size": 1}]}') == ['doc:1: name: got "bad", expected a good name']


def test_a_value_that_the_text_got_wrong_is_reported_once() -> None:
    text = '{"name": "x",\n"parts": [{"size": NaN},\n{"size": 1, "size": 2}]}'
    assert errors(text) == [
        "doc:2: parts.0.size: got NaN, expected a finite number",
        "doc:3: parts.1.size: got the key again, expected it once (first on line 3)",
    ]


@pytest.mark.parametrize("text", ["[]", "3", "null", "text", "- 1"])
def test_a_document_of_another_shape_is_told_what_it_should_be(text: str) -> None:
    (line,) = errors(text)
    assert line.startswith("doc:1: got ")
    assert line.endswith("expected a mapping with the keys name, mode, share, on, parts, extra")


@pytest.mark.parametrize("text", ["", " \n\t ", "\ufeff"])
def test_an_empty_document_is_nothing(text: str) -> None:
    assert errors(text) == ["doc:1: got nothing, expected a JSON or YAML document"]


def test_bytes_that_are_no_text_are_refused_with_their_line() -> None:
    assert errors(b"name: x\n\x80\x81") == ["doc:2: got a byte that is not UTF-8 (0x80), expected a JSON or YAML text"]
    assert errors(b"\x7fELF\x02\x01\x01\x00\x00") == ["doc:1: got the character '\\x7f', expected printable text"]


def test_json_with_tabs_a_byte_order_mark_and_crlf_is_json() -> None:
    text = '\ufeff{\r\n\t"name": "x",\r\n\t"parts": [\r\n\t\t{"size": 0}]}'
    assert errors(text) == ["doc:4: parts.0.size: got 0, expected an integer of at least 1"]


def test_a_json_file_is_json_and_other_text_in_braces_may_be_yaml() -> None:
    flow = "{name: x, parts: [{size: 1}]}  # YAML in its flow style"
    assert load(Source("doc.yaml", flow.encode()), Example).model.name == "x"
    assert errors(flow, "doc.json") == ["doc.json:1: got 'name: x, par', expected a key in double quotes"]
    assert errors('{"name": "x"\n"mode": "y"}') == ['doc:2: got \'"mode": "y"}\', expected a comma or }']


def test_many_errors_are_cut_and_the_rest_is_counted() -> None:
    found = errors("name: x\nparts:\n" + "  - {size: 0}\n" * 80)
    assert len(found) == 51
    assert found[-1] == "… and 30 more"


def test_what_is_shown_is_short_printable_and_unambiguous() -> None:
    assert show_value("x" * 100) == '"' + "x" * 59 + "…"
    assert show_value(10**400) == "100000000000… (401 digits)"
    assert show_value("\x1b[31m\ud800é") == '"\\u001b[31m\\ud800é"'
    assert show_path(("a", 0, "b.c", "", "\x1b")) == 'a.0."b.c".""."\\u001b"'


@given(st.binary(max_size=200))
def test_any_bytes_are_a_document_or_a_usage_error(data: bytes) -> None:
    try:
        load(Source("doc", data), Example)
    except UsageError as error:
        assert all(line.isprintable() for line in str(error).splitlines())


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["name", "parts", "size", "extra", "on", "x.y"]), inner, max_size=4)
        ),
        max_leaves=15,
    )
)
def test_any_value_is_a_document_or_a_usage_error(value: Any) -> None:
    import json

    try:
        load(Source("doc", json.dumps(value).encode()), Example)
    except UsageError as error:
        assert error.details


def test_a_missing_file_a_directory_and_an_unreadable_name_are_each_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file"):
        read_source(tmp_path / "missing.yaml")
    with pytest.raises(UsageError, match="got a directory, expected a file"):
        read_source(tmp_path)
    with pytest.raises(UsageError, match="cannot be read"):
        read_source("a\0b")
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="cannot be read: Not a directory"):
        read_source(tmp_path / "file" / "below")


def test_a_name_that_no_terminal_can_show_is_escaped(tmp_path: Path) -> None:
    odd = tmp_path / os.fsdecode(b"\xff\x1b.yaml")
    odd.write_text("name: 7")
    with pytest.raises(UsageError, match=r"\\udcff\\x1b\.yaml:1: name: got 7"):
        load(odd, Example)
    with pytest.raises(UsageError, match=r'^"": got a directory'):
        read_source("")


def test_a_file_of_200_mb_is_refused_by_its_size_and_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    large = tmp_path / "large.json"
    with large.open("wb") as file:
        file.truncate(200_000_000)
    before = int(Path("/proc/self/io").read_text().split("rchar: ")[1].split()[0])
    with pytest.raises(UsageError, match="got 200000000 bytes, expected at most 1MiB"):
        read_source(large)
    with large.open("rb") as stdin:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(stdin))
        with pytest.raises(UsageError, match="<stdin>: got 200000000 bytes"):
            read_source("-")
    after = int(Path("/proc/self/io").read_text().split("rchar: ")[1].split()[0])
    assert after - before < MAX_BYTES


def test_a_pipe_that_never_ends_is_read_up_to_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    read, write = os.pipe()

    def flood() -> None:
        try:
            while True:
                os.write(write, b"x" * 65_536)
        except BrokenPipeError:
            os.close(write)

    writer = threading.Thread(target=flood)
    writer.start()
    with os.fdopen(read, "rb") as stdin:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(stdin))
        with pytest.raises(UsageError, match="<stdin>: got more than 4KiB"):
            read_source("-", limit=4096)
    writer.join(timeout=10)
    assert not writer.is_alive()


def test_a_file_at_its_limit_is_read_whole(tmp_path: Path) -> None:
    (tmp_path / "full").write_bytes(b"x" * 4096)
    assert len(read_source(tmp_path / "full", limit=4096).data) == 4096
    with pytest.raises(UsageError, match="got 4096 bytes, expected at most 4095B"):
        read_source(tmp_path / "full", limit=4095)
