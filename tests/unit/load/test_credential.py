"""A credential that changes in mid-run is handed over; one that cannot be had is asked for again."""

from __future__ import annotations

import threading

import pytest

from perfq.errors import PerfqError, TargetUnreachable, UsageError
from perfq.load.credential import TokenKeeper


class Run:
    """Takes tokens, and notes them."""

    def __init__(self, wanted: int) -> None:
        self.tokens: list[str] = []
        self.enough = threading.Event()
        self._wanted = wanted

    def set_token(self, token: str) -> None:
        self.tokens.append(token)
        if len(self.tokens) == self._wanted:
            self.enough.set()


def test_each_new_token_is_handed_over_once() -> None:
    given = iter(["a", "a", "b", "b", "c"])
    run = Run(3)
    with TokenKeeper(run, lambda: next(given, "c"), every_s=0.001):
        assert run.enough.wait(10)
    assert run.tokens == ["a", "b", "c"]


@pytest.mark.parametrize("kind", [TargetUnreachable, UsageError])
def test_a_plugin_that_fails_once_is_asked_again(kind: type[PerfqError]) -> None:
    failures = iter([kind("no answer")])

    def token() -> str:
        failure = next(failures, None)
        if failure is not None:
            raise failure
        return "later"

    run = Run(1)
    with TokenKeeper(run, token, every_s=0.001) as keeper:
        assert run.enough.wait(10)
    assert (run.tokens, keeper.failure) == (["later"], None)


def test_a_user_without_a_token_has_none_to_keep() -> None:
    run, asked = Run(1), threading.Event()

    def token() -> None:
        asked.set()

    with TokenKeeper(run, token, every_s=0.001):
        assert asked.wait(10)
    assert run.tokens == []
