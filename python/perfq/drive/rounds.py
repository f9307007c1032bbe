"""Interleaved arms: every round has each arm once, in an order of its own, so that a slow drift cancels out."""

from __future__ import annotations

import random
from collections.abc import Iterator


def rounds(arms: int, count: int, seed: str) -> Iterator[tuple[int, int]]:
    """(round, arm), both from 0. The same seed gives the same order."""
    generator = random.Random(seed)
    for number in range(count):
        order = list(range(arms))
        generator.shuffle(order)
        yield from ((number, arm) for arm in order)
