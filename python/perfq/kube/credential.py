"""How a user is let in: a token, a password, a certificate, a file that is kept fresh."""

from __future__ import annotations

import base64
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from perfq.errors import TargetUnreachable

__all__ = ["Credential", "Pair", "Static", "TokenFile"]

#: A token file is read again after so long (a kubelet rotates them).
_TOKEN_FILE_SECONDS = 60.0

#: A certificate and its key, as PEM.
Pair = tuple[str, str]


class Credential(Protocol):
    """Calls come one at a time (Endpoint sees to that)."""

    def headers(self) -> Mapping[str, str]:
        """Headers of a request."""

    def refresh(self) -> bool:
        """Gets another after a 401; False where there is none."""

    def client_certificate(self) -> Pair | None:
        """Certificate and key as PEM."""


@dataclass(frozen=True)
class Static:
    """A token, a password, a certificate: what the kubeconfig holds itself, or nothing at all."""

    token: str | None = field(default=None, repr=False)
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    certificate: Pair | None = field(default=None, repr=False)

    def headers(self) -> Mapping[str, str]:
        """Bearer, or Basic."""
        if self.token:
            return {"Authorization": f"Bearer {self.token}"}
        if self.username is not None:
            pair = base64.b64encode(f"{self.username}:{self.password or ''}".encode()).decode()
            return {"Authorization": f"Basic {pair}"}
        return {}

    def refresh(self) -> bool:
        """What stands in a file does not change by asking."""
        return False

    def client_certificate(self) -> Pair | None:
        """The kubeconfig's."""
        return self.certificate


@dataclass
class TokenFile:
    """A token that someone else keeps fresh in a file."""

    path: Path
    certificate: Pair | None = field(default=None, repr=False)
    _token: str = field(default="", repr=False)
    _read_at: float = field(default=float("-inf"), repr=False)

    def headers(self) -> Mapping[str, str]:
        """Bearer, from the file as it was within the last minute."""
        if time.monotonic() - self._read_at > _TOKEN_FILE_SECONDS:
            self._read()
        return {"Authorization": f"Bearer {self._token}"}

    def refresh(self) -> bool:
        """Reads the file again; True where it holds another token."""
        before = self._token
        self._read()
        return self._token != before

    def client_certificate(self) -> Pair | None:
        """The kubeconfig's."""
        return self.certificate

    def _read(self) -> None:
        try:
            self._token = self.path.read_text().strip()
        except (OSError, UnicodeDecodeError) as error:
            raise TargetUnreachable(f"token file {self.path}: {error}") from error
        self._read_at = time.monotonic()
