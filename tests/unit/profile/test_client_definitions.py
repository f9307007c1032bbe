"""Client definitions: what is wrong with one is said with its line, before anything runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from perfq.errors import UsageError
from perfq.profile.client import ClientDefinition
from perfq.profile.client_files import BUILTIN_CLIENTS, load_client_named
from perfq.profile.document import load
from perfq.profile.keys import parse_keys
from perfq.profile.source import Source

HEAD = "schema: perfq.client/v1\nname: mine\n"


def errors(text: str) -> list[str]:
    with pytest.raises(UsageError) as caught:
        load(Source("mine.yaml", (HEAD + text).encode()), ClientDefinition)
    return list(caught.value.details)


@pytest.mark.parametrize("name", BUILTIN_CLIENTS)
def test_every_built_in_definition_is_sound_and_named_as_its_file(name: str) -> None:
    assert load_client_named(name).name == name


def test_an_unknown_client_suggests_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean viewer"):
        load_client_named("veiwer")


def test_a_pattern_that_the_engine_cannot_use_is_refused_though_python_could() -> None:
    (line,) = errors("ready: '(?=NAME)'\n")
    assert line.startswith('mine.yaml:3: ready: got "(?=NAME)", expected a regular expression in the syntax of Rust')
    assert "look-around" in line


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("moves: {down: dwn}\n", 'mine.yaml:3: moves.down: got "dwn", expected a key such as enter'),
        ("scenarios:\n  - {name: a, keys: 'x<Entr>', expect: y}\n", "mine.yaml:4: scenarios.0.keys: got "),
        ("scenarios:\n  - {name: a, keys: x, expect: '('}\n", "mine.yaml:4: scenarios.0.expect: got "),
        ("screen:\n  cursor: marker\n", "expected a marker, since the cursor is one"),
        ("screen:\n  row: '[a-z]+'\n", "expected a pattern `row` with the group (?P<name>"),
        ("screen:\n  cursor: blinking\n", 'mine.yaml:4: screen.cursor: got "blinking"'),
        ("colour: 1\n", "mine.yaml:3: colour: got an unknown key"),
    ],
)
def test_each_error_names_its_line_its_key_and_what_is_expected(text: str, said: str) -> None:
    (line,) = errors(text)
    assert said in line


def test_scenarios_of_one_name_are_refused() -> None:
    one = "  - {name: a, keys: x, expect: y}\n"
    (line,) = errors("scenarios:\n" + one + one)
    assert "names of their own" in line


def test_what_a_client_can_meet_follows_from_its_definition() -> None:
    assert load_client_named("viewer").failure_kinds() == {
        "gone",
        "throttled",
        "forbidden",
        "slow",
        "metrics_unavailable",
        "slow_logs",
    }
    assert load_client_named("watch").failure_kinds() == {"gone", "throttled"}


def test_the_viewer_s_second_pane_is_back_once_its_list_is_complete_or_refused_and_not_before() -> None:
    (split,) = [one for one in load_client_named("viewer").scenarios if one.name == "split-pane"]
    assert re.search(split.back_expect, "Nodes 0 …") is None
    assert re.search(split.back_expect, "Nodes 0 …  cpu 1.00 cores") is None
    assert re.search(split.back_expect, "Pods 9\nNodes 5  cpu 1.00 cores\nNAME")
    assert re.search(split.back_expect, "Pods 9\nNodes 5\nNAME")
    assert re.search(split.back_expect, "Nodes 0 …  cpu 1.00 cores\n403 nodes is forbidden\nNAME")
    assert re.search(split.back_expect, "Nodes 0 …  cpu 1.00 cores\nNAME") is None


def test_the_example_without_a_probe_is_the_viewer_but_for_its_probe(repository: Path) -> None:
    example = load(repository / "docs" / "examples" / "viewer-without-probe.yaml", ClientDefinition).model
    viewer = load_client_named("viewer")
    assert (viewer.probe, example.probe, example.environment) == (True, False, {"PERFQ_PROBE": ""})
    same = ("command", "scopes", "metrics", "rows", "screen", "moves")
    assert [getattr(example, name) for name in same] == [getattr(viewer, name) for name in same]


def test_the_definition_of_the_guide_is_sound_and_its_special_keys_are_keys(repository: Path) -> None:
    guide = (repository / "docs" / "guides" / "qualify-your-client.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"```yaml\n(schema: perfq\.client/v1\n.*?)```", guide, re.DOTALL)
    definition = load(Source("guide.yaml", text.encode()), ClientDefinition).model
    (scenario,) = definition.scenarios
    assert parse_keys(scenario.keys)[-1] == ("enter", True)
    assert parse_keys(scenario.back) == (("escape", True),)
    assert re.search(scenario.expect, scenario.keys) is None, "what was typed must not be taken for the answer"
