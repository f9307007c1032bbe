"""What a load imports: what it needs and no more, since each module costs time that the load itself does not take."""

from __future__ import annotations

import subprocess
import sys

import pytest
from tests.unit.synthetic_load import ideal_load

#: Everything that a load of a JSON profile on a named server goes through, its network apart.
PROGRAM = """
import sys
from pathlib import Path
import perfq.cli.load_run, perfq.kube, perfq.load.command, perfq.load.manifest, perfq.load.run
from perfq.drive.rebuild import result_of
from perfq.profile.document import parse
from perfq.profile.source import Source
from perfq.report.summary import summary
parse(Source("load.json", b"{}"))
summary(result_of(Path(sys.argv[1])))
print(*sys.modules)
"""


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The modules of a run that went through it."""
    run = ideal_load().write(tmp_path_factory.mktemp("load") / "run")
    done = subprocess.run([sys.executable, "-c", PROGRAM, str(run)], capture_output=True, text=True, check=True)
    assert (run / "report.md").is_file()
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "name",
    [
        "asyncio",
        "difflib",
        "jsonschema",
        "kubernetes",
        "statistics",
        "textual",
        "urllib3",
        "yaml",
        "perfq.drive.input",
        "perfq.drive.repeat",
        "perfq.kube.exec_plugin",
        "perfq.kube.presence",
        "perfq.measure.recording",
        "perfq.measure.replay_manifest",
        "perfq.measure.result.replay",
        "perfq.measure.result.trajectory",
        "perfq.measure.result.whole",
        "perfq.measure.trajectory.manifest",
    ],
)
def test_a_load_does_without_what_other_runs_need(loaded: set[str], name: str) -> None:
    assert "perfq.measure.load.fold" in loaded
    assert name not in loaded


def test_none_of_the_viewer_is_loaded(loaded: set[str]) -> None:
    assert [name for name in loaded if name.startswith(("perfq.viewer", "perfq.replay"))] == []
