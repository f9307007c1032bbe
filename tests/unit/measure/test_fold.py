"""From the lines of a run to its figures."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.synthetic import FIRST_RV, KUBECTL, MS, SECOND, T0, Line, SyntheticRun, ideal_run, profile, replay_of

from perfq.judge.verdict import judge
from perfq.measure.fold import fold
from perfq.measure.recorded import Recorded
from perfq.measure.replay_recorded import ReplayRecorded
from perfq.measure.result.schema import shipped

SCHEMA = jsonschema.Draft202012Validator(json.loads(shipped()))


def folded(run: SyntheticRun, tmp_path: Path) -> ReplayRecorded:
    """The run folded; its result has to fit the schema, whatever the test is about."""
    recorded = replay_of(run.write(tmp_path / "run"))
    SCHEMA.validate(judge(recorded).result.plain())
    return recorded


def third_pair(**changes: object) -> Callable[[Line], Line]:
    """Changes the keys of one pair."""
    return lambda line: line | changes if line["k"] == "input" and line["pair"] == 3 else line


def latency_p50(recorded: Recorded, name: str) -> int | None:
    one = recorded.latency[name]  # type: ignore[index]
    return None if one is None else one.p50


def test_every_latency_of_an_ideal_run_is_what_its_lines_say(tmp_path: Path) -> None:
    recorded = folded(ideal_run(), tmp_path)
    assert latency_p50(recorded, "commit_lag") == 50_000
    assert latency_p50(recorded, "event_to_written") == 100_000
    assert latency_p50(recorded, "event_to_client") == 300_000
    assert latency_p50(recorded, "event_to_screen") == 60 * MS - 50_000
    render, commit = recorded.latency["event_to_render"], recorded.latency["commit_to_render"]
    assert render is not None
    assert commit is not None
    assert (render.count, render.max) == (288, 20 * MS - 350_000)
    assert commit.max == render.max + 300_000 if render.max else False


def test_phases_follow_the_due_instant_and_sum_up_to_all(tmp_path: Path) -> None:
    recorded = folded(ideal_run(), tmp_path)
    lag = recorded.latency["commit_lag"]
    assert lag is not None
    assert {phase: figures.count for phase, figures in lag.phases.items()} == {"steady": 180, "burst": 100}


def test_the_identity_of_the_updates_closes_between_two_counts(tmp_path: Path) -> None:
    updates = folded(ideal_run(), tmp_path).replay.updates
    assert updates.requested == 280
    assert updates.delivered == 280 + 2 * 4
    assert updates.delivered == (updates.rendered or 0) + (updates.coalesced or 0) + (updates.dropped or 0)


def test_a_swallowed_event_opens_the_identity(tmp_path: Path) -> None:
    run = ideal_run()
    swallowed = False

    def swallow(line: dict[str, object]) -> dict[str, object]:
        nonlocal swallowed
        m = line.get("m")
        if not swallowed and isinstance(m, dict) and m["k"] == "coalesced":
            swallowed = True
            return line | {"m": m | {"n": m["n"] - 1}}
        return line

    result = judge(folded(run.mapped(swallow), tmp_path)).result
    assert result.verdict.status == "INVALID"
    assert any("updates without a fate: 1" in reason for reason in result.verdict.reasons)


def test_a_key_without_effect_is_a_sample_of_the_time_out(tmp_path: Path) -> None:
    run = ideal_run().mapped(
        lambda line: (
            line | {"seen": None, "outcome": "censored"} if line["k"] == "input" and line["pair"] == 3 else line
        )
    )
    recorded = folded(run, tmp_path)
    keys = recorded.latency["input"]
    assert keys is not None
    assert (keys.count, keys.censored, keys.max) == (20, 2, 5 * SECOND)
    assert (recorded.replay.input.pairs, recorded.replay.input.censored) == (9, 2)


def test_a_key_after_which_the_cursor_stands_elsewhere_is_no_sample(tmp_path: Path) -> None:
    run = ideal_run().mapped(third_pair(outcome="failed"))
    recorded = folded(run, tmp_path)
    assert recorded.latency["input"] is not None
    assert recorded.latency["input"].count == 18
    assert (recorded.replay.input.pairs, recorded.replay.input.failed) == (9, 2)


def test_a_probe_whose_pod_the_plan_changed_meanwhile_is_superseded(tmp_path: Path) -> None:
    run = ideal_run()
    probe = next(line for line in run.lines if line["k"] == "commit" and line["src"] == "probe")
    overtaking = probe | {"src": "plan", "t": probe["t"] + MS, "due": probe["t"], "seq": 9999, "rv": FIRST_RV + 90_000}
    recorded = folded(run.adding(overtaking), tmp_path)
    assert (recorded.replay.probes.seen, recorded.replay.probes.superseded) == (3, 1)
    assert recorded.latency["event_to_screen"] is not None
    assert recorded.latency["event_to_screen"].count == 3


def test_a_probe_that_was_never_seen_counts_with_the_time_it_was_waited_for(tmp_path: Path) -> None:
    run = ideal_run().without(lambda line: line["k"] == "cell" and line["i"] == 2)
    recorded = folded(run, tmp_path)
    screen = recorded.latency["event_to_screen"]
    assert screen is not None
    assert (recorded.replay.probes.seen, recorded.replay.probes.lost) == (3, 1)
    assert (screen.count, screen.censored, screen.max) == (4, 1, 110 * MS - 50_000)


def test_a_client_without_a_probe_has_nulls_with_a_reason_each(tmp_path: Path) -> None:
    silent = ideal_run().client(KUBECTL).without(lambda line: line["k"] in ("probe", "input"))
    recorded = folded(silent, tmp_path)
    named = {warning.field for warning in recorded.warnings}
    assert recorded.replay.digests.match is None
    assert recorded.latency["event_to_render"] is None
    assert {"/latency/event_to_render", "/latency/input", "/replay/digests/store", "/replay/updates/dropped"} <= named
    assert recorded.latency["event_to_screen"] is not None
    assert judge(recorded).result.verdict.status == "PASS"


@pytest.mark.parametrize("client", ["viewer", "kubectl"])
def test_every_null_of_the_measured_blocks_is_named_by_a_warning(client: str, tmp_path: Path) -> None:
    run = ideal_run()
    if client == "kubectl":
        run = run.client(KUBECTL).without(lambda line: line["k"] == "probe")
    recorded = folded(run, tmp_path)
    named = {warning.field for warning in recorded.warnings}
    document = judge(recorded).result.plain()
    nulls = set(_nulls("/process", document["process"])) | set(_nulls("/api", document["api"]))
    nulls |= set(_nulls("/replay", document["replay"])) - {"/replay/client_exit"}
    nulls |= {f"/latency/{name}" for name, one in document["latency"].items() if one is None}
    nulls = {pointer for pointer in nulls if not pointer.endswith("/screen")}
    assert nulls <= named


def _nulls(pointer: str, value: object) -> list[str]:
    if value is None:
        return [pointer]
    if isinstance(value, dict):
        return [found for key, inner in value.items() for found in _nulls(f"{pointer}/{key}", inner)]
    return []


def test_the_order_of_the_lines_does_not_matter(tmp_path: Path) -> None:
    run = ideal_run()
    commits_last = sorted(run.lines, key=lambda line: line["k"] == "commit")
    assert folded(run, tmp_path).latency == folded(SyntheticRun(run.manifest, run.plan, commits_last), tmp_path).latency


def test_requests_by_path_are_the_servers_own_last_accounting(tmp_path: Path) -> None:
    earlier = {"k": "api", "t": T0, "totals": {"operations": []}}
    run = ideal_run()
    recorded = folded(SyntheticRun(run.manifest, run.plan, [earlier, *run.lines]), tmp_path)
    assert {path: one.requests for path, one in recorded.api.by_path.items()} == {"list /api/v1/pods": 1}


def test_what_the_terminal_did_not_answer_is_named(tmp_path: Path) -> None:
    run = ideal_run().mapped(
        lambda line: line | {"unanswered": ["DECRQSS", "XTGETTCAP"]} if line.get("name") == "stopping" else line
    )
    note = next(one for one in folded(run, tmp_path).warnings if one.code == "unanswered")
    assert "DECRQSS, XTGETTCAP" in note.text
    assert note.field == "/replay/start/interactive_ns"


def test_an_extended_run_is_the_longer_plan(tmp_path: Path) -> None:
    short, long = ideal_run(profile(duration_seconds=8)), ideal_run(profile(duration_seconds=10))
    mark = {"k": "mark", "t": T0 + 8 * SECOND, "name": "extended", "seconds": 2, "boot": None}
    run = SyntheticRun(short.manifest, short.plan, [*long.lines, mark])
    recorded = folded(run, tmp_path)
    assert recorded.replay.extended_seconds == 2
    assert recorded.replay.digests.expected == long.plan.final_hash
    assert recorded.replay.digests.match is True
    assert recorded.replay.updates.requested == long.plan.events


def test_a_torn_last_line_is_left_out_and_said(tmp_path: Path) -> None:
    directory = ideal_run().write(tmp_path / "run")
    samples = directory / "samples.ndjson"
    samples.write_text(samples.read_text() + '{"k":"commit","t":12')
    recorded = replay_of(directory)
    assert "torn_line" in [one.code for one in recorded.warnings]
    assert recorded.evidence.bad_lines == 0
    assert judge(recorded).result.verdict.status == "PASS"


def test_a_bad_line_in_the_middle_makes_the_record_incomplete(tmp_path: Path) -> None:
    directory = ideal_run().write(tmp_path / "run")
    samples = directory / "samples.ndjson"
    lines = samples.read_text().splitlines(keepends=True)
    samples.write_text(
        "".join([*lines[:100], '{"k":"commit","t":"noon"}\n', '{"k":"from_the_future"}\n', *lines[100:]])
    )
    result = judge(fold(directory)).result
    assert result.verdict.status == "INVALID"
    assert "line 101" in result.verdict.reasons[0]


@settings(max_examples=40)
@given(data=st.data())
def test_the_fold_of_any_prefix_is_a_result(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    run = ideal_run(profile(duration_seconds=5))
    text = run.text()
    cut = data.draw(st.integers(min_value=0, max_value=len(text)))
    directory = run.write(tmp_path_factory.mktemp("cut") / "run")
    (directory / "samples.ndjson").write_text(text[:cut])
    judgement = judge(fold(directory))
    SCHEMA.validate(judgement.result.plain())
    if '"client_stopped"' not in text[:cut]:
        assert judgement.result.verdict.status == "ABORTED"


def test_changes_of_size_and_the_idle_time_are_figures_and_null_where_there_were_none(tmp_path: Path) -> None:
    end = T0 + 10 * SECOND
    idle: list[Line] = [
        {"k": "mark", "t": end + 610 * MS, "name": "idle", "boot": None},
        {"k": "mark", "t": end + 660 * MS, "name": "idle_end", "boot": None},
        {"k": "resize", "t": end + 661 * MS, "cols": 136, "rows": 42, "filled": end + 673 * MS},
        {"k": "resize", "t": end + 680 * MS, "cols": 160, "rows": 50, "filled": None},
    ]
    used: list[Line] = [
        {
            "k": "process",
            "t": end + at * MS,
            "who": "client",
            "cpu_ns": (9000 + cpu) * MS,
            "rss": 1,
            "procs": 1,
            "took": 1,
        }
        for at, cpu in ((611, 0), (631, 10), (651, 20))
    ]
    run = ideal_run().without(lambda line: line["k"] == "process" and line["t"] > end)
    terminal = folded(run.adding(*idle, *used), tmp_path).replay.terminal
    assert terminal is not None
    assert (terminal.resizes, terminal.resizes_failed, terminal.resize_max_ns) == (2, 1, 12 * MS)
    assert terminal.idle_cpu_percent == 50.0


def test_a_client_that_was_never_left_alone_has_no_idle_figure(tmp_path: Path) -> None:
    terminal = folded(ideal_run(), tmp_path).replay.terminal
    assert terminal is not None
    assert (terminal.idle_cpu_percent, terminal.resize_max_ns, terminal.resizes) == (None, None, 0)
