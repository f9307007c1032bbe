"""The events that the server committed, as columns, found by resourceVersion."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from dataclasses import dataclass, field

from perfq.measure.replay_samples import Commit

#: What is a change of a row: the plan's events, probe events and their restorations.
CHURN = frozenset({"plan", "probe", "restore"})


@dataclass
class Commits:
    """Columns of equal length; `order` sorts them by resourceVersion once all have come.

    Lines of several threads may stand in any order in the file, so nothing here depends on it.
    """

    rv: array[int] = field(default_factory=lambda: array("q"))
    t: array[int] = field(default_factory=lambda: array("q"))
    #: -1 where the plan had no due instant
    due: array[int] = field(default_factory=lambda: array("q"))
    seq: array[int] = field(default_factory=lambda: array("q"))
    src: list[str] = field(default_factory=list)
    key: list[tuple[str, str]] = field(default_factory=list)
    _interned: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)
    _sorted_rv: array[int] = field(default_factory=lambda: array("q"))
    _sorted_at: array[int] = field(default_factory=lambda: array("q"))

    def add(self, commit: Commit) -> None:
        """One more."""
        key = (commit.ns, commit.name)
        self.rv.append(commit.rv)
        self.t.append(commit.t)
        self.due.append(-1 if commit.due is None else commit.due)
        self.seq.append(-1 if commit.seq is None else commit.seq)
        self.src.append(commit.src)
        self.key.append(self._interned.setdefault(key, key))

    def __len__(self) -> int:
        return len(self.rv)

    def finish(self) -> None:
        """Sorts; called once after the last `add`."""
        order = sorted(range(len(self.rv)), key=self.rv.__getitem__)
        self._sorted_at = array("q", order)
        self._sorted_rv = array("q", (self.rv[at] for at in order))

    def find(self, rv: int) -> int | None:
        """The row of a resourceVersion; None for one that was not recorded."""
        index = bisect_left(self._sorted_rv, rv)
        if index == len(self._sorted_rv) or self._sorted_rv[index] != rv:
            return None
        return self._sorted_at[index]

    def in_order(self) -> array[int]:
        """The rows by resourceVersion."""
        return self._sorted_at

    def phase_instant(self, row: int) -> int:
        """The instant that decides the phase: due where the plan made it due, else committed."""
        return self.due[row] if self.due[row] >= 0 else self.t[row]
