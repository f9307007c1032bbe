"""A spec of a load profile → the core's MixSpec: paths, queries and bodies as kperf's request builders make them.

The form is that of `rust/core/src/load/mix/spec.rs`: integers only (microseconds, millionths), no defaults left open.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

from perfq.profile.load.profile import REQUEST_TYPES, Impersonate, Spec, Watch, WeightedRequest
from perfq.profile.load.requests import (
    GetPodLogRequest,
    GetRequest,
    ListRequest,
    PatchRequest,
    PostDelRequest,
    PutRequest,
    Resource,
    WatchListRequest,
)

MixSpec = dict[str, Any]


class Stage(NamedTuple):
    """A stretch of time and its rate; without a duration the total ends it."""

    duration_us: int | None
    from_micros: int
    to_micros: int


_PATCH_TYPES: Final = {
    "json": "application/json-patch+json",
    "merge": "application/merge-patch+json",
    "strategic-merge": "application/strategic-merge-patch+json",
}
_JSON: Final = "application/json"
#: A streaming list: WATCH with the objects of now first, then a bookmark.
_INITIAL_EVENTS: Final = {"resourceVersionMatch": "NotOlderThan", "sendInitialEvents": "true"}
_WATCH: Final = {"allowWatchBookmarks": "true", "watch": "true"}


@dataclass(frozen=True, slots=True)
class Draws:
    """What a spec is drawn with: how often and when, from which seed. As the core has it, per runner."""

    seed: int
    segment: int
    total: int | None
    stages: Sequence[Stage]


def mix_of(spec: Spec, draws: Draws) -> MixSpec:
    """What the core draws this spec's requests from."""
    return {
        "seed": draws.seed,
        "segment": draws.segment,
        "salt": None,
        "arrival": spec.arrival,
        "stages": [stage._asdict() for stage in draws.stages],
        "total": draws.total,
        "requests": [
            {
                "shares": request.shares,
                "request": _shape(request, f"perfq-{draws.segment}-{index}"),
                **_headers(spec, request),
            }
            for index, request in enumerate(spec.requests)
        ],
        "watches": [_open_watches(spec, watch) for watch in spec.watch],
    }


def salted(options: Mapping[str, Any], salt: str) -> dict[str, Any]:
    """A segment's options, for the run of that name (of `a-z0-9-`): the names of objects that it makes have it in them,
    so that a second run on the same server does not meet those of the first. A plan is without."""
    mix = options["source"].get("mix")
    return {**options, "source": {"mix": {**mix, "salt": salt}}} if mix is not None else dict(options)


def rate_micros(rate: float) -> int:
    """A rate in millionths of a request a second, of the decimal number that was written."""
    return round(Fraction(str(rate)) * 1_000_000)


def collection(resource: Resource) -> str:
    """`/api/v1/namespaces/default/pods`."""
    group = "" if resource.group == "core" else resource.group
    place = ["apis", group, resource.version] if group else ["api", resource.version]
    if resource.namespace:
        place += ["namespaces", resource.namespace]
    return "/" + "/".join([*place, resource.resource])


def _shape(request: WeightedRequest, prefix: str) -> dict[str, Any]:
    key = next(key for key in REQUEST_TYPES if getattr(request, _ATTRIBUTES[key]) is not None)
    given = getattr(request, _ATTRIBUTES[key])
    stale = {"resourceVersion": "0"} if key in ("staleList", "staleGet") else {}
    if isinstance(given, ListRequest):
        limit = {"limit": str(given.limit)} if given.limit else {}
        return _plain("LIST", given, query={**_selectors(given), **limit, **stale})
    if isinstance(given, WatchListRequest):
        query = {**_selectors(given), **_WATCH, **_INITIAL_EVENTS}
        return _plain("WATCH", given, query=query, until_initial_bookmark=True)
    if isinstance(given, GetRequest):
        return _plain("GET", given, query=stale, **_named(given))
    if isinstance(given, PutRequest):
        body = given.body or _config_map(given.payload_size or 0)
        return _plain("UPDATE", given, **_named(given), content_type=_JSON, body=body)
    if isinstance(given, PatchRequest):
        return _plain(
            "PATCH", given, **_named(given), content_type=_PATCH_TYPES[given.patch_type], body=given.body.strip()
        )
    if isinstance(given, PostDelRequest):
        return _create_delete(given, prefix)
    return _pod_log(given)


_ATTRIBUTES: Final = {str(field.alias): name for name, field in WeightedRequest.model_fields.items()}


def _named(given: GetRequest | PutRequest | PatchRequest) -> dict[str, Any]:
    return {"name": given.name, "key_space": given.key_space_size}


def _plain(verb: str, resource: Resource, *, query: Mapping[str, str] | None = None, **more: Any) -> dict[str, Any]:
    return {
        "shape": "plain",
        "verb": verb,
        "collection": collection(resource),
        "namespace": resource.namespace,
        "query": _query(query or {}),
        **more,
    }


def _create_delete(given: PostDelRequest, prefix: str) -> dict[str, Any]:
    group = "" if given.group in ("", "core") else f".{given.group}"
    made = {"pods": _pod, "configmaps": _config_map}.get(given.resource)
    body = given.body if given.body is not None or made is None else made(given.payload_size)
    return {
        "shape": "create_delete",
        "collection": collection(given),
        "namespace": given.namespace,
        "kind": f"{given.resource}{group}",
        "prefix": given.name or prefix,
        "salted": given.name is None,
        "delete_millionths": rate_micros(given.delete_ratio),
        "body": body,
    }


def _pod_log(given: GetPodLogRequest) -> dict[str, Any]:
    query = {"container": given.container, "tailLines": given.tail_lines, "limitBytes": given.limit_bytes}
    return {
        "shape": "plain",
        "verb": "GET",
        "collection": f"/api/v1/namespaces/{given.namespace}/pods",
        "namespace": given.namespace,
        "name": given.name,
        "subresource": "log",
        "query": _query({key: str(value) for key, value in query.items() if value not in (None, "")}),
    }


def _config_map(payload: int) -> str:
    return _object("v1", "ConfigMap", data={"payload": _random(payload)})


def _pod(payload: int) -> str:
    container: dict[str, Any] = {"name": "pause", "image": "registry.k8s.io/pause:3.10"}
    if payload:
        container["env"] = [{"name": "PAYLOAD", "value": _random(payload)}]
    return _object("v1", "Pod", spec={"containers": [container]})


def _object(version: str, kind: str, **rest: Any) -> str:
    metadata = {"name": "{name}", "namespace": "{namespace}", "labels": {"app.kubernetes.io/managed-by": "perfq"}}
    return json.dumps({"apiVersion": version, "kind": kind, "metadata": metadata, **rest}, separators=(",", ":"))


def _random(count: int) -> str:
    return f"{{rand:{count}}}" if count else ""


def _open_watches(spec: Spec, watch: Watch) -> dict[str, Any]:
    # Without initial events a watch from 0 begins with what the server's cache holds, as an informer's does.
    start = _INITIAL_EVENTS if watch.send_initial_events else {"resourceVersion": "0"}
    return {
        "count": watch.count,
        "over_us": watch.over,
        "collection": collection(watch),
        "query": _query({**_selectors(watch), **_WATCH, **start}),
        **_headers(spec, watch),
    }


def _selectors(given: ListRequest | WatchListRequest | Watch) -> dict[str, str]:
    wanted = {"labelSelector": given.selector, "fieldSelector": given.field_selector}
    return {key: selector for key, selector in wanted.items() if selector}


def _query(parameters: Mapping[str, str]) -> str | None:
    """Sorted by key and escaped as client-go does."""
    return urlencode(sorted(parameters.items())) or None


def _headers(spec: Spec, inner: WeightedRequest | Watch) -> dict[str, Any]:
    """Those of the spec under those of the request; a request's own impersonation replaces the spec's whole."""
    named: dict[str, tuple[str, str]] = {}
    for headers in (spec.headers, inner.headers):
        named |= {name.lower(): (name, value) for name, value in headers.items()}
    agent = named.pop("user-agent", None)
    whom: Impersonate | None = inner.impersonate or spec.impersonate
    sent = [*named.values(), *(whom.headers() if whom is not None else ())]
    return {"headers": [list(header) for header in sent], "user_agent": agent[1] if agent else None}
