"""A scenario reaches its screen in time, or is failed with the last screen attached."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.drive.waiting import Kept

from perfq.drive.scenarios import Step, run_scenario

STEP = Step(name="filter", keys=b"/web\r", expect="Pods 1", back=b"\x1b", back_expect="Pods 1000")


class Shown:
    """A client that shows given screens: what is not among them never comes."""

    def __init__(self, *comes: str, trouble: OSError | None = None, troubled: bytes = b"") -> None:
        self.comes = comes
        self.trouble = trouble
        self.troubled = troubled
        self.did: list[bytes | str] = []

    def write(self, data: bytes) -> int:
        if self.trouble is not None and data == self.troubled:
            raise self.trouble
        self.did.append(data)
        return 42

    def wait_screen(self, pattern: str, timeout_s: float) -> dict[str, Any] | None:
        self.did.append(pattern)
        return {"t": 43} if pattern in self.comes else None

    def screen(self) -> dict[str, Any]:
        return {"lines": [f"after {self.did[-1]!r}" if self.did else "at the start", "second line"]}


def recorded(shown: Shown, step: Step = STEP) -> dict[str, Any]:
    kept = Kept()
    missed = run_scenario(shown, kept, step)
    (line,) = kept.lines
    assert line["ok"] is (missed is None)
    return line | {"missed": missed}


def test_a_scenario_whose_screens_come_is_ok_from_its_first_key_on() -> None:
    shown = Shown("Pods 1", "Pods 1000")
    line = recorded(shown)
    assert shown.did == [b"/web\r", "Pods 1", b"\x1b", "Pods 1000"]
    assert (line["k"], line["name"], line["t"], line["ok"], line["screen"]) == ("scenario", "filter", 42, True, None)
    assert line["done"] > line["t"]


def test_a_screen_that_never_comes_is_attached_as_it_was_then_and_the_way_back_is_tried() -> None:
    shown = Shown("Pods 1000")
    line = recorded(shown)
    assert (line["missed"], line["screen"]) == ("expect", "after 'Pods 1'\nsecond line")
    assert shown.did[2:] == [b"\x1b", "Pods 1000"]


def test_a_scenario_that_does_not_lead_back_has_failed_too() -> None:
    line = recorded(Shown("Pods 1"))
    assert (line["missed"], line["screen"]) == ("back_expect", "after 'Pods 1000'\nsecond line")


def test_without_keys_that_lead_back_the_first_screen_decides() -> None:
    shown = Shown("Pods 1")
    assert recorded(shown, Step(name="choice", keys=b"n", expect="Pods 1"))["ok"]
    assert shown.did == [b"n", "Pods 1"]


@pytest.mark.parametrize("trouble", [BrokenPipeError("the client has ended"), TimeoutError("it does not read")])
@pytest.mark.parametrize("keys", [STEP.keys, STEP.back])
def test_a_client_that_takes_no_keys_fails_its_scenario(trouble: OSError, keys: bytes) -> None:
    line = recorded(Shown("Pods 1", "Pods 1000", trouble=trouble, troubled=keys))
    assert not line["ok"]
    assert line["screen"].endswith("second line")
    assert line["t"] > 0
