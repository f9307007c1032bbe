"""A client under test finds a clean home, the run's kubeconfig and a known terminal."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from perfq.drive.environment import DRAWING, ClientHome


@pytest.fixture
def home() -> Iterator[ClientHome]:
    made = ClientHome.create()
    yield made
    made.remove()


def test_the_home_is_the_callers_alone_and_each_run_has_its_own(home: ClientHome) -> None:
    assert stat.S_IMODE(home.path.stat().st_mode) == 0o700
    assert list(home.path.iterdir()) == []
    other = ClientHome.create()
    assert other.path != home.path
    assert other.remove() == []


def test_the_path_of_the_probe_socket_fits_a_unix_address(home: ClientHome) -> None:
    assert len(str(home.probe_socket).encode()) <= 107


def test_perfqs_own_variables_and_those_of_the_outer_terminal_are_gone(home: ClientHome) -> None:
    caller = {"PERFQ_BUDGETS": "x", "PERFQ_PROBE": "/elsewhere", "TMUX": "1", "COLUMNS": "9", "LINES": "9", "STY": "1"}
    made = home.environment({}, {**caller, "NO_COLOR": "1", "PATH": "/bin", "USER": "me"})
    assert not caller.keys() - {"PERFQ_PROBE"} & made.keys()
    assert "NO_COLOR" not in made
    assert made["PERFQ_PROBE"] == str(home.probe_socket)
    assert (made["PATH"], made["USER"]) == ("/bin", "me")


def test_home_folders_and_kubeconfig_are_the_runs_whatever_the_caller_has(home: ClientHome) -> None:
    folders = ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")
    named = (*folders, "KUBECONFIG", "KUBECACHEDIR")
    made = home.environment({}, dict.fromkeys(named, "/home/caller"))
    assert made["HOME"] == str(home.path)
    assert made["KUBECONFIG"] == str(home.kubeconfig)
    assert all(Path(made[name]).is_relative_to(home.path) for name in named)
    assert len({made[name] for name in named}) == len(named)


def test_what_clients_draw_does_not_depend_on_the_caller(home: ClientHome) -> None:
    made = home.environment({}, {"TERM": "dumb", "LANG": "de_DE.UTF-8", "LC_ALL": "C"})
    assert made.items() >= DRAWING.items()
    assert made["TERM"] == "xterm-256color"


def test_loopback_passes_by_every_proxy(home: ClientHome) -> None:
    made = home.environment({}, {"HTTPS_PROXY": "http://proxy.example:3128", "NO_PROXY": "", "no_proxy": ""})
    for name in ("NO_PROXY", "no_proxy"):
        assert {"127.0.0.1", "localhost", "::1"} <= set(made[name].split(","))


def test_the_definitions_variables_come_last(home: ClientHome) -> None:
    assert (
        home.environment({"TERM": "xterm", "MINE": "1"}, {"MINE": "0"}).items()
        >= {"TERM": "xterm", "MINE": "1"}.items()
    )


def test_the_home_is_removed_with_all_that_the_client_left_in_it(home: ClientHome) -> None:
    cache = home.path / ".kube" / "cache"
    cache.mkdir(parents=True)
    (cache / "discovery").write_text("{}")
    assert home.remove() == []
    assert not home.path.exists()
    assert home.remove() == []
