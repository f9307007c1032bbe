"""What the command line asked for is checked before anything starts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perfq.drive.outcome import numbered
from perfq.drive.rundir import check_run_id
from perfq.errors import UsageError
from perfq.replay.command import ReplayRequest, parse_size, resolve, resolve_client
from perfq.replay.options import Size

GIVEN: dict[str, Any] = {
    "duration": None,
    "seed": None,
    "assignments": (),
    "client_name": None,
    "client_file": None,
    "run_id": None,
    "out": None,
    "budgets": (),
    "max_time": None,
    "cpu_profile": False,
    "stop_lag": None,
    "stop_error_share": None,
    "stop_429_share": None,
    "stop_memory": None,
    "pairs": 50,
    "probes": 40,
    "pod_bytes": 0,
    "size": "160x50",
    "ready_timeout": 30.0,
    "quiet": True,
    "scenarios": True,
}


def request(profile: str = "smoke-1k", *command: str, **given: Any) -> ReplayRequest:
    return ReplayRequest(profile, command, {**GIVEN, **given}, ("/bin/perfq", "replay", profile))


@given(st.integers(40, 500), st.integers(10, 200))
def test_every_size_between_the_smallest_and_the_largest_is_taken(cols: int, rows: int) -> None:
    assert parse_size(f"{cols}x{rows}") == Size(cols, rows)


@pytest.mark.parametrize(
    "text",
    ["", "160", "160x", "x50", "39x50", "501x50", "160x9", "160x201", "160X50", " 160x50", "-160x50", "160x50\n"],
)
def test_another_size_is_refused_with_what_is_expected(text: str) -> None:
    with pytest.raises(UsageError, match=r"^--size: got .*, expected COLSxROWS from 40x10 to 500x200"):
        parse_size(text)


@given(st.from_regex(r"[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?", fullmatch=True), st.integers(1, 100_000))
def test_the_id_of_a_repeated_run_is_an_id_and_ends_with_its_number(run_id: str, number: int) -> None:
    assert check_run_id(numbered(run_id, number)).endswith(f"-{number}")
    assert numbered("mine", 3) == "mine-3"


def test_digits_of_other_scripts_are_no_size() -> None:
    with pytest.raises(UsageError):
        parse_size("１６０x５０")


def test_the_viewer_is_the_client_unless_a_command_or_another_is_given(tmp_path: Path) -> None:
    assert resolve_client(request()).name == "viewer"
    assert resolve_client(request("smoke-1k", "k9s")).name == "generic"
    assert resolve_client(request("smoke-1k", "kubectl", client_name="kubectl-watch")).name == "kubectl-watch"
    path = tmp_path / "mine.yaml"
    path.write_text("schema: perfq.client/v1\nname: mine\n")
    assert resolve_client(request(client_file=str(path))).name == "mine"


def test_a_client_by_name_and_by_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="give one of them"):
        resolve_client(request(client_name="viewer", client_file=str(tmp_path / "mine.yaml")))


def test_a_program_that_is_not_there_is_named() -> None:
    with pytest.raises(UsageError, match="'no-such-program' was not found on PATH"):
        resolve(request("smoke-1k", "no-such-program"))


def test_a_client_without_a_command_needs_one() -> None:
    with pytest.raises(UsageError, match="client 'generic' names no command"):
        resolve(request(client_name="generic"))


def test_a_failure_that_the_client_cannot_meet_is_refused_before_the_run() -> None:
    with pytest.raises(UsageError, match="client 'watch' cannot exercise 'metrics_unavailable'"):
        resolve(request("fail-metrics_unavailable-1k", client_name="watch"))


def test_what_was_asked_for_is_what_the_run_gets(tmp_path: Path) -> None:
    options = resolve(request(run_id="mine", out=str(tmp_path), size="100x30", duration=3, max_time=9.0))
    assert (options.run_id, options.out, options.size) == ("mine", tmp_path, Size(100, 30))
    assert (options.plan.duration_seconds, options.limits.max_time_s) == (3, 9.0)
    assert options.command == ("perfq", "replay", "smoke-1k")


def test_without_out_a_run_is_kept_under_its_id() -> None:
    options = resolve(request(run_id="mine"))
    assert options.out == Path("runs/mine")
    first, second = resolve(request()), resolve(request())
    assert first.run_id != second.run_id
