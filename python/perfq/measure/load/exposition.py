"""The text in which a server exposes its metrics (Prometheus text format 0.0.4), as far as a load reads it.

Source: prometheus.io/docs/instrumenting/exposition_formats, "Text-based format".
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

_LINE: Final = re.compile(r"([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})?[ \t]+(\S+)(?:[ \t]+-?\d+)?[ \t]*", re.ASCII)
_LABEL: Final = re.compile(r'\s*([a-zA-Z_][a-zA-Z0-9_]*)\s*=\s*"((?:[^"\\]|\\.)*)"\s*(?:,|$)', re.ASCII)
_ESCAPED: Final = {"\\\\": "\\", '\\"': '"', "\\n": "\n"}


@dataclass(frozen=True)
class Metric:
    """One sample of a metric."""

    name: str
    labels: Mapping[str, str]
    value: float

    @property
    def series(self) -> tuple[str, frozenset[tuple[str, str]]]:
        """What tells it from others."""
        return self.name, frozenset(self.labels.items())


def lines_of(text: str, names: Collection[str]) -> str:
    """The lines of these metrics alone."""
    kept = (line for line in text.splitlines() if line.partition("{")[0].partition(" ")[0] in names)
    return "".join(f"{line}\n" for line in kept)


def metrics_of(text: str) -> Iterator[Metric]:
    """Each sample. ValueError for a line that is none."""
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            raise ValueError(f"line {number} is no sample of a metric")
        yield Metric(match[1], _labels(match[2] or "", number), float(match[3]))


def _labels(text: str, number: int) -> dict[str, str]:
    found: dict[str, str] = {}
    at = 0
    while at < len(text):
        match = _LABEL.match(text, at)
        if match is None:
            raise ValueError(f"line {number} has labels that cannot be read")
        found[match[1]] = re.sub(r'\\[\\"n]', lambda escaped: _ESCAPED[escaped[0]], match[2])
        at = match.end()
    return found
