"""`perfq profile`, `plan` and `schema`: what they print."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner, Result

from perfq.cli import cli
from perfq.cli.schema import SCHEMAS
from perfq.errors import UsageError
from perfq.profile.builtin_ids import BUILTIN_IDS

HERE = Path(__file__).parent


def run(*arguments: str, stdin: str | None = None) -> Result:
    """The command in this process; its exceptions come through."""
    return CliRunner().invoke(cli, arguments, input=stdin, catch_exceptions=False, standalone_mode=False)


def schema(name: str) -> dict[str, object]:
    made: dict[str, object] = json.loads(run("schema", name).stdout)
    return made


def test_the_list_has_every_built_in_profile_in_its_order() -> None:
    lines = run("profile", "list").stdout.splitlines()
    assert [line.split()[0] for line in lines[1:]] == list(BUILTIN_IDS)
    assert re.search(
        r"^burst-50k +50,000 +500 +200/s +30 s +5\+1@1000 15\+1@1000 25\+1@1000 +-$", "\n".join(lines), re.M
    )
    assert [one["id"] for one in json.loads(run("profile", "list", "--json").stdout)] == list(BUILTIN_IDS)


def test_what_is_shown_is_a_profile_again(tmp_path: Path) -> None:
    shown = run("profile", "show", "fail-slow-1k", "--set", "object_count=2000").stdout
    (tmp_path / "mine.json").write_text(shown)
    assert run("profile", "show", str(tmp_path / "mine.json")).stdout == shown
    assert json.loads(run("plan", "-", "--json", stdin=shown).stdout)["profile"] == json.loads(shown)
    jsonschema.validate(json.loads(shown), schema("profile"))


def test_validation_names_each_valid_profile_and_all_errors_of_the_others(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.yaml", tmp_path / "bad.json"
    good.write_text(run("profile", "show", "smoke-1k").stdout)
    bad.write_text('{"schema_version": 3}')
    done = run("profile", "validate", "smoke-1k", str(good))
    assert done.stdout == f'smoke-1k: valid, 1,000 Pods, id "smoke-1k"\n{good}: valid, 1,000 Pods, id "smoke-1k"\n'
    assert run("profile", "validate", "--quiet", str(good)).stdout == ""
    with pytest.raises(UsageError) as caught:
        run("profile", "validate", str(bad), "smoke-1k", str(tmp_path))
    text = str(caught.value)
    assert text.startswith("2 of 3 profiles are not valid\n")
    assert f"{bad}:1: schema_version: got 3, expected 1" in text
    assert f"{bad}:1: seed: got nothing" in text
    assert f"{tmp_path}: got a directory" in text


@pytest.mark.parametrize("profile_id", ["smoke-1k", "fail-gone-1k", "aks-live-1k"])
def test_a_plan_for_people(profile_id: str, golden: Callable[[Path, str], None]) -> None:
    golden(HERE / "golden" / f"plan-{profile_id}.txt", run("plan", profile_id).stdout)


def test_a_plan_for_machines_fits_its_schema_and_has_the_fields_of_the_format() -> None:
    document = json.loads(run("plan", "fail-gone-1k", "--json").stdout)
    jsonschema.validate(document, schema("plan"))
    assert list(document) == [
        "schema", "id", "profile_hash", "object_hash", "event_hash", "final_hash", "objects", "events", "namespaces",
        "peak_rate", "mean_rate", "duration_seconds", "bursts", "failures", "profile",
    ]  # fmt: skip
    assert (document["events"], document["mean_rate"], document["failures"]) == (
        400,
        20.0,
        [{"kind": "gone", "at_event": 100}],
    )
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**document, "events": "400"}, schema("plan"))


def test_flags_change_the_plan_and_its_hashes() -> None:
    first = json.loads(run("plan", "smoke-1k", "--json").stdout)
    other = json.loads(run("plan", "smoke-1k", "--json", "--seed", "7", "--duration", "10s").stdout)
    assert (other["duration_seconds"], other["events"]) == (10, 280)
    assert other["object_hash"] == first["object_hash"]
    assert other["event_hash"] != first["event_hash"]


@pytest.mark.parametrize("arguments", [["--emit", "events", "--json"], ["--duration", "1.5s"], ["--emit", "pods"]])
def test_flags_that_make_no_sense_are_usage_errors(arguments: list[str]) -> None:
    from click import UsageError as ClickUsageError

    with pytest.raises(ClickUsageError):
        run("plan", "smoke-1k", *arguments)


def test_each_schema_is_one_and_the_list_names_them_all() -> None:
    assert [line.split()[0] for line in run("schema").stdout.splitlines()] == list(SCHEMAS)
    for name in SCHEMAS:
        jsonschema.Draft202012Validator.check_schema(schema(name))


def test_the_schema_of_profiles_refuses_what_loading_refuses() -> None:
    sound = json.loads(run("profile", "show", "smoke-1k").stdout)
    changes: list[dict[str, object]] = [{"seed": -1}, {"id": ""}, {"extra": 1}, {"schema_version": 2}, {"bursts": [{}]}]
    for broken in changes:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**sound, **broken}, schema("profile"))


def test_a_client_definition_that_is_shown_loads_again(tmp_path: Path) -> None:
    from perfq.profile.client_files import BUILTIN_CLIENTS, load_client

    lines = run("client", "list").stdout.splitlines()
    assert [line.split()[0] for line in lines[1:]] == list(BUILTIN_CLIENTS)
    for name in BUILTIN_CLIENTS:
        (tmp_path / "mine.yaml").write_bytes(run("client", "show", name).stdout_bytes)
        assert load_client(str(tmp_path / "mine.yaml")) == load_client(name)


def test_an_unknown_client_suggests_the_nearest() -> None:
    for arguments in (("client", "show", "viwer"), ("client", "check", "viwer")):
        with pytest.raises(UsageError, match=r"did you mean viewer\?"):
            run(*arguments)
