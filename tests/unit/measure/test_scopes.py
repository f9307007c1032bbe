"""LISTs and WATCHes of a scope: which recover something, and which are too many."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from perfq.measure.recording import Recording
from perfq.measure.replay_samples import Request, Scenario, Watch
from perfq.measure.scopes import ScopeAccount, accounts

PODS = ("", "pods", "")


def recording(*happenings: str) -> Recording:
    """A record of one scope: `list`, `list 410`, `list page`, `watch`, `watch 429`, `end WHY`, one a second."""
    record, w = Recording(), 0
    for t, happening in enumerate(happenings):
        match happening.split():
            case ["end", why]:
                record.watch_ends[w] = Watch(t=t, w=w, ev="end", why=why)
            case ["watch"]:
                w += 1
                record.watch_opens[w] = Watch(t=t, w=w, ev="open", kind="pods")
            case [verb, *rest]:
                page = 2 if rest == ["page"] else 1
                objects = 0 if rest == ["too-old"] else None
                status = int(rest[0]) if rest and rest[0].isdigit() else 200
                record.requests.append(
                    Request(t=t, done=t, verb=verb, status=status, kind="pods", page=page, objects=objects)
                )
    return record


def account(*happenings: str, scenario: tuple[int, int] | None = None) -> ScopeAccount:
    record = recording(*happenings)
    if scenario is not None:
        begin, over = scenario
        record.scenarios.append(Scenario(t=begin, name="split", ok=True, done=over))
    return accounts(record)[PODS]


def test_one_list_and_one_watch_are_one_each() -> None:
    one = account("list", "watch", "end shutdown")
    assert (one.lists, one.watches, one.relists, one.reconnects) == (1, 1, 0, 0)


def test_a_list_after_a_410_is_a_relist_and_its_watch_a_reconnect() -> None:
    one = account("list", "watch", "end expired", "list", "watch")
    assert (one.lists, one.watches, one.relists, one.reconnects) == (1, 1, 1, 1)


def test_a_410_on_the_watch_request_itself_is_one_too() -> None:
    one = account("list", "watch 410", "list", "watch")
    assert (one.lists, one.relists) == (1, 1)


def test_a_410_in_the_stream_of_a_new_watch_is_one_too() -> None:
    one = account("list", "watch", "end slow", "watch too-old", "list", "watch")
    assert (one.lists, one.watches, one.relists, one.reconnects) == (1, 1, 1, 1)


def test_a_watch_after_a_dropped_one_is_a_reconnect_and_no_relist() -> None:
    one = account("list", "watch", "end fault", "watch 429", "watch")
    assert (one.lists, one.watches, one.relists, one.reconnects) == (1, 1, 0, 1)


def test_a_scope_that_a_scenario_closed_and_opened_again_is_not_one_too_many() -> None:
    one = account("list", "watch", "end client", "list", "watch", scenario=(2, 4))
    assert (one.lists, one.watches, one.relists, one.reconnects) == (1, 1, 0, 0)


def test_the_watch_that_follows_a_list_of_a_scenario_is_the_scenario_s_when_its_screen_came_before() -> None:
    one = account("list", "watch", "end client", "list", "watch", scenario=(2, 3))
    assert (one.lists, one.watches, one.relists, one.reconnects) == (1, 1, 0, 0)


def test_a_scope_that_a_scenario_closed_may_be_listed_and_watched_after_its_screen_once() -> None:
    one = account("list", "watch", "end client", "list", "watch", scenario=(2, 2))
    assert (one.lists, one.watches) == (1, 1)
    again = account("list", "watch", "end client", "list", "watch", "list", "watch", scenario=(2, 2))
    assert (again.lists, again.watches) == (2, 2)


def test_of_two_watches_after_the_list_of_a_scenario_one_is_too_many() -> None:
    assert account("list", "watch", "end client", "list", "watch", "watch", scenario=(2, 3)).watches == 2
    # The scenario has had its WATCH already.
    assert account("list", "watch", "end client", "list", "watch", "watch", scenario=(2, 4)).watches == 2


def test_two_watches_of_one_scope_are_two_whatever_scenarios_did_elsewhere() -> None:
    assert account("list", "watch", "watch").watches == 2
    assert account("list", "watch", "watch", scenario=(9, 9)).watches == 2


def test_a_watch_that_a_scenario_opened_and_that_expired_is_listed_again_as_any_other() -> None:
    one = account("list", "watch", "end client", "list", "watch", "end expired", "list", "watch", scenario=(2, 4))
    assert (one.lists, one.watches, one.relists, one.reconnects) == (1, 1, 1, 1)


def test_a_scope_that_a_client_closes_and_opens_by_itself_counts_twice() -> None:
    one = account("list", "watch", "end client", "list", "watch", scenario=(9, 9))
    assert (one.lists, one.watches) == (2, 2)


def test_a_watch_that_timed_out_may_be_opened_again() -> None:
    one = account("list", "watch", "end timeout", "watch", "end timeout", "watch")
    assert (one.watches, one.reconnects) == (1, 0)


def test_a_watch_that_the_client_itself_ended_and_opened_again_is_one_too_many() -> None:
    one = account("list", "watch", "end client", "watch")
    assert (one.watches, one.reconnects) == (2, 0)


def test_a_second_list_without_a_cause_is_one_too_many() -> None:
    assert account("list", "watch", "list").lists == 2


def test_the_pages_of_a_chain_are_one_list() -> None:
    assert account("list", "list page", "list page", "watch").lists == 1


def test_what_a_scenario_asks_for_is_not_too_much() -> None:
    record = recording("list", "watch", "list", "watch")
    record.scenarios.append(Scenario(t=2, name="namespace", ok=True, done=3))
    one = accounts(record)[PODS]
    assert (one.lists, one.watches) == (1, 1)


def test_polls_of_the_metrics_api_are_no_lists_of_a_scope() -> None:
    record = recording("list", "watch")
    record.requests += [
        Request(t=t, done=t, verb="list", status=200, group="metrics.k8s.io", kind="pods", klass="metrics")
        for t in range(10, 15)
    ]
    assert list(accounts(record)) == [PODS]


def test_two_lists_after_one_410_are_one_relist_and_one_too_many() -> None:
    one = account("list", "watch", "end expired", "list", "list", "watch")
    assert (one.lists, one.relists) == (2, 1)


@given(
    st.lists(st.sampled_from(["list", "watch", "end expired", "end fault", "end timeout", "end client", "list 410"]))
)
def test_every_answered_list_and_every_opened_watch_is_accounted_for_once(happenings: list[str]) -> None:
    found = accounts(recording(*happenings)).get(PODS, ScopeAccount())
    assert found.lists + found.relists <= happenings.count("list")
    assert found.watches + found.reconnects <= happenings.count("watch")
    if not any(one.startswith("end") or "410" in one for one in happenings):
        assert (found.lists, found.watches) == (happenings.count("list"), happenings.count("watch"))
