"""The kubeconfig of a test bed: self-contained, one context for each way to prove oneself."""

from __future__ import annotations

import base64
import json
from pathlib import Path

from .credentials import Credentials

#: May do anything, by token; the current context. The others add what they stand for.
CONTEXT = "perfq-testbed"
CERTIFICATE = f"{CONTEXT}-certificate"
NOBODY = f"{CONTEXT}-nobody"


def write(path: Path, server: str, credentials: Credentials) -> None:
    """Writes it with mode 0600. It is JSON, which is YAML too."""

    def data(name: str) -> str:
        return base64.b64encode((credentials.folder / name).read_bytes()).decode()

    users = {
        CONTEXT: {"token": credentials.admin_token},
        CERTIFICATE: {"client-certificate-data": data("client.crt"), "client-key-data": data("client.key")},
        NOBODY: {"token": credentials.nobody_token},
    }
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": CONTEXT,
        "clusters": [{"name": CONTEXT, "cluster": {"server": server, "certificate-authority-data": data("ca.crt")}}],
        "users": [{"name": name, "user": user} for name, user in users.items()],
        "contexts": [{"name": name, "context": {"cluster": CONTEXT, "user": name}} for name in users],
    }
    path.touch(mode=0o600)
    path.write_text(json.dumps(document, indent=2) + "\n")
