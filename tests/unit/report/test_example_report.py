"""The report in the docs is what its result.json renders to: nobody has touched it up."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from perfq.report.markdown import markdown
from perfq.report.reading import read_result


def test_the_example_report_is_rendered_from_the_result_beside_it(
    repository: Path, golden: Callable[[Path, str], None]
) -> None:
    folder = repository / "docs" / "examples" / "report"
    golden(folder / "report.md", markdown(read_result(folder / "result.json")))
