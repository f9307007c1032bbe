"""The target's own metrics, read before and after a load and written into its record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from perfq.errors import TargetUnreachable
from perfq.measure.load.server import wanted

if TYPE_CHECKING:
    from perfq.drive.journal import Journal
    from perfq.kube import Endpoint

#: A large cluster's are some ten MB.
LARGEST: Final = 256 << 20


def record_metrics(endpoint: Endpoint, journal: Journal, when: str) -> None:
    """Reads them once; where that is not possible, why is recorded."""
    from perfq.kube import priority_levels, read_metrics

    try:
        status, data = read_metrics(endpoint, LARGEST)
        levels = priority_levels(endpoint, LARGEST)
    except TargetUnreachable as error:
        journal.write("server_metrics", when=when, text=None, why=error.sentence)
        return
    text = wanted(data.decode("utf-8", "replace")) if status == 200 else None
    why = None if status == 200 else f"{status} on GET /metrics"
    journal.write("server_metrics", when=when, text=text, why=why, levels=levels)
