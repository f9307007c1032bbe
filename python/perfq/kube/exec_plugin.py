"""Credential plugins of a kubeconfig (`exec`, client.authentication.k8s.io/v1 and v1beta1).

Run here and not by the official package, which lets a plugin read the terminal at any time: a program
that shows or measures something owns its terminal, so a plugin may ask only before it starts.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from perfq.errors import TargetUnreachable
from perfq.kube.credential import Pair

__all__ = ["ExecPlugin"]

#: A credential that ends sooner than this is renewed before it is used.
_RENEW_SECONDS = 60.0
_TIMEOUT_SECONDS = 60.0


@dataclass
class ExecPlugin:
    """A program that gives a token or a certificate, asked again before what it gave expires."""

    #: The `exec` entry; a relative command is resolved already.
    spec: Mapping[str, Any] = field(repr=False)
    #: ExecCredential `spec.cluster`, for a plugin that asks for it.
    cluster: Mapping[str, Any] = field(repr=False)
    #: Whether it may ask on the terminal; only until it has answered once.
    may_ask: bool = field(default_factory=lambda: sys.stdin is not None and sys.stdin.isatty())
    _status: Mapping[str, Any] | None = field(default=None, repr=False)

    def headers(self) -> Mapping[str, str]:
        """Bearer, if the plugin gave a token. TargetUnreachable where it fails."""
        token = self._current().get("token")
        return {"Authorization": f"Bearer {token}"} if token else {}

    def refresh(self) -> bool:
        """Runs the plugin again."""
        self._status = None
        self._current()
        return True

    def client_certificate(self) -> Pair | None:
        """The plugin's certificate and key, if it gave them."""
        status = self._current()
        certificate, key = status.get("clientCertificateData"), status.get("clientKeyData")
        return (str(certificate), str(key)) if certificate and key else None

    def _current(self) -> Mapping[str, Any]:
        if self._status is None or _ends_soon(self._status.get("expirationTimestamp")):
            self._status = self._run()
            self.may_ask = False
        return self._status

    def _run(self) -> Mapping[str, Any]:
        command, version = str(self.spec["command"]), str(self.spec["apiVersion"])
        mode = self.spec.get("interactiveMode") or "IfAvailable"
        asks = self.may_ask and mode != "Never"
        if mode == "Always" and not asks:
            raise TargetUnreachable(f"credential plugin {command}: it wants a terminal, and there is none for it")
        info: dict[str, Any] = {
            "apiVersion": version,
            "kind": "ExecCredential",
            "spec": {"interactive": asks},
        }
        if self.spec.get("provideClusterInfo"):
            info["spec"]["cluster"] = dict(self.cluster)
        extra = {str(one["name"]): str(one["value"]) for one in self.spec.get("env") or ()}
        try:
            done = subprocess.run(
                [command, *(str(one) for one in self.spec.get("args") or ())],
                env={**os.environ, **extra, "KUBERNETES_EXEC_INFO": json.dumps(info)},
                stdin=None if asks else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=None if asks else subprocess.PIPE,
                timeout=None if asks else _TIMEOUT_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise TargetUnreachable(f"credential plugin {command}: no answer in {_TIMEOUT_SECONDS:.0f} s") from None
        except OSError as error:
            hint = self.spec.get("installHint")
            raise TargetUnreachable(
                f"credential plugin {command}: {error.strerror}", details=[str(hint)] if hint else []
            ) from error
        if done.returncode != 0:
            said = " ".join((done.stderr or b"").decode(errors="replace").split())[:300]
            raise TargetUnreachable(f"credential plugin {command}: it ended with {done.returncode}. {said}".strip())
        return _status(done.stdout, command, version)


def _status(answer: bytes, command: str, version: str) -> Mapping[str, Any]:
    try:
        found = json.loads(answer)
        status = found["status"]
        if found["kind"] != "ExecCredential" or found["apiVersion"] != version or not isinstance(status, dict):
            raise ValueError
    except (ValueError, KeyError, TypeError):
        raise TargetUnreachable(
            f"credential plugin {command}: its answer is not an ExecCredential of {version}"
        ) from None
    return status


def _ends_soon(stamp: object) -> bool:
    if not isinstance(stamp, str):
        return False
    try:
        return datetime.fromisoformat(stamp.replace("Z", "+00:00")).timestamp() - time.time() < _RENEW_SECONDS
    except ValueError:
        return False
