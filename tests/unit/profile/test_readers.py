"""The JSON and the YAML reader: the values they give, the lines they know, and what they refuse."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from perfq.profile.json_text import read_json
from perfq.profile.tree import MAX_DEPTH, TreeBuilder, Unreadable
from perfq.profile.yaml_text import read_yaml

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@pytest.fixture(params=["libyaml", "pure Python"])
def loader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """PyYAML's two parsers: not every build of it has libyaml."""
    if request.param == "pure Python":
        monkeypatch.setattr("perfq.profile.yaml_text._LOADER", yaml.SafeLoader)


def flaws(tree: TreeBuilder) -> list[tuple[int, str, str]]:
    return [(flaw.line, ".".join(map(str, flaw.path)), flaw.got) for flaw in tree.flaws]


@given(JSON_VALUES, st.sampled_from([None, 0, 1, "\t"]))
def test_json_reads_as_the_standard_library_reads_it(value: Any, indent: Any) -> None:
    for ascii_only in (True, False):
        text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
        tree = read_json(text)
        assert tree.value == value
        assert not tree.flaws


@given(st.text(st.sampled_from('{}[]",:0123456789eE+-. \t\n\\utrfalsenNI'), max_size=40))
@example('{"a":1,}')
@example("[1 2]")
@example("01")
@example('"\\ud800"')
def test_json_refuses_just_what_the_standard_library_refuses(text: str) -> None:
    def constant(word: str) -> Any:
        raise ValueError(word)

    try:
        expected = json.loads(text, parse_constant=constant)
    except (ValueError, RecursionError):
        expected = ValueError
    try:
        tree = read_json(text)
    except Unreadable:
        assert expected is ValueError
        return
    if tree.flaws:  # NaN, a duplicate key, 1e999: read on, and reported
        return
    assert tree.value == expected


@given(st.text())
def test_any_text_is_read_or_refused_with_a_line(text: str) -> None:
    for read in (read_json, read_yaml):
        try:
            read(text)
        except Unreadable as error:
            assert 1 <= error.flaw.line <= text.count("\n") + text.count("\r") + 3


@given(st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(min_codepoint=32, max_codepoint=126)),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=20), inner, max_size=4),
    max_leaves=12,
))  # fmt: skip
def test_yaml_reads_json_as_json(value: Any) -> None:
    assert read_yaml(json.dumps(value)).value == value


def test_lines_are_those_of_the_keys_and_of_the_list_items() -> None:
    text = '{\n\t"a": [\n\t\t1,\n\t\t{"b":\n 2}\n\t]\n}'
    place = read_json(text).place
    paths: list[tuple[str | int, ...]] = [(), ("a",), ("a", 0), ("a", 1), ("a", 1, "b")]
    assert [place.find(path).line for path in paths] == [1, 2, 3, 4, 4]
    assert place.find(("a", 1, "missing")).line == 4
    yaml_place = read_yaml("a:\n  - 1\n  -\n    b: 2\n").place
    assert [yaml_place.find(path).line for path in paths] == [1, 1, 2, 4, 4]


@pytest.mark.parametrize("read", [read_json, read_yaml])
def test_a_second_key_of_the_same_name_is_a_flaw_and_the_first_one_counts(read: Any) -> None:
    tree = read('{"a": {"x": 1},\n"b": 2,\n"a": {"y": [1, 2]}, "a": 3}')
    assert tree.value == {"a": {"x": 1}, "b": 2}
    assert flaws(tree) == [(3, "a", "the key again"), (3, "a", "the key again")]
    assert "first on line 1" in tree.flaws[0].expected


def test_what_is_no_finite_number_is_a_flaw_at_its_place_and_reading_goes_on() -> None:
    tree = read_json("[NaN, Infinity, -Infinity, 1e400, 1]")
    assert [got for _, _, got in flaws(tree)] == ["NaN", "Infinity", "-Infinity", "1e400"]
    assert tree.value == [None, None, None, None, 1]
    tree = read_yaml("a: .nan\nb: -.inf\nc: 1e999\nd: 1e3")
    assert flaws(tree) == [(1, "a", ".nan"), (2, "b", "-.inf"), (3, "c", "1e999")]
    assert tree.value["d"] == 1000.0


@pytest.mark.parametrize("read", [read_json, read_yaml])
def test_huge_integers_are_numbers_up_to_where_python_would_refuse_them(read: Any) -> None:
    assert read(f"[{10**400}]").value == [10**400]
    tree = read(f"[{'9' * 100_000}, 2]")
    assert tree.value == [None, 2]
    assert flaws(tree) == [(1, "0", "an integer of 100000 digits")]


@pytest.mark.usefixtures("loader")
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("yes", "yes"),
        ("on", "on"),
        ("true", True),
        ("FALSE", False),
        ("~", None),
        ("", None),
        ("0o17", 15),
        ("0x1F", 31),
        ("012", 12),
        ("-7", -7),
        ("+7", 7),
        ("1_000", "1_000"),
        ("1:30", "1:30"),
        ("2001-01-01", "2001-01-01"),
        (".5", 0.5),
        ("1.", 1.0),
        ("1e3", 1000.0),
        ("'1'", "1"),
        ("<<", "<<"),
        ("NaN", "NaN"),
    ],
)
def test_plain_scalars_mean_what_yaml_1_2_core_says(text: str, value: Any) -> None:
    read = read_yaml(f"a: {text}").value["a"]
    assert read == value
    assert type(read) is type(value)


def test_yaml_floats_stay_floats() -> None:
    assert math.isclose(read_yaml("a: 0.1").value["a"], 0.1)


@pytest.mark.usefixtures("loader")
@pytest.mark.parametrize(
    ("text", "line", "got"),
    [
        ("a: 1\nb: &x 2", 2, "the anchor &x"),
        ("a: 1\nb: *x", 2, "the alias *x"),
        ("a: !!python/object/apply:os.system ['true']", 1, "the tag tag:yaml.org,2002:python/object/apply:os.system"),
        ("a: !!int '3'", 1, "the tag tag:yaml.org,2002:int"),
        ("a: ! b", 1, "the tag !"),
        ("--- 1\n--- 2", 2, "a second document"),
        ("? [a]\n: 1", 1, "a mapping or list as a key"),
        ("a: 1\nb: \x01", 2, "the character '\\x01'"),
        ("a: 1\n  b: 2", 2, "text that is not YAML"),
        ("a: 1\nb: [1}", 2, "text that is not YAML"),
        ("\ta: 1", 1, "text that is not YAML"),
        ("- " * (MAX_DEPTH + 1) + "1", 1, f"more than {MAX_DEPTH} levels"),
    ],
)
def test_yaml_beyond_plain_data_is_refused_by_name(text: str, line: int, got: str) -> None:
    with pytest.raises(Unreadable) as caught:
        read_yaml(text)
    assert caught.value.flaw.got.startswith(got)
    assert caught.value.flaw.line == line


@pytest.mark.usefixtures("loader")
def test_a_billion_laughs_ends_at_its_first_anchor() -> None:
    laughs = 'a: &a ["lol"]\n' + "".join(
        f"{n}: &{n} [{', '.join([f'*{p}'] * 9)}]\n" for p, n in zip("abcdefg", "bcdefgh", strict=True)
    )
    with pytest.raises(Unreadable, match="anchor &a"):
        read_yaml(laughs)


@pytest.mark.usefixtures("loader")
@pytest.mark.parametrize("read", [read_json, read_yaml])
def test_deep_documents_are_refused_without_recursion(read: Any) -> None:
    with pytest.raises(Unreadable):
        read("[" * 200_000)


@pytest.mark.parametrize(
    ("text", "line", "expected"),
    [
        ("", 1, "a value"),
        ('{\n"a": 1\n"b": 2}', 3, "a comma or }"),
        ('{"a" 1}', 1, "a colon after the key"),
        ("{a: 1}", 1, "a key in double quotes"),
        ("[1,\n]", 2, "a value"),
        ("[1] 2", 1, "the end of the document"),
        ('["a\nb"]', 1, "a JSON string"),
        ('["\\x"]', 1, "a JSON string"),
        ('["a', 1, "a JSON string"),
        ("[+1]", 1, "a value"),
        ("[.5]", 1, "a value"),
        ('{"a": 1,\n"\\ud800": 2}', 2, "a key without lone surrogates"),
    ],
)
def test_json_says_what_it_expected_and_where(text: str, line: int, expected: str) -> None:
    with pytest.raises(Unreadable) as caught:
        read_json(text)
    assert (caught.value.flaw.line, caught.value.flaw.expected) == (line, expected)
