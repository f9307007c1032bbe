"""The native module. All instants are CLOCK_MONOTONIC nanoseconds, as `time.monotonic_ns()` gives them."""

from collections.abc import Sequence
from os import PathLike
from typing import TypedDict, final, type_check_only

__version__: str

@type_check_only
class Figures(TypedDict):
    """Exact nearest-rank figures; None where there are too few samples (p99: 100, p999: 1,000)."""

    count: int
    p50: int | None
    p90: int | None
    p95: int | None
    p99: int | None
    p999: int | None
    max: int | None

@type_check_only
class RecorderStatus(TypedDict):
    """What became of the lines so far."""

    lines: int
    bytes: int
    lost: int
    error: str | None

@final
class Plan:
    """A resolved workload: events drawn, hashes computed. Immutable."""

    def __new__(cls, profile_json: str) -> Plan:
        """Resolves a profile. ValueError lists every broken rule, one a line."""

    @staticmethod
    def violations(profile_json: str) -> list[tuple[str, str, str]]:
        """Broken rules as (dotted path, value seen, expectation); empty for a sound profile.

        ValueError when the text is not a profile at all (types, unknown keys).
        """

    def extended(self, seconds: int) -> Plan:
        """The same profile, longer by whole seconds; this plan's events are its prefix."""

    def emit(self, kind: str) -> bytes:
        """The canonical text: kind is profile, objects, events or final."""

    def emit_to(self, kind: str, fd: int) -> None:
        """Writes the canonical text to a file descriptor; OSError as the write gives it."""

    @property
    def profile_json(self) -> str: ...
    @property
    def id(self) -> str: ...
    @property
    def profile_hash(self) -> str: ...
    @property
    def object_hash(self) -> str: ...
    @property
    def event_hash(self) -> str: ...
    @property
    def final_hash(self) -> str: ...
    @property
    def objects(self) -> int: ...
    @property
    def events(self) -> int: ...
    @property
    def namespaces(self) -> int: ...
    @property
    def peak_rate(self) -> int: ...
    @property
    def duration_seconds(self) -> int: ...

@final
class Recorder:
    """samples.ndjson, written by a thread of its own and flushed every 250 ms."""

    def __new__(cls, path: str | PathLike[str]) -> Recorder:
        """Creates the file; FileExistsError where it exists."""

    def write(self, record_json: str) -> None:
        """Appends one line (given without its end). Never blocks."""

    def flush(self) -> None:
        """Returns once all that was written stands in the file."""

    def status(self) -> RecorderStatus: ...
    def close(self) -> RecorderStatus: ...

def quantiles(values: Sequence[int]) -> Figures:
    """Exact nearest-rank figures of integers."""

def fnv1a64(key: str) -> int:
    """FNV-1a-64 of the key's UTF-8 bytes."""

def partition(key: str, runners: int) -> int:
    """The runner, 0 … runners − 1, that owns the key."""

def downsample(points: Sequence[tuple[int, int]], slices: int) -> list[tuple[int, int]]:
    """At most 2 × slices points of a series sorted by x; the extremes of each slice survive."""

def monotonic_ns() -> int:
    """CLOCK_MONOTONIC, now."""
