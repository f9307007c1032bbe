"""CPU and memory of a process tree, from its samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from perfq.measure.phases import SECOND
from perfq.measure.result.common import ProcessFigures
from perfq.measure.samples import Process

#: CPU shares are told over at least this long: the kernel's ticks are too coarse for less.
CPU_WINDOW_NS = SECOND
#: The warm-up lasts at least this long after the client was populated.
SETTLE_NS = 2 * SECOND


@dataclass(frozen=True)
class Window:
    """When the tree was started, when its table was full, and when we ended it. Monotonic ns."""

    begin: int
    populated: int | None
    end: int
    #: The process was there before the run (perfq itself): its CPU counts from its first sample.
    earlier: bool = False

    @property
    def warm(self) -> int:
        """The end of the warm-up: the later of 10 % of the run and populated + 2 s."""
        tenth = self.begin + (self.end - self.begin) // 10
        return tenth if self.populated is None else max(tenth, self.populated + SETTLE_NS)


def process_figures(samples: Sequence[Process], window: Window) -> ProcessFigures | None:
    """The figures of samples in order of time; None without one."""
    used = [one for one in samples if one.t <= window.end]
    if not used:
        return None
    cpu = [(one.t, one.cpu_ns) for one in used if one.cpu_ns is not None]
    rss = [(one.t, one.rss) for one in used if one.rss is not None]
    warm = [(t, value) for t, value in rss if t >= window.warm]
    slope = least_squares_slope(warm)
    return ProcessFigures(
        cpu_seconds=(cpu[-1][1] - (cpu[0][1] if window.earlier else 0)) / SECOND if cpu else None,
        cpu_percent_max=cpu_percent_max(cpu),
        rss_peak_bytes=max((value for _, value in rss), default=None),
        rss_slope_bytes_per_min=None if slope is None else slope * 60 * SECOND,
        rss_slope_from_ns=None if slope is None else window.warm - window.begin,
        rss_slope_samples=None if slope is None else len(warm),
        samples=len(used),
    )


def cpu_percent_max(cpu: Sequence[tuple[int, int]]) -> float | None:
    """The largest share of one CPU over any window of at least a second; None for a shorter record."""
    best: float | None = None
    first = 0
    for last, (t, used) in enumerate(cpu):
        while first + 1 < last and t - cpu[first + 1][0] >= CPU_WINDOW_NS:
            first += 1
        begin, before = cpu[first]
        if t - begin >= CPU_WINDOW_NS:
            share = 100 * (used - before) / (t - begin)
            best = share if best is None else max(best, share)
    return best


def cpu_between(samples: Sequence[Process], begin: int, end: int) -> float | None:
    """CPUs that were used on average between the samples next to two instants; None where there are none."""
    inside = [(one.t, one.cpu_ns) for one in samples if one.cpu_ns is not None and begin <= one.t <= end]
    if len(inside) < 2 or inside[-1][0] == inside[0][0]:
        return None
    return (inside[-1][1] - inside[0][1]) / (inside[-1][0] - inside[0][0])


def least_squares_slope(points: Sequence[tuple[int, int]]) -> float | None:
    """Slope of the line of least squares, value per ns; None below two instants.

    Exact in integers up to the last division: Σ(x−x̄)(y−ȳ) / Σ(x−x̄)², each multiplied by n.
    """
    n = len(points)
    if n < 2:
        return None
    x0, y0 = points[0]
    sx = sum(x - x0 for x, _ in points)
    sy = sum(y - y0 for _, y in points)
    sxx = sum((x - x0) ** 2 for x, _ in points)
    sxy = sum((x - x0) * (y - y0) for x, y in points)
    spread = n * sxx - sx * sx
    return None if spread == 0 else (n * sxy - sx * sy) / spread
