"""The environment of a client under test: a clean home, the target's kubeconfig, a known terminal."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

#: What is set because it changes what clients draw; the report says it.
DRAWING = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"}
_LOOPBACK = "127.0.0.1,localhost,::1"


@dataclass(frozen=True)
class ClientHome:
    """A temporary home: kubeconfig, caches and the probe's socket. Outside the run directory, since it
    holds a credential and a Unix socket's path must be short."""

    path: Path

    @classmethod
    def create(cls) -> ClientHome:
        """Makes the home with mode 0700."""
        return cls(Path(tempfile.mkdtemp(prefix="perfq-")))

    @property
    def kubeconfig(self) -> Path:
        """The client's KUBECONFIG."""
        return self.path / "kubeconfig"

    @property
    def probe_socket(self) -> Path:
        """Where the probe listens."""
        return self.path / "probe.sock"

    def remove(self) -> list[str]:
        """Removes the home; what could not be removed is returned."""
        shutil.rmtree(self.path, ignore_errors=True)
        return [str(self.path)] if self.path.exists() else []

    def environment(self, extra: Mapping[str, str], inherited: Mapping[str, str] = os.environ) -> dict[str, str]:
        """The complete environment: the caller's, without perfq's own variables, with what is fixed."""
        kept = {name: value for name, value in inherited.items() if not name.startswith("PERFQ_")}
        for name in ("COLUMNS", "LINES", "TMUX", "STY", "NO_COLOR"):
            kept.pop(name, None)
        home = str(self.path)
        return kept | {
            "HOME": home,
            "XDG_CONFIG_HOME": f"{home}/.config",
            "XDG_CACHE_HOME": f"{home}/.cache",
            "XDG_DATA_HOME": f"{home}/.local/share",
            "XDG_STATE_HOME": f"{home}/.local/state",
            "KUBECONFIG": str(self.kubeconfig),
            "KUBECACHEDIR": f"{home}/.kube/cache",
            **DRAWING,
            "NO_PROXY": _LOOPBACK,
            "no_proxy": _LOOPBACK,
            "PERFQ_PROBE": str(self.probe_socket),
            **extra,
        }
