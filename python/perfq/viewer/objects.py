"""What is decoded of an object, and the compact records that are kept of it.

Only the needed fields are read from the wire (msgspec skips the rest); what is kept is one small
record an object, with repeated text shared.
"""

from __future__ import annotations

from calendar import timegm
from sys import intern

import msgspec

__all__ = ["Key", "Meta", "NodeRecord", "PodRecord", "Record", "decode_node", "decode_pod", "epoch_seconds"]

#: (namespace, name); the namespace of a cluster-scoped object is "".
Key = tuple[str, str]


class PodRecord(msgspec.Struct, frozen=True, gc=False):
    """A Pod as the store keeps it. `created` is in seconds since the epoch, 0 where unknown."""

    namespace: str
    name: str
    phase: str
    ready: str
    status: str
    restarts: int
    node: str
    created: int

    @property
    def key(self) -> Key:
        """Its key."""
        return (self.namespace, self.name)


class NodeRecord(msgspec.Struct, frozen=True, gc=False):
    """A node as the store keeps it."""

    namespace: str
    name: str
    status: str
    roles: str
    version: str
    created: int

    @property
    def key(self) -> Key:
        """Its key."""
        return (self.namespace, self.name)


Record = PodRecord | NodeRecord


class Meta(msgspec.Struct, gc=False):
    """The part of `metadata` that is read."""

    name: str = ""
    namespace: str = ""
    resourceVersion: str = ""
    creationTimestamp: str | None = None
    deletionTimestamp: str | None = None


class _Waiting(msgspec.Struct, gc=False):
    reason: str = ""


class _Terminated(msgspec.Struct, gc=False):
    reason: str = ""
    exitCode: int = 0
    signal: int = 0


class _Running(msgspec.Struct, gc=False):
    pass


class _State(msgspec.Struct, gc=False):
    waiting: _Waiting | None = None
    terminated: _Terminated | None = None
    running: _Running | None = None


class _ContainerStatus(msgspec.Struct, gc=False):
    name: str = ""
    ready: bool = False
    restartCount: int = 0
    started: bool | None = None
    state: _State | None = None


class _Container(msgspec.Struct, gc=False):
    name: str = ""
    restartPolicy: str = ""


class _PodSpec(msgspec.Struct, gc=False):
    nodeName: str = ""
    containers: list[_Container] | None = None
    initContainers: list[_Container] | None = None


class _Condition(msgspec.Struct, gc=False):
    type: str = ""
    status: str = ""
    reason: str = ""


class _PodStatus(msgspec.Struct, gc=False):
    phase: str = ""
    reason: str = ""
    conditions: msgspec.Raw = msgspec.Raw()
    containerStatuses: list[_ContainerStatus] | None = None
    initContainerStatuses: list[_ContainerStatus] | None = None


class Pod(msgspec.Struct, gc=False):
    """The part of a Pod that is read."""

    metadata: Meta
    spec: _PodSpec = msgspec.field(default_factory=_PodSpec)
    status: _PodStatus = msgspec.field(default_factory=_PodStatus)


class _NodeMeta(msgspec.Struct, gc=False):
    name: str = ""
    resourceVersion: str = ""
    creationTimestamp: str | None = None
    labels: dict[str, str] | None = None


class _NodeSpec(msgspec.Struct, gc=False):
    unschedulable: bool = False


class _NodeInfo(msgspec.Struct, gc=False):
    kubeletVersion: str = ""


class _NodeStatus(msgspec.Struct, gc=False):
    conditions: list[_Condition] | None = None
    nodeInfo: _NodeInfo | None = None


class Node(msgspec.Struct, gc=False):
    """The part of a node that is read."""

    metadata: _NodeMeta
    spec: _NodeSpec = msgspec.field(default_factory=_NodeSpec)
    status: _NodeStatus = msgspec.field(default_factory=_NodeStatus)


_conditions = msgspec.json.Decoder(list[_Condition] | None)
_ROLE_PREFIX = "node-role.kubernetes.io/"
_epochs: dict[str, int] = {}


def epoch_seconds(timestamp: str | None) -> int:
    """Seconds since the epoch of an RFC 3339 UTC time; 0 where there is none or it is not one."""
    if not timestamp:
        return 0
    known = _epochs.get(timestamp)
    if known is not None:
        return known
    try:
        date, clock = timestamp[:10].split("-"), timestamp[11:19].split(":")
        seconds = timegm((int(date[0]), int(date[1]), int(date[2]), *(int(part) for part in clock)))
    except (ValueError, IndexError):
        seconds = 0
    if len(_epochs) > 10_000:
        _epochs.clear()
    _epochs[timestamp] = seconds
    return seconds


def _has_condition(status: _PodStatus, kind: str) -> bool:
    raw = bytes(status.conditions)
    found = _conditions.decode(raw) if raw else None
    return any(one.type == kind and one.status == "True" for one in found or ())


def _ended(terminated: _Terminated) -> str:
    if terminated.reason:
        return terminated.reason
    return f"Signal:{terminated.signal}" if terminated.signal else f"ExitCode:{terminated.exitCode}"


def _initialising(status: _PodStatus, sidecars: set[str], inits: int) -> tuple[str | None, int, int, int]:
    """(Init:… or None once initialised, ready sidecars, restarts, restarts of sidecars)."""
    ready = restarts = sidecar_restarts = 0
    for i, container in enumerate(status.initContainerStatuses or ()):
        restarts += container.restartCount
        sidecar = container.name in sidecars
        if sidecar:
            sidecar_restarts += container.restartCount
        state = container.state or _State()
        if state.terminated and state.terminated.exitCode == 0:
            continue
        if sidecar and container.started:
            ready += container.ready
            continue
        if state.terminated:
            return f"Init:{_ended(state.terminated)}", ready, restarts, sidecar_restarts
        if state.waiting and state.waiting.reason not in ("", "PodInitializing"):
            return f"Init:{state.waiting.reason}", ready, restarts, sidecar_restarts
        return f"Init:{i}/{inits}", ready, restarts, sidecar_restarts
    return None, ready, restarts, sidecar_restarts


def _containers(status: _PodStatus, reason: str) -> tuple[str, int, int]:
    """(STATUS, ready containers, restarts) of the containers proper."""
    running = False
    ready = restarts = 0
    for container in reversed(status.containerStatuses or ()):
        restarts += container.restartCount
        state = container.state
        if state is None:
            continue
        if state.waiting is not None and state.waiting.reason:
            reason = state.waiting.reason
        elif state.terminated is not None:
            reason = _ended(state.terminated)
        elif container.ready and state.running is not None:
            running = True
            ready += 1
    if reason == "Completed" and running:
        reason = "Running" if _has_condition(status, "Ready") else "NotReady"
    return reason, ready, restarts


def decode_pod(pod: Pod) -> PodRecord:
    """The record of a Pod; READY, STATUS and RESTARTS as kubectl prints them (printers of Kubernetes)."""
    meta, spec, status = pod.metadata, pod.spec, pod.status
    reason = status.reason or status.phase
    restarts = ready = 0
    total = len(spec.containers or ())
    init = None
    if spec.initContainers:
        sidecars = {one.name for one in spec.initContainers if one.restartPolicy == "Always"}
        total += len(sidecars)
        init, ready, restarts, kept = _initialising(status, sidecars, len(spec.initContainers))
        if init is None or _has_condition(status, "Initialized"):
            restarts = kept
        if init is not None:
            reason = init
    if init is None or _has_condition(status, "Initialized"):
        reason, started, again = _containers(status, reason)
        ready += started
        restarts += again
    if meta.deletionTimestamp is not None:
        if status.reason == "NodeLost":
            reason = "Unknown"
        elif status.phase not in ("Succeeded", "Failed"):
            reason = "Terminating"
    return PodRecord(
        intern(meta.namespace),
        meta.name,
        intern(status.phase),
        intern(f"{ready}/{total}"),
        intern(reason),
        restarts,
        intern(spec.nodeName),
        epoch_seconds(meta.creationTimestamp),
    )


def decode_node(node: Node) -> NodeRecord:
    """The record of a node; STATUS and ROLES as kubectl prints them."""
    ready = "Unknown"
    for condition in node.status.conditions or ():
        if condition.type == "Ready":
            ready = "Ready" if condition.status == "True" else "NotReady"
    if node.spec.unschedulable:
        ready += ",SchedulingDisabled"
    labels = node.metadata.labels or {}
    roles = sorted(key[len(_ROLE_PREFIX) :] for key in labels if key.startswith(_ROLE_PREFIX))
    version = node.status.nodeInfo.kubeletVersion if node.status.nodeInfo else ""
    return NodeRecord(
        "",
        node.metadata.name,
        intern(ready),
        intern(",".join(roles) or "<none>"),
        intern(version),
        epoch_seconds(node.metadata.creationTimestamp),
    )
