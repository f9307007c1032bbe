"""A run as the contract describes it (docs/reference/samples.md), written line by line.

The lines are those of an ideal client on a real plan: what the plan commits is written after 100 µs,
read after 300 µs and rendered by a frame every 20 ms. Tests take such a run and break one thing.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from perfq._core import Plan
from perfq.measure.client_facts import ClientFacts, ScopeFact, TerminalFacts
from perfq.measure.fold import fold
from perfq.measure.manifest import Anchor, HostFacts, PerfqFacts, TargetFacts
from perfq.measure.replay_manifest import PlanFacts, ReplayManifest, ReplayOptions
from perfq.measure.replay_recorded import ReplayRecorded
from perfq.profile.budgets import Budget

MS = 1_000_000
SECOND = 1_000_000_000
T0 = 1_000 * SECOND
SPAWNED = T0 - 2 * SECOND
BOOT = 7 * SECOND
FIRST_RV = 500_000
WATCHER = 1

Line = dict[str, Any]

VIEWER = ClientFacts(
    name="viewer",
    kind="viewer",
    version="0.1.0",
    argv=["perfq", "view"],
    libraries={"textual": "1.0"},
    has_probe=True,
    has_table=True,
    has_screen=True,
    has_cursor=True,
    scopes=[ScopeFact(resource="pods"), ScopeFact(resource="nodes")],
    cwd="/home/someone/project",
    terminal=TerminalFacts(cols=160, rows=50, environment={"TERM": "xterm-256color", "LANG": "C.UTF-8"}),
)
HEADLESS = VIEWER.replace(name="watch", kind="watch", has_table=False, has_screen=False, has_cursor=False)
KUBECTL = ClientFacts(
    name="kubectl",
    kind="command",
    argv=["kubectl", "get", "pods", "-A", "-w"],
    has_probe=False,
    has_table=False,
    has_screen=True,
    has_ready=False,
    has_cursor=False,
)


def profile(**changes: Any) -> dict[str, Any]:
    """A small profile with a burst: 40 Pods, 20 events/s for 10 s, 100/s in second 4."""
    return {
        "schema_version": 1,
        "id": "small",
        "seed": 186,
        "object_count": 40,
        "namespace_count": 4,
        "steady_events_per_second": 20,
        "duration_seconds": 10,
        "bursts": [{"start_second": 4, "duration_seconds": 1, "events_per_second": 100}],
        "failures": [],
    } | changes


@dataclass
class SyntheticRun:
    """Lines and a manifest, to be changed and written."""

    manifest: ReplayManifest
    plan: Plan
    lines: list[Line] = field(default_factory=list)
    _rv: int = FIRST_RV

    def without(self, unwanted: Callable[[Line], bool]) -> SyntheticRun:
        """The same run without some lines."""
        return replace(self, lines=[line for line in self.lines if not unwanted(line)])

    def mapped(self, change: Callable[[Line], Line]) -> SyntheticRun:
        """The same run with each line changed."""
        return replace(self, lines=[change(dict(line)) for line in self.lines])

    def adding(self, *lines: Line) -> SyntheticRun:
        """The same run with more lines."""
        return replace(self, lines=[*self.lines, *lines])

    def client(self, client: ClientFacts) -> SyntheticRun:
        """The same lines under another kind of client."""
        return replace(self, manifest=self.manifest.replace(client=client))

    def budgeted(self, *budgets: Budget) -> SyntheticRun:
        """The same run, to be judged by these budgets."""
        return replace(self, manifest=self.manifest.replace(budgets=list(budgets)))

    def of(self, k: str) -> list[Line]:
        """The lines of one kind."""
        return [line for line in self.lines if line["k"] == k]

    def text(self) -> str:
        """samples.ndjson."""
        return "".join(json.dumps(line) + "\n" for line in self.lines)

    def write(self, directory: Path) -> Path:
        """Writes manifest and samples into a run directory."""
        directory.mkdir(parents=True, exist_ok=True)
        (directory / "manifest.json").write_text(self.manifest.to_json())
        (directory / "samples.ndjson").write_text(self.text())
        return directory

    def add(self, k: str, t: int, **fields: Any) -> None:
        """Appends a line."""
        self.lines.append({"k": k, "t": t, **fields})

    def said(self, k: str, t: int, **fields: Any) -> None:
        """Appends a line of the client's probe, received 50 µs after it was sent."""
        self.add("probe", t + 50_000, m={"k": k, "t": t, **fields})

    def next_rv(self) -> int:
        """A resourceVersion that was not given before."""
        self._rv += 1
        return self._rv


def replay_of(directory: Path) -> ReplayRecorded:
    """What `fold` gives of a replay's directory."""
    recorded = fold(directory)
    assert isinstance(recorded, ReplayRecorded)
    return recorded


def ideal_run(workload: dict[str, Any] | None = None, *, probes: int = 4, pairs: int = 10) -> SyntheticRun:
    """An ideal viewer on a plan: every figure known, every budget met."""
    run = _ideal_run(json.dumps(workload or profile()), probes, pairs)
    return replace(run, lines=list(run.lines))


@cache
def _ideal_run(workload: str, probes: int, pairs: int) -> SyntheticRun:
    plan = Plan(workload)
    run = SyntheticRun(manifest=_manifest(plan, probes, pairs), plan=plan)
    _start(run)
    commits = _commits(run, probes)
    _deliver(run, commits)
    _press(run, pairs)
    _end(run)
    _sample_processes(run)
    return run


def _manifest(plan: Plan, probes: int, pairs: int) -> ReplayManifest:
    return ReplayManifest(
        run_id="small-1201-120000-abcd",
        command="perfq replay small",
        started_at="2026-01-02T03:04:05.000+00:00",
        anchor=Anchor(wall_ns=1_767_323_045 * SECOND, mono_ns=SPAWNED - SECOND, boot_ns=SPAWNED - SECOND + BOOT),
        plan=PlanFacts.of(plan),
        client=VIEWER,
        target=TargetFacts(kind="embedded", server="https://127.0.0.1:6443", tls=True, pod_bytes=3500),
        host=HostFacts(
            os="Linux", kernel="6.1", cpu="a CPU", cpu_count=2, cpus_allowed=2.0, memory_bytes=2**33, python="3.12.1"
        ),
        perfq=PerfqFacts(version="0.1.0"),
        options=ReplayOptions(input_pairs=pairs, probes=probes, cols=160, rows=50, scenarios=["filter", "sort"]),
    )


def _start(run: SyntheticRun) -> None:
    mark = {"boot": BOOT}
    run.add("mark", SPAWNED, name="spawned", **mark)
    run.said("hello", SPAWNED + 300 * MS, client="viewer", version="0.1.0", libraries={"textual": "1.0"})
    run.said("interactive", SPAWNED + 400 * MS)
    run.add("screen", SPAWNED + 410 * MS, ev="ready", rows=None)
    request = {"group": "", "scope": "", "name": "", "sub": "", "class": "api", "status": 200, "ua": "v", "conn": 1}
    for kind, objects, w in (("pods", run.plan.objects, WATCHER), ("nodes", 5, 2)):
        listed = SPAWNED + 500 * MS
        page = {"bytes": 3500 * objects, "objects": objects, "page": 1, "more": False, "retry_after": None}
        run.add("req", listed - 20 * MS, done=listed, verb="list", kind=kind, **request, **page)
        run.said("list_complete", listed + 5 * MS, kind=kind, scope="", objects=objects)
        opened = {"ev": "open", "group": "", "kind": kind, "scope": "", "from": FIRST_RV, "ua": "v", "conn": 1}
        run.add("watch", listed + 10 * MS, w=w, selector=False, **opened)
        watched = {"bytes": None, "objects": None, "page": None, "more": False, "retry_after": None}
        run.add("req", listed + 9 * MS, done=listed + 10 * MS, verb="watch", kind=kind, **request, **watched)
    run.said("populated", SPAWNED + 800 * MS, kind="pods", scope="", rows=run.plan.objects)
    run.add("screen", SPAWNED + 820 * MS, ev="populated", rows=40)
    run.add("mark", SPAWNED + 900 * MS, name="populated", **mark)
    run.add("mark", T0 + 10_000, name="churn_start", t0=T0, seconds=run.plan.duration_seconds, **mark)


def _commits(run: SyntheticRun, probes: int) -> list[tuple[int, int]]:
    """(rv, committed) of every event, probe events in the middle of quiet tenths of seconds included."""
    happenings: list[tuple[int, str, Line]] = []
    for text in run.plan.emit("events").decode().splitlines():
        event = json.loads(text)
        fields = {"ns": event["namespace"], "name": event["name"], "restarts": event["restarts"]}
        happenings.append((T0 + event["at_ns"], "plan", {"seq": event["seq"], **fields}))
    busy = {(fields["ns"], fields["name"]) for _, _, fields in happenings[: 2 * probes * 20]}
    free = [f"pod-{i:06d}" for i in range(run.plan.objects)]
    quiet = [
        (f"bench-{i % run.plan.namespaces:04d}", name)
        for i, name in enumerate(free)
        if (f"bench-{i % run.plan.namespaces:04d}", name) not in busy
    ] or [("bench-0000", "pod-000000")]
    for i in range(probes):
        ns, name = quiet[i % len(quiet)]
        at = T0 + i * 300 * MS + 25 * MS
        happenings.append((at, "probe", {"seq": i, "ns": ns, "name": name, "restarts": 1_000_000 + i}))
        happenings.append((at + 120 * MS, "restore", {"seq": i, "ns": ns, "name": name, "restarts": 0}))
        run.add("cell", at + 60 * MS, i=i, number=1_000_000 + i)
        run.add("probe_end", at + 110 * MS, i=i, outcome="seen", ns=ns, name=name)
    committed = []
    for at, src, fields in sorted(happenings, key=lambda one: one[0]):
        t, rv = at + 50_000, run.next_rv()
        due = at if src == "plan" else None
        run.add("commit", t, due=due, src=src, rv=rv, type="MODIFIED", **fields)
        committed.append((rv, t))
    return committed


def _deliver(run: SyntheticRun, commits: list[tuple[int, int]]) -> None:
    frames: dict[int, list[int]] = {}
    for rv, t in commits:
        run.add("written", t + 100_000, w=WATCHER, rvs=[rv])
        run.said("event_received", t + 300_000, kind="pods", scope="", rv=str(rv))
        frames.setdefault((t + 300_000) // (20 * MS) + 1, []).append(rv)
    for frame, rvs in frames.items():
        at = frame * 20 * MS
        run.said("rendered", at, kind="pods", scope="", rv=str(rvs[-1]), rows_changed=1)
        if len(rvs) > 1:
            run.said("coalesced", at, kind="pods", scope="", n=len(rvs) - 1)


def _press(run: SyntheticRun, pairs: int) -> None:
    for pair in range(pairs):
        for index, key in enumerate(("down", "up")):
            at = T0 + (2 * pair + index) * 200 * MS + 5 * MS
            run.add("input", at, pair=pair, key=key, seen=at + (20 + pair % 10) * MS, outcome="ok")


def _end(run: SyntheticRun) -> None:
    end = T0 + run.plan.duration_seconds * SECOND
    run.add("mark", end, name="churn_end", boot=BOOT)
    run.said("digest", end + 100 * MS, kind="pods", store=run.plan.final_hash, table=run.plan.final_hash)
    run.add("mark", end + 200 * MS, name="drained", boot=BOOT)
    for index, name in enumerate(("filter", "sort")):
        began = end + (300 + 100 * index) * MS
        run.add("scenario", began, name=name, ok=True, screen=None, done=began + 50 * MS)
    run.add("term", end + 600 * MS, bytes=100_000, chunks=900, frames=500, redraws=2, sync_timeouts=0)
    run.add("mark", end + 700 * MS, name="stopping", boot=BOOT)
    run.add("exit", end + 750 * MS, code=0, signal=None)
    for w in (WATCHER, 2):
        run.add("watch", end + 760 * MS, w=w, ev="end", why="client", events=10, bytes=35_000)
    pods = {"path": "/api/v1/pods", "verb": "list", "requests": 1, "statuses": {"200": 1}, "bytes": 140_000}
    run.add("api", end + 770 * MS, totals={"requests": 1, "operations": [pods]})
    run.add("mark", end + 800 * MS, name="client_stopped", boot=BOOT)


def _sample_processes(run: SyntheticRun) -> None:
    end = T0 + run.plan.duration_seconds * SECOND + 700 * MS
    for tick in range((end - SPAWNED) // (100 * MS)):
        t = SPAWNED + tick * 100 * MS
        run.add("process", t, who="client", cpu_ns=tick * 20 * MS, rss=80 * 2**20 + tick * 1024, procs=1, took=50_000)
        run.add("process", t, who="harness", cpu_ns=tick * 10 * MS, rss=60 * 2**20, procs=1, took=50_000)
        if tick % 10 == 0:
            run.add("host", t, cpus=2, quota_millis=None, throttled_ns=None, memory_limit=None, fds=40, fd_limit=1024)
