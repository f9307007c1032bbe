"""The test bed itself: it serves, it keeps to loopback, and it leaves nothing behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cluster.testbed import kubeconfig
from tests.cluster.testbed.api import Api
from tests.cluster.testbed.bed import LABEL, Bed, down, up
from tests.cluster.testbed.control_plane import Options
from tests.cluster.testbed.failure import BedFailure
from tests.cluster.testbed.processes import Process

pytestmark = pytest.mark.cluster


def test_each_context_proves_itself_in_its_own_way(bed: Bed) -> None:
    def ask(context: str) -> int:
        return Api.of(bed.kubeconfig, context).ask("/api/v1/namespaces/kube-system/pods").status

    assert ask(kubeconfig.CONTEXT) == 200
    assert ask(kubeconfig.CERTIFICATE) == 200
    assert ask(kubeconfig.NOBODY) == 403
    stranger = bed.api()
    assert Api(stranger.host, stranger.port, stranger.tls, "wrong").ask("/api/v1/pods").status == 401


def test_kubectl_tells_it_by_its_label(bed: Bed, programs: dict[str, Path]) -> None:
    command = [
        str(programs["kubectl"]),
        "--kubeconfig",
        str(bed.kubeconfig),
        "get",
        "namespaces",
        "-l",
        LABEL,
        "-o",
        "name",
    ]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "namespace/kube-system\n"


def test_it_listens_on_loopback_alone(bed: Bed) -> None:
    descriptors = (link for process in bed.processes for link in Path(f"/proc/{process.pid}/fd").iterdir())
    targets = (str(link.readlink()) for link in descriptors)
    sockets = {target.removeprefix("socket:[").removesuffix("]") for target in targets if "socket:" in target}
    listening = [
        fields[1]
        for family in ("tcp", "tcp6")
        for fields in map(str.split, Path(f"/proc/net/{family}").read_text().splitlines()[1:])
        if fields[3] == "0A" and fields[9] in sockets
    ]
    # proc(5): the address in hexadecimal, least significant byte first.
    assert [address.split(":")[0] for address in listening] == ["0100007F"]


def test_the_audit_log_holds_requests_and_responses_with_their_bodies(bed: Bed, namespace: str) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    bed.api().ask(path, "POST", {"metadata": {"name": "seen"}, "data": {"of": "the test"}})
    events = [json.loads(line) for line in bed.audit_log.read_text().splitlines() if path in line]
    ended = [event for event in events if event["requestURI"] == path and event["stage"] == "ResponseComplete"]
    assert [event["requestObject"]["data"] for event in ended] == [{"of": "the test"}]
    assert [event["responseObject"]["data"] for event in ended] == [{"of": "the test"}]


def test_test_beds_in_different_folders_do_not_see_each_other_and_leave_nothing(
    bed: Bed, fresh_bed: Callable[..., Bed], tmp_path: Path
) -> None:
    other = fresh_bed(audit_log=str(tmp_path / "kept.log"), audit_level="Metadata")
    path = "/api/v1/namespaces/default/configmaps"
    assert other.api().ask(path, "POST", {"metadata": {"name": "only-here"}}).status == 201
    assert bed.api().ask(f"{path}/only-here").status == 404

    assert down(other.folder)
    assert not any(process.alive for process in other.processes)
    assert not other.folder.exists()
    assert bed.up
    assert not down(other.folder)
    # What was asked to stand elsewhere is the caller's.
    assert '"level":"Metadata"' in (tmp_path / "kept.log").read_text()


def test_an_up_that_is_up_stays_with_the_same_options_alone(bed: Bed) -> None:
    assert up(bed.folder, bed.options).processes == bed.processes
    with pytest.raises(BedFailure, match="other options"):
        up(bed.folder, Options(audit_level="None"))


CRASHES = """
import os, pathlib, sys
from tests.cluster.testbed.bed import Process, up
up(pathlib.Path(sys.argv[1]), owner=Process.at(os.getpid(), "owner"))
print("up", flush=True)
os.kill(os.getpid(), 9)
"""


@pytest.fixture
def own_beds(programs: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A list of test beds of the test's own: one that is brought up elsewhere in the same time does not meet these."""
    assets = tmp_path / "assets"
    assets.mkdir()
    for name, path in programs.items():
        (assets / name).symlink_to(path)
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(assets))
    monkeypatch.setenv("PERFQ_TESTBED", str(tmp_path / "cache"))


@pytest.mark.usefixtures("own_beds")
def test_what_a_crashed_run_left_is_taken_down_by_the_next_up(
    fresh_bed: Callable[..., Bed], repository: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "crashed"
    run = subprocess.run(
        [sys.executable, "-c", CRASHES, folder], cwd=repository, capture_output=True, text=True, check=False
    )
    assert (run.returncode, run.stdout) == (-signal.SIGKILL, "up\n"), run.stderr
    left = Bed.on_record(folder)
    assert left is not None
    assert left.up

    assert fresh_bed().up
    assert not any(process.alive for process in left.processes)
    assert not folder.exists()


def test_a_test_bed_whose_server_was_killed_comes_up_anew(fresh_bed: Callable[..., Bed]) -> None:
    first = fresh_bed()
    os.kill(first.processes[1].pid, signal.SIGKILL)
    first.processes[1].stop(10)
    assert not first.up
    again = up(first.folder, first.options, first.owner)
    assert again.api().answers("/readyz")
    assert not first.processes[0].alive


def test_a_program_that_does_not_start_says_why_and_leaves_nothing(
    fresh_bed: Callable[..., Bed], tmp_path: Path
) -> None:
    with pytest.raises(BedFailure, match="unknown flag: --no-such-flag"):
        fresh_bed(api_server_arguments=["--no-such-flag"])
    assert list(tmp_path.iterdir()) == []


def test_a_folder_with_other_files_is_left_alone(programs: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(BedFailure, match="not a test bed's"):
        up(tmp_path)
    assert not down(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]


def test_a_process_with_a_reused_id_is_never_stopped() -> None:
    with subprocess.Popen(["sleep", "60"]) as stranger:
        seen = Process.at(stranger.pid, "etcd")
        Process("etcd", stranger.pid, "another boot 1").stop(1)
        assert stranger.poll() is None
        seen.stop(10)
        assert not seen.alive
