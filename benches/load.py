"""Request load: CPU a request, schedule lag, memory of a long replay, the largest rate of one core.

The target is a fast server in a process of its own (benches/contrary.py), with TLS. CPU is that of the whole
process: perfq's contains the interpreter, the documents and the reports.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benches import generators
from benches.contrary import OBJECT, listening
from benches.generators import Done, Protocol, Work
from benches.memory import growth
from benches.peers import version
from benches.table import Row, Target

MIB = 1 << 20
PROTOCOLS: tuple[Protocol, ...] = ("http2", "http1")
#: Of the long replay, per second.
REPLAY_RATE = 12_500


@dataclass(frozen=True, slots=True)
class Size:
    """How much is sent; less than the full size is for trying the benches, and its figures mean nothing."""

    rounds: int = 3
    gets: int = 20_000
    lag_seconds: int = 30
    replayed: int = 1_000_000
    fastest: int = 200_000


def rows(size: Size = Size()) -> Iterator[Row]:
    """All of them."""
    with tempfile.TemporaryDirectory() as folder:
        yield from cpu(Path(folder), size)
        yield from lag(Path(folder), size)
        yield from memory(Path(folder), size)
        yield from largest_rate(Path(folder), size)


Generator = Callable[[], Done | str]


def in_turns(generators_: dict[str, Generator], rounds: int) -> dict[str, list[Done] | str]:
    """Each of them in each round, in an order that alternates; or why there is no figure of one."""
    done: dict[str, list[Done] | str] = {name: [] for name in generators_}
    for number in range(rounds):
        for name in sorted(generators_, reverse=bool(number % 2)):
            so_far = done[name]
            if isinstance(so_far, str):
                continue
            try:
                one = generators_[name]()
            except subprocess.CalledProcessError as error:
                one = f"peer failed: {(error.stderr.strip().splitlines() or ['nothing said'])[-1][:60]}"
            if isinstance(one, str):
                done[name] = one
            else:
                so_far.append(one)
    return done


def median(done: list[Done] | str, figure: Callable[[Done], float]) -> float | str:
    """Of the rounds; the reason where there are none."""
    return done if isinstance(done, str) else statistics.median(figure(one) for one in done)


def ours(done: list[Done] | str, figure: Callable[[Done], float]) -> float:
    """The same of perfq, which has to work."""
    value = median(done, figure)
    if isinstance(value, str):
        raise RuntimeError(value)
    return value


def cpu(folder: Path, size: Size) -> Iterator[Row]:
    """GETs at 1,000/s over TLS: CPU seconds of the process."""
    for protocol in PROTOCOLS:
        yield from cpu_of(folder, Work(size.gets, 1000, protocol), size.rounds)


def cpu_of(folder: Path, work: Work, rounds: int) -> Iterator[Row]:
    """perfq beside each peer."""
    with listening() as server:
        done = in_turns(
            {
                "perfq": lambda: generators.perfq(server, work, folder=folder),
                "oha": lambda: generators.oha(server, work, folder=folder),
                "vegeta": lambda: generators.vegeta(server, work, folder=folder),
                "kperf": lambda: generators.kperf(server, work, folder=folder),
            },
            rounds,
        )
    perfq = ours(done["perfq"], lambda one: one.cpu_seconds)
    drive = ours(done["perfq"], lambda one: figure(one.told, "process.harness.cpu_seconds") or 0.0)
    name = f"{work.total:,} GETs at 1,000/s, TLS, HTTP/{work.http_version}: CPU"
    targets = {"oha": Target("times", ">=", 1), "vegeta": None, "kperf": Target("times", ">=", 3)}
    for peer, target in targets.items():
        theirs = median(done[peer], lambda one: one.cpu_seconds)
        yield Row(name, "s", perfq, theirs, target=target, note=f"{named(peer)}; the drive alone {drive:.2f} s")


def named(peer: str) -> str:
    """A peer with its version, as a row tells it."""
    return f"peer: {peer} {version(peer)}"


def figure(result: dict[str, Any], path: str) -> float | None:
    """The number at a dotted path; None where there is none."""
    value: Any = result
    for part in path.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return None if value is None else float(value)


def lag(folder: Path, size: Size) -> Iterator[Row]:
    """5,000/s, at most 64 in flight: how late the generator was, and what it measured."""
    for protocol in PROTOCOLS:
        work = Work(5000 * size.lag_seconds, 5000, protocol)
        with listening() as server:
            perfq = generators.perfq(server, work, folder=folder)
            oha = generators.oha(server, work, folder=folder)
        name = f"5,000/s for {size.lag_seconds} s, TLS, HTTP/{work.http_version}: "
        verdict = str(perfq.told["verdict"]["status"])
        for path, unit, target in (
            ("latency.lag.p50", "ms", None),
            ("latency.lag.p99", "ms", Target("value", "<=", 1)),
            ("latency.lag.max", "ms", None),
            ("latency.slot_wait.p99", "ms", None),
        ):
            value = scaled(perfq, path, 1e-6)
            yield Row(name + path.removeprefix("latency."), unit, value, "–", target=target, note=verdict)
        for percentile in ("p50", "p99"):
            theirs = oha if isinstance(oha, str) else float(oha.told["latencyPercentiles"][percentile]) * 1e3
            value = scaled(perfq, f"latency.response.{percentile}", 1e-6)
            yield Row(name + f"response {percentile}", "ms", value, theirs, note=named("oha"))
        theirs = oha if isinstance(oha, str) else float(oha.told["summary"]["slowest"]) * 1e3
        yield Row(name + "response max", "ms", scaled(perfq, "latency.response.max", 1e-6), theirs, note=named("oha"))
        achieved = figure(perfq.told, "load.achieved_rate")
        share = None if achieved is None else achieved / work.rate * 100
        yield Row(name + "achieved", "%", share, "–", "more", Target("value", ">=", 99.9))


def scaled(done: Done, path: str, scale: float) -> float | None:
    """A figure of its result in another unit."""
    value = figure(done.told, path)
    return None if value is None else value * scale


def memory(folder: Path, size: Size) -> Iterator[Row]:
    """A replay of a trace from a file: peak resident bytes beyond those at T0."""
    few, many = (grown(folder, requests) for requests in (size.replayed // 10, size.replayed))
    limit = Target("value", "<=", 16)
    name = f"memory of a replay of {size.replayed:,} requests"
    yield Row(name, "MiB", many / MIB, "–", target=limit, note="peak − at T0")
    yield Row(f"the same of {size.replayed // 10:,}", "MiB", few / MIB, "–")
    yield Row("the former beside the latter", "%", many / few * 100, "–", target=Target("value", "<=", 110))


def write_trace(path: Path, requests: int, rate: int) -> None:
    """GETs of 10,000 objects."""
    with path.open("w") as file:
        file.write(json.dumps({"schema": "perfq.trace/v1", "source": {}, "counts": {}, "losses": []}) + "\n")
        for at in range(requests):
            line = {"t_us": at * 1_000_000 // rate, "verb": "GET", "path": f"{OBJECT}-{at * 7919 % 10_000}"}
            file.write(json.dumps(line) + "\n")


def grown(folder: Path, requests: int) -> int:
    """The peak of the whole process from T0 on, reports included, less what it had at T0."""
    trace, out = folder / f"{requests}.trace", folder / f"run-{requests}"
    write_trace(trace, requests, REPLAY_RATE)
    perfq = str(Path(sys.executable).with_name("perfq"))
    with listening() as server:
        command = [perfq, "load", "run", str(trace), "--quiet", "--out", str(out)]
        command += ["--kubeconfig", str(server.kubeconfig), "--context", "bench"]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
            bytes_ = growth(process.pid, lambda: started(out))
    result = json.loads((out / "result.json").read_text())
    if bytes_ is None or result["load"]["ok"] != requests:
        raise RuntimeError(f"{result['load']['ok']} of {requests} requests were answered")
    return bytes_


def started(out: Path) -> bool:
    """Whether T0 has passed."""
    samples = out / "samples.ndjson"
    return samples.exists() and '"load_segment"' in samples.read_text()


def largest_rate(folder: Path, size: Size) -> Iterator[Row]:
    """As fast as it goes on one core, the server on another."""
    for protocol in PROTOCOLS:
        yield largest(folder, Work(size.fastest, 0, protocol), size.rounds)


def largest(folder: Path, work: Work, rounds: int) -> Row:
    """A closed loop of 64."""
    with listening(core=1) as server:
        done = in_turns(
            {
                "perfq": lambda: generators.perfq(server, work, core=0, folder=folder),
                "oha": lambda: generators.oha(server, work, core=0, folder=folder),
            },
            rounds,
        )
    rate = ours(done["perfq"], lambda one: figure(one.told, "load.achieved_rate") or 0.0)
    theirs = median(done["oha"], lambda one: float(one.told["summary"]["requestsPerSec"]))
    name = f"largest rate of one core, TLS, HTTP/{work.http_version}"
    return Row(name, "1/s", rate, theirs, "more", Target("times", ">=", 1), f"{named('oha')}; 64 in flight")
