"""The tables as a person uses them: keys in, lines on the screen out."""

from __future__ import annotations

import pytest
from tests.unit.viewer.pilot import app_of, cursor, lines, names, run, screen, thirty_pods, until
from tests.unit.viewer.served import Served, pod
from textual.geometry import Region
from textual.pilot import Pilot

from perfq.viewer.kinds import Scope
from perfq.viewer.parts import View
from perfq.viewer.transport import Rejected


@pytest.fixture
def served() -> Served:
    return thirty_pods()


def test_it_lists_pods_with_their_columns_and_help(served: Served) -> None:
    async def play(pilot: Pilot[None]) -> None:
        await until(pilot, lambda: "Pods 30" in screen(app_of(pilot)))
        top = lines(app_of(pilot))
        assert top[1].split() == ["NAMESPACE", "NAME", "READY", "STATUS", "RESTARTS", "NODE", "AGE"]
        assert top[2].split()[:6] == ["a", "web-00", "1/1", "Running", "0", "node-00"]
        assert "in all namespaces" in top[0]
        for word in ("search", "sort", "namespace", "describe", "logs", "quit"):
            assert word in top[-1]

    run(play, served)


def test_an_event_changes_the_row_in_place(served: Served) -> None:
    async def play(pilot: Pilot[None]) -> None:
        app = app_of(pilot)
        await until(pilot, lambda: len(served.watches) == 1)
        served.change("pods", "MODIFIED", pod("web-01", restarts=1000017))
        await until(pilot, lambda: "1000017" in lines(app)[3])
        served.change("pods", "DELETED", pod("web-00"))
        await until(pilot, lambda: names(app)[0] == "web-01")
        served.change("pods", "ADDED", pod("aaa"))
        await until(pilot, lambda: names(app)[0] == "aaa")
        assert "Pods 30" in lines(app)[0]

    run(play, served)


def test_down_and_up_move_the_cursor_by_one_row_and_the_view_follows(served: Served) -> None:
    async def play(pilot: Pilot[None]) -> None:
        app = app_of(pilot)
        await until(pilot, lambda: "Pods 30" in screen(app))
        await pilot.press("down", "down", "up")
        assert cursor(app) == "a/web-01"
        await pilot.press("end")
        assert cursor(app) == "b/web-29"
        await until(pilot, lambda: names(app)[-1] == "web-29")
        await pilot.press("g")
        await until(pilot, lambda: names(app)[0] == "web-00")

    run(play, served)


def test_the_cursor_row_is_reversed_and_no_other_is(served: Served) -> None:
    async def play(pilot: Pilot[None]) -> None:
        app = app_of(pilot)
        await until(pilot, lambda: "Pods 30" in screen(app))
        await pilot.press("down")

        def reversed_lines() -> list[int]:
            strips = app.screen._compositor.render_strips()
            return [y for y, strip in enumerate(strips) if any(s.style and s.style.reverse for s in strip)]

        await until(pilot, lambda: reversed_lines() == [3])

    run(play, served)


def test_rows_that_come_above_do_not_move_the_cursor_from_its_object_nor_its_line(served: Served) -> None:
    async def play(pilot: Pilot[None]) -> None:
        app = app_of(pilot)
        await until(pilot, lambda: "Pods 30" in screen(app))
        for _ in range(20):
            await pilot.press("down")
        await until(pilot, lambda: "web-20" in names(app))
        line = [y for y, text in enumerate(lines(app)) if "web-20" in text]
        top = names(app)[0]
        for i in range(7):
            served.change("pods", "ADDED", pod(f"aaa-{i}"))
        served.change("pods", "DELETED", pod(top))
        await until(pilot, lambda: "Pods 36" in screen(app))
        assert cursor(app) == "b/web-20"
        await until(pilot, lambda: [y for y, text in enumerate(lines(app)) if "web-20" in text] == line)

    run(play, served)


def test_search_narrows_while_typing_enter_keeps_it_and_escape_takes_it_back(served: Served) -> None:
    async def play(pilot: Pilot[None]) -> None:
        app = app_of(pilot)
        await until(pilot, lambda: "Pods 30" in screen(app))
        await pilot.press("slash", *"WEB-2")
        await until(pilot, lambda: "Pods 10 of 30" in screen(app))
        assert set(names(app)) == {f"web-{i}" for i in range(20, 30)}
        await pilot.press("enter")
        await until(pilot, lambda: "/WEB-2" in lines(app)[0] and "search" in lines(app)[-1])
        await pilot.press("j")
        assert cursor(app) == "b/web-21", "keys go to the table again"
        await pilot.press("escape")
        await until(pilot, lambda: "Pods 30  in" in screen(app))
        await pilot.press("slash", *"zzz", "escape")
        await until(pilot, lambda: "Pods 30  in" in screen(app))

    run(play, served)


def test_sort_by_key_and_by_cycle_and_the_other_way_round(served: Served) -> None:
    async def play(pilot: Pilot[None]) -> None:
        app = app_of(pilot)
        await until(pilot, lambda: "Pods 30" in screen(app))
        await pilot.press("5", "5")
        await until(pilot, lambda: names(app)[:2] == ["web-29", "web-26"] and "by RESTARTS ↓" in lines(app)[0])
        served.change("pods", "MODIFIED", pod("web-07", restarts=50))
        await until(pilot, lambda: "web-07" in names(app)[:1] or cursor(app) == "a/web-00")
        await pilot.press("g")
        await until(pilot, lambda: names(app)[0] == "web-07")
        await pilot.press("r")
        await pilot.press("g")
        await until(pilot, lambda: "by RESTARTS ↑" in lines(app)[0] and names(app)[0] == "web-00")
        for _ in range(3):
            await pilot.press("s")
        await until(pilot, lambda: "by" not in lines(app)[0])

    run(play, served)


def test_another_namespace_of_all_is_a_view_and_asks_the_server_nothing(served: Served) -> None:
    async def play(pilot: Pilot[None]) -> None:
        app = app_of(pilot)
        await until(pilot, lambda: len(served.watches) == 1)
        asked = [path for path in served.asked if "metrics" not in path]
        await pilot.press("n", *"b", "enter")
        await until(pilot, lambda: "Pods 10 of 30  in b" in screen(app))
        assert {line.split()[0] for line in lines(app) if "web-" in line} == {"b"}
        assert [path for path in served.asked if "metrics" not in path] == asked
        await pilot.press("n", "enter")
        await until(pilot, lambda: "in all namespaces" in screen(app))

    run(play, served)


def test_from_one_namespace_to_another_is_one_list_and_one_watch_more(served: Served) -> None:
    async def play(pilot: Pilot[None]) -> None:
        app = app_of(pilot)
        await until(pilot, lambda: "Pods 20  in a" in screen(app))
        await until(pilot, lambda: len(served.watches) == 1)
        await pilot.press("n", *"b", "enter")
        await until(pilot, lambda: "Pods 10  in b" in screen(app))
        await until(pilot, lambda: len(served.watches) == 2)
        assert served.asked.count("/api/v1/namespaces/b/pods") == 2
        assert app.store.objects(Scope("pods", "a")) == {}

    run(play, served, View(namespace="a"))


def test_the_second_pane_lists_and_watches_nodes_while_it_is_open(served: Served) -> None:
    async def play(pilot: Pilot[None]) -> None:
        app = app_of(pilot)
        await until(pilot, lambda: "Pods 30" in screen(app))
        assert "/api/v1/nodes" not in served.asked
        await pilot.press("p")
        await until(pilot, lambda: "Nodes 1" in screen(app) and "VERSION" in screen(app))
        await until(pilot, lambda: "250m" in screen(app) and "cpu 0.25 cores" in screen(app))
        await pilot.press("tab")
        await until(pilot, lambda: app._focused_pane.model.kind.name == "nodes")
        await pilot.press("p")
        await until(pilot, lambda: "Nodes" not in screen(app))
        assert app.store.objects(Scope("nodes")) == {}

    run(play, served, size=(120, 40))


def test_a_refused_pane_says_so_in_its_place_and_the_other_goes_on(served: Served) -> None:
    served.refused["/nodes"] = Rejected(403, 'nodes is forbidden: User "u" cannot list resource "nodes"')

    async def play(pilot: Pilot[None]) -> None:
        app = app_of(pilot)
        await until(pilot, lambda: "Pods 30" in screen(app) and "403 nodes is forbidden" in screen(app))
        assert screen(app).count("forbidden") == 1
        served.change("pods", "MODIFIED", pod("web-01", restarts=77))
        await until(pilot, lambda: " 77 " in screen(app))

    run(play, served, View(split_nodes=True), size=(120, 40))


def test_a_smaller_terminal_keeps_the_cursor_in_view_and_the_columns_on_it(served: Served) -> None:
    async def play(pilot: Pilot[None]) -> None:
        app = app_of(pilot)
        await until(pilot, lambda: "Pods 30" in screen(app))
        for _ in range(14):
            await pilot.press("down")
        await pilot.resize_terminal(60, 9)
        await until(pilot, lambda: "web-14" in names(app) and max(map(len, lines(app))) == 60)
        await pilot.resize_terminal(140, 40)
        await until(pilot, lambda: len(names(app)) == 30)

    run(play, served)


def test_text_from_the_server_cannot_command_the_terminal() -> None:
    evil = pod("web")
    evil["status"]["reason"] = "\x1b]0;owned\x07\n"

    async def play(pilot: Pilot[None]) -> None:
        app = app_of(pilot)
        await until(pilot, lambda: "Pods 1" in screen(app))
        await until(pilot, lambda: "owned" in screen(app))
        assert not any(c in text for text in lines(app) for c in "\x1b\x07")

    run(play, Served([evil]))


def test_q_leaves_and_every_watch_ends(served: Served) -> None:
    async def play(pilot: Pilot[None]) -> None:
        await until(pilot, lambda: "Pods 30" in screen(app_of(pilot)))
        await pilot.press("q")

    app = run(play, served)
    assert app.return_code == 0
    for watcher in app._watchers.values():
        watcher._thread.join(10)
        assert not watcher._thread.is_alive()


def test_only_the_line_that_changed_is_drawn(served: Served) -> None:
    async def play(pilot: Pilot[None]) -> None:
        app = app_of(pilot)
        await until(pilot, lambda: "Pods 30" in screen(app) and len(served.watches) == 1)
        table = app._pods_pane.table
        drawn: list[int] = []
        draw = table._draw
        table._draw = lambda shown: (drawn.append(1), draw(shown))[1]  # type: ignore[method-assign, func-returns-value]
        asked: list[int] = []
        refresh = table.refresh

        def noting(*regions: Region, **options: bool) -> object:
            asked.extend(y for region in regions for y in region.line_range)
            return refresh(*regions, **options)

        table.refresh = noting  # type: ignore[method-assign, assignment]
        served.change("pods", "MODIFIED", pod("web-03", restarts=42))
        await until(pilot, lambda: " 42 " in screen(app))
        assert len(drawn) == 1
        assert asked == [4], "the header, then web-00 … web-03"
        served.change("pods", "MODIFIED", pod("web-29", "b", restarts=43))
        await until(pilot, lambda: app._pods_pane.model.rows["b", "web-29"][4] == 43)
        await pilot.pause()
        assert len(drawn) == 1, "a row out of view is in the table, and nothing is drawn"

    run(play, served)
