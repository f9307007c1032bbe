"""The manifest of a replay: everything that judging needs and the samples do not say."""

from __future__ import annotations

import datetime
import os
import shlex
from typing import TYPE_CHECKING, Literal

from perfq.drive.environment import DRAWING
from perfq.measure.client_facts import ClientFacts, ScopeFact, TerminalFacts
from perfq.measure.manifest import Anchor, HostFacts, PerfqFacts, TargetFacts
from perfq.measure.replay_manifest import PlanFacts, ReplayManifest, ReplayOptions

if TYPE_CHECKING:
    from perfq.replay import options as asked


def build_manifest(options: asked.ReplayOptions) -> ReplayManifest:
    """The manifest as it is written before anything starts."""
    client = options.client
    kind: Literal["viewer", "watch", "command"] = "command"
    if client.name in ("viewer", "watch"):
        kind = client.name  # type: ignore[assignment]
    return ReplayManifest(
        run_id=options.run_id,
        command=shlex.join(options.command),
        started_at=datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds"),
        anchor=Anchor.now(),
        plan=PlanFacts.of(options.plan),
        client=ClientFacts(
            name=client.name,
            kind=kind,
            argv=list(options.argv),
            has_probe=client.probe,
            has_table=client.table,
            has_screen=client.rows != "never",
            has_cursor=client.has_cursor,
            has_ready=client.probe or client.ready is not None,
            scopes=[ScopeFact(resource=s.resource, namespace=s.namespace) for s in client.scopes],
            cwd=os.getcwd(),  # noqa: PTH109 - a name to be read, not a path to be used
            terminal=TerminalFacts(cols=options.size.cols, rows=options.size.rows, environment=DRAWING),
        ),
        target=TargetFacts(kind="embedded", tls=True),
        host=HostFacts.here(),
        perfq=PerfqFacts.here(),
        options=ReplayOptions(
            input_pairs=options.pairs if client.has_cursor else 0,
            probes=options.probes if client.rows != "never" else 0,
            scenarios=[one.name for one in client.scenarios] if options.scenarios else [],
            cols=options.size.cols,
            rows=options.size.rows,
            max_time_s=options.limits.max_time_s,
            cpu_profile=options.profiler is not None,
            allocations=options.allocations,
            linked_run=options.linked_run,
        ),
        budgets=list(options.budgets),
    )
