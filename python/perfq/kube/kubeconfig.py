"""Kubeconfig, read as kubectl reads it: several files, the first to set an entry wins.

What needs nothing but these files is resolved here; `kubernetes` is imported only for an auth-provider.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from perfq.errors import TargetUnreachable, UsageError
from perfq.kube.credential import Credential, Pair, Static, TokenFile
from perfq.kube.endpoint import Endpoint

if TYPE_CHECKING:
    from perfq.kube.exec_plugin import ExecPlugin

__all__ = ["Kubeconfig", "connect"]

_SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
#: Files larger than this are no kubeconfig.
_LARGEST = 16 << 20


@dataclass(frozen=True)
class Entry:
    """One named entry, and the file that it came from."""

    value: Mapping[str, Any] = field(repr=False)
    file: Path

    def text(self, key: str) -> str | None:
        """A text value; None where it is absent or empty. UsageError where it is something else."""
        value = self.value.get(key)
        if value is None or value == "":
            return None
        if not isinstance(value, str):
            raise UsageError(f"{self.file}: {key}: got {type(value).__name__}, expected text")
        return value

    def pem(self, key: str) -> str | None:
        """PEM from `KEY-data` (base64, wins) or from the file `KEY`, relative to this entry's file."""
        data = self.text(f"{key}-data")
        if data is not None:
            try:
                return base64.b64decode("".join(data.split()), validate=True).decode()
            except (binascii.Error, UnicodeDecodeError):
                raise UsageError(f"{self.file}: {key}-data: expected PEM in base64") from None
        path = self.text(key)
        if path is None:
            return None
        try:
            return (self.file.parent / path).read_text()
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"{self.file}: {key}: {self.file.parent / path}: {error}") from error


class Kubeconfig:
    """The merged files."""

    def __init__(self, files: list[Path]) -> None:
        self.files = files
        self._named: dict[str, dict[str, Entry]] = {"clusters": {}, "users": {}, "contexts": {}}
        self._current: str | None = None
        for file in files:
            self._merge(file)

    @classmethod
    def locate(cls, explicit: str | None, environment: Mapping[str, str] = os.environ) -> Kubeconfig | None:
        """`--kubeconfig`, else the files of KUBECONFIG that exist, else ~/.kube/config; None for none."""
        if explicit is not None:
            file = Path(explicit)
            if not file.is_file():
                raise UsageError(f"{file}: there is no such kubeconfig")
            return cls([file])
        listed = [Path(part) for part in environment.get("KUBECONFIG", "").split(os.pathsep) if part]
        if not listed:
            home = environment.get("HOME")
            listed = [Path(home) / ".kube" / "config"] if home else []
        found = [file for file in listed if file.exists()]
        return cls(found) if found else None

    @property
    def contexts(self) -> list[str]:
        """Their names."""
        return list(self._named["contexts"])

    def endpoint(self, context: str | None = None) -> Endpoint:
        """The cluster and user of a context (None: the current one). UsageError where it is broken."""
        name = context or self._current
        where = ", ".join(str(file) for file in self.files)
        if not name:
            raise UsageError(f"{where}: no current-context; name one with --context ({self._known('contexts')})")
        chosen = self._entry("contexts", name, where)
        cluster = self._entry("clusters", chosen.text("cluster") or "", f"context {name} in {chosen.file}")
        user_name = chosen.text("user")
        user = self._entry("users", user_name, f"context {name} in {chosen.file}") if user_name else None
        insecure = cluster.value.get("insecure-skip-tls-verify") is True
        return Endpoint(
            url=_server(cluster),
            context=name,
            namespace=chosen.text("namespace") or "",
            credential=self._credential(user, cluster, name),
            ca_pem=None if insecure else cluster.pem("certificate-authority"),
            insecure=insecure,
            tls_server_name=cluster.text("tls-server-name"),
            proxy_url=cluster.text("proxy-url"),
            origins={
                "context": str(chosen.file),
                "server": str(cluster.file),
                "certificate-authority": str(cluster.file),
                **({"client-certificate": str(user.file), "user": str(user.file)} if user else {}),
            },
        )

    def _merge(self, file: Path) -> None:
        document = _read(file)
        current = document.get("current-context")
        if self._current is None and isinstance(current, str) and current:
            self._current = current
        for section, named in self._named.items():
            for name, value in _entries(document.get(section), section, file):
                named.setdefault(name, Entry(value, file))

    def _entry(self, section: str, name: str, where: str) -> Entry:
        entry = self._named[section].get(name)
        if entry is None:
            word = section.removesuffix("s")
            raise UsageError(f"{where}: no {word} named {name!r} ({self._known(section)})")
        return entry

    def _known(self, section: str) -> str:
        names = list(self._named[section])
        return f"known: {', '.join(names[:10])}" if names else "none is known"

    def _credential(self, user: Entry | None, cluster: Entry, context: str) -> Credential:
        if user is None:
            return Static()
        certificate = _certificate(user)
        if user.value.get("exec") is not None:
            return _plugin(user, cluster)
        token = user.text("token")
        if token is None and (path := user.text("tokenFile")) is not None:
            return TokenFile(user.file.parent / path, certificate)
        if token is None and user.value.get("auth-provider"):
            token = self._provided_token(context)
        return Static(token, user.text("username"), user.text("password"), certificate)

    def _provided_token(self, context: str) -> str | None:
        """The token of a (deprecated) auth-provider, by the official package."""
        from kubernetes import config

        document: dict[str, Any] = {"apiVersion": "v1", "kind": "Config", "current-context": context}
        for section, named in self._named.items():
            word = section.removesuffix("s")
            document[section] = [{"name": name, word: dict(entry.value)} for name, entry in named.items()]
        try:
            make: Any = config.new_client_from_config_dict
            client = make(document, context=context, persist_config=False)
        except (config.ConfigException, OSError, ValueError, KeyError) as error:
            raise TargetUnreachable(f"auth-provider of context {context}: {error}") from error
        key = client.configuration.get_api_key_with_prefix("BearerToken") or ""
        scheme, _, token = str(key).partition(" ")
        return token if scheme.lower() == "bearer" and token else None


def connect(context: str | None = None, kubeconfig: str | None = None) -> Endpoint:
    """The API server that the caller means: of a kubeconfig, else of the cluster that this runs in."""
    found = Kubeconfig.locate(kubeconfig)
    if found is not None:
        return found.endpoint(context)
    inside = in_cluster()
    if inside is None or context is not None:
        raise UsageError("no kubeconfig: name one with --kubeconfig or KUBECONFIG, or put one at ~/.kube/config")
    return inside


def in_cluster(environment: Mapping[str, str] = os.environ, account: Path = _SERVICE_ACCOUNT) -> Endpoint | None:
    """The API server of the cluster that this Pod runs in; None outside of one."""
    host, port = environment.get("KUBERNETES_SERVICE_HOST"), environment.get("KUBERNETES_SERVICE_PORT")
    token, authority, namespace = account / "token", account / "ca.crt", account / "namespace"
    if not host or not port or not token.is_file() or not authority.is_file():
        return None
    return Endpoint(
        url=f"https://{f'[{host}]' if ':' in host else host}:{port}",
        context="in-cluster",
        namespace=namespace.read_text().strip() if namespace.is_file() else "",
        credential=TokenFile(token),
        ca_pem=authority.read_text(),
        origins={"server": "KUBERNETES_SERVICE_HOST", "certificate-authority": str(authority)},
    )


def _read(file: Path) -> Mapping[str, Any]:
    try:
        if file.is_dir():
            raise UsageError(f"{file}: a directory, expected a kubeconfig")
        if file.stat().st_size > _LARGEST:
            raise UsageError(f"{file}: {file.stat().st_size} bytes, too large for a kubeconfig")
        document = _document(file.read_text(), file)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file}: cannot be read as a kubeconfig: {error}") from error
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise UsageError(f"{file}: got {type(document).__name__}, expected a kubeconfig")
    return document


def _document(text: str, file: Path) -> Any:
    if text.startswith("{"):
        # JSON is YAML, and does without the parser of the latter, which takes its time to load.
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            pass
    import yaml

    try:
        return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        reason = getattr(error, "problem", None) or type(error).__name__
        mark = getattr(error, "problem_mark", None)
        line = f":{mark.line + 1}" if mark is not None else ""
        raise UsageError(f"{file}{line}: not YAML: {reason}") from error


def _entries(found: Any, section: str, file: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if found is None:
        return
    if not isinstance(found, list):
        raise UsageError(f"{file}: {section}: got {type(found).__name__}, expected a list")
    word = section.removesuffix("s")
    for i, item in enumerate(found):
        if not isinstance(item, dict) or not isinstance(item.get("name"), str):
            raise UsageError(f"{file}: {section}[{i}]: expected an entry with a name")
        value = item.get(word)
        if value is not None and not isinstance(value, dict):
            raise UsageError(f"{file}: {section}[{i}].{word}: got {type(value).__name__}, expected a mapping")
        yield item["name"], value or {}


def _server(cluster: Entry) -> str:
    server = cluster.text("server")
    if server is None:
        raise UsageError(f"{cluster.file}: the cluster has no server")
    if "://" not in server:
        server = f"http://{server}"
    parts = urlsplit(server)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(f"{cluster.file}: server: got {server!r}, expected http(s)://HOST[:PORT][/PATH]")
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"


def _certificate(user: Entry) -> Pair | None:
    certificate, key = user.pem("client-certificate"), user.pem("client-key")
    if certificate is None and key is None:
        return None
    if certificate is None or key is None:
        lacking = "client-certificate" if certificate is None else "client-key"
        raise UsageError(f"{user.file}: the user has no {lacking}")
    return certificate, key


def _plugin(user: Entry, cluster: Entry) -> ExecPlugin:
    spec = user.value["exec"]
    if not isinstance(spec, dict):
        raise UsageError(f"{user.file}: exec: got {type(spec).__name__}, expected a mapping")
    for key in ("command", "apiVersion"):
        if not isinstance(spec.get(key), str) or not spec[key]:
            raise UsageError(f"{user.file}: exec.{key}: missing")
    command = spec["command"]
    command = str(user.file.parent / command) if os.sep in command else shutil.which(command) or command
    about = {
        "server": _server(cluster),
        "insecure-skip-tls-verify": bool(cluster.value.get("insecure-skip-tls-verify")),
    }
    authority = cluster.pem("certificate-authority")
    if authority is not None:
        about["certificate-authority-data"] = base64.b64encode(authority.encode()).decode()
    for key in ("tls-server-name", "proxy-url"):
        if (value := cluster.text(key)) is not None:
            about[key] = value
    for extension in cluster.value.get("extensions") or ():
        if isinstance(extension, dict) and extension.get("name") == "client.authentication.k8s.io/exec":
            about["config"] = extension.get("extension")
    from perfq.kube.exec_plugin import ExecPlugin

    return ExecPlugin({**spec, "command": command}, about)
