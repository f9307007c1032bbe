"""perfq load and its peers (oha, vegeta, kperf) as processes that are given the same work: GETs of one object.

Each is asked for as many connections and requests in flight as the others. Peers are found on PATH; where there is
none, its row says so.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from benches.contrary import OBJECT, Target
from benches.peers import peer
from benches.table import NOT_INSTALLED

Protocol = Literal["http1", "http2"]


@dataclass(frozen=True, slots=True)
class Work:
    """So many GETs at so many a second; without a rate as fast as they go, `total` of them."""

    total: int
    rate: int
    protocol: Protocol
    connections: int = 8
    in_flight: int = 64

    @property
    def http_version(self) -> str:
        """As oha and people write it."""
        return "2" if self.protocol == "http2" else "1.1"


@dataclass(frozen=True, slots=True)
class Done:
    """A process that has ended well: CPU and wall seconds of all of it, and what it told."""

    cpu_seconds: float
    wall_seconds: float
    told: dict[str, Any]


def run(command: Sequence[str], read: Callable[[], dict[str, Any]], text: str = "") -> Done:
    """Runs it to its end, `text` on its standard input. CalledProcessError with its last words."""
    started = time.monotonic()
    with tempfile.TemporaryFile("w+") as given:
        given.write(text)
        given.seek(0)
        process = subprocess.Popen(command, stdin=given, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    said = process.stderr.read()
    # Its own figures, and those of the children that it has waited for.
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise subprocess.CalledProcessError(process.returncode, command, stderr=said[-500:])
    return Done(usage.ru_utime + usage.ru_stime, time.monotonic() - started, read())


def on_core(command: list[str], core: int | None) -> list[str]:
    """The command, kept to one core where it is given."""
    return command if core is None else ["taskset", "--cpu-list", str(core), *command]


def perfq(target: Target, work: Work, *, core: int | None = None, folder: Path) -> Done:
    """`perfq load run` with all that it does: resolving, recording, folding, reports. Told: result.json."""
    profile = folder / "load.yaml"
    profile.write_text(json.dumps(load_profile(work)))
    out = Path(tempfile.mkdtemp(dir=folder)) / "run"
    command = [str(Path(sys.executable).with_name("perfq")), "load", "run", str(profile), "--quiet", "--out", str(out)]
    command += ["--kubeconfig", str(target.kubeconfig), "--context", "bench"]
    return run(on_core(command, core), lambda: json.loads((out / "result.json").read_text()))


def kperf(target: Target, work: Work, *, folder: Path) -> Done | str:
    """kperf's runner. Told: its report."""
    program = peer("kperf")
    if program is None:
        return NOT_INSTALLED
    profile, result = folder / "kperf.yaml", folder / "kperf.json"
    profile.write_text(json.dumps(load_profile(work)))
    command = [str(program), "runner", "run", "--kubeconfig", str(target.kubeconfig), "--config", str(profile)]
    return run([*command, "--result", str(result)], lambda: json.loads(result.read_text()))


def vegeta(target: Target, work: Work, *, folder: Path) -> Done | str:
    """vegeta's attack alone; its report is another process. Told: nothing."""
    program = peer("vegeta")
    if program is None:
        return NOT_INSTALLED
    command = [str(program), "attack", "-rate", f"{work.rate}/s", "-duration", f"{work.total / work.rate}s"]
    command += ["-root-certs", str(target.ca_file), "-connections", str(work.connections)]
    command += ["-max-workers", str(work.in_flight), f"-http2={str(work.protocol == 'http2').lower()}"]
    command += ["-header", "Authorization: Bearer bench", "-output", str(folder / "vegeta.bin")]
    return run(command, dict, f"GET {target.object_url}\n")


def oha(target: Target, work: Work, *, core: int | None = None, folder: Path) -> Done | str:
    """oha. Told: its report."""
    program = peer("oha")
    if program is None:
        return NOT_INSTALLED
    report = folder / "oha.json"
    # Over HTTP/1.1 a connection carries one request at a time.
    http2 = work.protocol == "http2"
    connections = work.connections if http2 else work.in_flight
    command = [str(program), "-n", str(work.total), "-c", str(connections), "--http-version", work.http_version]
    command += ["-p", str(work.in_flight // work.connections)] if http2 else []
    command += ["-q", str(work.rate), "--latency-correction"] if work.rate else []
    command += ["--cacert", str(target.ca_file), "-H", "Authorization: Bearer bench", "--disable-compression"]
    command += ["--no-tui", "--output-format", "json", "--output", str(report), target.object_url]
    return run(on_core(command, core), lambda: json.loads(report.read_text()))


def load_profile(work: Work) -> dict[str, Any]:
    """kperf's format, which perfq reads as well; JSON is YAML."""
    namespace, name = OBJECT.split("/")[-3::2]
    get = {"version": "v1", "resource": "configmaps", "namespace": namespace, "name": name}
    spec: dict[str, Any] = {"rate": work.rate, "total": work.total, "contentType": "json"}
    # Over HTTP/1.1 a connection carries one request at a time.
    spec["conns"] = work.connections if work.protocol == "http2" else work.in_flight
    spec |= {"client": work.in_flight, "disableHTTP2": work.protocol == "http1"}
    spec["requests"] = [{"quorumGet": get, "shares": 1}]
    return {"version": 1, "description": "GETs of one object", "specs": [spec]}
