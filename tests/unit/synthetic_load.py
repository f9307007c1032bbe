"""A request load as the contract describes its record (docs/reference/samples.md), written line by line.

The lines are those of an ideal load on an ideal server: every request is sent 20 µs after it was due and answered
within milliseconds. Tests take such a run and break one thing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perfq._core import Histogram
from perfq.measure.fold import fold
from perfq.measure.load.manifest import InputFacts, LoadManifest, LoadOptions, SegmentFacts
from perfq.measure.load.recorded import LoadRecorded
from perfq.measure.manifest import Anchor, HostFacts, PerfqFacts, TargetFacts
from perfq.profile.budgets import Budget

if TYPE_CHECKING:
    from perfq._core import RecorderStatus

MS = 1_000_000
SECOND = 1_000_000_000
T0 = 1_000 * SECOND
BOOT = 7 * SECOND
#: Series and how many requests of each a second, and how long one takes (ns).
SERIES = (
    ("GET core/v1/pods object", 60, 2 * MS),
    ("LIST core/v1/pods namespace", 10, 8 * MS),
    ("PATCH core/v1/configmaps object", 30, 4 * MS),
)

Line = dict[str, Any]


def histogram(values: Sequence[int]) -> Any:
    """As the engine writes it."""
    made = Histogram()
    for value in values:
        made.record(value)
    return json.loads(made.to_json())


@dataclass
class SyntheticLoad:
    """Lines and a manifest, to be changed and written."""

    manifest: LoadManifest
    lines: list[Line] = field(default_factory=list)

    def without(self, unwanted: Callable[[Line], bool]) -> SyntheticLoad:
        """The same run without some lines."""
        return replace(self, lines=[line for line in self.lines if not unwanted(line)])

    def mapped(self, change: Callable[[Line], Line]) -> SyntheticLoad:
        """The same run with each line changed."""
        return replace(self, lines=[change(dict(line)) for line in self.lines])

    def adding(self, *lines: Line) -> SyntheticLoad:
        """The same run with more lines."""
        return replace(self, lines=[*self.lines, *lines])

    def budgeted(self, *budgets: Budget) -> SyntheticLoad:
        """The same run, to be judged by these budgets."""
        return replace(self, manifest=self.manifest.replace(budgets=list(budgets)))

    def with_options(self, **changes: Any) -> SyntheticLoad:
        """The same run, asked for otherwise."""
        options = self.manifest.options.replace(**changes)
        return replace(self, manifest=self.manifest.replace(options=options))

    def write(self, directory: Path) -> Path:
        """Writes manifest and samples into a run directory."""
        directory.mkdir(parents=True, exist_ok=True)
        (directory / "manifest.json").write_text(self.manifest.to_json())
        (directory / "samples.ndjson").write_text("".join(json.dumps(line) + "\n" for line in self.lines))
        return directory


def load_of(directory: Path, recorder: RecorderStatus | None = None) -> LoadRecorded:
    """What `fold` gives of a load's directory; `recorder` where the run is still there."""
    recorded = fold(directory, recorder=recorder)
    assert isinstance(recorded, LoadRecorded)
    return recorded


def ideal_load(seconds: int = 10, segments: int = 1) -> SyntheticLoad:
    """100 requests/s for so long, one segment after another: every figure known, nothing missed."""
    run = _ideal_load(seconds, segments)
    return replace(run, lines=list(run.lines))


@cache
def _ideal_load(seconds: int, segments: int) -> SyntheticLoad:
    run = SyntheticLoad(_manifest(seconds, segments))
    _add(run, "mark", T0 - SECOND, name="start", boot=BOOT)
    t0 = T0
    for number in range(segments):
        _segment(run, number, t0, seconds)
        t0 += seconds * SECOND + 500 * MS
    _add(run, "mark", t0, name="end", boot=BOOT)
    for tick in range((t0 - T0) // (100 * MS)):
        at = T0 + tick * 100 * MS
        _add(run, "process", at, who="harness", cpu_ns=tick * 10 * MS, rss=60 * 2**20, took=50_000)
        if tick % 10 == 0:
            _add(run, "host", at, cpus=2, quota_millis=None, memory_limit=None, fds=40, fd_limit=1024)
    return run


def _manifest(seconds: int, segments: int) -> LoadManifest:
    rate = float(sum(count for _, count, _ in SERIES))
    one = SegmentFacts(
        runners=1,
        connections=2,
        in_flight=64,
        protocol="http2",
        accept="json",
        rate=rate,
        planned=seconds * round(rate),
        duration_ns=seconds * SECOND,
    )
    return LoadManifest(
        run_id="mix-1201-120000-abcd",
        command="perfq load run mix.yaml",
        started_at="2026-01-02T03:04:05.000+00:00",
        anchor=Anchor(wall_ns=1_767_323_045 * SECOND, mono_ns=T0 - 2 * SECOND, boot_ns=T0 - 2 * SECOND + BOOT),
        target=TargetFacts(
            kind="cluster", server="https://127.0.0.1:6443", tls=True, cluster_id="c1", version="v1.34.1"
        ),
        host=HostFacts(
            os="Linux", kernel="6.1", cpu="a CPU", cpu_count=2, cpus_allowed=2.0, memory_bytes=2**33, python="3.12.1"
        ),
        perfq=PerfqFacts(version="0.1.0"),
        input=InputFacts(kind="load profile", name="loads/mix.yaml", bytes=400, sha256="ab" * 32, description="a mix"),
        segments=[one] * segments,
        options=LoadOptions(timeout_ms=60_000, grace_ms=30_000, overload="queue", ordering="object", seed=7),
    )


def _segment(run: SyntheticLoad, number: int, t0: int, seconds: int) -> None:
    rate = sum(count for _, count, _ in SERIES)
    shape = {"runners": 1, "connections": 2, "in_flight": 64, "protocol": "http2", "stream_limit": 250}
    plan = {"planned": seconds * rate, "end_ns": seconds * SECOND, "requested_rate": float(rate), "closed": False}
    handshake = histogram([3 * MS, 4 * MS])
    _add(run, "load_segment", t0 - 10 * MS, segment=number, t0=t0, **plan, **shape, handshake=handshake)
    for second in range(seconds):
        _add(run, "load_slice", t0 + (second + 1) * SECOND, segment=number, second=second, **_slice())
    zero = {"errors": {}, "timed_out": 0, "cancelled": 0, "not_sent": 0, "late": 0, "retries": 0}
    _add(
        run,
        "load_end",
        t0 + seconds * SECOND + 10 * MS,
        segment=number,
        planned=seconds * rate,
        sent=seconds * rate,
        sent_by_end=seconds * rate,
        ok=seconds * rate,
        **zero,
        drain_ns=10 * MS,
        stopped=None,
        overload="queue",
        connections={"opened": 2, "reconnects": 0, "goaways": 0, "resets": 0, "stream_limit": 250},
        watches={"opened": 0, "ended": 0, "events": 0, "bytes": 0, "relists": 0},
    )


@cache
def _slice() -> Line:
    """A second; the i-th request of a series takes i % 10 tenths longer than the first."""
    lag, wait = 20_000, 5_000
    took = {key: [base + base * (i % 10) // 10 for i in range(count)] for key, count, base in SERIES}
    every = [one for values in took.values() for one in values]
    series = [
        {
            "key": key,
            "ok": len(values),
            "errors": {},
            "timed_out": 0,
            "bytes": 1_000 * len(values),
            "response": histogram([one + lag + wait for one in values]),
            "service": histogram(values),
        }
        for key, values in took.items()
    ]
    return {
        "sent": len(every),
        "ok": len(every),
        "errors": {},
        "timed_out": 0,
        "cancelled": 0,
        "not_sent": 0,
        "late": 0,
        "retries": 0,
        "bytes": 1_000 * len(every),
        "in_flight_max": 3,
        "cpu_ns": 100 * MS,
        "cpu_share_max": 0.08,
        "latency": {
            "response": histogram([one + lag + wait for one in every]),
            "service": histogram(every),
            "ttfb": histogram([one // 2 for one in every]),
            "lag": histogram([lag] * len(every)),
            "slot_wait": histogram([wait] * len(every)),
        },
        "series": series,
    }


def _add(run: SyntheticLoad, k: str, t: int, **fields: Any) -> None:
    run.lines.append({"k": k, "t": t, **fields})
