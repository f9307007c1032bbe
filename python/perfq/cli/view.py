"""`perfq view`: look at a cluster with the reference client."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import click

from perfq.cli import options as shared
from perfq.errors import UsageError

EPILOG = """
Examples:

\b
  perfq view                               1,000 Pods of the embedded server, with events
  perfq view burst-50k --split nodes       50,000 of them, and nodes below
  perfq view --context kind-dev -n shop    a cluster of your kubeconfig
"""


@click.command(epilog=EPILOG)
@click.argument("profile", type=shared.PROFILE, metavar="[PROFILE]", default=None, required=False)
@shared.context_option
@shared.kubeconfig_option
@click.option("-A", "--all-namespaces", is_flag=True, help="Pods of all namespaces.")
@click.option("-n", "--namespace", metavar="NS", help="Pods of one namespace (default: the context's, else all).")
@click.option("--split", type=click.Choice(["nodes"]), help="A second pane from the start.")
def view(profile: str | None, **given: Any) -> None:
    """Shows Pods in a table that keeps up with the cluster.

    Without --context and --kubeconfig it shows the embedded server with the objects and events of PROFILE
    (default: smoke-1k), so that it needs no cluster and touches none.

    \b
    Keys: / search · s 1-7 r sort · n namespace · p nodes · tab other pane
          d describe · l logs · esc back · q quit
    """
    if given["all_namespaces"] and given["namespace"]:
        raise UsageError("-A and -n exclude each other")
    arguments = [word for name in ("context", "kubeconfig", "namespace", "split") for word in _flag(name, given[name])]
    if given["all_namespaces"]:
        arguments.append("--all-namespaces")
    if given["context"] is None and given["kubeconfig"] is None:
        sys.exit(_embedded(profile or "smoke-1k", arguments))
    if profile is not None:
        raise UsageError(f"{profile}: a profile is for the embedded server; leave out --context and --kubeconfig")
    from perfq.viewer.main import main

    main(arguments)


def _flag(name: str, value: str | None) -> list[str]:
    return [] if value is None else [f"--{name}", value]


def _embedded(profile: str, arguments: list[str]) -> int:
    """Runs the viewer, a process of its own, on a server in this one; gives its exit code."""
    from perfq._core import ApiServer, Plan
    from perfq.drive.definition import module_environment
    from perfq.drive.kubeconfig import write_kubeconfig
    from perfq.profile.workload import resolve_profile

    plan = Plan(resolve_profile(profile).to_json())
    with ApiServer.start({"plan": plan, "start": "watch"}) as server, tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "kubeconfig")
        write_kubeconfig(path, url=server.url, ca_pem=server.ca_pem, token=server.token)
        # The terminal, and with it Ctrl-C, belongs to the viewer.
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            return subprocess.call(
                [sys.executable, "-m", "perfq.viewer", *arguments],
                env={**os.environ, **module_environment(), "KUBECONFIG": str(path)},
            )
        finally:
            signal.signal(signal.SIGINT, before)
