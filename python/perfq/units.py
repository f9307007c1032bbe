"""Durations, rates, bytes and shares: text → numbers and back.

    duration   10s  250ms  1m30s  2h          integer nanoseconds
    bytes      512MiB  1.5GiB  10kB  4096     integer bytes (KiB … TiB are powers of 1024, kB … TB of 1000)
    rate       20/s  1k/s  90/min             a float, per second
    byte rate  1MiB/s  600KiB/min             a float, bytes per second
    share      99.9%                          a float, 0.999

`parse_*` take what people write and raise `ValueError` with what is expected. `format_*` are exact:
what they print parses back to the same number. `show_*` round to three digits, for reading only.
"""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from typing import Final

NANOS: Final[dict[str, int]] = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    "μs": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "min": 60_000_000_000,
    "h": 3_600_000_000_000,
    "d": 86_400_000_000_000,
}
SECOND: Final = NANOS["s"]
BYTES: Final[dict[str, int]] = {
    "": 1,
    "B": 1,
    "kB": 10**3,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
    "TiB": 2**40,
}
COUNTS: Final[dict[str, int]] = {"": 1, "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9}

DURATION: Final = "a duration such as 250ms, 10s or 2m"
BYTE_COUNT: Final = "bytes such as 4096, 10kB or 512MiB"
RATE: Final = "a rate such as 20/s, 1k/s or 90/min"
BYTE_RATE: Final = "bytes per time such as 1MiB/s or 600KiB/min"
SHARE: Final = "a percentage such as 99.9%"

_NUMBER = r"(\d{1,40}(?:\.\d{1,40})?|\.\d{1,40})"
_PART = re.compile(rf"{_NUMBER}\s*([a-zµμ]+)", re.ASCII)
_SCALED = re.compile(rf"{_NUMBER}\s*([A-Za-z]*)", re.ASCII)
_PER = re.compile(r"(.+?)\s*/\s*(s|min|m|h)", re.ASCII)


def parse_duration(text: str) -> int:
    """`1m30s` → nanoseconds. ValueError for anything else, for a bare number, and below one nanosecond."""
    total, at, wanted = Fraction(0), 0, text.strip()
    previous: int | None = None
    while at < len(wanted):
        part = _PART.match(wanted, at)
        size = NANOS.get(part[2]) if part else None
        if part is None or size is None or (previous is not None and size >= previous):
            raise ValueError(DURATION)
        total, at, previous = total + Fraction(part[1]) * size, part.end(), size
    if previous is None:
        raise ValueError(DURATION)
    if total.denominator != 1:
        raise ValueError(f"{DURATION}, not below a nanosecond")
    return int(total)


def parse_seconds(text: str) -> int:
    """A duration in whole seconds; a bare integer counts as seconds. ValueError otherwise."""
    wanted = text.strip()
    if re.fullmatch(r"\d{1,20}", wanted, re.ASCII):
        return int(wanted)
    nanoseconds = parse_duration(wanted)
    if nanoseconds % SECOND:
        raise ValueError("whole seconds such as 10s or 2m")
    return nanoseconds // SECOND


def parse_bytes(text: str) -> int:
    """`512MiB` → bytes. ValueError for anything else and for a part of a byte."""
    return _whole(_scaled(text, BYTES, BYTE_COUNT), BYTE_COUNT)


def parse_count(text: str) -> int:
    """`10k` → 10000. ValueError for anything else."""
    return _whole(_scaled(text, COUNTS, "a count such as 100 or 10k"), "a whole count such as 100 or 10k")


def parse_rate(text: str) -> float:
    """`1k/s` → 1000.0 a second. ValueError for anything else."""
    return _per_second(text, COUNTS, RATE)


def parse_byte_rate(text: str) -> float:
    """`1MiB/s` → 1048576.0 bytes a second. ValueError for anything else."""
    return _per_second(text, BYTES, BYTE_RATE)


def parse_share(text: str) -> float:
    """`99.9%` → 0.999. ValueError for anything else."""
    number = re.fullmatch(rf"{_NUMBER}\s*%", text.strip(), re.ASCII)
    if number is None:
        raise ValueError(SHARE)
    return float(Fraction(number[1]) / 100)


def format_duration(nanoseconds: int) -> str:
    """Exact and short: `250ms`, `1.234567s`, `1m30s`, `2h`."""
    if nanoseconds < 0:
        raise ValueError("a duration is not negative")
    if nanoseconds == 0:
        return "0s"
    if nanoseconds % SECOND == 0 and nanoseconds >= NANOS["m"]:
        minutes, seconds = divmod(nanoseconds // SECOND, 60)
        hours, minutes = divmod(minutes, 60)
        parts = ((hours, "h"), (minutes, "m"), (seconds, "s"))
        return "".join(f"{value}{unit}" for value, unit in parts if value)
    unit = next(unit for unit in ("s", "ms", "us", "ns") if nanoseconds >= NANOS[unit])
    return f"{_decimal(Decimal(nanoseconds) / NANOS[unit])}{unit}"


def format_bytes(count: int) -> str:
    """Exact: the largest power of 1024 that leaves a whole number: `512MiB`, `1000B`."""
    if count < 0:
        raise ValueError("a number of bytes is not negative")
    unit = next((unit for unit in ("TiB", "GiB", "MiB", "KiB") if count and count % BYTES[unit] == 0), "B")
    return f"{count // BYTES[unit]}{unit}"


def format_rate(per_second: float) -> str:
    """Exact: `20/s`, `0.5/s`."""
    return f"{_float(per_second)}/s"


def format_byte_rate(bytes_per_second: float) -> str:
    """Exact: `1MiB/s`, `1536.5B/s`."""
    if bytes_per_second.is_integer():
        return f"{format_bytes(int(bytes_per_second))}/s"
    return f"{_float(bytes_per_second)}B/s"


def format_share(share: float) -> str:
    """`0.999` → `99.9%`; exact to the twelfth digit."""
    return f"{_decimal(round(Decimal(repr(share)) * 100, 12))}%"


def show_duration(nanoseconds: float) -> str:
    """Three digits, for reading: `12.3 ms`, `4.95 s`, `30 min`."""
    for unit, size in (("h", NANOS["h"]), ("min", NANOS["m"])):
        if abs(nanoseconds) >= 2 * size:
            return f"{_three(nanoseconds / size)} {unit}"
    unit = next((unit for unit in ("s", "ms", "us") if abs(nanoseconds) >= NANOS[unit]), "ns")
    return f"{_three(nanoseconds / NANOS[unit])} {unit.replace('us', 'µs')}"


def show_bytes(count: float) -> str:
    """Three digits, for reading: `148 MiB`."""
    unit = next((unit for unit in ("TiB", "GiB", "MiB", "KiB") if abs(count) >= BYTES[unit]), "B")
    return f"{_three(count / BYTES[unit])} {unit}"


def _scaled(text: str, units: dict[str, int], expected: str) -> Fraction:
    number = _SCALED.fullmatch(text.strip())
    size = units.get(number[2]) if number else None
    if number is None or size is None:
        raise ValueError(expected)
    return Fraction(number[1]) * size


def _whole(value: Fraction, expected: str) -> int:
    if value.denominator != 1:
        raise ValueError(expected)
    return int(value)


def _per_second(text: str, units: dict[str, int], expected: str) -> float:
    parts = _PER.fullmatch(text.strip())
    if parts is None:
        raise ValueError(expected)
    return float(_scaled(parts[1], units, expected) * SECOND / NANOS[parts[2]])


def _decimal(value: Decimal) -> str:
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _float(value: float) -> str:
    return _decimal(Decimal(repr(value)))


def _three(value: float) -> str:
    digits = max(0, 2 - (len(str(int(abs(value)))) - 1)) if abs(value) >= 1 else 3
    return _decimal(Decimal(f"{value:.{digits}f}")) if digits else f"{value:.0f}"
