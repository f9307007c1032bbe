"""docs/examples/load: each is a load profile, and together they show every type of request and every own field."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from perfq import _core
from perfq.cli.schema import schema_text
from perfq.profile.document import parse
from perfq.profile.load.profile import REQUEST_TYPES, LoadProfile, Spec
from perfq.profile.load.reading import is_runner_group, load_document
from perfq.profile.load.segments import segments_of
from perfq.profile.source import read_source

FOLDER = Path(__file__).resolve().parents[3] / "docs" / "examples" / "load"
EXAMPLES = sorted(FOLDER.glob("*.yaml"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_a_load_profile_of_a_few_seconds(path: Path) -> None:
    document = load_document(read_source(path))
    assert document.profile is not None
    assert document.profile.description
    planned, microseconds = 0, 0
    for segment in segments_of(document.profile):
        count, end_us = _core.Mix(json.dumps(segment.mix)).plan(0)
        planned += count or 0
        microseconds += end_us or 0
    assert 0 < planned <= 500
    assert microseconds <= 3_000_000


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_fits_the_json_schema(path: Path) -> None:
    value = parse(read_source(path)).value
    name = "runner-group" if is_runner_group(value) else "load-profile"
    jsonschema.validate(value, json.loads(schema_text(name)), jsonschema.Draft202012Validator)


def written_keys(value: Any) -> set[str]:
    """Every key of a document."""
    if isinstance(value, dict):
        return set(value).union(*map(written_keys, value.values()))
    return set().union(*map(written_keys, value)) if isinstance(value, list) else set()


def test_every_type_of_request_and_every_field_of_a_spec_is_shown_in_some_example() -> None:
    shown: set[str] = set()
    for path in EXAMPLES:
        document = load_document(read_source(path))
        assert document.profile is not None
        shown |= written_keys(document.profile.model_dump(by_alias=True, exclude_unset=True))
    fields = {str(field.alias) for model in (LoadProfile, Spec) for field in model.model_fields.values()}
    assert {*REQUEST_TYPES, *fields} <= shown
