"""What a file is told to be, whatever its name says."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from perfq.errors import UsageError
from perfq.load.told import is_url, tell

PROFILE = "version: 1\ndescription: a mix\nspecs:\n  - rate: 10\n    requests: []\n"
GROUP = "count: 3\nloadProfile:\n  version: 1\n  specs: []\n"
REPLAYED = "count: 2\nreplayProfile: https://example.test/replay.yaml\n"
REPLAY = "version: 1\nspec:\n  runnerCount: 2\n  connsPerRunner: 1\nrequests:\n- timestamp: 0\n"
TRACE = '{"schema":"perfq.trace/v1","source":{},"counts":{},"losses":[]}\n{"t_us":0,"verb":"GET","path":"/version"}\n'
AUDIT = '{"kind":"Event","apiVersion":"audit.k8s.io/v1","auditID":"a","stage":"ResponseComplete"}\n'


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (PROFILE, "document"),
        (GROUP, "document"),
        (REPLAYED, "document"),
        (REPLAY, "requests"),
        ('{"version": 1, "spec": {"runnerCount": 2, "connsPerRunner": 1}, "requests": []}', "requests"),
        ('{"version": 1, "specs": []}', "document"),
        (TRACE, "requests"),
        ("hello", "document"),
    ],
)
def test_a_file_is_told_by_its_content(text: str, kind: str, tmp_path: Path) -> None:
    for name in ("input.yaml", "input.trace.zst", "audit.log"):
        (tmp_path / name).write_text(text)
        assert tell(tmp_path / name, name) == kind


@pytest.mark.parametrize("text", [REPLAY, TRACE])
def test_what_is_packed_is_told_as_well(text: str, tmp_path: Path) -> None:
    path = tmp_path / "input.yaml"
    path.write_bytes(gzip.compress(text.encode()))
    assert tell(path, path.name) == "requests"


@pytest.mark.parametrize(
    "text",
    [
        AUDIT,
        '{"kind":"EventList","apiVersion":"audit.k8s.io/v1","items":[]}',
        '2026-01-01T00:00:00Z stdout F {"kind":"Event","apiVersion":"audit.k8s.io/v1","auditID":"a"}',
    ],
)
def test_an_audit_log_is_to_be_imported_first(text: str, tmp_path: Path) -> None:
    path = tmp_path / "audit.log"
    for content in (text.encode(), gzip.compress(text.encode())):
        path.write_bytes(content)
        with pytest.raises(UsageError, match=r"an audit log.*perfq load import .*audit.log --out trace.zst"):
            tell(path, path.name)


def test_a_word_in_a_description_makes_no_replay(tmp_path: Path) -> None:
    path = tmp_path / "profile.yaml"
    path.write_text("version: 1\ndescription: 'the runnerCount: of it'\nspecs: []\n")
    assert tell(path, path.name) == "document"


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("missing", None, "no such file"),
        ("broken.gz", b"\x1f\x8bnot gzip at all", "the gzip data is damaged"),
    ],
)
def test_what_cannot_be_read_is_named_with_the_reason(
    name: str, content: bytes | None, said: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UsageError, match=said) as error:
        tell(path, path.name)
    assert name in str(error.value)


def test_a_directory_is_no_input(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="got a directory"):
        tell(tmp_path, "it")


def test_only_http_is_a_url() -> None:
    assert is_url("https://example.test/a")
    assert is_url("http://example.test/a")
    assert not is_url("httpd.yaml")
