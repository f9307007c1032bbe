"""How an input's requests are shared among runners: what `load plan` prints."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from perfq.errors import UsageError
from perfq.load.planned import PlannedLoad
from perfq.load.told import called

#: So many of the hottest keys are named.
HOT_KEYS: Final = 10


def shares_of(planned: PlannedLoad, given: Mapping[str, Any]) -> dict[str, Any]:
    """`{runners: [{index, requests}], min, max, imbalance_percent, hot_keys: [{key, requests}]}`.

    imbalance_percent is (max / mean − 1) · 100. Requests with a key go to the runner that its hash names; what a load
    profile draws has no keys to share, since each runner does all of it. UsageError (2) where it cannot be told.
    """
    if not planned.segments:
        raise UsageError(f"{planned.facts.name}: {planned.remarks[0].text}; add --fetch")
    runners = planned.segments[0].facts.runners
    path = planned.requests_file
    if path is not None:
        return _of_file((path, planned.facts.name), runners, given["hot_keys"], planned.reading)
    return _of_profile(planned, runners)


def _of_file(file: tuple[Path, str], runners: int, hot_keys: int, options: Mapping[str, Any]) -> dict[str, Any]:
    from perfq import _core

    path, name = file
    try:
        shares: Mapping[str, Any] = _core.load_plan(path, runners, dict(options), hot_keys)
    except (OSError, ValueError) as error:
        raise UsageError(called(error, path, name)) from error
    return dict(shares)


def _of_profile(planned: PlannedLoad, runners: int) -> dict[str, Any]:
    from perfq.profile.load.planned import plan_mix

    counts = [0] * runners
    for segment in planned.segments:
        if segment.facts.warm_up:
            continue
        for one in plan_mix(dict(segment.options["source"]["mix"]), runners=runners).runners:
            if one.requests is None:
                raise UsageError(
                    f"{planned.facts.name}: a closed loop that time ends has no number of requests to share"
                )
            counts[one.index] += one.requests
    mean = sum(counts) / runners
    return {
        "runners": [{"index": index, "requests": count} for index, count in enumerate(counts)],
        "min": min(counts),
        "max": max(counts),
        "imbalance_percent": (max(counts) / mean - 1) * 100 if mean else 0.0,
        "hot_keys": [],
    }
