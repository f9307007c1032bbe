"""What became of the updates, as properties over any interleaving of receipts, frames and fates."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from perfq.measure.backlog import Depths
from perfq.measure.recording import Recording, Rendering, Writes
from perfq.measure.rendering import client_counts, delivered, rendered_updates
from perfq.measure.replay_samples import Watch

#: What happens to each update in turn, and whether a frame follows it.
FATES = st.lists(st.tuples(st.sampled_from(["rendered", "coalesced", "dropped", "swallowed"]), st.booleans()))


def recording(fates: list[tuple[str, bool]]) -> Recording:
    """Update i is written at 10·i, read at 10·i + 2; a frame at 10·i + 5 renders all that was read before."""
    record = Recording()
    record.watch_opens[1] = Watch(t=0, w=1, ev="open", kind="pods")
    writes = record.written.setdefault(1, Writes())
    scope = record.probe.scopes.setdefault(("pods", ""), Rendering())
    rows = coalesced = 0
    for i, (fate, frame) in enumerate([*fates, ("rendered", True)]):
        writes.rv.append(100 + i)
        writes.t.append(10 * i)
        if fate != "swallowed":
            scope.received_rv.append(100 + i)
            scope.received_t.append(10 * i + 2)
        rows += fate == "rendered"
        coalesced += fate == "coalesced"
        if fate == "dropped":
            scope.dropped.append((10 * i + 3, 1))
        if frame:
            scope.rendered_rv.append(100 + i)
            scope.rendered_t.append(10 * i + 5)
            scope.rendered_rows.append(rows)
            scope.coalesced.append((10 * i + 5, coalesced))
            rows = coalesced = 0
    return record


@given(FATES)
def test_the_identity_is_open_by_exactly_what_was_swallowed(fates: list[tuple[str, bool]]) -> None:
    record = recording(fates)
    counts, written = client_counts(record), delivered(record)
    assert counts is not None
    assert written is not None
    assert written - counts.settled == sum(fate == "swallowed" for fate, _ in fates)


@given(FATES)
def test_each_update_that_was_read_is_rendered_once_by_the_first_frame_after_it(fates: list[tuple[str, bool]]) -> None:
    record = recording(fates)
    scope = record.probe.scopes["pods", ""]
    found = sorted(rendered_updates(scope))
    assert [rv for rv, _, _ in found] == list(scope.received_rv)
    for rv, received, rendered in found:
        first = min(
            t for t, upto in zip(scope.rendered_t, scope.rendered_rv, strict=True) if upto >= rv and t >= received
        )
        assert rendered == first


@given(FATES)
def test_the_backlog_ends_at_what_has_no_fate_and_is_never_below_zero(fates: list[tuple[str, bool]]) -> None:
    record = recording(fates)
    depths = Depths.of(record)
    assert min(depths.depth) >= 0
    assert depths.depth[-1] == sum(fate == "swallowed" for fate, _ in fates)


def test_a_frame_does_not_render_what_is_read_after_it() -> None:
    scope = Rendering()
    for rv, t in ((101, 10), (102, 30)):
        scope.received_rv.append(rv)
        scope.received_t.append(t)
    for rv, t in ((101, 20), (102, 40)):
        scope.rendered_rv.append(rv)
        scope.rendered_t.append(t)
        scope.rendered_rows.append(1)
    assert list(rendered_updates(scope)) == [(101, 10, 20), (102, 30, 40)]


def test_an_update_that_no_frame_reached_has_no_sample() -> None:
    scope = Rendering()
    scope.received_rv.append(101)
    scope.received_t.append(10)
    assert list(rendered_updates(scope)) == []


def test_watches_of_other_kinds_are_not_delivered_updates() -> None:
    record = Recording()
    record.watch_opens[1] = Watch(t=0, w=1, ev="open", kind="nodes")
    record.written.setdefault(1, Writes()).rv.append(7)
    record.written[1].t.append(1)
    assert delivered(record) is None
    record.watch_opens[2] = Watch(t=0, w=2, ev="open", kind="pods")
    assert delivered(record) == 0
