"""The manifest of a load: everything that judging needs and the samples do not say."""

from __future__ import annotations

import datetime
import shlex

from perfq.load.options import LoadOptions
from perfq.measure.load.manifest import LoadManifest
from perfq.measure.load.manifest import LoadOptions as LoadFacts
from perfq.measure.manifest import Anchor, HostFacts, PerfqFacts


def build_manifest(options: LoadOptions) -> LoadManifest:
    """The manifest as it is written before anything starts."""
    planned, target = options.planned, options.target
    return LoadManifest(
        run_id=options.run_id,
        command=shlex.join(options.command),
        started_at=datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds"),
        anchor=Anchor.now(),
        target=target.facts,
        host=HostFacts.here(),
        perfq=PerfqFacts.here(),
        budgets=list(options.budgets),
        input=planned.facts,
        segments=[one.facts for one in planned.segments],
        options=LoadFacts(
            timeout_ms=options.timeout_ms,
            watch_timeout_ms=options.watch_timeout_ms,
            grace_ms=options.grace_ms,
            overload=options.overload,
            ordering=options.ordering,
            seed=planned.seed,
            raw_data=options.raw_data,
            max_time_s=options.limits.max_time_s,
            verbs={verb: count for verb, count in planned.verbs.items() if count is not None},
        ),
        object_hash=None if target.plan is None else target.plan.object_hash,
        notes=[one.text + (f"; {one.advice}" if one.advice else "") for one in planned.remarks],
    )
