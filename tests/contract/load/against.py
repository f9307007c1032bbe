"""`perfq load run` against the contrary server: profiles, the run, what it recorded, the sum that has to close."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tests.contract.load import running
from tests.contract.load.contrary import Contrary
from tests.contract.load.running import Ended

Protocol = Literal["http1", "http2"]
#: What most tests ask for.
GET: dict[str, Any] = {
    "quorumGet": {"version": "v1", "resource": "configmaps", "namespace": "default", "name": "a"},
    "shares": 1,
}


def load_profile(
    folder: Path, protocol: Protocol, rate: int, total: int, *requests: dict[str, Any], **spec: Any
) -> Path:
    """A kperf load profile of one spec: 8 connections and 64 in flight (over HTTP/1.1 as many of both)."""
    in_flight = spec.pop("client", 64)
    whole = {
        "rate": rate,
        "total": total,
        "conns": 8 if protocol == "http2" else in_flight,
        "client": in_flight,
        "contentType": "json",
        "disableHTTP2": protocol == "http1",
        "requests": list(requests) or [GET],
    }
    path = folder / "load.yaml"
    path.write_text(json.dumps({"version": 1, "description": "a test", "specs": [whole | spec]}))
    return path


def replay_profile(
    folder: Path, protocol: Protocol, requests: Iterable[dict[str, Any]], *, conns: int = 8, clients: int = 64
) -> Path:
    """A kperf replay profile of one runner."""
    spec = {
        "runnerCount": 1,
        "connsPerRunner": conns if protocol == "http2" else clients,
        "clientsPerRunner": clients,
        "contentType": "json",
        "disableHTTP2": protocol == "http1",
    }
    document = {"version": 1, "description": "a test", "spec": spec, "requests": list(requests)}
    path = folder / "replay.yaml"
    path.write_text(json.dumps(document))
    return path


def gets(rate: int, seconds: float, names: int = 1000) -> list[dict[str, Any]]:
    """GETs of many Pods at a constant rate, as a replay profile has them."""
    return [
        {
            "timestamp": at * 1000 // rate,
            "verb": "GET",
            "namespace": "default",
            "resourceKind": "Pod",
            "name": f"pod-{at % names}",
            "apiPath": f"/api/v1/namespaces/default/pods/pod-{at % names}",
        }
        for at in range(int(rate * seconds))
    ]


@dataclass(frozen=True)
class Counted(Ended):
    """A run that has ended, and whose sum has to close."""

    @property
    def load(self) -> dict[str, Any]:
        """The typed block of a load."""
        block: dict[str, Any] = self.result["load"]
        accounted = block["ok"] + sum(block["errors"].values())
        accounted += block["timed_out"] + block["cancelled"] + block["not_sent"]
        assert accounted == block["planned"], block
        return block

    @property
    def record(self) -> list[dict[str, Any]]:
        """The lines of samples.ndjson."""
        return [json.loads(line) for line in (self.out / "samples.ndjson").read_text().splitlines()]

    @property
    def text(self) -> str:
        """All that was said."""
        return self.stdout + self.stderr


@dataclass(frozen=True)
class Running:
    """A run under way."""

    process: subprocess.Popen[str]
    out: Path

    def recorded(self, kind: str) -> list[dict[str, Any]]:
        """The record's whole lines of that kind, so far."""
        path = self.out / "samples.ndjson"
        if not path.exists():
            return []
        lines = path.read_text().split("\n")[:-1]
        return [line for line in map(json.loads, lines) if line["k"] == kind]

    def ended(self, seconds: float = 240) -> Counted:
        """Waits for its end."""
        stdout, stderr = self.process.communicate(timeout=seconds)
        return Counted(self.process.returncode, stdout, stderr, self.out)


def start(out: Path, server: Contrary, profile: Path, *arguments: str) -> Running:
    """Starts a run against the server."""
    target = ["--kubeconfig", str(server.kubeconfig()), "--context", "contrary"]
    return Running(running.start("run", str(profile), "--out", str(out), *target, *arguments), out)


def run(out: Path, server: Contrary, profile: Path, *arguments: str) -> Counted:
    """Runs to the end."""
    return start(out, server, profile, *arguments).ended()
