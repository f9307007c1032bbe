"""A real server's audit log: all of its traffic is found again, and sent again it is answered as it was."""

from __future__ import annotations

import gzip
import json
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.cluster.load.engine import send
from tests.cluster.load.known_traffic import (
    AGENT,
    CANARY,
    OTHERS,
    SECRETS,
    Traffic,
    What,
    logged,
    send_known_traffic,
)
from tests.cluster.testbed.bed import Bed, running

from perfq._core import load_import

pytestmark = pytest.mark.cluster

DEADLINE_S = 60


@dataclass(frozen=True)
class Recording:
    """Known traffic, and the audit log that it left."""

    traffic: Traffic
    log: Path


def record(bed: Bed, log: Path) -> Recording:
    """Sends known traffic to this test bed and keeps its audit log."""
    traffic = send_known_traffic(bed)
    wait_until_logged(bed, len(traffic.sent))
    log.write_bytes(bed.audit_log.read_bytes())
    return Recording(traffic, log)


def wait_until_logged(bed: Bed, requests: int) -> None:
    """Until so many of the known requests stand in its audit log, which comes after the answers."""
    until = time.monotonic() + DEADLINE_S
    while logged(bed) < requests:
        assert time.monotonic() < until, "the audit log lacks requests"


@pytest.fixture(scope="module")
def recording(programs: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Recording:
    """At level RequestResponse, of a test bed that is gone by then."""
    folder = tmp_path_factory.mktemp("recording")
    with running(folder / "bed") as bed:
        return record(bed, folder / "audit.log")


def imported(logs: list[Path], out: Path, **options: Any) -> tuple[dict[str, int], list[dict[str, Any]]]:
    """Losses by reason, and the lines of those requests that are ours."""
    done = load_import(logs, out, {"skip_users": OTHERS, **options})
    lost = sum(loss["count"] for loss in done["losses"] if loss["of"] in ("event", "request"))
    assert done["events"] == done["requests"] + done["stages"] + lost
    lines = [json.loads(line) for line in out.read_text().splitlines()[1:]]
    return {loss["why"]: loss["count"] for loss in done["losses"]}, [
        line for line in lines if line.get("user_agent") == AGENT
    ]


def known(line: dict[str, Any]) -> tuple[What, int]:
    return (line["verb"], line["path"]), line["expect_status"]


def is_session(what: What) -> bool:
    return what[1].endswith("/exec")


def test_every_request_of_known_traffic_is_found_again_or_named_as_lost(recording: Recording, tmp_path: Path) -> None:
    traffic = recording.traffic
    losses, lines = imported([recording.log], tmp_path / "trace")
    kept = [one for one in traffic.sent if not is_session(one[0]) and one[0][1] != SECRETS]
    # What a server says while it is not ready for a resource is not expected to be met again.
    sent = Counter((what, status) for what, status in kept if status < 500 and status != 429)
    found = Counter(known(line) for line in lines if "expect_status" in line)
    assert found == sent
    assert len(lines) == len(kept)
    assert losses["exec"] == sum(is_session(what) for what, _ in traffic.sent)
    assert losses["secret_body"] == sum(what[1] == SECRETS for what, _ in traffic.sent)
    assert losses["name_filled_in"] == 5
    assert CANARY not in (tmp_path / "trace").read_text()
    watches = sorted(line["watch_us"] for line in lines if line["verb"] == "WATCH")
    assert [round(us / 1_000_000) for us in watches] == [1, 2, 3]
    assert not {"damaged_line", "cut_line", "other_version", "no_timestamp", "shape", "duplicate"} & losses.keys()


def test_a_log_cut_anywhere_and_in_part_compressed_gives_the_same_trace(recording: Recording, tmp_path: Path) -> None:
    log = recording.log.read_bytes()
    files = [tmp_path / f"audit-{number}.log" for number in range(4)]
    for number, file in enumerate(files):
        piece = log[number * len(log) // 4 : (number + 1) * len(log) // 4]
        file.write_bytes(gzip.compress(piece) if number % 2 else piece)
    _, whole = imported([recording.log], tmp_path / "whole.trace")
    _, pieces = imported(files[::-1], tmp_path / "pieces.trace", memory_bytes=10_000)
    assert pieces == whole


def test_at_level_metadata_writes_are_dropped_or_get_a_body_that_the_server_takes(
    fresh_bed: Callable[..., Bed], tmp_path: Path
) -> None:
    recording = record(fresh_bed(audit_level="Metadata"), tmp_path / "audit.log")
    _, reads = imported([recording.log], tmp_path / "dropped.trace")
    assert {line["verb"] for line in reads} == {"GET", "LIST", "WATCH", "DELETE", "DELETECOLLECTION"}
    losses, lines = imported([recording.log], tmp_path / "synthetic.trace", without_body="synthetic")
    assert losses["synthetic_body"] > 100
    assert losses["no_synthetic_body"] >= 2, "custom resources"
    assert len(lines) > len(recording.traffic.sent) * 0.9
    end = send(fresh_bed(), tmp_path / "synthetic.trace").end
    assert end["ok"] >= end["planned"] * 0.95, end


@pytest.mark.parametrize("ordering", ["object", "strict"])
def test_an_imported_trace_is_answered_on_a_fresh_server_as_it_was_on_the_first(
    recording: Recording, fresh_bed: Callable[..., Bed], tmp_path: Path, ordering: str
) -> None:
    second = fresh_bed()
    _, lines = imported([recording.log], tmp_path / "first.trace")
    send(second, tmp_path / "first.trace", ordering=ordering)
    wait_until_logged(second, len(lines))
    _, again = imported([second.audit_log], tmp_path / "second.trace")
    expected, answered = statuses(lines), statuses(again)
    same = sum(a == b for what, before in expected.items() for a, b in zip(before, answered[what], strict=False))
    assert len(again) == len(lines)
    assert same >= len(lines) * 0.99, {
        what: (before, answered[what]) for what, before in expected.items() if before != answered[what]
    }


def statuses(lines: list[dict[str, Any]]) -> dict[tuple[What, str | None], list[int | None]]:
    """The statuses of the requests on each object, in the order in which they were received; None for a server's own
    failure. What is created has its name in the body: requests on different objects have no order among each other."""
    found = defaultdict(list)
    for line in lines:
        body = json.loads(line["body"]) if line["verb"] == "CREATE" and "body" in line else {}
        found[(line["verb"], line["path"]), body.get("metadata", {}).get("name")].append(line.get("expect_status"))
    return found
