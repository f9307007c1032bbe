"""Where two answers differ, field by field."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

#: Stands for what is not there.
ABSENT = "(absent)"


@dataclass(frozen=True)
class Difference:
    """One field: its dotted path, with list indices in brackets, and what each server said."""

    path: str
    real: Any
    embedded: Any

    def __str__(self) -> str:
        return f"{self.path}\n    real:     {self.real!r}\n    embedded: {self.embedded!r}"


def differences(real: Any, embedded: Any, path: str = "") -> list[Difference]:
    """All of them; a value that is missing on one side is ABSENT there."""
    if isinstance(real, dict) and isinstance(embedded, dict):
        found = []
        for key in [*real, *(key for key in embedded if key not in real)]:
            below = f"{path}.{key}" if path else key
            found += differences(real.get(key, ABSENT), embedded.get(key, ABSENT), below)
        return found
    if isinstance(real, list) and isinstance(embedded, list):
        found = []
        for i in range(max(len(real), len(embedded))):
            one, other = (side[i] if i < len(side) else ABSENT for side in (real, embedded))
            found += differences(one, other, f"{path}[{i}]")
        return found
    return [] if type(real) is type(embedded) and real == embedded else [Difference(path, real, embedded)]
