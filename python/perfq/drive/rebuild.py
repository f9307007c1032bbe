"""Folding and judging a run directory, and writing what comes of it: one path for a run that has just
ended and for one that was killed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from perfq.drive.leftovers import Leftover, home_left
from perfq.drive.rundir import RunDirectory
from perfq.errors import UsageError
from perfq.judge.verdict import NOTHING_LEFT, Judgement, judge
from perfq.measure.fold import SAMPLES, fold
from perfq.measure.manifest import FILE as MANIFEST
from perfq.measure.manifests import read_manifest
from perfq.measure.result import Result
from perfq.measure.result.common import Artifact, Cleanup
from perfq.report.junit import junit
from perfq.report.markdown import markdown
from perfq.report.reading import read_result

if TYPE_CHECKING:
    from perfq._core import RecorderStatus

RESULT = "result.json"


@dataclass(frozen=True)
class CleanUp:
    """What is still to be removed; `run` gives what is left then, `command` is what a person would type before."""

    run: Callable[[], list[Leftover]]
    command: str


def settle(run: RunDirectory, *, recorder: RecorderStatus | None = None, clean_up: CleanUp | None = None) -> Judgement:
    """Folds the record, judges it, writes result.json, report.md, junit.xml and SHA256SUMS.

    Where something is to be cleaned up, result.json is written before it and replaced, at once, when it
    has ended.
    """
    recorded = fold(run.path, recorder=recorder)
    for name, text in recorded.extra_files().items():
        run.write(name, text)
    artifacts = [Artifact.from_plain(entry) for entry in run.artifacts()]
    cleanup = NOTHING_LEFT
    if clean_up is not None:
        pending = Cleanup(complete=False, command=clean_up.command)
        run.write(RESULT, judge(recorded, artifacts=artifacts, cleanup=pending).result.to_json())
        left = clean_up.run()
        cleanup = Cleanup(
            complete=not left,
            left=[one.name for one in left],
            command="; ".join(dict.fromkeys(one.remove for one in left)) or None,
        )
    judgement = judge(recorded, artifacts=artifacts, cleanup=cleanup)
    run.write(RESULT, judgement.result.to_json())
    render(run, judgement.result)
    return judgement


def _left_by_a_killed_run(path: Path) -> CleanUp | None:
    """A killed perfq could not remove the client's home, or where its sessions worked. It is named, not removed: the
    run may be under way."""
    manifest = read_manifest(path)
    if manifest.kind == "trajectory" and manifest.workspaces is not None:
        return _sessions_left(Path(manifest.workspaces))
    home = manifest.client_home if manifest.kind in ("replay", "live") else None
    if home is None or not Path(home).name.startswith("perfq-"):
        return None
    left = home_left(Path(home))
    return CleanUp(lambda: [left] if Path(home).is_dir() else [], left.remove)


def _sessions_left(workspaces: Path) -> CleanUp:
    """The next run sweeps processes and workspaces; a person would have to find the processes."""
    left = Leftover(str(workspaces), "perfq trajectory run")
    return CleanUp(lambda: [left] if workspaces.is_dir() else [], left.remove)


def render(run: RunDirectory, result: Result) -> None:
    """Writes report.md, junit.xml and SHA256SUMS from the result alone."""
    run.write("report.md", markdown(result))
    run.write("junit.xml", junit(result))
    run.write_checksums()


def result_of(path: Path) -> Result:
    """The result of a run directory (or of a result.json); of a killed run, rebuilt from what is there.

    UsageError where it is neither.
    """
    if path.is_file():
        return read_result(path)
    if not path.is_dir():
        raise UsageError(f"{path}: there is no such run directory")
    if (path / RESULT).exists():
        return read_result(path / RESULT)
    runs = sorted(one.name for one in path.glob("run-*") if (one / MANIFEST).is_file())
    if runs:
        raise UsageError(f"{path}: holds {len(runs)} runs; name one of them, such as {path / runs[0]}")
    for name in (MANIFEST, SAMPLES):
        if not (path / name).is_file():
            raise UsageError(f"{path}: not a run directory: it has neither {RESULT} nor {name}")
    try:
        return settle(RunDirectory(path), clean_up=_left_by_a_killed_run(path)).result
    except msgspec.DecodeError as error:
        raise UsageError(f"{path / MANIFEST}: not a manifest of this perfq: {error}") from error
    except OSError as error:
        raise UsageError(f"{path}: {error.filename or RESULT}: {error.strerror}") from error
