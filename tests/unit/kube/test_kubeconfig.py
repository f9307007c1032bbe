"""Kubeconfig as kubectl reads it."""

from __future__ import annotations

import base64
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from perfq.errors import UsageError
from perfq.kube import Kubeconfig, connect, is_loopback
from perfq.kube.kubeconfig import in_cluster

Json = dict[str, Any]


def document(**parts: Any) -> Json:
    """A whole kubeconfig, with parts replaced."""
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "dev",
        "contexts": [{"name": "dev", "context": {"cluster": "c", "user": "u", "namespace": "shop"}}],
        "clusters": [{"name": "c", "cluster": {"server": "https://example.test:6443/base/"}}],
        "users": [{"name": "u", "user": {"token": "secret"}}],
        **parts,
    }


def write(path: Path, content: Json | str) -> Path:
    path.write_text(content if isinstance(content, str) else yaml.safe_dump(content))
    return path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config"


def test_a_plain_one(file: Path) -> None:
    endpoint = Kubeconfig([write(file, document())]).endpoint()
    assert endpoint.url == "https://example.test:6443/base", "the base path once, without a slash at its end"
    assert (endpoint.context, endpoint.namespace, endpoint.host) == ("dev", "shop", "example.test:6443")
    assert endpoint.headers() == {"Authorization": "Bearer secret"}
    assert endpoint.origins["server"] == str(file)
    assert not endpoint.refresh()


def test_the_text_of_an_endpoint_holds_no_credential(file: Path) -> None:
    assert "secret" not in repr(Kubeconfig([write(file, document())]).endpoint())


def test_of_several_files_the_first_to_set_an_entry_wins_and_whole_entries_only(tmp_path: Path) -> None:
    first = write(
        tmp_path / "first",
        {
            "current-context": "",
            "users": [{"name": "u", "user": {"username": "me", "password": "pw"}}],
            "clusters": None,
        },
    )
    second = write(tmp_path / "second", document())
    third = write(tmp_path / "third", document(**{"current-context": "other"}))
    endpoint = Kubeconfig([first, second, third]).endpoint()
    basic = base64.b64encode(b"me:pw").decode()
    assert endpoint.headers() == {"Authorization": f"Basic {basic}"}, "the token of the second file is not mixed in"
    assert endpoint.context == "dev", "an empty current-context sets nothing"
    assert endpoint.origins["user"] == str(first)
    assert endpoint.origins["server"] == str(second)


def test_files_of_the_environment_that_do_not_exist_are_passed_over(tmp_path: Path) -> None:
    there = write(tmp_path / "there", document())
    found = Kubeconfig.locate(None, {"KUBECONFIG": f"{tmp_path / 'none'}::{there}"})
    assert found is not None
    assert found.files == [there]
    assert Kubeconfig.locate(None, {"KUBECONFIG": str(tmp_path / "none"), "HOME": str(tmp_path)}) is None
    (tmp_path / ".kube").mkdir()
    write(tmp_path / ".kube" / "config", document())
    assert Kubeconfig.locate(None, {"HOME": str(tmp_path)}) is not None
    with pytest.raises(UsageError, match="there is no such kubeconfig"):
        Kubeconfig.locate(str(tmp_path / "none"), {})


def test_paths_are_relative_to_the_file_that_names_them(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "ca.pem").write_text("PEM of the authority")
    (tmp_path / "sub" / "token").write_text("from a file\n")
    config = write(
        tmp_path / "sub" / "config",
        document(
            clusters=[{"name": "c", "cluster": {"server": "https://h", "certificate-authority": "ca.pem"}}],
            users=[{"name": "u", "user": {"tokenFile": "token"}}],
        ),
    )
    endpoint = Kubeconfig([config]).endpoint()
    assert endpoint.ca_pem == "PEM of the authority"
    assert endpoint.headers() == {"Authorization": "Bearer from a file"}
    (tmp_path / "sub" / "token").write_text("another")
    assert endpoint.refresh()
    assert endpoint.headers() == {"Authorization": "Bearer another"}


def test_inline_data_wins_over_a_path_and_may_be_wrapped(file: Path) -> None:
    data = base64.encodebytes(b"inline " * 20).decode()
    cluster = {"server": "https://h", "certificate-authority": "nowhere.pem", "certificate-authority-data": data}
    endpoint = Kubeconfig([write(file, document(clusters=[{"name": "c", "cluster": cluster}]))]).endpoint()
    assert endpoint.ca_pem == "inline " * 20


def test_null_lists_and_a_context_without_a_user_are_fine(file: Path) -> None:
    contexts = [{"name": "dev", "context": {"cluster": "c"}}]
    endpoint = Kubeconfig([write(file, document(users=None, contexts=contexts))]).endpoint()
    assert endpoint.headers() == {}
    assert endpoint.namespace == ""


def test_a_server_name_of_its_own_a_proxy_and_no_verification(file: Path) -> None:
    cluster = {
        "server": "https://[2001:db8::1]:6443",
        "tls-server-name": "kubernetes",
        "proxy-url": "http://proxy:3128",
        "insecure-skip-tls-verify": True,
    }
    endpoint = Kubeconfig([write(file, document(clusters=[{"name": "c", "cluster": cluster}]))]).endpoint()
    assert endpoint.host == "[2001:db8::1]:6443"
    assert endpoint.tls_server_name == "kubernetes"
    assert endpoint.proxy({}) == "http://proxy:3128"
    assert not endpoint.ssl_context().check_hostname


@pytest.mark.parametrize(
    ("server", "environment", "proxy"),
    [
        ("https://example.test", {"HTTPS_PROXY": "http://p"}, "http://p"),
        ("https://example.test", {"https_proxy": "http://p"}, "http://p"),
        ("https://example.test", {"HTTPS_PROXY": "http://p", "NO_PROXY": ".test"}, None),
        ("https://example.test", {"HTTPS_PROXY": "http://p", "NO_PROXY": "a, example.test"}, None),
        ("https://example.test", {"HTTPS_PROXY": "http://p", "NO_PROXY": "ample.test"}, "http://p"),
        ("https://example.test", {"HTTPS_PROXY": "http://p", "NO_PROXY": "*"}, None),
        ("https://127.0.0.1:1", {"HTTPS_PROXY": "http://p"}, None),
        ("https://localhost:1", {"HTTPS_PROXY": "http://p"}, None),
        ("http://[::1]:1", {"HTTP_PROXY": "http://p"}, None),
    ],
)
def test_the_environments_proxy_is_used_and_never_for_loopback(
    file: Path, server: str, environment: dict[str, str], proxy: str | None
) -> None:
    config = Kubeconfig([write(file, document(clusters=[{"name": "c", "cluster": {"server": server}}]))])
    assert config.endpoint().proxy(environment) == proxy


@pytest.mark.parametrize(
    ("url", "loopback"),
    [
        ("https://127.9.9.9:6443", True),
        ("https://[::1]:6443", True),
        ("http://localhost", True),
        ("https://127.0.0.1.example.test", False),
        ("https://10.0.0.1", False),
        ("https://128.0.0.1", False),
    ],
)
def test_what_is_loopback(url: str, loopback: bool) -> None:
    assert is_loopback(url) is loopback


#: What is wrong, and the words that the message must hold.
BROKEN: list[tuple[str, Json | str, str]] = [
    ("no context", document(**{"current-context": None}), "no current-context"),
    ("unknown context", document(**{"current-context": "prod"}), "no context named 'prod' .known: dev"),
    ("unknown cluster", document(clusters=[]), "no cluster named 'c' .none is known"),
    ("unknown user", document(users=None), "no user named 'u'"),
    ("no server", document(clusters=[{"name": "c", "cluster": {}}]), "the cluster has no server"),
    ("odd server", document(clusters=[{"name": "c", "cluster": {"server": "ftp://x"}}]), "expected http"),
    ("server not text", document(clusters=[{"name": "c", "cluster": {"server": 5}}]), "got int, expected text"),
    (
        "bad base64",
        document(clusters=[{"name": "c", "cluster": {"server": "https://h", "certificate-authority-data": "%%"}}]),
        "expected PEM in base64",
    ),
    (
        "no such file",
        document(clusters=[{"name": "c", "cluster": {"server": "https://h", "certificate-authority": "none"}}]),
        "certificate-authority: .*none",
    ),
    (
        "half a certificate",
        document(users=[{"name": "u", "user": {"client-certificate-data": base64.b64encode(b"x").decode()}}]),
        "the user has no client-key",
    ),
    ("exec without a command", document(users=[{"name": "u", "user": {"exec": {"apiVersion": "v1"}}}]), "exec.command"),
    ("a list", "[1, 2]", "got list, expected a kubeconfig"),
    ("entries not a list", document(users={"u": 1}), "users: got dict, expected a list"),
    ("an entry without a name", document(users=[{"user": {}}]), r"users\[0\]: expected an entry with a name"),
    ("not YAML", "a: [1,\nb: }", ":2: not YAML"),
    ("a tag", "a: !!python/object:os.system x", "not YAML"),
    ("binary", "\x00\x01", "not YAML"),
]


@pytest.mark.parametrize(("content", "words"), [one[1:] for one in BROKEN], ids=[one[0] for one in BROKEN])
def test_what_is_wrong_is_said_in_one_line_with_the_file(file: Path, content: Json | str, words: str) -> None:
    with pytest.raises(UsageError, match=words) as raised:
        Kubeconfig([write(file, content)]).endpoint()
    assert str(file) in raised.value.sentence
    assert "\n" not in raised.value.sentence
    assert "secret" not in str(raised.value)


def test_a_directory_and_a_file_that_is_no_text_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="a directory"):
        Kubeconfig([tmp_path])
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match="cannot be read"):
        Kubeconfig([tmp_path / "binary"])


def test_a_certificate_that_is_none_is_said_so(file: Path) -> None:
    pem = base64.b64encode(b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n").decode()
    cluster = {"server": "https://h", "certificate-authority-data": pem}
    endpoint = Kubeconfig([write(file, document(clusters=[{"name": "c", "cluster": cluster}]))]).endpoint()
    with pytest.raises(UsageError, match="certificate authority is not PEM"):
        endpoint.ssl_context()


def test_a_client_certificate_is_loaded_from_what_the_file_holds(file: Path, tmp_path: Path) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "cert.pem"
    subprocess.run(
        [
            *["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=u", "-days", "1", "-keyout"],
            key,
            "-out",
            certificate,
        ],
        check=True,
        capture_output=True,
    )
    user = {
        "client-certificate": str(certificate),
        "client-key-data": base64.b64encode(key.read_bytes()).decode(),
    }
    endpoint = Kubeconfig([write(file, document(users=[{"name": "u", "user": user}]))]).endpoint()
    assert endpoint.ssl_context().verify_mode.name == "CERT_REQUIRED"
    other = {**user, "client-key-data": base64.b64encode(certificate.read_bytes()).decode()}
    endpoint = Kubeconfig([write(file, document(users=[{"name": "u", "user": other}]))]).endpoint()
    with pytest.raises(UsageError, match="client certificate and key"):
        endpoint.ssl_context()


def test_inside_a_cluster_the_service_account_is_used(tmp_path: Path) -> None:
    environment = {"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "443"}
    assert in_cluster(environment, tmp_path) is None
    for name, text in (("token", "abc\n"), ("ca.crt", "PEM"), ("namespace", "mine")):
        (tmp_path / name).write_text(text)
    endpoint = in_cluster(environment, tmp_path)
    assert endpoint is not None
    assert (endpoint.url, endpoint.namespace) == ("https://[fd00::1]:443", "mine")
    assert endpoint.headers() == {"Authorization": "Bearer abc"}
    assert in_cluster({}, tmp_path) is None


def test_without_any_kubeconfig_it_is_said_how_to_name_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("KUBECONFIG", "KUBERNETES_SERVICE_HOST"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(UsageError, match="--kubeconfig"):
        connect()
