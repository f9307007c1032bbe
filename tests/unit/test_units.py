"""Units: what people write, and that the exact forms read back as the same number."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perfq import units


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("250ms", 250_000_000),
        ("10s", 10 * units.SECOND),
        ("2m", 120 * units.SECOND),
        ("2min", 120 * units.SECOND),
        ("1m30s", 90 * units.SECOND),
        ("1.5 s", 1_500_000_000),
        (".5us", 500),
        ("7µs", 7_000),
        ("0s", 0),
        ("1d", 86_400 * units.SECOND),
    ],
)
def test_durations_are_read_as_people_write_them(text: str, nanoseconds: int) -> None:
    assert units.parse_duration(text) == nanoseconds


@pytest.mark.parametrize(
    "text", ["", "10", "-1s", "1x", "s", "1s2m", "1s1s", "1e3s", "0.5ns", "1..5s", "٣s", "1 s extra"]
)
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="a duration such as"):
        units.parse_duration(text)


def test_whole_seconds_take_a_bare_integer_and_refuse_parts() -> None:
    assert (units.parse_seconds("10"), units.parse_seconds("2m"), units.parse_seconds("1000ms")) == (
        10,
        120,
        1,
    )
    with pytest.raises(ValueError, match="whole seconds"):
        units.parse_seconds("1500ms")


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("4096", 4096),
        ("10kB", 10_000),
        ("512MiB", 512 << 20),
        ("1.5GiB", 3 << 29),
        ("1 TB", 10**12),
        ("0B", 0),
    ],
)
def test_bytes_are_read_as_people_write_them(text: str, count: int) -> None:
    assert units.parse_bytes(text) == count


@pytest.mark.parametrize("text", ["", "MiB", "1Mib", "-1B", "1.5B", "0x10", "1 MiB/s"])
def test_what_is_no_number_of_bytes_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="bytes such as"):
        units.parse_bytes(text)


def test_rates_are_per_second_whatever_they_were_written_in() -> None:
    assert units.parse_rate("1k/s") == 1000
    assert units.parse_rate("90/min") == 1.5
    assert units.parse_byte_rate("1MiB/s") == 1 << 20
    assert units.parse_byte_rate("600 KiB/min") == 10 << 10
    assert units.parse_share("99.9%") == 0.999
    for wrong in ("10", "10/", "/s", "10/day", "10ms/s"):
        with pytest.raises(ValueError, match="a rate such as"):
            units.parse_rate(wrong)


@given(st.integers(0, 2**70))
def test_a_formatted_duration_is_the_same_duration(nanoseconds: int) -> None:
    assert units.parse_duration(units.format_duration(nanoseconds)) == nanoseconds


@given(st.integers(0, 2**70))
def test_formatted_bytes_are_the_same_bytes(count: int) -> None:
    assert units.parse_bytes(units.format_bytes(count)) == count


@given(st.floats(0, 1e15).filter(lambda value: value == 0 or value > 1e-3))
def test_a_formatted_rate_is_the_same_rate(rate: float) -> None:
    assert units.parse_rate(units.format_rate(rate)) == rate
    assert units.parse_byte_rate(units.format_byte_rate(rate)) == rate


@given(st.integers(0, 100_000))
def test_a_formatted_share_is_the_same_share(thousandths: int) -> None:
    share = float(Fraction(thousandths, 100_000))
    assert units.parse_share(units.format_share(share)) == share


@given(st.text(max_size=12))
def test_no_text_does_anything_but_parse_or_raise_value_error(text: str) -> None:
    for parse in (
        units.parse_duration,
        units.parse_bytes,
        units.parse_rate,
        units.parse_byte_rate,
        units.parse_share,
    ):
        try:
            assert parse(text) >= 0
        except ValueError as error:
            assert "such as" in str(error)


def test_figures_for_reading_have_three_digits() -> None:
    assert units.show_duration(12_345_678) == "12.3 ms"
    assert units.show_duration(4_950_000_000) == "4.95 s"
    assert units.show_duration(1_800 * units.SECOND) == "30 min"
    assert units.show_duration(1_234) == "1.23 µs"
    assert units.show_bytes(155_189_248) == "148 MiB"
    assert units.show_bytes(12) == "12 B"
