"""The queue between watch threads and the app: bounded, in order, woken once."""

from __future__ import annotations

import threading
import time

from perfq.viewer.inbox import Batch, Events, Inbox, Problem
from perfq.viewer.kinds import Scope

SCOPE = Scope("pods")


def events(count: int) -> Events:
    return Events(SCOPE, [(("a", str(i)), None) for i in range(count)], "1")


def test_many_batches_wake_the_app_once_until_it_has_taken_them() -> None:
    woken: list[int] = []
    inbox = Inbox(lambda: woken.append(1))
    for _ in range(5):
        inbox.put(events(1))
    assert len(woken) == 1
    inbox.take(100)
    inbox.put(events(1))
    assert len(woken) == 2


def test_it_gives_batches_in_order_and_counts_the_events_that_wait() -> None:
    inbox = Inbox(lambda: None)
    batches: list[Batch] = [events(2), Problem(SCOPE, "x"), events(3)]
    for batch in batches:
        inbox.put(batch)
    assert inbox.events == 5
    assert inbox.take(1) == batches[:1]
    assert inbox.events == 3
    assert inbox.take(100) == batches[1:]
    assert (inbox.events, inbox.waiting) == (0, False)


def test_a_full_inbox_holds_up_the_watch_and_loses_nothing() -> None:
    inbox = Inbox(lambda: None, capacity=10)
    inbox.put(events(10))
    done = threading.Event()

    def more() -> None:
        inbox.put(events(5))
        done.set()

    threading.Thread(target=more, daemon=True).start()
    deadline = time.monotonic() + 10
    taken = 0
    while not done.is_set() or inbox.waiting:
        assert time.monotonic() < deadline
        assert inbox.events <= 15
        taken += sum(len(batch.changes) for batch in inbox.take(1) if isinstance(batch, Events))
    assert taken == 15


def test_a_batch_larger_than_the_inbox_passes_alone() -> None:
    inbox = Inbox(lambda: None, capacity=10)
    assert inbox.put(events(100))
    assert len(inbox.take(1)) == 1


def test_closing_lets_a_waiting_watch_go() -> None:
    inbox = Inbox(lambda: None, capacity=1)
    inbox.put(events(1))
    answers: list[bool] = []
    waiting = threading.Thread(target=lambda: answers.append(inbox.put(events(1))), daemon=True)
    waiting.start()
    inbox.close()
    waiting.join(10)
    assert answers == [False]
    assert not inbox.put(events(1))
