"""From the argument FILE to a planned load."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from perfq.cli import cli
from perfq.errors import UsageError
from perfq.load.at_hand import at_hand
from perfq.load.planned import PlannedLoad
from perfq.load.reading import read_input as read_at_hand
from perfq.profile.override import Override

PROFILE = """
version: 1
description: reads and writes
specs:
  - rate: 100
    total: 1000
    conns: 6
    client: 20
    requests:
      - staleList: {version: v1, resource: pods}
        shares: 9
      - postDel: {version: v1, resource: configmaps, namespace: default, deleteRatio: 0.2, payloadSize: 10}
        shares: 1
"""


def given(**changes: Any) -> dict[str, Any]:
    """What the flags say where none is given."""
    nothing = dict.fromkeys(("runners", "runner_index", "connections", "in_flight", "protocol", "accept", "seed"))
    lists: dict[str, Any] = dict.fromkeys(("assignments", "only", "skip", "namespace_map", "name_prefix"), ())
    plain = {"allow_unknown": False, "keep_versions": False, "speed": 1.0, "window": None}
    return {**nothing, **lists, **plain, **changes}


def read_input(argument: str, flags: dict[str, Any]) -> PlannedLoad:
    """As the commands do it."""
    with at_hand(argument, fetching=False) as found:
        return read_at_hand(found, flags)


@pytest.fixture
def profile(tmp_path: Path) -> str:
    path = tmp_path / "mix.yaml"
    path.write_text(PROFILE)
    return str(path)


def test_a_load_profile_is_one_runners(profile: str) -> None:
    planned = read_input(profile, given())
    assert (planned.facts.kind, planned.facts.description) == ("load profile", "reads and writes")
    assert (planned.planned, planned.duration_ns, planned.writes) == (1000, 10_000_000_000, True)
    assert list(planned.verbs) == ["CREATE", "DELETE", "LIST"]
    segment = planned.segments[0].facts
    assert (segment.runners, segment.rate, segment.connections, segment.in_flight) == (1, 100.0, 6, 20)


def test_more_runners_do_the_same_each(profile: str) -> None:
    planned = read_input(profile, given(runners=3))
    assert planned.planned == 3000
    assert planned.segments[0].facts.rate == 300.0
    assert planned.segments[0].options["rate"] == 100.0


def test_one_runner_of_several_does_its_part(profile: str) -> None:
    planned = read_input(profile, given(runners=3, runner_index=2))
    assert (planned.planned, planned.segments[0].facts.runner_index) == (1000, 2)
    with pytest.raises(UsageError, match="--runner-index: got 3, expected 0 to 2: there are 3 runners"):
        read_input(profile, given(runners=3, runner_index=3))


def test_a_group_is_as_many_runners_as_it_counts(tmp_path: Path) -> None:
    path = tmp_path / "group.yaml"
    path.write_text("count: 4\nloadProfile:" + PROFILE.replace("\n", "\n  "))
    planned = read_input(str(path), given())
    assert (planned.facts.kind, planned.planned, planned.segments[0].facts.runners) == ("runner group", 4000, 4)


def test_the_plan_is_the_same_bytes_for_the_same_profile_and_others_for_another_seed(profile: str) -> None:
    first = read_input(profile, given()).document()
    assert read_input(profile, given()).document() == first
    assert read_input(profile, given(seed=8)).document() != first


def test_an_audit_log_is_to_be_imported_first(tmp_path: Path) -> None:
    path = tmp_path / "audit.log"
    path.write_text('{"kind":"Event","apiVersion":"audit.k8s.io/v1","auditID":"a"}\n')
    with pytest.raises(UsageError, match=r"an audit log.*perfq load import .*audit.log --out trace.zst"):
        read_input(str(path), given())


def check(*arguments: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(cli, ["load", "check", *arguments])
    if isinstance(done.exception, UsageError):
        return done.exception.exit_code, done.stdout, str(done.exception)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.stdout, done.stderr


def test_poisson_arrivals_ask_for_the_rate_that_was_drawn(profile: str) -> None:
    arrival = Override(("specs", 0, "arrival"), "poisson", "--set")
    facts = read_input(profile, given(assignments=(arrival,), runners=2)).segments[0].facts
    assert facts.planned is not None
    assert facts.duration_ns is not None
    assert facts.rate == pytest.approx(facts.planned / (facts.duration_ns / 1e9))
    assert facts.rate != 200


def test_check_prints_the_plan_with_the_rate_of_all_runners_and_of_each(profile: str) -> None:
    code, out, _ = check(profile, "--runners", "3")
    assert code == 0
    assert "requests    3,000" in out
    assert "300/s  100/s" in out
    assert "3 × 6" in out


def test_check_says_what_is_few_or_many_and_still_passes(profile: str) -> None:
    code, _, err = check(profile, "--set", "specs.0.conns=1")
    assert code == 0
    assert "runner 0 has 1 connection for 100 requests/s; 6 or more" in err


def test_check_as_json_is_one_document(profile: str) -> None:
    code, out, _ = check(profile, "--json")
    document = json.loads(out)
    assert (code, document["schema"], document["requests"]) == (0, "perfq.load-check/v1", 1000)
    assert document["verbs"] == {"CREATE": None, "DELETE": None, "LIST": None}
    assert document["segments"][0]["rate"] == 100.0


def test_a_typo_is_an_error_with_its_line_and_a_warning_where_that_is_allowed(tmp_path: Path) -> None:
    path = tmp_path / "typo.yaml"
    path.write_text(PROFILE.replace("conns: 6", "cons: 6"))
    code, _, err = check(str(path))
    assert code == 2
    assert f"{path}:7: specs.0.cons: got an unknown key" in err
    code, _, err = check(str(path), "--allow-unknown")
    assert code == 0
    assert f"{path}:7: specs.0.cons: an unknown key, left out" in err


def test_check_of_each_example_passes(repository: Path) -> None:
    examples = sorted((repository / "docs" / "examples" / "load").glob("*.yaml"))
    assert len(examples) >= 10
    for path in examples:
        assert check(str(path))[0] == 0, path
