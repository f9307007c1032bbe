"""docs/reference: what is made from the code is up to date, and nothing is left over."""

from __future__ import annotations

from pathlib import Path

from docs.reference import generate


def test_the_generated_pages_say_what_the_code_says(repository: Path) -> None:
    stale = [
        name
        for name, text in generate.pages().items()
        if not (path := repository / "docs/reference" / name).is_file() or path.read_text() != text
    ]
    assert not stale, "run scripts/docs and look at what it changed"


def test_no_generated_page_is_left_over(repository: Path) -> None:
    reference = repository / "docs/reference"
    made = {str(path.relative_to(reference)) for path in reference.rglob("*.md") if generate.NOTE in path.read_text()}
    assert made == set(generate.pages())
