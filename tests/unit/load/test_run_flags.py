"""Flags of `load run` that do not fit are refused before anything starts."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from perfq.cli import cli
from perfq.errors import UsageError


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--server-metrics"], "--server-metrics: the embedded server has none; name another one with --context"),
        (["--kperf-result", "missing/k.json"], "--kperf-result missing/k.json: cannot be written"),
        (["--budget", "load.errors.http/42==0"], "did you mean load.errors.http/429?"),
    ],
)
def test_it_is_said_and_no_directory_is_made(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flags: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    profile = str(repository / "docs" / "examples" / "load" / "stale-list.yaml")
    done = CliRunner().invoke(cli, ["load", "run", profile, *flags])
    assert isinstance(done.exception, UsageError), done.exception
    assert said in str(done.exception)
    assert list(tmp_path.iterdir()) == []
