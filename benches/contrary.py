"""The contrary server as a fast target in a process of its own, and a kubeconfig for it."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

TOP = Path(__file__).parent.parent
OBJECT = "/api/v1/namespaces/default/configmaps/bench"


@dataclass(frozen=True, slots=True)
class Target:
    """Where it answers."""

    url: str
    ca_file: Path
    kubeconfig: Path

    @property
    def object_url(self) -> str:
        """Of the one object that is read."""
        return self.url + OBJECT


@cache
def program() -> Path:
    """The server, built with optimizations."""
    command = ["cargo", "build", "--quiet", "--release", "--package", "perfq-engine", "--example", "contrary_server"]
    done = subprocess.run(
        [*command, "--message-format", "json"], cwd=TOP, stdout=subprocess.PIPE, text=True, check=True
    )
    made = [json.loads(line) for line in done.stdout.splitlines()]
    (path,) = (one["executable"] for one in made if one.get("target", {}).get("name") == "contrary_server")
    return Path(path)


@contextmanager
def listening(*, core: int | None = None) -> Iterator[Target]:
    """A server with TLS, until the block ends; on one core where it is given."""
    with tempfile.TemporaryDirectory() as folder:
        command = [str(program()), "--tls", "--identity", folder]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            if core is not None:
                os.sched_setaffinity(process.pid, {core})
            try:
                told = json.loads(process.stdout.readline())
                yield Target(told["url"], Path(told["ca_file"]), kubeconfig(Path(folder), told["url"]))
            finally:
                process.terminate()


def kubeconfig(folder: Path, url: str) -> Path:
    """With one context, `bench`."""
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "bench", "cluster": {"server": url, "certificate-authority": str(folder / "ca.pem")}}],
        "users": [{"name": "bench", "user": {"token": "bench"}}],
        "contexts": [{"name": "bench", "context": {"cluster": "bench", "user": "bench"}}],
        "current-context": "bench",
    }
    path = folder / "kubeconfig"
    path.write_text(json.dumps(document))
    return path
