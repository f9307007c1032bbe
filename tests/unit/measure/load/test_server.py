"""The target's own metrics beside the client's figures, and why they are not known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.synthetic_load import T0, Line, ideal_load, load_of

from perfq.judge.verdict import judge
from perfq.measure.load.recorded import LoadRecorded
from perfq.measure.result.load_server import QueueWait, ServerRequests
from perfq.report.markdown import markdown
from perfq.report.summary import summary

LABELS = (
    'component="apiserver",dry_run="",group="",resource="pods",scope="resource",subresource="",verb="GET",version="v1"'
)


def exposed(scale: int, *, started: float = 1.5e9, more: str = "") -> str:
    """What a server tells that has answered so many hundred GETs."""
    duration = "apiserver_request_duration_seconds"
    waited = "apiserver_flowcontrol_request_wait_duration_seconds"
    level = 'priority_level="workload-low"'
    return f"""process_start_time_seconds {started!r}
{duration}_bucket{{{LABELS},le="0.005"}} {60 * scale}
{duration}_bucket{{{LABELS},le="0.025"}} {99 * scale}
{duration}_bucket{{{LABELS},le="+Inf"}} {100 * scale}
{duration}_sum{{{LABELS}}} {0.5 * scale}
{duration}_count{{{LABELS}}} {100 * scale}
apiserver_current_inflight_requests{{request_kind="readOnly"}} {scale}
apiserver_current_inflight_requests{{request_kind="mutating"}} 0
apiserver_flowcontrol_current_inqueue_requests{{flow_schema="x",{level}}} {scale - 1}
apiserver_flowcontrol_rejected_requests_total{{flow_schema="x",{level},reason="queue-full"}} {scale}
{waited}_count{{{level}}} {10 * scale}
{waited}_sum{{{level}}} {0.01 * scale}
{more}"""


def recorded(tmp_path: Path, **read: dict[str, Any]) -> LoadRecorded:
    lines = [{"k": "server_metrics", "t": T0, "when": when, **fields} for when, fields in read.items()]
    return load_of(ideal_load().adding(*lines).write(tmp_path / "run"))


def why(recorded: LoadRecorded) -> str:
    assert recorded.load.server is None
    return next(one.text for one in recorded.warnings if one.field == "/load/server")


def test_what_the_server_did_meanwhile_is_what_grew(tmp_path: Path) -> None:
    found = recorded(tmp_path, before={"text": exposed(1)}, after={"text": exposed(3)})
    server = found.load.server
    assert server is not None
    assert server.requests == [
        ServerRequests(key="GET core/v1/pods object", count=200, mean_ns=5_000_000, p50_ns=5_000_000, p99_ns=25_000_000)
    ]
    assert (server.in_flight, server.queued) == ({"readOnly": 3}, {"workload-low": 2})
    assert server.rejected == {"workload-low/queue-full": 2}
    assert server.queue_waits == [QueueWait(key="workload-low", count=20, mean_ns=1_000_000)]


def test_a_quantile_beyond_the_last_bucket_is_not_known(tmp_path: Path) -> None:
    after = exposed(3).replace('le="0.025"} 297', 'le="0.025"} 250')
    server = recorded(tmp_path, before={"text": exposed(1)}, after={"text": after}).load.server
    assert server is not None
    assert (server.requests[0].p50_ns, server.requests[0].p99_ns) == (5_000_000, None)


def test_priority_levels_have_their_names_where_the_server_told_them(tmp_path: Path) -> None:
    line = {"k": "server_metrics", "t": T0, "when": "after", "text": exposed(1), "levels": {"uid-1": "workload-low"}}

    def answered(line: Line) -> Line:
        return line | {"priority_levels": {"uid-1": 60, "uid-2": 40}} if line["k"] == "load_slice" else line

    found = load_of(ideal_load().mapped(answered).adding(line).write(tmp_path / "run"))
    assert found.load.priority_levels == {"uid-2": 400, "workload-low": 600}
    assert "level: uid-2 400, workload-low 600." in markdown(judge(found).result)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ({"text": exposed(1)}, {"text": exposed(3, started=1.6e9)}, "its process was started at another time"),
        ({"text": exposed(3)}, {"text": exposed(1)}, "its counter apiserver_"),
        (
            {"text": exposed(1, more='apiserver_request_duration_seconds_count{verb="LIST"} 1\n')},
            {"text": exposed(3)},
            "its counter apiserver_request_duration_seconds_count fell",
        ),
        ({"text": "up 1\n"}, {"text": "up 1\n"}, "does not tell when it was started"),
        ({"text": exposed(1)}, {"why": "403 on GET /metrics"}, "could not be read after the load: 403 on GET /metrics"),
        ({"text": exposed(1)}, None, "could not be read after the load: the run was cut short"),
        ({"text": "<html>\n"}, {"text": exposed(1)}, "cannot be understood: line 1 is no sample"),
        (None, None, "the target's own metrics were not asked for"),
    ],
)
def test_why_nothing_is_known_is_said(
    tmp_path: Path, before: dict[str, Any] | None, after: dict[str, Any] | None, said: str
) -> None:
    read = {when: fields for when, fields in (("before", before), ("after", after)) if fields is not None}
    assert said in why(recorded(tmp_path, **read))


def test_the_report_has_both_sides_in_a_line(tmp_path: Path) -> None:
    found = recorded(tmp_path, before={"text": exposed(1)}, after={"text": exposed(3)})
    text = markdown(judge(found).result)
    assert "| `GET core/v1/pods object` | 200 | 5 ms | 5 ms | 25 ms | 2.8 ms | 3.8 ms |" in text
    assert "rejected: workload-low/queue-full 2; still queued: workload-low 2." in text
    told = summary(judge(found).result)
    assert "server       200 requests of all clients; GET core/v1/pods object 200, mean 5 ms, p99 up to 25 ms\n" in told
    waited = "waited: workload-low 20 (mean 1 ms)"
    assert f"its queues   {waited}; rejected: workload-low/queue-full 2; still queued: workload-low 2\n" in told
    assert json.loads(judge(found).result.to_json())["load"]["server"]["queued"] == {"workload-low": 2}


def test_a_summary_says_why_the_servers_figures_are_not_known_only_where_they_were_asked_for(tmp_path: Path) -> None:
    found = recorded(tmp_path, before={"text": exposed(1)}, after={"why": "403 on GET /metrics"})
    assert "server       not known: the target's own metrics could not be read after the load: 403 on" in (
        summary(judge(found).result)
    )
    assert "\nserver" not in summary(judge(recorded(tmp_path)).result)


def test_a_summary_names_the_most_frequent_kinds_and_counts_the_others(tmp_path: Path) -> None:
    more = "".join(
        f'apiserver_request_duration_seconds_count{{verb="LIST",resource="r{n}",version="v1"}} {n}\n'
        f'apiserver_request_duration_seconds_sum{{verb="LIST",resource="r{n}",version="v1"}} {n}\n'
        for n in range(1, 4)
    )
    told = summary(judge(recorded(tmp_path, before={"text": exposed(1)}, after={"text": exposed(3, more=more)})).result)
    assert "206 requests of all clients; GET core/v1/pods object 200," in told
    assert "; LIST core/v1/r3 3, mean 1 s; 2 more kinds in the report\n" in told
