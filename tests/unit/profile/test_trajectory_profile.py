"""Trajectory profiles: defaults, rules between fields, and what can be said before a run."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
import yaml

from perfq.cli.schema import schema_text
from perfq.errors import UsageError
from perfq.profile.override import parse_set
from perfq.profile.source import Source
from perfq.profile.trajectory.files import sessions_of
from perfq.profile.trajectory.profile import Poisson, TrajectoryProfile, Waves
from perfq.profile.trajectory.reading import load_profile

LEAST = """schema: perfq.trajectory-profile/v1
name: agents
trajectories: [{path: a.json}]
arrivals: {mode: poisson, rate_per_hour: 60}
"""
FULL = """schema: perfq.trajectory-profile/v1
name: agents-80
seed: 186
trajectories: [{path: traj/*.json, repeat: 1}]
arrivals: {mode: waves, waves: 5, per_wave: 16, interval_ms: 300000}
admission: {budget_bytes: 51539607552, headroom_bytes: 4294967296, usage: current_minus_inactive_file,
            reserve_bytes: 1073741824, max_concurrent: 80}
launch: {interval_ms: 1000}
command: {timeout_ms: 30000, term_grace_ms: 1000, clean_timeout_ms: 5000, max_output_bytes: 65536}
wait: {mode: idle}
sampling: {mode: isolated, workers: 4, delay_after_ms: 500, drain_timeout_ms: 10000, sources: [cgroup, psi, proc],
           inject_read_delay_ms: 0}
backend: {kind: local}
audits: all
"""
COMMAND = "{kind: command, launch_argv: [l], exec_argv: [e, '{script}'], stop_argv: [s]%s}"


def profile(text: str) -> TrajectoryProfile:
    return load_profile(Source("p.yaml", text.encode())).profile


def errors(text: str) -> list[str]:
    with pytest.raises(UsageError) as caught:
        profile(text)
    assert caught.value.exit_code == 2
    return [line.removeprefix("p.yaml:") for line in caught.value.details]


def test_a_profile_says_which_sessions_arrive_when_and_in_what() -> None:
    read = profile(FULL)
    assert read.arrivals == Waves(mode="waves", waves=5, per_wave=16, interval_ms=300_000)
    assert read.admission.budget_bytes == 48 << 30
    assert read.backend.kind == "local"


def test_defaults_are_those_that_the_full_profile_writes_out() -> None:
    least, full = profile(LEAST), profile(FULL)
    assert least.arrivals == Poisson(mode="poisson", rate_per_hour=60)
    assert (least.command, least.wait, least.sampling, least.backend) == (
        full.command,
        full.wait,
        full.sampling,
        full.backend,
    )
    assert least.admission.budget_bytes is None
    assert least.admission.max_concurrent is None
    assert least.launch.interval_ms == 0


@pytest.mark.parametrize("text", [LEAST, FULL, LEAST + "backend: " + COMMAND % ""])
def test_what_is_read_fits_the_json_schema(text: str) -> None:
    schema = json.loads(schema_text("trajectory-profile"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(yaml.safe_load(text), schema)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (
            LEAST + "admission: {budget_bytes: 100, headroom_bytes: 101}\n",
            "5: admission.headroom_bytes: got 101, expected at most the budget of 100 (100B): no session could ever be",
        ),
        (
            LEAST + "admission: {budget_bytes: 100, headroom_bytes: 50, reserve_bytes: 51}\n",
            "5: admission.reserve_bytes: got 51, expected at most 50, which the budget less the headroom leaves: no",
        ),
        (LEAST + "admission: {max_concurrent: 0}\n", "5: admission.max_concurrent: got 0, expected an integer from 1"),
        (LEAST + "admission: {budget_bytes: 1.5}\n", "5: admission.budget_bytes: got 1.5, expected an integer from 1"),
        (LEAST + "backend: {kind: pods}\n", '5: backend.kind: got "pods", expected local or command; pods comes later'),
        (LEAST + "backend: {kind: podman}\n", '5: backend.kind: got "podman", expected one of command, local, pods'),
        (LEAST + "backend: {kind: command}\n", "5: backend.launch_argv: got nothing, expected a list of at least 1"),
        (
            LEAST + "backend: {kind: command, launch_argv: [l], exec_argv: [e], stop_argv: [s]}\n",
            '5: backend.exec_argv: got ["e"], expected an item with {script}, where the command stands',
        ),
        (
            LEAST + "backend: {kind: command, launch_argv: ['{script}'], exec_argv: ['{script}'], stop_argv: [s]}\n",
            '5: backend.launch_argv: got ["{script}"], expected no {script}, which only exec_argv has',
        ),
        (
            LEAST + "backend: " + COMMAND % ", pause_argv: [p]",
            "5: backend.resume_argv: got nothing, expected what undoes p",
        ),
        (
            LEAST + "backend: " + COMMAND % ", restore_argv: [p]",
            "5: backend.offload_argv: got nothing, expected what rest",
        ),
        (
            LEAST + "wait: {mode: freeze}\nbackend: " + COMMAND % "",
            "6: backend.pause_argv: got nothing, expected a command, as wait.mode is freeze",
        ),
        (
            LEAST + "wait: {mode: offload}\nbackend: " + COMMAND % ", pause_argv: [p], resume_argv: [r]",
            "6: backend.offload_argv: got nothing, expected a command, as wait.mode is offload",
        ),
        (
            LEAST + "wait: {mode: offload}\n",
            '5: wait.mode: got "offload", expected idle or freeze with the backend local, which has no offload com',
        ),
        (LEAST + "wait: {mode: frozen}\n", '5: wait.mode: got "frozen", expected one of idle, freeze, offload'),
        (LEAST + "sampling: {workers: 0}\n", "5: sampling.workers: got 0, expected an integer from 1 to 64"),
        (
            LEAST + "sampling: {sources: [psy]}\n",
            '5: sampling.sources.0: got "psy", expected one of cgroup, psi, proc, s',
        ),
        (
            LEAST + "samplings: {}\n",
            "5: samplings: got an unknown key, expected one of schema, name, seed, trajectories",
        ),
        (LEAST + "audits: some\n", '5: audits: got "some", expected all'),
        (
            LEAST.replace("poisson, rate", "poison, rate"),
            '4: arrivals.mode: got "poison", expected one of explicit, poisson, waves (did you mean poisson?)',
        ),
        (
            LEAST.replace("mode: poisson, ", ""),
            "4: arrivals.mode: got nothing, expected one of explicit, poisson, waves",
        ),
        (LEAST.replace("{mode: poisson, rate_per_hour: 60}", "soon"), '4: arrivals: got "soon", expected a mapping'),
        (LEAST.replace("60", "0"), "4: arrivals.rate_per_hour: got 0, expected an integer from 1 to 3600000"),
        (
            LEAST.replace("{mode: poisson, rate_per_hour: 60}", "{mode: waves, waves: 2, per_wav: 3, interval_ms: 0}"),
            "4: arrivals.per_wav: got an unknown key, expected one of mode, waves, per_wave, interval_ms",
        ),
        (
            LEAST.replace("{mode: poisson, rate_per_hour: 60}", "{mode: waves, per_wave: 3, interval_ms: 0}"),
            "4: arrivals.waves: got nothing, expected an integer from 1 to 100000",
        ),
        (
            LEAST.replace("{mode: poisson, rate_per_hour: 60}", "{mode: explicit, offsets_ms: [0, -1]}"),
            "4: arrivals.offsets_ms.1: got -1, expected an integer from 0 to 2592000000",
        ),
        (
            LEAST.replace("{path: a.json}", "{path: a.json, repeat: 0}"),
            "3: trajectories.0.repeat: got 0, expected an int",
        ),
        (
            LEAST.replace("[{path: a.json}]", "[]"),
            "3: trajectories: got [], expected a list of at least 1 of {path, rep",
        ),
    ],
)
def test_an_error_is_named_with_its_line_the_value_seen_and_what_is_expected(text: str, complaint: str) -> None:
    assert any(line.startswith(complaint) for line in errors(text)), errors(text)


def test_a_budget_that_just_fits_is_taken() -> None:
    assert profile(LEAST + "admission: {budget_bytes: 100, headroom_bytes: 50, reserve_bytes: 50}\n")
    assert profile(LEAST + "admission: {budget_bytes: 100, headroom_bytes: 100}\n")


def test_all_errors_of_all_parts_are_named_at_once() -> None:
    text = LEAST + "wait: {mode: x}\nadmission: {budget_bytes: 1, headroom_bytes: 2}\nbackend: {kind: pods}\n"
    assert [line.split(": got")[0] for line in errors(text)] == [
        "5: wait.mode",
        "6: admission.headroom_bytes",
        "7: backend.kind",
    ]


def test_a_flag_changes_a_profile_before_it_is_checked() -> None:
    source = Source("p.yaml", LEAST.encode())
    changed = load_profile(source, [parse_set('sampling={"mode": "off"}'), parse_set("seed=7")]).profile
    assert (changed.sampling.mode, changed.seed) == ("off", 7)
    with pytest.raises(UsageError) as caught:
        load_profile(source, [parse_set('wait={"mode": "frozen"}')])
    assert caught.value.details == ('--set: wait.mode: got "frozen", expected one of idle, freeze, offload',)


def test_a_flag_changes_one_field_of_a_section_that_the_profile_leaves_out() -> None:
    source = Source("p.yaml", LEAST.encode())
    changed = load_profile(source, [parse_set("sampling.mode=inline"), parse_set("admission.max_concurrent=3")]).profile
    assert (changed.sampling.mode, changed.sampling.workers, changed.admission.max_concurrent) == ("inline", 4, 3)
    with pytest.raises(UsageError, match="sampling_"):
        load_profile(source, [parse_set("sampling_.mode=off")])


def write_session(path: Path, name: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    steps = [{"kind": "exec", "id": "c", "script": "true"}]
    path.write_text(json.dumps({"schema": "perfq.trajectory/v1", "id": name, "steps": steps}))


def ids(folder: Path, trajectories: str) -> list[str]:
    (folder / "p.yaml").write_text(LEAST.replace("[{path: a.json}]", trajectories))
    return [one.trajectory.id for one in sessions_of(load_profile(folder / "p.yaml"))]


def test_globs_count_from_the_folder_of_the_profile_and_files_come_in_the_order_of_their_names(tmp_path: Path) -> None:
    for name in ("b", "a", "c/d", "c/e/f"):
        write_session(tmp_path / f"t/{name}.json", name)
    (tmp_path / "t" / "g.json").mkdir()
    assert ids(tmp_path, "[{path: t/*.json}]") == ["a", "b"]
    assert ids(tmp_path, "[{path: 't/**/*.json'}]") == ["a", "b", "c/d", "c/e/f"]
    assert ids(tmp_path, "[{path: 't/[b-z].json'}, {path: t/a.json}]") == ["b", "a"]
    assert ids(tmp_path, f"[{{path: {tmp_path}/t/a.json}}]") == ["a"]


def test_all_files_of_an_entry_are_replayed_once_and_then_again(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_session(tmp_path / f"{name}.json", name)
    assert ids(tmp_path, "[{path: '*.json', repeat: 2}, {path: b.json}]") == ["a", "b", "a", "b", "b"]


def test_a_name_with_the_characters_of_a_glob_is_a_name_first(tmp_path: Path) -> None:
    write_session(tmp_path / "run[1].json", "brackets")
    write_session(tmp_path / "run1.json", "plain")
    assert ids(tmp_path, "[{path: 'run[1].json'}]") == ["brackets"]


def test_a_path_that_matches_nothing_and_every_error_of_every_file_are_named_at_once(tmp_path: Path) -> None:
    write_session(tmp_path / "a.json", "a")
    (tmp_path / "b.json").write_text('{"schema": "perfq.trajectory/v1", "id": "b",\n "steps": [{"kind": "wait"}]}')
    (tmp_path / "c.json").write_text("{")
    with pytest.raises(UsageError) as caught:
        ids(tmp_path, "[{path: x.json}, {path: '?.json', repeat: 3}]")
    assert caught.value.sentence == f"{tmp_path}/p.yaml and the sessions that it names have 4 errors"
    first, *others = caught.value.details
    assert first.startswith(
        f'{tmp_path}/p.yaml:3: trajectories.0.path: got "x.json", which matches no file in {tmp_path}'
    )
    assert [line.split(": got")[0] for line in others] == [
        f"{tmp_path}/b.json:2: steps.0.wait_ms",
        f"{tmp_path}/b.json:2: steps",
        f"{tmp_path}/c.json:1",
    ]
