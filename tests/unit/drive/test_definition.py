"""A client definition becomes a command, an environment, and keys in the encoding that the client asked for."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest

from perfq._core import TerminalView
from perfq.drive.definition import argv_of, environment_of, module_environment, move_keys, step_of, view_of
from perfq.profile.client import ClientDefinition, Scenario
from perfq.profile.client_files import load_client_named


def definition(**fields: Any) -> ClientDefinition:
    return ClientDefinition.model_validate({"schema": "perfq.client/v1", "name": "mine", **fields})


class Encoding:
    """A terminal whose client asked for application cursor keys."""

    def key(self, name: str) -> bytes:
        return {"down": b"\x1bOB", "up": b"\x1bOA", "enter": b"\r", "escape": b"\x1b"}[name]


def test_python_in_a_command_is_the_interpreter_that_runs_perfq() -> None:
    argv = argv_of(definition(command=["{python}", "-m", "perfq.viewer", "--with={python}"]))
    assert argv == (sys.executable, "-m", "perfq.viewer", f"--with={sys.executable}")
    assert argv_of(definition(command=["k9s", "-A"])) == ("k9s", "-A")
    assert argv_of(definition()) == ()


def test_keys_are_encoded_as_the_client_asked_for_them() -> None:
    terminal: Any = Encoding()
    assert move_keys(definition(moves={}), terminal) == {"down": b"\x1bOB", "up": b"\x1bOA"}
    assert move_keys(definition(), terminal) == {}
    scenario = Scenario(name="filter", keys="/web<Enter>", expect="Pods 1", back="<Esc>", back_expect="Pods 9")
    step = step_of(scenario, terminal)
    assert (step.name, step.keys, step.expect) == ("filter", b"/web\r", "Pods 1")
    assert (step.back, step.back_expect) == (b"\x1b", "Pods 9")


@pytest.mark.parametrize("name", ["viewer", "watch", "generic", "kubectl-watch"])
def test_the_engine_takes_the_screen_of_every_built_in_definition(name: str) -> None:
    assert isinstance(view_of(load_client_named(name)), TerminalView)


def test_a_process_with_the_module_environment_alone_imports_perfq() -> None:
    ended = subprocess.run(
        [sys.executable, "-S", "-c", "import perfq; print(perfq.__file__)"],
        env={"PATH": os.environ["PATH"], **module_environment({})},
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr


def test_the_callers_own_modules_stay_behind_perfqs() -> None:
    alone = module_environment({})["PYTHONPATH"]
    assert module_environment({"PYTHONPATH": "/mine"})["PYTHONPATH"] == f"{alone}{os.pathsep}/mine"
    assert os.pathsep not in alone


def test_only_a_client_of_perfqs_own_is_told_where_perfq_is() -> None:
    own = environment_of(definition(command=["{python}", "-m", "perfq.viewer"], environment={"A": "1"}))
    assert own.keys() == {"PYTHONPATH", "A"}
    assert environment_of(definition(command=["k9s"], environment={"A": "1"})) == {"A": "1"}
