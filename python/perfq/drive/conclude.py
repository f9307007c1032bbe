"""The end of a run: fold what was recorded, judge it, write the result, clean up, render.

result.json is written before the clean-up and replaced once, atomically, when the clean-up has ended.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from perfq.drive.rundir import RunDirectory
from perfq.judge.verdict import Judgement, judge
from perfq.measure.fold import fold
from perfq.measure.result.common import Artifact, Cleanup

if TYPE_CHECKING:
    from perfq._core import RecorderStatus


@dataclass(frozen=True)
class CleanUp:
    """What is still to be removed, and the command that a person would remove it with.

    `run` gives what could not be removed.
    """

    run: Callable[[], list[str]]
    command: str


def conclude(run: RunDirectory, *, recorder: RecorderStatus | None, clean_up: CleanUp) -> Judgement:
    """Judges the run and writes result.json, its renderings and the checksums."""
    recorded = fold(run.path, recorder=recorder)
    artifacts = [Artifact.model_validate(entry) for entry in run.artifacts()]
    pending = Cleanup(complete=False, left=[], command=clean_up.command)
    run.write("result.json", judge(recorded, artifacts=artifacts, cleanup=pending).result.to_json())
    left = clean_up.run()
    done = Cleanup(complete=not left, left=left, command=clean_up.command if left else None)
    judgement = judge(recorded, artifacts=artifacts, cleanup=done)
    run.write("result.json", judgement.result.to_json())
    render(run, judgement)
    return judgement


def render(run: RunDirectory, judgement: Judgement) -> None:
    """Writes what is rendered from the result alone, and the checksums."""
    from perfq.report.markdown import markdown

    run.write("report.md", markdown(judgement.result))
    run.write_checksums()
