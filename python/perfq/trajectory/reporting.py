"""Runs that have ended, or were killed, as a report: one alone, several side by side."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from perfq.drive.rebuild import result_of
from perfq.errors import UsageError
from perfq.measure.manifest import FILE as MANIFEST
from perfq.report.forms import rendered
from perfq.report.side_by_side import side_by_side, side_by_side_document, side_by_side_markdown
from perfq.report.sides import Side

if TYPE_CHECKING:
    from perfq.measure.result import Result
    from perfq.report.summary import Style


def report_text(runs: Sequence[Path], form: str, style: Style) -> str:
    """`form` is text, md, junit or json. UsageError (2) for what is no run of sessions."""
    sides = [side_of(path) for path in runs]
    if len(sides) == 1 and len(sides[0].results) == 1:
        return rendered(sides[0].results[0], form, style)
    return sides_text(sides, form, style)


def sides_text(sides: Sequence[Side], form: str, style: Style) -> str:
    """Side by side. UsageError (2) for junit, which knows one run alone."""
    match form:
        case "md":
            return side_by_side_markdown(sides)
        case "json":
            return json.dumps(side_by_side_document(sides), indent=1) + "\n"
        case "junit":
            raise UsageError("--format junit: is for one run; name one DIR, or use text, md or json")
    return side_by_side(sides, style.width)


def side_of(path: Path) -> Side:
    """A run directory, or one that holds several runs of the same plan (`--repeat`)."""
    below = sorted(one.parent for one in path.glob(f"run-*/{MANIFEST}")) if path.is_dir() else []
    folders = below if below and not (path / MANIFEST).exists() else [path]
    return Side(path.name or str(path), [_sessions(folder) for folder in folders])


def _sessions(path: Path) -> Result:
    result = result_of(path)
    if result.trajectory is None or result.manifest.sessions is None:
        raise UsageError(f"{path}: is a {result.kind}, not a run of sessions; see perfq report")
    return result
