"""CPU and memory in use, from metrics.k8s.io, asked for every 5 s whatever the answer was."""

from __future__ import annotations

import random
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from perfq.viewer.kinds import Usage
from perfq.viewer.transport import Rejected, Transport, Unreachable

__all__ = ["MetricsPoll", "NodeMetrics", "parse_quantity"]

POLL_SECONDS = 5.0
_PATH = "/apis/metrics.k8s.io/v1beta1/nodes"
_QUANTITY = re.compile(r"^(\d+(?:\.\d+)?)(n|u|m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?$")
_FACTORS = {
    "": 1.0,
    "n": 1e-9,
    "u": 1e-6,
    "m": 1e-3,
    "k": 1e3,
    "M": 1e6,
    "G": 1e9,
    "T": 1e12,
    "P": 1e15,
    "E": 1e18,
}
_FACTORS |= {f"{unit}i": 1024.0 ** (i + 1) for i, unit in enumerate("KMGTPE")}


def parse_quantity(text: str) -> float | None:
    """A resource quantity of Kubernetes as a number; None where it is not one."""
    found = _QUANTITY.match(text)
    return float(found[1]) * _FACTORS[found[2] or ""] if found else None


@dataclass(frozen=True, slots=True)
class NodeMetrics:
    """One answer: usage by node, or why there is none."""

    usage: dict[str, Usage]
    cores: float = 0.0
    bytes: float = 0.0
    problem: str | None = None


class _Meta(msgspec.Struct):
    name: str = ""


class _Item(msgspec.Struct):
    metadata: _Meta
    usage: dict[str, str] = {}


class _List(msgspec.Struct):
    items: list[_Item] = []


def read_metrics(body: bytes) -> NodeMetrics:
    """A NodeMetricsList. msgspec.MsgspecError where it is not one."""
    usage: dict[str, Usage] = {}
    all_cores = all_bytes = 0.0
    for item in msgspec.json.decode(body, type=_List).items:
        cores = parse_quantity(item.usage.get("cpu", "")) or 0.0
        memory = parse_quantity(item.usage.get("memory", "")) or 0.0
        usage[item.metadata.name] = Usage(f"{cores * 1000:.0f}m", f"{memory / 2**20:.0f}Mi")
        all_cores += cores
        all_bytes += memory
    return NodeMetrics(usage, all_cores, all_bytes)


class MetricsPoll:
    """A thread that asks every 5 s and hands on each answer."""

    def __init__(self, transport: Transport, answer: Callable[[NodeMetrics], None]) -> None:
        """`answer` is called from the thread."""
        self._transport = transport
        self._answer = answer
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="metrics", daemon=True)

    def start(self) -> None:
        """Starts the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Ends it; returns at once."""
        self._stopped.set()

    def ask(self) -> NodeMetrics:
        """Asks once."""
        try:
            return read_metrics(self._transport.get(_PATH))
        except Rejected as error:
            why = "not served here" if error.status == 404 else f"unavailable ({error.status})"
            return NodeMetrics({}, problem=f"metrics {why}")
        except Unreachable as error:
            return NodeMetrics({}, problem=f"metrics unavailable ({error})")
        except msgspec.MsgspecError:
            return NodeMetrics({}, problem="metrics unreadable")

    def _run(self) -> None:
        while not self._stopped.is_set():
            self._answer(self.ask())
            if self._stopped.wait(POLL_SECONDS * (1 + random.random() / 20)):
                return
