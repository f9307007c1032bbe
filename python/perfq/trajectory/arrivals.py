"""When each session is meant to arrive, from the profile and its seed alone: integers, the same on any machine."""

from __future__ import annotations

import random
from decimal import Context, Decimal
from typing import Final

from perfq.profile.trajectory.profile import Arrivals, Explicit, Waves

_MS_PER_HOUR: Final = 3_600_000
_BITS: Final = 53
#: Decimal's logarithm is correctly rounded, so that no machine's libm has a say in it.
_CONTEXT: Final = Context(prec=28)


def offsets_ms(arrivals: Arrivals, seed: int, sessions: int) -> list[int]:
    """The intended arrival of each session, ms from the start of the run, in the order of the sessions.

    Waves and explicit offsets are for as many sessions as `expected` says; Poisson arrivals for any number.
    """
    if isinstance(arrivals, Waves):
        return [wave * arrivals.interval_ms for wave in range(arrivals.waves) for _ in range(arrivals.per_wave)]
    if isinstance(arrivals, Explicit):
        return list(arrivals.offsets_ms)
    return _poisson(arrivals.rate_per_hour, seed, sessions)


def expected(arrivals: Arrivals) -> int | None:
    """For how many sessions these arrivals are; None for any number."""
    if isinstance(arrivals, Waves):
        return arrivals.waves * arrivals.per_wave
    if isinstance(arrivals, Explicit):
        return len(arrivals.offsets_ms)
    return None


def _poisson(rate_per_hour: int, seed: int, sessions: int) -> list[int]:
    """Exponential gaps, -ln(u)·(hour ÷ rate) with u from (0, 1], drawn in 53 bits by the generator of random.Random."""
    generator = random.Random(seed)
    mean_ms = _CONTEXT.divide(Decimal(_MS_PER_HOUR), Decimal(rate_per_hour))
    due, found = Decimal(0), []
    for _ in range(sessions):
        share = _CONTEXT.divide(Decimal(2**_BITS - generator.getrandbits(_BITS)), Decimal(2**_BITS))
        due = _CONTEXT.subtract(due, _CONTEXT.multiply(_CONTEXT.ln(share), mean_ms))
        found.append(int(due))
    return found
