"""The keys of the table view, and the line that names them."""

from __future__ import annotations

from textual.binding import Binding, BindingType

__all__ = ["APP_KEYS", "HELP"]

#: Key and word, the most wanted first: a narrow terminal cuts the line.
HELP = (
    ("/", "search"),
    ("n", "namespace"),
    ("s 1-7 r", "sort"),
    ("d", "describe"),
    ("l", "logs"),
    ("p", "nodes"),
    ("q", "quit"),
    ("tab", "pane"),
    ("esc", "back"),
)

APP_KEYS: list[BindingType] = [
    Binding("q,ctrl+c", "quit", show=False),
    Binding("escape", "back", show=False),
    # Ahead of all queues: what is typed after them is the answer.
    Binding("slash", "search", show=False, priority=True),
    Binding("n", "namespace", show=False, priority=True),
    Binding("s", "sort", show=False),
    Binding("r", "reverse", show=False),
    *(Binding(str(i), f"sort_by({i - 1})", show=False) for i in range(1, 8)),
    Binding("p", "toggle_nodes", show=False),
    Binding("d,enter", "describe", show=False),
    Binding("l", "logs", show=False),
]
