"""A small API server in memory, spoken to as a transport: for tests of the app without a socket."""

from __future__ import annotations

import json
import queue
import threading
from collections.abc import Iterator, Mapping
from typing import Any

from perfq.viewer.transport import Rejected, Stream

Json = dict[str, Any]


def pod(name: str, namespace: str = "a", restarts: int = 0, node: str = "node-00") -> Json:
    """A running Pod."""
    return {
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "creationTimestamp": "2026-01-01T00:00:00Z"},
        "spec": {"nodeName": node, "containers": [{"name": "app"}]},
        "status": {
            "phase": "Running",
            "containerStatuses": [
                {"name": "app", "ready": True, "restartCount": restarts, "state": {"running": {}}, "image": "img"}
            ],
        },
    }


def node(name: str) -> Json:
    """A ready node."""
    return {"metadata": {"name": name}, "status": {"conditions": [{"type": "Ready", "status": "True"}]}}


class _Events:
    def __init__(self, served: Served, kind: str, since: int) -> None:
        self._served = served
        self.kind = kind
        self.lines: queue.Queue[bytes | None] = queue.Queue()
        for version, of, line in served.history:
            if of == kind and version > since:
                self.lines.put(line)

    def chunks(self) -> Iterator[bytes]:
        while (line := self.lines.get(timeout=30)) is not None:
            yield line

    def close(self) -> None:
        self.lines.put(None)


class Served:
    """Pods and nodes; what is asked is noted; anything can be refused."""

    def __init__(self, pods: list[Json], nodes: list[Json] | None = None) -> None:
        self.version = 0
        self.objects: dict[str, dict[tuple[str, str], Json]] = {"pods": {}, "nodes": {}}
        self.history: list[tuple[int, str, bytes]] = []
        self.watches: list[_Events] = []
        self.asked: list[str] = []
        self.refused: dict[str, Rejected] = {}
        self.logs: list[bytes] = [b"first line\nsecond ", b"line\n"]
        self.log_goes_on = threading.Event()
        self._lock = threading.Lock()
        for kind, items in (("pods", pods), ("nodes", nodes or [])):
            for item in items:
                self.change(kind, "ADDED", item)

    def change(self, kind: str, event: str, item: Json) -> None:
        """Commits an event."""
        with self._lock:
            self.version += 1
            item["metadata"]["resourceVersion"] = str(self.version)
            key = (item["metadata"].get("namespace", ""), item["metadata"]["name"])
            if event == "DELETED":
                self.objects[kind].pop(key, None)
            else:
                self.objects[kind][key] = item
            line = json.dumps({"type": event, "object": item}).encode() + b"\n"
            self.history.append((self.version, kind, line))
            for watch in self.watches:
                if watch.kind == kind:
                    watch.lines.put(line)

    def get(self, path: str, query: Mapping[str, str] | None = None) -> bytes:
        """LIST, GET, events, metrics."""
        self._note(path)
        query = query or {}
        if path.endswith("/events"):
            return json.dumps({"items": [{"reason": "Started", "type": "Normal", "message": "it began"}]}).encode()
        if path == "/api/v1/namespaces":
            return b'{"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]}'
        if path.startswith("/apis/metrics.k8s.io/"):
            item = {"metadata": {"name": "node-00"}, "usage": {"cpu": "250000000n", "memory": "1048576Ki"}}
            return json.dumps({"items": [item]}).encode()
        kind, namespace, name = _parts(path)
        with self._lock:
            if name:
                return json.dumps(self.objects[kind][namespace, name]).encode()
            items = [item for (ns, _), item in sorted(self.objects[kind].items()) if namespace in ("", ns)]
            at = int(query.get("continue", 0))
            size = int(query.get("limit", 500))
            meta = {"resourceVersion": str(self.version)}
            if at + size < len(items):
                meta["continue"] = str(at + size)
            return json.dumps({"metadata": meta, "items": items[at : at + size]}).encode()

    def stream(self, path: str, query: Mapping[str, str]) -> Stream:
        """WATCH, log."""
        self._note(path)
        if path.endswith("/log"):
            return _Log(self)
        kind, _, _ = _parts(path)
        with self._lock:
            watch = _Events(self, kind, int(query["resourceVersion"]))
            self.watches.append(watch)
        return watch

    def refresh(self) -> bool:
        """There is nothing to refresh."""
        return False

    def _note(self, path: str) -> None:
        self.asked.append(path)
        for part, error in self.refused.items():
            if part in path:
                raise error


class _Log:
    def __init__(self, served: Served) -> None:
        self._served = served
        self._ended = threading.Event()

    def chunks(self) -> Iterator[bytes]:
        yield from self._served.logs
        while not self._ended.is_set():
            if self._served.log_goes_on.wait(0.01):
                self._served.log_goes_on.clear()
                yield b"a later line\n"

    def close(self) -> None:
        self._ended.set()


def _parts(path: str) -> tuple[str, str, str]:
    parts = path.removeprefix("/api/v1/").split("/")
    namespace = ""
    if parts[0] == "namespaces":
        namespace, parts = parts[1], parts[2:]
    return parts[0], namespace, parts[1] if len(parts) > 1 else ""
