"""Styles of rows and lines. Only the terminal's own colours, so that they suit light and dark alike."""

from __future__ import annotations

from dataclasses import dataclass

from rich.style import Style

__all__ = ["Palette"]

_GOOD = frozenset({"Running", "Ready", "Completed", "Succeeded"})
_WAITING = frozenset({"Pending", "ContainerCreating", "PodInitializing", "Terminating", "SchedulingGated"})


@dataclass(frozen=True, slots=True)
class Palette:
    """The styles in use."""

    plain: Style
    header: Style
    sorted_header: Style
    cursor: Style
    #: The cursor of a table that has not the focus.
    resting: Style
    title: Style
    key: Style
    dim: Style
    problem: Style
    waiting: Style
    bad: Style

    def status(self, text: str) -> Style:
        """Of a STATUS cell."""
        if text in _GOOD:
            return self.plain
        return self.waiting if text in _WAITING or text.startswith("Init:") else self.bad

    @classmethod
    def for_terminal(cls, *, no_color: bool) -> Palette:
        """Without colours where NO_COLOR asks for it; bold, reverse and underline stay."""

        def colour(name: str, *, bold: bool = False) -> Style:
            return Style(bold=bold) if no_color else Style(color=name, bold=bold)

        bold = Style(bold=True)
        return cls(
            plain=Style(),
            header=bold,
            sorted_header=Style(bold=True, underline=True),
            cursor=Style(reverse=True),
            resting=Style(underline=True),
            title=colour("cyan", bold=True),
            key=bold,
            dim=Style(dim=True),
            problem=colour("red", bold=True),
            waiting=colour("yellow"),
            bad=colour("red", bold=no_color),
        )
