"""What became of an action that a recording names, and where a wait comes from: the words that all importers use."""

from __future__ import annotations

from typing import Final, Literal, get_args

Fate = Literal["ran", "timed_out", "still_running", "refused", "rejected", "never_executed", "unknown"]
#: ran: it ended by itself · timed_out: its time was over · still_running: it went on behind the actions that
#: followed · refused: the harness did not take it · rejected: a person or a hook said no · never_executed: the
#: session ended, or was interrupted, before its turn · unknown: the recording does not say.
FATES: Final[tuple[Fate, ...]] = get_args(Fate)

Provenance = Literal["recorded", "derived", "recorded_with_prompts", "synthetic", "none"]
#: recorded: between two stamps with no person and no other step in between · derived: computed from stamps that hold
#: more than the wait · recorded_with_prompts: a person may have sat in between · synthetic: drawn · none: not known.
#: From the best to the worst.
PROVENANCES: Final[tuple[Provenance, ...]] = get_args(Provenance)


def worst_provenance(found: set[Provenance]) -> Provenance:
    """That of a whole session: the worst of its waits; `none` where there is none."""
    return next((provenance for provenance in reversed(PROVENANCES) if provenance in found), "none")
