"""Interleaved arms."""

from __future__ import annotations

from perfq.drive.rounds import rounds


def test_each_round_has_each_arm_once_and_the_seed_gives_the_order() -> None:
    made = list(rounds(3, 20, "seed"))
    assert [sorted(arm for number, arm in made if number == at) for at in range(20)] == [[0, 1, 2]] * 20
    assert made == list(rounds(3, 20, "seed")) != list(rounds(3, 20, "another"))


def test_no_arm_is_always_the_first() -> None:
    first = [arm for at, (_, arm) in enumerate(rounds(2, 40, "s")) if at % 2 == 0]
    assert {0, 1} == set(first)
