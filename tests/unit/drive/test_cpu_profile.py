"""A CPU profile on request: who makes it, and what is said where none came."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from perfq.drive.cpu_profile import CpuProfile, find_profiler
from perfq.errors import UsageError


def test_a_profiler_that_is_not_installed_is_named_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="pip install py-spy"):
        find_profiler()


def test_a_profile_that_did_not_come_says_why_in_the_profilers_words(tmp_path: Path) -> None:
    profiler = tmp_path / "py-spy"
    said = tmp_path / "said"
    profiler.write_text(f"#!/bin/sh\necho 'Error: Failed to find python version' >&2\n: > {said}\nexit 1\n")
    profiler.chmod(0o755)
    profile = CpuProfile(str(profiler), 1, tmp_path / "out.json")
    while not said.exists():
        subprocess.run(["true"], check=True)
    assert profile.stop() == "Error: Failed to find python version"


def test_a_profiler_that_goes_on_is_interrupted_and_its_file_counts(tmp_path: Path) -> None:
    ready, target = tmp_path / "ready", tmp_path / "out.json"
    profiler = tmp_path / "py-spy"
    profiler.write_text(
        f"#!/bin/sh\ntrap 'echo {{}} > {target}; exit 0' INT\n: > {ready}\nwhile :; do sleep 0.05; done\n"
    )
    profiler.chmod(0o755)
    profile = CpuProfile(str(profiler), 1, target)
    while not ready.exists():
        subprocess.run(["true"], check=True)
    assert profile.stop() is None
