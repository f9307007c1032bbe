"""Rows kept in order as they change are where a sort of all of them would put them."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import given, settings
from hypothesis import strategies as st

from perfq.viewer import ordering as ordering_module
from perfq.viewer.kinds import NODES, PODS, Cells
from perfq.viewer.objects import Key, NodeRecord, PodRecord, Record
from perfq.viewer.ordering import Filter, Sort
from perfq.viewer.table_model import TableModel

namespaces = st.sampled_from(["a", "b", "bench-0001"])
names = st.sampled_from([f"pod-{i}" for i in range(12)])
keys = st.tuples(namespaces, names)


@st.composite
def pods(draw: st.DrawFn) -> PodRecord:
    namespace, name = draw(keys)
    status = draw(st.sampled_from(["Running", "Pending", "CrashLoopBackOff"]))
    return PodRecord(
        namespace, name, status, "1/1", status, draw(st.integers(0, 3)), draw(st.sampled_from(["n1", "n2"])), 0
    )


changes = st.lists(st.one_of(pods(), keys), max_size=8)
sorts = st.builds(Sort, st.one_of(st.none(), st.integers(0, len(PODS.columns) - 1)), st.booleans())
filters = st.builds(Filter, st.sampled_from(["", "a", "bench-0001"]), st.sampled_from(["", "RUN", "pod-1", "n2", "3"]))
steps = st.lists(st.one_of(changes, sorts, filters), max_size=12)


def shown(rows: Mapping[Key, Cells], sort: Sort, wanted: Filter) -> list[Key]:
    """What is shown, by looking at all rows."""

    def fits(key: Key, cells: Cells) -> bool:
        if wanted.namespace not in ("", key[0]):
            return False
        return wanted.text.lower() in "\n".join(str(cell) for cell in cells[:6]).lower()

    found = [key for key, cells in rows.items() if fits(key, cells)]
    found.sort(key=lambda key: key if sort.column is None else (rows[key][sort.column], key))
    return found[::-1] if sort.descending else found


def as_changes(step: list[object]) -> dict[Key, Record | None]:
    found: dict[Key, Record | None] = {}
    for one in step:
        if isinstance(one, PodRecord):
            found[one.key] = one
        elif isinstance(one, tuple):
            found[one] = None
    return found


def walk(model: TableModel, script: list[object]) -> None:
    rows: dict[Key, Cells] = {}
    for step in script:
        if isinstance(step, Sort):
            model.arrange(step)
        elif isinstance(step, Filter):
            model.arrange(shown=step)
        elif isinstance(step, list):
            changed = as_changes(step)
            before = dict(rows)
            for key, record in changed.items():
                if record is None:
                    rows.pop(key, None)
                else:
                    rows[key] = PODS.cells(record, {})
            applied = model.apply(changed)
            assert applied.rows == sum(before.get(key) != rows.get(key) for key in changed)
        expected = shown(rows, model.sort, model.filter)
        assert [model.key(i) for i in range(len(model))] == expected
        assert model.rows == rows
        for i, key in enumerate(expected):
            assert model.index(key) == i
        for key in set(rows) - set(expected):
            assert model.index(key) is None
        assert model.cursor == (expected[model.cursor_index] if expected else None)


@given(steps)
def test_rows_stand_where_a_sort_of_all_of_them_would_put_them(script: list[object]) -> None:
    walk(TableModel(PODS), script)


@given(steps)
@settings(max_examples=50)
def test_many_changes_at_once_give_the_same_order_as_few(script: list[object]) -> None:
    bulk = ordering_module._BULK
    ordering_module._BULK = 0
    try:
        walk(TableModel(PODS), script)
    finally:
        ordering_module._BULK = bulk


@given(steps, st.integers(0, 40))
def test_the_cursor_stays_on_its_object_whatever_moves_around_it(script: list[object], at: int) -> None:
    model = TableModel(PODS)
    model.apply({(ns, f"pod-{i}"): _pod(ns, f"pod-{i}") for ns in "ab" for i in range(12)})
    model.move_cursor(at)
    for step in script:
        was = model.cursor
        if isinstance(step, Sort):
            model.arrange(step)
        elif isinstance(step, Filter):
            model.arrange(shown=step)
        elif isinstance(step, list):
            model.apply(as_changes(step))
        if was is not None and model.index(was) is not None:
            assert model.cursor == was
            assert model.cursor_index == model.index(was)


def test_when_its_object_goes_the_cursor_stays_in_its_place() -> None:
    model = TableModel(PODS)
    model.apply({("a", name): _pod("a", name) for name in "pqrs"})
    model.move_cursor(1)
    model.apply({("a", "q"): None})
    assert (model.cursor, model.cursor_index) == (("a", "r"), 1)
    model.move_cursor(2)
    model.apply({("a", "s"): None})
    assert (model.cursor, model.cursor_index) == (("a", "r"), 1)


def test_until_it_is_moved_the_cursor_is_on_the_first_row() -> None:
    model = TableModel(PODS)
    model.apply({("b", "x"): _pod("b", "x")})
    model.apply({("a", "x"): _pod("a", "x")})
    assert (model.cursor, model.cursor_index) == (("a", "x"), 0)


def test_what_was_searched_for_stays_under_the_cursor_once_all_rows_are_shown_again() -> None:
    model = TableModel(PODS)
    model.apply({("a", name): _pod("a", name) for name in ("web-1", "web-2", "web-3")})
    model.arrange(shown=Filter(text="web-3"))
    model.arrange(shown=Filter())
    assert (model.cursor, model.cursor_index) == (("a", "web-3"), 2)


def test_an_equal_record_changes_nothing() -> None:
    model = TableModel(PODS)
    model.apply({("a", "x"): _pod("a", "x")})
    before = model.rows["a", "x"]
    assert model.apply({("a", "x"): _pod("a", "x")}).rows == 0
    assert model.rows["a", "x"] is before


def test_columns_grow_with_what_is_in_them_and_never_shrink() -> None:
    model = TableModel(PODS)
    long = "a-name-of-quite-some-length-indeed"
    model.apply({("a", long): _pod("a", long)})
    model.apply({("a", long): None})
    assert model.widths[1] == len(long)


def test_cluster_scoped_rows_have_keys_without_a_namespace() -> None:
    model = TableModel(NODES)
    record = NodeRecord("", "n1", "Ready", "<none>", "v1", 0)
    model.apply({record.key: record})
    assert model.key(0) == ("", "n1")


def _pod(namespace: str, name: str) -> PodRecord:
    return PodRecord(namespace, name, "Running", "1/1", "Running", 0, "n1", 0)
