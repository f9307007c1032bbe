"""The contrary server (rust/engine/examples/contrary_server.rs) as a process, and the kubeconfig of it."""

from __future__ import annotations

import json
import subprocess
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

#: For what a healthy server answers at once.
PATIENCE = 30


@dataclass
class Contrary:
    """A running server; `behaviour` is the document of rust/engine/examples/contrary/behaviour.rs."""

    program: Path
    folder: Path
    tls: bool = True
    behaviour: dict[str, Any] = field(default_factory=dict)
    #: More of its flags, such as `--certificate expired`.
    flags: tuple[str, ...] = ()
    #: Where it has to listen again; 0 takes a free port.
    port: int = 0

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.start()

    def start(self) -> None:
        """Listens; on the same port and with the same identity as before, where there was a before."""
        command = [str(self.program), "--port", str(self.port), "--behaviour", json.dumps(self.behaviour), *self.flags]
        if self.tls:
            command += ["--tls", "--identity", str(self.folder / "identity")]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        told = json.loads(self.process.stdout.readline())
        self.url: str = told["url"]
        self.port = int(self.url.rsplit(":", 1)[1])
        self._control: str = told["control"]

    def kill(self) -> None:
        """SIGKILL: its connections are reset, its port is free."""
        self.process.kill()
        self.process.communicate(timeout=PATIENCE)

    @property
    def pid(self) -> int:
        """Of the process."""
        return self.process.pid

    @property
    def ca_file(self) -> Path:
        """Of the CA; only with TLS."""
        return self.folder / "identity" / "ca.pem"

    def behave(self, **behaviour: Any) -> None:
        """Replaces the behaviour; its rules count anew."""
        self.behaviour = behaviour
        self._ask("PUT", "/__behaviour", json.dumps(behaviour).encode())

    def counts(self) -> dict[str, Any]:
        """What it has seen so far."""
        counts: dict[str, Any] = self._ask("GET", "/__counts")
        return counts

    def asked(self, part: str = "/namespaces/default/") -> int:
        """Requests whose path holds this: those of a profile, without what a client asks before it begins."""
        paths = self.counts()["paths"]
        return sum(sum(one["methods"].values()) for path, one in paths.items() if part in path)

    def log(self) -> list[dict[str, Any]]:
        """The first 100,000 requests in the order of their arrival: t_us, method, target, body."""
        log: list[dict[str, Any]] = self._ask("GET", "/__log")
        return log

    def _ask(self, method: str, path: str, body: bytes | None = None) -> Any:
        request = urllib.request.Request(self._control + path, data=body, method=method)
        with urllib.request.urlopen(request, timeout=PATIENCE) as response:
            return json.loads(response.read())

    def kubeconfig(self, *, ca_file: Path | None = None) -> Path:
        """A kubeconfig with one context, `contrary`; another CA than its own where one is given."""
        cluster: dict[str, Any] = {"server": self.url}
        if self.tls:
            cluster["certificate-authority"] = str(ca_file or self.ca_file)
        document = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "contrary", "cluster": cluster}],
            "users": [{"name": "tester", "user": {"token": "for-the-contrary-server"}}],
            "contexts": [{"name": "contrary", "context": {"cluster": "contrary", "user": "tester"}}],
            "current-context": "contrary",
        }
        path = self.folder / "kubeconfig"
        path.write_text(json.dumps(document))
        return path
