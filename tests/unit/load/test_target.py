"""Where a load may go: the embedded server, or a server on this machine."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from perfq import _core
from perfq.errors import GuardRefused, TargetUnreachable, UsageError
from perfq.kube import only_loopback
from perfq.load.target import Target, find_target, refuse_writes
from perfq.profile.workload import resolve_profile


def given(**changes: Any) -> dict[str, Any]:
    return {"context": None, "kubeconfig": None, "serve": None, "yes": False} | changes


@pytest.fixture(scope="module")
def server() -> Iterator[_core.ApiServer]:
    """The embedded server, as another process would see it."""
    plan = _core.Plan(resolve_profile("smoke-1k").to_json())
    with _core.ApiServer.start({"plan": plan, "recorder": None, "start": "never"}) as running:
        yield running


def kubeconfig(path: Path, url: str, **user: Any) -> str:
    """A kubeconfig with one context, `here`, that trusts any certificate."""
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": url, "insecure-skip-tls-verify": True}}],
        "users": [{"name": "u", "user": user}],
    }
    path.write_text(yaml.safe_dump(document))
    return str(path)


def test_without_a_context_it_is_the_embedded_server() -> None:
    target = find_target(given())
    assert target.plan is not None
    assert (target.facts.kind, target.plan.id, target.is_ours) == ("embedded", "smoke-1k", True)
    other = find_target(given(serve="steady-10k"))
    assert other.plan is not None
    assert other.plan.id == "steady-10k"


def test_a_server_of_ours_in_another_process_is_known_as_ours(server: _core.ApiServer, tmp_path: Path) -> None:
    path = kubeconfig(tmp_path / "kc", server.url, token=server.token)
    target = find_target(given(context="here", kubeconfig=path))
    assert (target.facts.kind, target.facts.server, target.is_ours) == ("cluster", server.url, True)
    assert str(target.facts.version).endswith("+perfq")
    assert server.url in target.shown
    options = target.engine_options()
    assert (options["url"], options["token"], options["insecure"]) == (server.url, server.token, True)


def test_who_is_not_let_in_is_told_before_the_load(server: _core.ApiServer, tmp_path: Path) -> None:
    path = kubeconfig(tmp_path / "kc", server.url, token="wrong")
    with pytest.raises(TargetUnreachable, match="401"):
        find_target(given(context="here", kubeconfig=path))


def test_a_server_that_is_down_is_unreachable(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    path = kubeconfig(tmp_path / "kc", f"https://127.0.0.1:{port}")
    with pytest.raises(TargetUnreachable, match=f"127.0.0.1:{port}: .*refused"):
        find_target(given(context="here", kubeconfig=path))


def test_a_server_elsewhere_is_refused_before_the_first_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_traffic(*_: object, **__: object) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket.socket, "connect", no_traffic)
    for url in ("https://192.0.2.1:6443", "https://[2001:db8::1]:6443", "https://0.0.0.0:6443"):
        path = kubeconfig(tmp_path / "kc", url)
        with pytest.raises(GuardRefused, match="contract") as refused:
            find_target(given(context="here", kubeconfig=path))
        assert refused.value.exit_code == 5


def answers(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> None:
    """Has every name resolve to these."""
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 0)) for address in addresses]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)


@pytest.mark.parametrize(
    ("addresses", "here"),
    [
        (("127.0.0.1",), True),
        (("127.8.9.1", "::1"), True),
        (("127.0.0.1", "192.0.2.1"), False),
        (("192.0.2.1",), False),
        ((), False),
    ],
)
def test_a_name_is_here_where_it_resolves_here_alone(
    addresses: tuple[str, ...], here: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers(monkeypatch, *addresses)
    assert only_loopback("https://my-cluster.test:6443") is here


def test_a_name_that_nobody_knows_is_not_here(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    assert not only_loopback("https://my-cluster.test:6443")


def test_localhost_that_was_pointed_elsewhere_is_not_here(monkeypatch: pytest.MonkeyPatch) -> None:
    answers(monkeypatch, "192.0.2.1")
    assert not only_loopback("https://localhost:6443")


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (given(context="here", serve="smoke-1k"), "--serve and --context: give one of them"),
        (given(kubeconfig="nowhere"), "nowhere: there is no such kubeconfig"),
        (given(serve="no-such-profile"), "got no built-in profile and no file"),
    ],
)
def test_flags_that_name_no_target_are_usage_errors(flags: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        find_target(flags)


def test_a_kubeconfig_alone_names_no_target(tmp_path: Path) -> None:
    path = kubeconfig(tmp_path / "kc", "https://127.0.0.1:1")
    with pytest.raises(UsageError, match=r"name the target as well, with --context \(known: here\)"):
        find_target(given(kubeconfig=path))


def test_writes_to_anybodys_server_ask_for_yes() -> None:
    ours = find_target(given())
    anybodys = Target(ours.facts, is_ours=False, shown="https://127.0.0.1:6443")
    refuse_writes(ours, writes=True, yes=False)
    refuse_writes(anybodys, writes=False, yes=False)
    refuse_writes(anybodys, writes=True, yes=True)
    with pytest.raises(GuardRefused, match="give --yes"):
        refuse_writes(anybodys, writes=True, yes=False)
