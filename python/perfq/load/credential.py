"""Keeps the engine's token fresh: a credential that expires in mid-run is renewed before it does."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Protocol, Self

from perfq.errors import PerfqError

#: How often the credential is looked at. It renews itself a minute before its end.
EVERY_S = 10.0


class TakesToken(Protocol):
    """What is needed of a run."""

    def set_token(self, token: str) -> None:
        """The token from the next request on."""


class TokenKeeper:
    """A thread that hands over each new token; a context manager. A plugin that fails is asked again later."""

    def __init__(self, run: TakesToken, token: Callable[[], str | None], every_s: float = EVERY_S) -> None:
        self._run = run
        self._token = token
        self._every_s = every_s
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._keep, name="perfq-token", daemon=True)
        #: Why the last renewal failed; None where it did not.
        self.failure: str | None = None

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        # Not waited for: a plugin may take a minute, and nothing of it matters any more.
        self._stop.set()

    def _keep(self) -> None:
        handed: str | None = None
        while not self._stop.wait(self._every_s):
            try:
                token = self._token()
                self.failure = None
            except PerfqError as error:
                self.failure = str(error)
                continue
            if token is not None and token != handed and not self._stop.is_set():
                self._run.set_token(token)
                handed = token
