"""A budget on an error names one that can be counted."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from perfq.errors import UsageError
from perfq.measure.load.error_keys import NAMED, is_error_key
from perfq.measure.result.paths import refuse_unknown
from perfq.profile.budgets import parse_budget


def test_the_keys_are_those_of_the_engine(repository: Path) -> None:
    text = (repository / "rust" / "engine" / "src" / "load" / "outcome.rs").read_text().split("#[cfg(test)]")[0]
    connection = [f"connection/{words}" for words in re.findall(r'=> "([^"]+)",', text)]
    http2 = [f"http2-protocol/{name}" for name in re.findall(r'^        "([A-Z0-9_]+)",$', text, re.MULTILINE)]
    assert [*connection, *http2, *re.findall(r'Cow::Borrowed\("(unknown/[^"]+)"\)', text)] == list(NAMED)


@pytest.mark.parametrize("key", ["http/429", "http/302", "http2-protocol/unknown error code 0x63", "connection/EOF"])
def test_statuses_and_faults_have_keys(key: str) -> None:
    assert is_error_key(key)


@pytest.mark.parametrize("key", ["http/42", "http/600", "http/", "connection/reset", "tls/expired", "http/4290", ""])
def test_other_words_are_no_keys(key: str) -> None:
    assert not is_error_key(key)


@pytest.mark.parametrize(
    ("metric", "meant"),
    [
        ("load.errors.http/42", "load.errors.http/429"),
        ("load.errors.connection/reset by peer", "load.errors.connection/connection reset by peer"),
        ("load.series.GET core/v1/pods object.errors.http/5000", None),
    ],
)
def test_a_budget_with_a_typo_in_its_key_is_refused_before_the_run(metric: str, meant: str | None) -> None:
    with pytest.raises(UsageError) as error:
        refuse_unknown([parse_budget(f"{metric}==0")])
    assert f"{metric}: no such metric" in str(error.value)
    assert meant is None or f"did you mean {meant}?" in str(error.value)


def test_a_budget_on_an_error_of_one_series_is_known() -> None:
    refuse_unknown([parse_budget("load.series.GET core/v1/pods object.errors.http/500==0")])
