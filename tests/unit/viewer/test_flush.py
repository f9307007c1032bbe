"""Flushed means flushed: not queued, not written."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from perfq.viewer.flush import FlushLedger


def test_with_nothing_queued_all_is_flushed() -> None:
    ledger = FlushLedger()
    called: list[int] = []
    ledger.when_flushed(lambda: called.append(1))
    assert called == [1]


def test_a_frame_is_flushed_when_its_last_character_is() -> None:
    ledger = FlushLedger()
    called: list[str] = []
    ledger.queued(10)
    ledger.when_flushed(lambda: called.append("first"))
    ledger.queued(5)
    ledger.when_flushed(lambda: called.append("second"))
    ledger.written(10)
    assert called == [], "written, and not flushed"
    ledger.flushed()
    assert called == ["first"]
    ledger.written(5)
    ledger.flushed()
    assert called == ["first", "second"]


@given(st.lists(st.sampled_from(["queue", "write", "flush", "ask"]), max_size=60))
def test_no_callback_comes_too_early_and_none_is_forgotten(script: list[str]) -> None:
    ledger = FlushLedger()
    queued = written = flushed = 0
    waiting: list[int] = []
    called: list[int] = []
    for step in script:
        if step == "queue":
            queued += 1
            ledger.queued(1)
        elif step == "write" and written < queued:
            written += 1
            ledger.written(1)
        elif step == "flush":
            flushed = written
            ledger.flushed()
        elif step == "ask":
            mark = queued
            waiting.append(mark)
            ledger.when_flushed(lambda mark=mark: called.append(mark))  # type: ignore[misc]
        assert called == [mark for mark in waiting if mark <= flushed]
