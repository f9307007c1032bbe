"""The request engine on a real API server: a trace goes in, its record comes out."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.cluster.testbed.bed import Bed

from perfq._core import Histogram, LoadRun, Recorder

#: Only an engine that hangs takes as long.
SECONDS = 300


@dataclass(frozen=True)
class Sent:
    """What became of a trace: the engine's totals, the service time of all answers, the most requests at once."""

    end: dict[str, Any]
    service: Histogram
    in_flight_max: int


def endpoint(bed: Bed, user: str | None = None) -> dict[str, Any]:
    """The test bed as the engine is told of it; `user` is a context of its kubeconfig, by default the current one."""
    document = json.loads(bed.kubeconfig.read_text())
    name = user or document["current-context"]
    credential = next(entry["user"] for entry in document["users"] if entry["name"] == name)

    def pem(data: str | None) -> str | None:
        return base64.b64decode(data).decode() if data else None

    return {
        "url": bed.server,
        "ca_pem": pem(document["clusters"][0]["cluster"]["certificate-authority-data"]),
        "insecure": False,
        "client_cert_pem": pem(credential.get("client-certificate-data")),
        "client_key_pem": pem(credential.get("client-key-data")),
        "token": credential.get("token"),
        "server_name": None,
        "headers": {},
    }


def trace(path: Path, requests: Iterable[dict[str, Any]]) -> Path:
    """Writes a perfq trace."""
    header = {"schema": "perfq.trace/v1", "source": {}, "counts": {}, "losses": []}
    with path.open("w") as file:
        for line in (header, *requests):
            file.write(json.dumps(line) + "\n")
    return path


def send(bed: Bed, source: Path, *, user: str | None = None, ordering: str = "object", **segment: Any) -> Sent:
    """Sends a trace to the test bed and waits for its end."""
    samples = source.with_suffix(".ndjson")
    recorder = Recorder(samples)
    options = {
        "recorder": recorder,
        "endpoint": endpoint(bed, user),
        "segments": [
            {"source": {"trace": {"path": str(source)}}, "runners": 1, "connections": 4, "in_flight": 200,
             "protocol": "http2", "accept": "json"} | segment,
        ],
        "ordering": ordering,
        # A machine that is busy with other things is slow, and that is not what is tested.
        "grace_ms": SECONDS * 1000,
    }  # fmt: skip
    with LoadRun.start(options) as run:
        assert run.wait(SECONDS), run.progress()
        result = run.result()
    recorder.close()
    assert result["failure"] is None, result["failure"]
    (end,) = result["segments"]
    slices = [record for line in samples.read_text().splitlines() if (record := json.loads(line))["k"] == "load_slice"]
    service = Histogram()
    for record in slices:
        if "service" in record.get("latency", {}):
            service.merge_json(json.dumps(record["latency"]["service"]).encode())
    return Sent(end, service, max(record["in_flight_max"] for record in slices))
