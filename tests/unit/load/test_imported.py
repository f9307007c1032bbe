"""`perfq load import`: what it prints, what it refuses, and what no trace has."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from perfq._core import load_import, load_import_reasons
from perfq.cli import cli
from perfq.errors import UsageError

PODS = "/api/v1/namespaces/a/pods"


def event(uri: str, verb: str = "get", at: int = 0, **changes: Any) -> dict[str, Any]:
    """A request that took a second, received so many seconds after ten o'clock."""
    return {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": "Request",
        "auditID": f"{uri} {at}",
        "stage": "ResponseComplete",
        "requestURI": uri,
        "verb": verb,
        "user": {"username": "jane@example.com"},
        "responseStatus": {"code": 200},
        "requestReceivedTimestamp": f"2024-05-01T10:00:{at:02}.5Z",
        "stageTimestamp": f"2024-05-01T10:00:{at + 1:02}.5Z",
    } | changes


def write(path: Path, *events: dict[str, Any]) -> str:
    """A log of these events."""
    path.write_text("".join(f"{json.dumps(one)}\n" for one in events))
    return str(path)


def run(*arguments: str) -> Result:
    """The command in this process; its exceptions come through."""
    command = ["load", "import", *arguments]
    return CliRunner().invoke(cli, command, catch_exceptions=False, standalone_mode=False)


def lines(trace: Path) -> list[dict[str, Any]]:
    """The lines of a plain trace."""
    return [json.loads(line) for line in trace.read_text().splitlines()]


def test_an_import_prints_what_it_made_and_what_it_lost(tmp_path: Path) -> None:
    log = write(
        tmp_path / "audit.log", event(PODS, "list"), event(f"{PODS}/b/exec", "create", 3), event(PODS, "list", 5)
    )
    printed = run(log, "--out", str(tmp_path / "trace")).stdout.splitlines()
    assert printed[1:4] == [
        "requests    2",
        "log         audit.log: 3 lines, 3 events",
        "window      2024-05-01T10:00:00.500000Z to 2024-05-01T10:00:06.500000Z (6 s)",
    ]
    assert printed[5:] == ["Not in the trace:", "COUNT  OF       WHY   FIRST AT", "1      request  exec  audit.log:2"]
    header, *requests = lines(tmp_path / "trace")
    assert header["losses"] == [{"loss": "exec", "count": 1, "text": "exec", "of": "request", "first": "audit.log:2"}]
    assert requests == [
        {"t_us": 0, "verb": "LIST", "path": PODS, "expect_status": 200},
        {"t_us": 5_000_000, "verb": "LIST", "path": PODS, "expect_status": 200},
    ]


def test_the_document_for_machines_adds_up(tmp_path: Path) -> None:
    one = event(PODS, "list")
    received = one | {"stage": "RequestReceived", "stageTimestamp": one["requestReceivedTimestamp"]}
    untimed = event(PODS, "list", 4, stageTimestamp=None)
    log = write(tmp_path / "audit.log", received, one, one, untimed, event(PODS, "create", 7))
    imported = json.loads(run(log, "--out", str(tmp_path / "trace"), "--json").stdout)
    counts = {loss["why"]: (loss["of"], loss["count"]) for loss in imported["losses"]}
    assert counts == {"no_timestamp": ("event", 1), "duplicate": ("event", 1), "no_body": ("request", 1)}
    assert (imported["events"], imported["requests"], imported["stages"]) == (5, 1, 1)


def test_files_in_any_order_and_packing_give_the_same_trace(tmp_path: Path) -> None:
    first = write(tmp_path / "audit-1.log", event(PODS, "list", 3), event(PODS, "list", 9))
    (tmp_path / "audit-2.log.gz").write_bytes(gzip.compress((json.dumps(event(PODS, "list", 1)) + "\n").encode()))
    second = str(tmp_path / "audit-2.log.gz")
    run(first, second, "--out", str(tmp_path / "one"))
    run(second, first, "--out", str(tmp_path / "other"), "--memory", "1KiB")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()
    assert [line["t_us"] for line in lines(tmp_path / "one")[1:]] == [0, 2_000_000, 8_000_000]


def test_options_say_whose_requests_which_time_and_which_bodies(tmp_path: Path) -> None:
    log = write(
        tmp_path / "audit.log",
        event("/healthz", user={"username": "system:apiserver"}),
        event("/readyz?shard=a&token=b", at=2),
        event("/livez", at=20),
        event(PODS, "create", 3, level="Metadata", objectRef={"resource": "pods", "name": "b"}),
    )
    out = tmp_path / "trace"
    flags = "--skip-user system:* --until 2024-05-01T10:00:10Z --keep-query shard --without-body synthetic --hash-names"
    run(log, "--out", str(out), *flags.split())
    header, readyz, create = lines(out)
    assert {one["loss"]: one["count"] for one in header["losses"]} == {
        "skipped_user": 1,
        "outside_window": 1,
        "synthetic_body": 1,
        "query_removed": 1,
        "names_hashed": 1,
    }
    assert (readyz["path"], readyz["query"]) == ("/readyz", "shard=a")
    assert PODS not in create["path"]
    assert json.loads(create["body"])["kind"] == "Pod"


def test_what_cannot_be_imported_is_one_sentence(tmp_path: Path) -> None:
    log = write(tmp_path / "audit.log", event(PODS, "list"))
    (tmp_path / "there").write_text("mine")
    out = str(tmp_path / "trace")
    for arguments, sentence in [
        ([str(tmp_path / "none"), "--out", out], f"{tmp_path}/none: No such file or directory"),
        ([str(tmp_path), "--out", out], f"{tmp_path}: it is a directory: give the files of a log"),
        ([log, log, "--out", out], f"{log}: it was given twice"),
        ([log, "--out", str(tmp_path / "there")], "there: the file exists already; remove it or name another"),
        ([log, "--out", str(tmp_path / "no" / "trace")], "no/trace: No such file or directory"),
        (
            [log, "--out", out, "--since", "noon"],
            'since is "noon": an instant such as 2024-05-01T10:00:00Z was expected',
        ),
        ([log, "--out", out, "--until", "2024-05-01T10:00:00Z"], "1 requests outside the window that was asked for"),
    ]:
        with pytest.raises(UsageError) as refused:
            run(*arguments)
        assert sentence in str(refused.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["audit.log", "there"]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "0 lines, 0 audit events of audit.k8s.io/v1; they are empty"),
        (
            bytes(range(256)) * 99,
            "lines that are no JSON object, such as the server's own log (the first at audit.log:1)",
        ),
        (b'{"kind":"Event","apiVersion":"audit.k8s.io/v1","aud', "1 lines that begin or end in the middle of an event"),
        (b'{"kind":"Event","apiVersion":"audit.k8s.io/v1beta1"}', "1 events of another version than audit.k8s.io/v1"),
        (b'{"kind":"Event","apiVersion":"audit.k8s.io/v1"}', "1 events without a timestamp that can be read"),
        (b"\x1f\x8b\x08\x00damaged", "1 compressed files that end early or are damaged"),
    ],
)
def test_a_log_without_a_request_is_an_error_that_says_what_was_there(tmp_path: Path, content: bytes, why: str) -> None:
    (tmp_path / "audit.log").write_bytes(content)
    with pytest.raises(UsageError) as refused:
        run(str(tmp_path / "audit.log"), "--out", str(tmp_path / "trace"))
    assert str(refused.value).startswith("no request to replay in audit.log: ")
    assert why in str(refused.value)
    assert not (tmp_path / "trace").exists()


def test_an_unknown_option_of_the_native_module_is_refused(tmp_path: Path) -> None:
    log = write(tmp_path / "audit.log", event(PODS, "list"))
    with pytest.raises(ValueError, match="unknown field `hash_name`"):
        load_import([log], tmp_path / "trace", {"hash_name": True})


def test_no_canary_of_a_log_reaches_the_trace(tmp_path: Path) -> None:
    secret = {"kind": "Secret", "metadata": {"name": "b"}, "data": {"password": "canary-password"}}
    token = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJjYW5hcnkifQ.canary-signature"
    plain = {"kind": "ConfigMap", "metadata": {"name": "b", "annotations": {"by": "canary-user"}}, "data": {"t": token}}
    review = {"kind": "TokenReview", "spec": {"token": "canary-token"}}
    common: dict[str, Any] = {
        "level": "RequestResponse",
        "user": {
            "username": "canary-user",
            "uid": "canary-uid-1",
            "groups": ["canary-group"],
            "extra": {"a": ["canary"]},
        },
        "impersonatedUser": {"username": "canary-impersonated"},
        "sourceIPs": ["203.0.113.99"],
        "userAgent": "tool (canary-user)",
        "responseStatus": {"code": 403, "message": 'User "canary-user" cannot get, says canary-message'},
        "annotations": {"authorization.k8s.io/reason": "canary-reason"},
        "responseObject": {"kind": "Status", "message": "canary-response"},
    }
    writes = [
        ("/api/v1/namespaces/a/secrets", "create", secret),
        ("/api/v1/namespaces/a/secrets/b", "update", secret),
        ("/api/v1/namespaces/a/secrets/b", "patch", secret),
        ("/apis/authentication.k8s.io/v1/tokenreviews", "create", review),
        ("/api/v1/namespaces/a/serviceaccounts/b/token", "create", review),
        ("/api/v1/namespaces/a/configmaps", "create", plain),
        ("/api/v1/namespaces/a/configmaps/b?token=canary-query", "update", plain),
    ]
    events = [event(uri, verb, at, requestObject=body, **common) for at, (uri, verb, body) in enumerate(writes)]
    events.append(event("/api/v1/pods?access_token=canary-query&limit=5", "list", 9, **common))
    log = write(tmp_path / "audit.log", *events)
    for number, flags in enumerate([[], ["--without-body", "synthetic"], ["--hash-names"]]):
        out = tmp_path / f"trace-{number}"
        imported = json.loads(run(log, "--out", str(out), "--json", *flags).stdout)
        assert imported["requests"] >= 3
        for word in ("canary", "203.0.113.99", "Y2FuYXJ5"):
            assert word not in out.read_text()


def test_every_reason_has_a_name_a_kind_and_a_meaning() -> None:
    reasons = load_import_reasons()
    assert len({name for name, _, _ in reasons}) == len(reasons) > 30
    assert {of for _, of, _ in reasons} == {"file", "line", "event", "request", "change"}
