"""The store against a plain dictionary, and its account of every event."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from perfq.viewer.inbox import Batch, Events, ListComplete, ListPage, ListStarted
from perfq.viewer.kinds import PODS, Cells, Scope
from perfq.viewer.objects import Key, PodRecord, Record
from perfq.viewer.store import Store

SCOPE = Scope("pods")
keys = st.tuples(st.sampled_from("ab"), st.sampled_from("uvwxyz"))


def pod(key: Key, restarts: int = 0) -> PodRecord:
    return PodRecord(*key, "Running", "1/1", "Running", restarts, "n", 0)


listings = st.dictionaries(keys, st.integers(0, 3), max_size=8)
events = st.lists(st.tuples(keys, st.one_of(st.none(), st.integers(0, 9))), max_size=8)
#: A LIST in two pages, or events, and whether a frame comes after it.
steps = st.lists(st.tuples(st.one_of(listings, events), st.booleans()), max_size=10)


def batches(step: dict[Key, int] | list[tuple[Key, int | None]]) -> list[Batch]:
    if isinstance(step, list):
        changes: list[tuple[Key, Record | None]] = [
            (key, None if restarts is None else pod(key, restarts)) for key, restarts in step
        ]
        return [Events(SCOPE, changes, "9")] if changes else []
    records: list[Record] = [pod(key, restarts) for key, restarts in step.items()]
    return [
        ListStarted(SCOPE),
        ListPage(SCOPE, records[:3]),
        ListPage(SCOPE, records[3:]),
        ListComplete(SCOPE, "9", len(records)),
    ]


@given(steps)
def test_store_and_a_table_fed_by_its_changes_hold_what_the_server_said(
    script: list[tuple[dict[Key, int] | list[tuple[Key, int | None]], bool]],
) -> None:
    store = Store()
    store.open(SCOPE)
    model: dict[Key, Record] = {}
    table: dict[Key, Cells] = {}
    received = shown = coalesced = 0

    def frame() -> None:
        nonlocal shown, coalesced
        for changes in store.take().values():
            shown += len(changes.touched)
            coalesced += changes.coalesced
            for key, record in changes.objects.items():
                if record is None:
                    table.pop(key, None)
                else:
                    table[key] = PODS.cells(record, {})

    for step, framed in script:
        for batch in batches(step):
            store.apply(batch)
            received += len(batch.changes) if isinstance(batch, Events) else 0
        if isinstance(step, dict):
            model = {key: pod(key, restarts) for key, restarts in step.items()}
        else:
            for key, restarts in step:
                if restarts is None:
                    model.pop(key, None)
                else:
                    model[key] = pod(key, restarts)
        assert store.objects(SCOPE) == model
        if framed:
            frame()
    frame()
    assert table == {key: PODS.cells(record, {}) for key, record in model.items()}
    assert received == shown + coalesced


def test_a_new_list_removes_what_it_does_not_hold_and_only_that() -> None:
    store = Store()
    store.open(SCOPE)
    for batch in batches({("a", "x"): 0, ("a", "y"): 0, ("a", "z"): 0}):
        store.apply(batch)
    store.take()
    for batch in batches({("a", "x"): 0, ("a", "z"): 5}):
        store.apply(batch)
    (changes,) = store.take().values()
    assert changes.objects == {("a", "y"): None, ("a", "z"): pod(("a", "z"), 5)}
    assert changes.events == 0
    assert changes.listed == 2


def test_a_list_that_was_begun_again_does_not_remember_the_first_attempt() -> None:
    store = Store()
    store.open(SCOPE)
    store.apply(ListStarted(SCOPE))
    store.apply(ListPage(SCOPE, [pod(("a", "old"))]))
    for batch in batches({("a", "new"): 0}):
        store.apply(batch)
    assert set(store.objects(SCOPE)) == {("a", "new")}


def test_objects_are_shown_page_by_page_before_the_list_is_complete() -> None:
    store = Store()
    store.open(SCOPE)
    store.apply(ListStarted(SCOPE))
    store.apply(ListPage(SCOPE, [pod(("a", "x"))]))
    (changes,) = store.take().values()
    assert set(changes.objects) == {("a", "x")}
    assert changes.listed is None
    assert not store.complete(SCOPE)


def test_events_of_a_scope_that_was_closed_are_counted_as_dropped() -> None:
    store = Store()
    store.open(SCOPE)
    event = Events(SCOPE, [(("a", "x"), pod(("a", "x"))), (("a", "x"), None)], "9")
    assert store.apply(event) == 0
    assert store.close(SCOPE) == 2, "the ones that no frame had shown"
    assert store.apply(event) == 2, "the ones that come after"
    assert store.objects(SCOPE) == {}
    assert store.take() == {}
