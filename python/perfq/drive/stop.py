"""Stop conditions: each ends the run, drains it, and makes it ABORTED with the figure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self


@dataclass(frozen=True)
class StopLimits:
    """Limits; None switches one off. `max_time_s` is of the whole run (`Interruption.limit`), not of the churn."""

    max_time_s: float | None = None
    lag_ms: float | None = None
    error_share: float | None = None
    throttle_share: float | None = None
    harness_memory_bytes: int | None = None

    @property
    def of_figures(self) -> bool:
        """Whether any of them is of the run's figures, which have to be read for it."""
        return any(
            limit is not None
            for limit in (self.lag_ms, self.error_share, self.throttle_share, self.harness_memory_bytes)
        )

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """What the flags say."""
        return cls(
            max_time_s=given["max_time"],
            lag_ms=given["stop_lag"],
            error_share=given["stop_error_share"],
            throttle_share=given.get("stop_429_share"),
            harness_memory_bytes=given["stop_memory"],
        )


@dataclass(frozen=True)
class Reading:
    """What the run looks like now. Shares are None while there were no requests."""

    lag_max_ns: int | None
    requests: int
    errors: int
    throttled: int
    harness_rss_bytes: int | None
    #: What it is that comes late.
    late: str = "an event was committed"
    #: What the shares are of.
    what: str = "requests"


@dataclass(frozen=True)
class Stop:
    """Which condition fired, and its figure."""

    why: str
    figure: str

    @property
    def sentence(self) -> str:
        """For the verdict's reasons."""
        return f"stop condition {self.why}: {self.figure}"


#: Shares say nothing over a handful of requests.
MIN_REQUESTS = 20


def check(limits: StopLimits, now: Reading) -> Stop | None:
    """The first condition that fires."""
    if limits.lag_ms is not None and now.lag_max_ns is not None and now.lag_max_ns > limits.lag_ms * 1e6:
        return Stop("lag", f"{now.late} {now.lag_max_ns / 1e6:.1f} ms late, limit {limits.lag_ms:g} ms")
    if now.requests >= MIN_REQUESTS:
        for name, count, limit in (
            ("error-share", now.errors, limits.error_share),
            ("429-share", now.throttled, limits.throttle_share),
        ):
            if limit is not None and count / now.requests > limit:
                share = 100 * count / now.requests
                return Stop(name, f"{count} of {now.requests} {now.what} ({share:.1f} %), limit {100 * limit:g} %")
    rss, rss_limit = now.harness_rss_bytes, limits.harness_memory_bytes
    if rss is not None and rss_limit is not None and rss > rss_limit:
        return Stop("harness-memory", f"perfq holds {rss >> 20} MiB, limit {rss_limit >> 20} MiB")
    return None
