"""Credential plugins: real programs, asked when needed, never asking on a terminal that is not theirs."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from perfq.errors import TargetUnreachable
from perfq.kube.exec_plugin import ExecPlugin

VERSION = "client.authentication.k8s.io/v1"


class Program:
    """A plugin that notes each call and answers with a file's content."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "plugin"
        self.calls = folder / "calls"
        self.answer = folder / "answer"
        self.path.write_text(
            f'#!/bin/sh\nprintf "%s\\n" "$KUBERNETES_EXEC_INFO" >>"{self.calls}"\n'
            f'if [ -n "$FAIL" ]; then echo "no luck" >&2; exit 3; fi\n'
            f'if read line; then echo "it could read" >&2; exit 4; fi\ncat "{self.answer}"\n'
        )
        self.path.chmod(0o755)

    def answers(self, status: dict[str, Any], **other: Any) -> None:
        content = {"apiVersion": VERSION, "kind": "ExecCredential", "status": status, **other}
        self.answer.write_text(json.dumps(content))

    def asked(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.calls.read_text().splitlines()] if self.calls.exists() else []

    def plugin(self, **spec: Any) -> ExecPlugin:
        full = {"command": str(self.path), "apiVersion": VERSION, **spec}
        return ExecPlugin(full, {"server": "https://h"}, may_ask=False)


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path)


def stamp(seconds: int) -> str:
    return (datetime.now(UTC) + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


def test_a_token_is_got_once_and_kept_until_it_is_about_to_end(program: Program) -> None:
    program.answers({"token": "one", "expirationTimestamp": stamp(3600)})
    plugin = program.plugin()
    assert plugin.headers() == plugin.headers() == {"Authorization": "Bearer one"}
    assert len(program.asked()) == 1
    program.answers({"token": "two", "expirationTimestamp": stamp(5)})
    assert plugin.refresh()
    assert len(program.asked()) == 2
    program.answers({"token": "three", "expirationTimestamp": stamp(3600)})
    assert plugin.headers() == {"Authorization": "Bearer three"}, "two was about to end"


def test_it_is_told_the_cluster_where_it_asks_for_it_and_that_it_may_not_prompt(program: Program) -> None:
    program.answers({"token": "x"})
    program.plugin(provideClusterInfo=True).headers()
    program.plugin().headers()
    with_cluster, without = program.asked()
    assert with_cluster["spec"] == {"interactive": False, "cluster": {"server": "https://h"}}
    assert without == {"apiVersion": VERSION, "kind": "ExecCredential", "spec": {"interactive": False}}


def test_its_environment_and_arguments_are_those_of_the_kubeconfig(tmp_path: Path) -> None:
    program = tmp_path / "echo"
    program.write_text(
        '#!/bin/sh\nprintf \'{"apiVersion":"%s","kind":"ExecCredential",\' "$1"\n'
        'printf \'"status":{"token":"%s-%s"}}\' "$2" "$EXTRA"\n'
    )
    program.chmod(0o755)
    spec = {
        "command": str(program),
        "apiVersion": VERSION,
        "args": [VERSION, "arg"],
        "env": [{"name": "EXTRA", "value": "env"}],
    }
    assert ExecPlugin(spec, {}, may_ask=False).headers() == {"Authorization": "Bearer arg-env"}
    assert "EXTRA" not in os.environ


def test_a_certificate_is_taken_too(program: Program) -> None:
    program.answers({"clientCertificateData": "CERT", "clientKeyData": "KEY"})
    plugin = program.plugin()
    assert plugin.client_certificate() == ("CERT", "KEY")
    assert plugin.headers() == {}


def test_one_that_wants_a_terminal_is_refused_without_one(program: Program) -> None:
    with pytest.raises(TargetUnreachable, match="wants a terminal"):
        program.plugin(interactiveMode="Always").headers()
    assert program.asked() == []


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("nonsense", "not an ExecCredential"),
        ("{}", "not an ExecCredential"),
        (json.dumps({"apiVersion": "other/v1", "kind": "ExecCredential", "status": {}}), "not an ExecCredential"),
        (json.dumps({"apiVersion": VERSION, "kind": "ExecCredential", "status": None}), "not an ExecCredential"),
    ],
)
def test_an_answer_that_is_none_is_said_so(program: Program, answer: str, words: str) -> None:
    program.answer.write_text(answer)
    with pytest.raises(TargetUnreachable, match=words):
        program.plugin().headers()


def test_one_that_fails_is_named_with_its_words(program: Program) -> None:
    with pytest.raises(TargetUnreachable, match=r"ended with 3\. no luck"):
        program.plugin(env=[{"name": "FAIL", "value": "1"}]).headers()


def test_one_that_is_not_there_is_named_with_its_hint(tmp_path: Path) -> None:
    plugin = ExecPlugin(
        {"command": str(tmp_path / "none"), "apiVersion": VERSION, "installHint": "install it"}, {}, may_ask=False
    )
    with pytest.raises(TargetUnreachable, match="No such file") as raised:
        plugin.headers()
    assert raised.value.details == ("install it",)
