"""What a user meets who starts perfq.pyz on a machine that cannot run it, or not yet.

A Python or platform that this machine lacks is injected: the start is run with `sys` or `os` changed beforehand.
Such tests have "injected" in their names.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.packaging

#: Of the Python that runs the tests, and the file under test: 311.
TAG = f"{sys.version_info[0]}{sys.version_info[1]}"

Need = Callable[[bool, str], None]
Done = subprocess.CompletedProcess[str]


def start(python: Path, pyz: Path, *args: str, **environment: str) -> Done:
    """`python perfq.pyz ARGS` with this environment alone."""
    environment = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", **environment}
    command = [str(python), str(pyz), *args]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)


def refused(done: Done, *words: str) -> None:
    """One clear line, exit 78, no traceback."""
    assert done.returncode == 78, done.stderr
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("perfq: ")
    for word in words:
        assert word in lines[0]


@pytest.fixture
def alone(built: Path, tmp_path: Path) -> Path:
    """The file alone in an empty folder."""
    folder = tmp_path / "alone"
    folder.mkdir()
    return Path(shutil.copy(built, folder))


@pytest.mark.parametrize(
    ("injected", "said"),
    [
        ("sys.version_info = (2, 7, 18, 'final', 0)", "this is CPython 2.7"),
        ("sys.version_info = (3, 10, 13, 'final', 0)", "this is CPython 3.10"),
        ("sys.version_info = (3, 15, 0, 'final', 0)", "this is CPython 3.15"),
        ("sys.abiflags = 't'", "this is a free-threaded build of CPython"),
        ("sys.implementation.name = 'pypy'", "this is PyPy"),
        ("sys.platform = 'darwin'", "this is darwin on x86_64"),
        ("os.uname = lambda: ('Linux', '', '', '', 'aarch64')", "this is linux on aarch64"),
        ("os.confstr = lambda name: None", "another C library"),
    ],
)
def test_an_injected_wrong_python_or_platform_gets_one_line(
    alone: Path, python: Path, tmp_path: Path, injected: str, said: str
) -> None:
    code = f"import os, sys, runpy; {injected}; sys.argv = [{str(alone)!r}, '--version']; runpy.run_path(sys.argv[0])"
    done = subprocess.run(
        [str(python), "-c", code], env={"HOME": str(tmp_path)}, capture_output=True, text=True, check=False
    )
    refused(done, said)
    assert not (tmp_path / ".shiv").exists()


def test_every_older_python_of_this_machine_gets_one_line(
    alone: Path, pythons: dict[str, Path], tmp_path: Path
) -> None:
    older = {version: path for version, path in pythons.items() if tuple(map(int, version.split("."))) < (3, 11)}
    if not older:
        pytest.skip("no Python older than 3.11 is installed; the injected versions stand for it")
    for version, path in older.items():
        refused(start(path, alone, "--version", HOME=str(tmp_path)), f"this is CPython {version}")


def test_without_home_it_asks_for_shiv_root(alone: Path, python: Path) -> None:
    refused(start(python, alone, "--version"), "HOME is not set", "SHIV_ROOT")


def test_shiv_root_stands_in_for_home(alone: Path, python: Path, tmp_path: Path) -> None:
    done = start(python, alone, "--version", SHIV_ROOT=str(tmp_path / "cache"))
    assert (done.returncode, done.stderr) == (0, "")
    assert list((tmp_path / "cache").glob("perfq.pyz_*/site-packages/perfq"))


def test_a_home_that_cannot_be_written_gets_one_line(alone: Path, python: Path) -> None:
    """/sys is one for root too."""
    refused(start(python, alone, "--version", HOME="/sys"), "cannot be written", "SHIV_ROOT", "/sys/.shiv")


def test_a_cache_folder_that_is_a_file_gets_one_line(alone: Path, python: Path, tmp_path: Path) -> None:
    (tmp_path / ".shiv").write_text("")
    refused(start(python, alone, "--version", HOME=str(tmp_path)), "cannot be written", "SHIV_ROOT")


def mounted(options: str, folder: Path, command: list[str], need: Need) -> Done:
    """Runs a command where `folder` is a tmpfs with these options, in a mount namespace of its own."""
    need(os.geteuid() == 0 and shutil.which("unshare") is not None, "mounting a file system needs root and unshare")
    script = f'mount -t tmpfs -o {options} tmpfs {folder} && HOME={folder} exec "$@"'
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", script, "sh", *command], capture_output=True, text=True, check=False
    )
    need("permission denied" not in done.stderr.lower() or done.returncode == 78, f"no mounts here: {done.stderr}")
    return done


def test_a_noexec_cache_gets_one_line(alone: Path, python: Path, tmp_path: Path, need: Need) -> None:
    home = tmp_path / "home"
    home.mkdir()
    done = mounted("noexec", home, [str(python), str(alone), "--version"], need)
    refused(done, "noexec", "SHIV_ROOT", str(home))


def test_a_cache_that_became_noexec_gets_one_line(alone: Path, python: Path, tmp_path: Path, need: Need) -> None:
    home = tmp_path / "home"
    home.mkdir()
    command = f"{python} {alone} --version && mount -o remount,noexec {home} && {python} {alone} --version >/dev/null"
    done = mounted("exec", home, ["sh", "-c", command], need)
    assert done.stdout.startswith("perfq ")
    refused(subprocess.CompletedProcess(done.args, done.returncode, "", done.stderr), "noexec", "SHIV_ROOT")


@pytest.mark.parametrize("size", ["4k", "6m", "20m"])
def test_a_full_cache_gets_one_line_and_is_left_empty(
    alone: Path, python: Path, tmp_path: Path, need: Need, size: str
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    command = f"{python} {alone} --version; code=$?; find {home}/.shiv -name '*.py' | head -n 1 >&2; exit $code"
    done = mounted(f"size={size}", home, ["sh", "-c", command], need)
    refused(done, "full", "SHIV_ROOT", str(home))


def test_an_unpacked_file_starts_from_a_cache_that_is_read_only(
    alone: Path, python: Path, tmp_path: Path, need: Need
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    command = f"{python} {alone} --version && mount -o remount,ro {home} && {python} {alone} --version"
    done = mounted("exec", home, ["sh", "-c", command], need)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == 2


def test_eight_first_starts_at_once_all_work(alone: Path, python: Path, tmp_path: Path) -> None:
    command = [str(python), str(alone), "--version"]
    started = [
        subprocess.Popen(
            command, env={"HOME": str(tmp_path)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for _ in range(8)
    ]
    ended = [(process.communicate(timeout=120), process.returncode) for process in started]
    assert {code for _, code in ended} == {0}
    assert {err for (_, err), _ in ended} == {""}
    assert len({out for (out, _), _ in ended}) == 1
    left = sorted(path.name for path in (tmp_path / ".shiv").iterdir() if not path.name.startswith("."))
    assert len(left) == 1


def test_an_interrupted_first_start_does_no_harm(alone: Path, python: Path, tmp_path: Path) -> None:
    half = tmp_path / ".shiv" / f"perfq.pyz_cp{TAG}_{build_id(alone)}.tmp" / "site-packages" / "perfq"
    half.mkdir(parents=True)
    (half / "__init__.py").write_text("broken")
    done = start(python, alone, "--version", HOME=str(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")
    assert not half.exists()


def test_what_python_compiles_is_kept_in_its_own_folder_where_others_are_to_stay_clean(
    alone: Path, python: Path, tmp_path: Path
) -> None:
    done = start(python, alone, "profile", "list", HOME=str(tmp_path), PYTHONDONTWRITEBYTECODE="1")
    assert (done.returncode, done.stderr) == (0, "")
    assert list(tmp_path.glob(".shiv/*/site-packages/perfq/cli/__pycache__/profile.*.pyc"))


def test_native_modules_of_other_pythons_are_not_unpacked(alone: Path, python: Path, tmp_path: Path) -> None:
    assert start(python, alone, "--version", HOME=str(tmp_path)).returncode == 0
    native = {path.name for path in (tmp_path / ".shiv").rglob("*.so")}
    ours = {f"{name}.cpython-{TAG}-x86_64-linux-gnu.so" for name in ("_core", "_pydantic_core", "_yaml")}
    assert native == {"_core.abi3.so", *ours}


def test_the_pythons_of_this_machine_share_a_cache_folder(
    alone: Path, pythons: dict[str, Path], tmp_path: Path
) -> None:
    able = {
        version: path for version, path in pythons.items() if (3, 11) <= tuple(map(int, version.split("."))) <= (3, 14)
    }
    if len(able) < 2:
        pytest.skip("one Python alone of 3.11 to 3.14 is installed; the injected one stands for another")
    for path in [*able.values(), *able.values()]:
        done = start(path, alone, "profile", "list", HOME=str(tmp_path))
        assert (done.returncode, done.stderr) == (0, "")
    assert len([path for path in (tmp_path / ".shiv").iterdir() if path.is_dir()]) == len(able)


def test_an_injected_other_python_unpacks_beside_the_first_one(alone: Path, python: Path, tmp_path: Path) -> None:
    """As far as `--version` goes, which imports nothing that is built for one version."""
    other = "312" if TAG == "311" else "311"
    assert start(python, alone, "--version", HOME=str(tmp_path)).returncode == 0
    code = (
        "import runpy, sys, fcntl, os, re, zipfile, shutil, mmap, pathlib\n"
        f"sys.version_info = (3, {other[1:]}, 0, 'final', 0)\n"
        f"sys.argv = [{str(alone)!r}, '--version']; runpy.run_path(sys.argv[0])"
    )
    done = subprocess.run(
        [str(python), "-c", code], env={"HOME": str(tmp_path)}, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    folders = {path.name for path in (tmp_path / ".shiv").iterdir() if path.is_dir()}
    assert folders == {f"perfq.pyz_cp{tag}_{build_id(alone)}" for tag in (TAG, other)}
    assert list((tmp_path / ".shiv").glob(f"perfq.pyz_cp{other}_*/site-packages/yaml/_yaml.cpython-{other}-*.so"))


def build_id(pyz: Path) -> str:
    """shiv's hash of what the file contains."""
    import json
    import zipfile

    with zipfile.ZipFile(pyz) as archive:
        told: str = json.loads(archive.read("environment.json"))["build_id"]
        return told


def older_build(root: Path, digit: str) -> Path:
    """Something that looks like another build of perfq, unpacked."""
    folder = root / f"perfq.pyz_{digit * 64}"
    module = folder / "site-packages" / "perfq" / "_core.abi3.so"
    module.parent.mkdir(parents=True)
    module.write_text("")
    (root / f".{folder.name}_lock").write_text("")
    return folder


def test_a_first_start_prunes_older_builds_but_not_those_in_use_nor_other_programs(
    alone: Path, python: Path, tmp_path: Path
) -> None:
    import fcntl

    root = tmp_path / ".shiv"
    unused, used, other = older_build(root, "a"), older_build(root, "b"), root / f"other.pyz_{'c' * 64}"
    other.mkdir()
    descriptor = os.open(used, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        assert start(python, alone, "--version", HOME=str(tmp_path)).returncode == 0
    finally:
        os.close(descriptor)
    assert not unused.exists()
    assert not (root / f".{unused.name}_lock").exists()
    assert used.exists()
    assert other.exists()


def test_a_running_build_is_in_use(alone: Path, python: Path, tmp_path: Path) -> None:
    """The folder of a perfq that runs is locked: another build's first start cannot take it."""
    import fcntl

    kubeconfig = tmp_path / "kubeconfig"
    command = [str(python), str(alone), "serve", "smoke-1k", "--start", "never", "--kubeconfig-out", str(kubeconfig)]
    with subprocess.Popen(command, env={"HOME": str(tmp_path)}, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        try:
            assert running.stdout.readline() == f"{kubeconfig}\n"
            (folder,) = (path for path in (tmp_path / ".shiv").iterdir() if path.is_dir())
            descriptor = os.open(folder, os.O_RDONLY)
            try:
                with pytest.raises(BlockingIOError):
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            finally:
                os.close(descriptor)
        finally:
            running.terminate()
            running.communicate()


def test_the_file_may_be_renamed_and_linked(alone: Path, python: Path, tmp_path: Path) -> None:
    renamed = alone.rename(alone.with_name("perfq"))
    link = tmp_path / "link"
    link.symlink_to(renamed)
    for path in (renamed, link):
        done = start(python, path, "--version", HOME=str(tmp_path))
        assert (done.returncode, done.stderr) == (0, "")
    assert len([path for path in (tmp_path / ".shiv").iterdir() if path.is_dir()]) == 1


def test_a_hostile_pythonpath_does_not_get_in_the_way(alone: Path, python: Path, tmp_path: Path) -> None:
    (tmp_path / "click.py").write_text("raise SystemExit('the wrong click')")
    done = start(python, alone, "--version", HOME=str(tmp_path), PYTHONPATH=str(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")


def test_packages_of_the_host_stay_outside(alone: Path, python: Path, tmp_path: Path) -> None:
    """A plugin for pydantic, say, that the host has for another version of it."""
    packages = tmp_path / "site-packages"
    plugin = packages / "plugin-1.0.dist-info"
    plugin.mkdir(parents=True)
    (packages / "plugin.py").write_text("raise SystemExit('the host was asked')")
    (plugin / "METADATA").write_text("Metadata-Version: 2.1\nName: plugin\nVersion: 1.0\n")
    (plugin / "entry_points.txt").write_text("[pydantic]\nplugin = plugin:plugin\n")
    done = start(python, alone, "profile", "list", HOME=str(tmp_path), PYTHONPATH=str(packages))
    assert (done.returncode, done.stderr) == (0, "")
