"""How long to wait before asking again."""

from __future__ import annotations

import random

__all__ = ["FORBIDDEN_SECONDS", "Backoff"]

#: After a 403, one request in this many seconds: permissions change rarely.
FORBIDDEN_SECONDS = 30.0


class Backoff:
    """Bounded exponential backoff with jitter: 1, 2, 4 … 30 s, each up to a quarter longer.

    The first five attempts after a failure lie at 0, ≥ 1, ≥ 3, ≥ 7 and ≥ 15 s, so that no more than six
    requests fall into any 30 s. A Retry-After is never undercut.
    """

    def __init__(self, rng: random.Random, *, first: float = 1.0, longest: float = 30.0) -> None:
        self._rng = rng
        self._first = first
        self._longest = longest
        self.failures = 0

    def after_failure(self, retry_after: float = 0.0) -> float:
        """Seconds to wait after one more failure in a row."""
        wait = min(self._longest, self._first * 2.0 ** min(self.failures, 16))
        self.failures += 1
        return max(wait, retry_after) + self._jitter(wait)

    def after_gone(self) -> float:
        """Seconds before a re-list: none for the first, as after a failure for those that follow."""
        if self.failures == 0:
            self.failures = 1
            return 0.0
        return self.after_failure()

    def after_forbidden(self, retry_after: float = 0.0) -> float:
        """Seconds to wait after a 403."""
        return max(FORBIDDEN_SECONDS, retry_after) + self._jitter(4.0)

    def after_close(self) -> float:
        """Seconds before a watch that ended in good order is opened again."""
        return self._rng.random() * 0.05

    def succeeded(self) -> None:
        """The watch has been open for a while: the next failure is a first one."""
        self.failures = 0

    def _jitter(self, wait: float) -> float:
        return self._rng.random() * wait / 4
