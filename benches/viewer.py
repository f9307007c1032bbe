"""The reference client, against korvid's app in its own harness on the same profile."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from benches import korvid
from benches.run import replayed
from benches.table import Row, Target


def of_korvid(run: korvid.Replay | str, read: Callable[[korvid.Replay], float | None]) -> float | str:
    """A figure of a run of korvid's; why not, where there is none."""
    if isinstance(run, str):
        return run
    value = read(run)
    return "peer has none" if value is None else value


def latency(name: str) -> Callable[[korvid.Replay], float | None]:
    """p95 in ms of one of korvid's latencies."""

    def read(run: korvid.Replay) -> float | None:
        value = run.report["latency"].get(name)
        return None if not value else float(value["p95_seconds"]) * 1e3

    return read


def list_to_table(run: korvid.Replay) -> float | None:
    """LIST → populated table, in ms."""
    value = run.report["phases"]["list_to_populated_table_seconds"]
    return None if value is None else float(value) * 1e3


def memory(run: korvid.Replay) -> float | None:
    """Its harness counts itself in."""
    value = run.report["process"]["rss_bytes_max"]
    return None if value is None else float(value) / 1e6


def rows() -> Iterator[Row]:
    """steady-10k beside korvid, burst-50k and smoke-1k."""
    peer = korvid.replay("steady-10k")
    ours = replayed("steady-10k")
    quarter, half = Target("times", ">=", 4), Target("times", ">=", 2)
    render = ours.figure("latency.event_to_render.p95", 1e-6)
    populated = ours.figure("replay.start.list_to_populated_ns", 1e-6)
    keys = ours.figure("latency.input.p95", 1e-6)
    cpu = ours.figure("process.client.cpu_seconds")
    peak = ours.figure("process.client.rss_peak_bytes", 1e-6)
    name = "viewer, steady-10k: "
    theirs = of_korvid(peer, latency("event_to_render"))
    yield Row(name + "event_to_render p95", "ms", render, theirs, target=quarter, note=ours.verdict)
    yield Row(name + "input p95", "ms", keys, of_korvid(peer, latency("input")), target=quarter)
    yield Row(name + "LIST → table", "ms", populated, of_korvid(peer, list_to_table), target=quarter)
    theirs = of_korvid(peer, lambda run: run.cpu_seconds)
    note = "the client's process; korvid's contains its harness"
    yield Row(name + "CPU", "s", cpu, theirs, target=quarter, note=note)
    yield Row(name + "peak RSS", "MB", peak, of_korvid(peer, memory), target=half, note=note)

    ours = replayed("burst-50k")
    name = "viewer, burst-50k: "
    keys = ours.figure("latency.input.p95", 1e-6)
    yield Row(name + "input p95", "ms", keys, "–", target=Target("value", "<=", 100), note=ours.verdict)
    peak = ours.figure("process.client.rss_peak_bytes", 1e-6)
    yield Row(name + "peak RSS", "MB", peak, "–", target=Target("value", "<=", 400))
    render = ours.figure("latency.event_to_render.p95", 1e-6)
    yield Row(name + "event_to_render p95", "ms", render, "–")

    theirs = of_korvid(korvid.replay("smoke-1k"), lambda run: run.wall_seconds)
    ours = replayed("smoke-1k")
    note = f"{ours.verdict}; a plan of 5 s"
    yield Row("replay smoke-1k in all", "s", ours.wall_seconds, theirs, target=Target("value", "<=", 8), note=note)
