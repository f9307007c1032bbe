"""The kubeconfig that a client under test gets: one cluster, one user, one context."""

from __future__ import annotations

import base64
import json
from pathlib import Path

CONTEXT = "perfq"


def write_kubeconfig(path: Path, *, url: str, ca_pem: str | None, token: str | None) -> None:
    """Writes a kubeconfig (JSON, which is YAML) with mode 0600."""
    cluster: dict[str, str] = {"server": url}
    if ca_pem is not None:
        cluster["certificate-authority-data"] = base64.b64encode(ca_pem.encode()).decode()
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": CONTEXT,
        "clusters": [{"name": CONTEXT, "cluster": cluster}],
        "users": [{"name": CONTEXT, "user": {} if token is None else {"token": token}}],
        "contexts": [{"name": CONTEXT, "context": {"cluster": CONTEXT, "user": CONTEXT}}],
    }
    path.touch(mode=0o600)
    path.chmod(0o600)  # before the token is in it, where the file was there already
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
