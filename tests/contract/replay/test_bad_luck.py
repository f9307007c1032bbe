"""Clients that misbehave, signals at any moment, a full disk: each has its verdict, and nothing is left behind."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.contract.deadline import wait_for
from tests.contract.replay.running import LIST_AND_WATCH, Ended, replay, start

pytestmark = pytest.mark.contract

Need = Callable[[bool, str], None]


def program(folder: Path, body: str, *, watches: bool = True) -> list[str]:
    path = folder / "client.py"
    path.write_text((LIST_AND_WATCH if watches else "import os, sys, time\n") + textwrap.dedent(body))
    return ["--", sys.executable, str(path)]


def processes_with(marker: str) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if marker.encode() in (entry / "environ").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


def test_a_client_that_exits_at_once_makes_the_run_invalid_and_its_screen_is_kept(tmp_path: Path) -> None:
    client = program(tmp_path, 'print("no cluster for me"); sys.exit(3)', watches=False)
    ended = replay(tmp_path / "run", "smoke-1k", *client)
    assert ended.code == 4, ended.explain()
    assert ended.result["verdict"]["status"] == "INVALID"
    assert "exit code 3" in ended.text
    assert (ended.out / "last-screen.txt").read_text() == "no cluster for me\n"


def test_a_client_that_is_never_ready_makes_the_run_invalid(tmp_path: Path) -> None:
    client = program(tmp_path, "time.sleep(600)", watches=False)
    ended = replay(tmp_path / "run", "smoke-1k", "--ready-timeout", "2s", *client)
    assert ended.code == 4, ended.explain()
    assert "no complete LIST of pods" in ended.text


def test_a_client_that_crashes_in_mid_churn_fails_and_is_not_invalid(tmp_path: Path) -> None:
    client = program(tmp_path, "\nfor n, _ in enumerate(watch):\n    if n == 20:\n        os._exit(9)\n")
    ended = replay(tmp_path / "run", "smoke-1k", *client)
    assert ended.code == 3, ended.explain()
    assert ended.result["verdict"]["status"] == "FAIL"
    assert ended.result["replay"]["client_exit"]["code"] == 9


def test_a_client_that_floods_its_terminal_is_read_and_judged(tmp_path: Path) -> None:
    flood = """
        import threading
        threading.Thread(target=lambda: [None for _ in watch], daemon=True).start()
        for _ in range(1600):
            os.write(1, b"x" * 65536)
        time.sleep(600)
    """
    ended = replay(tmp_path / "run", "smoke-1k", *program(tmp_path, flood))
    assert ended.code in (0, 4), ended.explain()
    assert ended.result["verdict"]["status"] in ("PASS", "INVALID")
    assert (ended.out / "terminal.cast").stat().st_size > 0


def test_a_client_that_stops_reading_its_watch_costs_only_itself(tmp_path: Path) -> None:
    client = program(tmp_path, "time.sleep(600)")
    ended = replay(tmp_path / "run", "smoke-1k", *client)
    assert ended.code in (0, 4), ended.explain()
    lag = ended.result["latency"]["commit_lag"]
    assert lag["count"] == 180


def test_children_of_the_client_end_with_it(tmp_path: Path) -> None:
    body = """
        if os.fork() == 0:
            os.setsid()
            import signal
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            time.sleep(600)
        for _ in watch:
            pass
    """
    ended = replay(
        tmp_path / "run", "smoke-1k", "--duration", "3s", *program(tmp_path, body), MARKER="perfq-test-children"
    )
    assert ended.code == 0, ended.explain()
    assert wait_for(lambda: not processes_with("perfq-test-children"), 10)


def test_a_client_that_kills_its_supervisor_makes_the_run_invalid_and_its_children_are_named(tmp_path: Path) -> None:
    body = """
        import signal
        if os.fork() == 0:
            os.setsid()
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            time.sleep(600)
        for n, _ in enumerate(watch):
            if n == 20:
                os.kill(os.getppid(), signal.SIGKILL)
    """
    marker = f"perfq-test-orphan-{random.randrange(10**9)}"
    ended = replay(tmp_path / "run", "smoke-1k", *program(tmp_path, body), MARKER=marker)
    (orphan,) = processes_with(marker)
    os.kill(orphan, signal.SIGKILL)
    assert ended.code == 6, ended.explain()
    result = ended.result
    assert result["verdict"]["status"] == "INVALID"
    assert "terminal: the client's supervisor ended before the client" in ended.text
    assert result["cleanup"]["command"] == f"kill -KILL {orphan}"
    assert result["cleanup"]["left"][0].startswith(f"process {orphan} (python")


def test_a_process_that_perfq_may_not_kill_is_named_as_left(tmp_path: Path, need: Need) -> None:
    need(os.geteuid() == 0, "root, to start a process of another user")
    body = """
        import signal
        if os.fork() == 0:
            os.setsid()
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            os.setuid(65534)
            time.sleep(600)
        for _ in watch:
            pass
    """
    marker = f"perfq-test-stranger-{random.randrange(10**9)}"
    # Without CAP_KILL (5), root may end its own processes alone, as any other user.
    weak = "import ctypes, os, sys; ctypes.CDLL(None).prctl(24, 5); os.execv(sys.argv[1], sys.argv[1:])"
    out = tmp_path / "run"
    command = [sys.executable, "-m", "perfq", "replay", "smoke-1k", "--duration", "3s", "--out", str(out)]
    ended = subprocess.run(
        [sys.executable, "-c", weak, *command, *program(tmp_path, body)],
        env={**os.environ, "MARKER": marker},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    running = processes_with(marker)
    for pid in running:
        os.kill(pid, signal.SIGKILL)
    assert ended.returncode == 6, ended.stderr
    cleanup = Ended(ended.returncode, ended.stdout, out).result["cleanup"]
    (left,) = cleanup["left"]
    stranger = int(cleanup["command"].removeprefix("kill -KILL "))
    assert stranger in running
    assert left.startswith(f"process {stranger} (python")


def interrupted(tmp_path: Path, number: int, after: str) -> Ended:
    out = tmp_path / "run"
    with start(out, "smoke-1k", "--client", "watch", "--duration", "4s") as process:
        samples = out / "samples.ndjson"
        assert wait_for(lambda: samples.exists() and after in samples.read_text(), 60)
        process.send_signal(number)
        text, _ = process.communicate(timeout=60)
    return Ended(process.returncode, text, out)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("after", ['"spawned"', '"churn_start"'])
def test_a_signal_ends_the_run_in_order_with_a_report(tmp_path: Path, number: int, after: str) -> None:
    ended = interrupted(tmp_path, number, after)
    assert ended.code == 130, ended.explain()
    assert ended.result["verdict"]["status"] == "ABORTED"
    assert ended.result["cleanup"]["complete"] is True
    assert (ended.out / "report.md").exists()


def test_a_killed_run_is_reported_from_its_samples_and_leaves_no_process(tmp_path: Path) -> None:
    out = tmp_path / "run"
    marker = f"perfq-test-kill-{random.randrange(10**9)}"
    with start(out, "steady-10k", MARKER=marker) as process:
        samples = out / "samples.ndjson"
        assert wait_for(lambda: samples.exists() and '"seq":300' in samples.read_text(), 120)
        process.kill()
        process.communicate(timeout=30)
    assert wait_for(lambda: not processes_with(marker), 20)
    report = subprocess.run(
        [sys.executable, "-m", "perfq", "report", str(out)], capture_output=True, text=True, timeout=120, check=False
    )
    assert report.returncode == 0, report.stderr
    assert "ABORTED" in report.stdout
    result = json.loads((out / "result.json").read_text())
    assert result["latency"]["commit_lag"]["count"] >= 100


def test_a_stop_condition_aborts_with_its_figure(tmp_path: Path) -> None:
    ended = replay(tmp_path / "run", "smoke-1k", "--client", "watch", "--max-time", "1s")
    assert ended.code == 4, ended.explain()
    assert ended.result["verdict"]["status"] == "ABORTED"
    assert "limit 1 s" in ended.text


def test_an_output_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "kept").write_text("")
    ended = replay(tmp_path / "run", "smoke-1k")
    assert ended.code == 2
    assert "not empty" in ended.text
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["kept"]


@pytest.mark.parametrize("limit", [16, 20])
def test_too_few_file_descriptors_are_named_with_the_remedy(tmp_path: Path, limit: int) -> None:
    command = [sys.executable, "-m", "perfq", "replay", "smoke-1k", "--client", "watch", "--out", str(tmp_path / "run")]
    ended = subprocess.run(
        ["/bin/sh", "-c", f'ulimit -n {limit}; exec "$@"', "sh", *command],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 4, ended.stderr
    assert "ulimit -n" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_disk_that_fills_up_makes_the_run_invalid_and_keeps_what_was_written(tmp_path: Path, need: Need) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = [
        "unshare",
        "--mount",
        "sh",
        "-c",
        f'mount -t tmpfs -o size=300k tmpfs {disk} || exit 99; "$@"; code=$?; ',
    ]
    mounted[-1] += f"cp {disk}/run/samples.ndjson {tmp_path}/kept; exit $code"
    command = [sys.executable, "-m", "perfq", "replay", "smoke-1k", "--out", str(disk / "run")]
    ended = subprocess.run([*mounted, "sh", *command], capture_output=True, text=True, timeout=120, check=False)
    need(ended.returncode != 99, f"a mount namespace of its own: {ended.stderr}")
    assert ended.returncode == 4, ended.stderr
    assert "No space left on device" in ended.stderr
    assert "make room, then run: perfq report" in ended.stderr
    assert "Traceback" not in ended.stderr
    lines = (tmp_path / "kept").read_text().splitlines()
    assert sum('"k":"commit"' in line for line in lines) > 10


DEAF = """
    import threading
    threading.Thread(target=lambda: [None for _ in watch], daemon=True).start()
    os.system("stty raw -echo")
    rows = ["NAMESPACE    NAME         READY  STATUS   RESTARTS  AGE"]
    pods = listed["items"][:40]
    for i, pod in enumerate(pods):
        meta = pod["metadata"]
        text = f"{meta['namespace']:<12} {meta['name']:<12} 1/1    Running  0         1d"
        rows.append(f"\\x1b[7m{text}\\x1b[0m" if i == 0 else text)
    sys.stdout.write("\\x1b[2J\\x1b[H" + "\\r\\n".join(rows))
    sys.stdout.flush()
    time.sleep(600)
"""


@pytest.mark.long(16)
def test_a_client_that_ignores_keys_misses_its_input_budget_and_does_not_escape_as_invalid(tmp_path: Path) -> None:
    command = program(tmp_path, DEAF)[1:]
    definition = tmp_path / "deaf.yaml"
    definition.write_text(
        json.dumps(
            {
                "schema": "perfq.client/v1",
                "name": "deaf",
                "command": command,
                "scopes": [{"resource": "pods"}],
                "screen": {"cursor": "reverse"},
                "moves": {},
            }
        )
    )
    budget = ["--budget", "latency.input.p95<=100ms", "--pairs", "1", "--probes", "0"]
    ended = replay(tmp_path / "run", "smoke-1k", "--client-file", str(definition), *budget)
    assert ended.code == 3, ended.explain()
    result = ended.result
    assert result["verdict"]["status"] == "FAIL"
    assert result["replay"]["input"]["censored"] == 2
    assert result["latency"]["input"]["p50"] >= 5_000_000_000


def test_a_second_interrupt_leaves_at_once_and_names_what_is_left_to_do(tmp_path: Path) -> None:
    out = tmp_path / "run"
    marker = f"perfq-test-twice-{random.randrange(10**9)}"
    # It ignores SIGTERM, so that the orderly end takes its grace.
    client = program(
        tmp_path, "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nfor _ in watch:\n    pass\n"
    )
    with start(out, "smoke-1k", *client, MARKER=marker) as process:
        samples = out / "samples.ndjson"
        assert wait_for(lambda: samples.exists() and '"churn_start"' in samples.read_text(), 60)
        process.send_signal(signal.SIGINT)
        assert wait_for(lambda: '"stopping"' in samples.read_text(), 30)
        process.send_signal(signal.SIGINT)
        text, _ = process.communicate(timeout=30)
    assert process.returncode == 6, text
    assert "To clean up: rm -r " in text
    assert f"perfq report {out}" in text
    assert wait_for(lambda: not processes_with(marker), 20)


@pytest.mark.parametrize("moment", range(3))
def test_killed_at_a_random_moment_a_run_keeps_its_record_and_leaves_no_process(tmp_path: Path, moment: int) -> None:
    seed = random.randrange(10**9)
    lines = random.Random(seed).randrange(1, 400)
    out = tmp_path / "run"
    marker = f"perfq-test-random-{seed}-{moment}"
    with start(out, "smoke-1k", MARKER=marker) as process:
        samples = out / "samples.ndjson"
        assert wait_for(lambda: samples.exists() and samples.read_text().count("\n") >= lines, 60), seed
        process.kill()
        process.communicate(timeout=30)
    assert wait_for(lambda: not processes_with(marker), 20), seed
    report = subprocess.run(
        [sys.executable, "-m", "perfq", "report", str(out), "--format", "json"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert report.returncode == 0, (seed, report.stderr)
    result = json.loads(report.stdout)
    assert result["verdict"]["status"] == "ABORTED"
    (home,) = result["cleanup"]["left"]
    assert (result["cleanup"]["complete"], result["cleanup"]["command"]) == (False, f"rm -r {home}")
    shutil.rmtree(home)
