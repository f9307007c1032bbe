"""Recordings of the shape that other programs write, made for these tests; and their import."""

from __future__ import annotations

import json
from typing import Any, Literal

import pytest

from perfq.errors import UsageError
from perfq.profile.source import Source
from perfq.profile.trajectory.trajectory import ExecStep, WaitStep
from perfq.trajectory.importers.building import Imported, ImportOptions
from perfq.trajectory.importers.recording import parse_recording
from perfq.trajectory.importing import import_recording

Missing = Literal["reject", "zero", "seeded"]


def sessions(value: Any, missing: Missing = "reject", *, seed: int = 0, format_: str | None = None) -> list[Imported]:
    """The sessions of a recording, given as its value or as its text."""
    text = value if isinstance(value, str) else json.dumps(value)
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    recording = parse_recording(Source("r.json", data), "r")
    return import_recording(recording, ImportOptions(missing, seed), format_).sessions


def session(value: Any, missing: Missing = "reject", *, seed: int = 0, format_: str | None = None) -> Imported:
    """The one session of a recording."""
    (one,) = sessions(value, missing, seed=seed, format_=format_)
    return one


def refused(value: Any, missing: Missing = "reject", *, format_: str | None = None) -> list[str]:
    """What the import of a recording complains of."""
    with pytest.raises(UsageError) as caught:
        sessions(value, missing, format_=format_)
    assert caught.value.exit_code == 2
    return [line.removeprefix("r.json: ") for line in caught.value.details or (caught.value.sentence,)]


def told(imported: Imported) -> list[tuple[str, Any]]:
    """Commands with their exit codes, and waits with their provenance, in their order."""
    found: list[tuple[str, Any]] = []
    for step in imported.trajectory.steps:
        if isinstance(step, ExecStep):
            found.append((step.script, None if step.recorded is None else step.recorded.exit_code))
        else:
            assert isinstance(step, WaitStep)
            found.append((f"{step.wait_ms} ms", step.provenance))
    return found


def lost(imported: Imported) -> list[tuple[str, str | None, str]]:
    """Every loss: where, its fate, why."""
    return [(loss.at, loss.fate, loss.why) for loss in imported.losses]
