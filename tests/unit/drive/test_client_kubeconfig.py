"""The client's kubeconfig is read as any other, and by its owner alone."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from perfq.drive.kubeconfig import CONTEXT, write_kubeconfig
from perfq.kube.credential import Static
from perfq.kube.kubeconfig import Kubeconfig

URL = "https://127.0.0.1:6443"


def test_the_reader_of_kubeconfigs_finds_server_ca_and_one_context(tmp_path: Path) -> None:
    path = tmp_path / "kubeconfig"
    write_kubeconfig(path, url=URL, ca_pem="-----BEGIN CERTIFICATE-----\nx\n", token="secret")
    read = Kubeconfig([path])
    assert read.contexts == [CONTEXT]
    endpoint = read.endpoint()
    assert endpoint.url == URL
    assert endpoint.ca_pem == "-----BEGIN CERTIFICATE-----\nx\n"
    assert endpoint.credential == Static(token="secret")


def test_over_plain_http_there_is_neither_ca_nor_token(tmp_path: Path) -> None:
    path = tmp_path / "kubeconfig"
    write_kubeconfig(path, url="http://127.0.0.1:8080", ca_pem=None, token=None)
    text = path.read_text()
    assert "token" not in text
    assert "certificate" not in text
    assert Kubeconfig([path]).endpoint().url == "http://127.0.0.1:8080"


@pytest.mark.parametrize("there", [False, True])
def test_nobody_else_may_read_it_also_where_the_file_was_there(tmp_path: Path, there: bool) -> None:
    path = tmp_path / "kubeconfig"
    if there:
        path.touch(mode=0o644)
        path.chmod(0o644)
    write_kubeconfig(path, url=URL, ca_pem=None, token="secret")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
