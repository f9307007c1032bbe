"""One request, sent to a real kube-apiserver and to the embedded server; both answers, made comparable."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

from tests.cluster.testbed.api import Answer, Api

#: Headers that clients look at.
HEADERS = ("Content-Type", "Warning", "Retry-After", "Allow")
_UUID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_VERSION = re.compile(r"[1-9]\d*")
#: Lists of discovery documents, in which a name says more than a place.
_KEYED = {"groups", "resources", "subresources", "paths"}


JSON_PATCH = "application/json-patch+json"
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"


@dataclass(frozen=True)
class Request:
    """What is asked. In `path` and `body`, `{uid}`, `{version}` and `{token}` stand for those last answered."""

    path: str
    method: str = "GET"
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def lasts(self) -> bool:
        """Whether it is a read that takes its second."""
        return self.method == "GET" and "timeoutSeconds=1" in self.path

    def __str__(self) -> str:
        accept = self.headers.get("accept")
        return f"{self.method} {self.path}" + (f" ({accept})" if accept else "")


def get(path: str, **query: str | int) -> Request:
    """A GET; the query is encoded, but for what stands in braces."""
    return Request(path + encoded(query))


def shaped(shape: str, path: str, **query: str | int) -> Request:
    """A GET that asks for a Table, PartialObjectMetadata or PartialObjectMetadataList."""
    return Request(path + encoded(query), headers={"accept": f"application/json;as={shape};v=v1;g=meta.k8s.io"})


def watch(path: str, **query: str | int) -> Request:
    """A WATCH of one second."""
    return get(path, watch=1, timeoutSeconds=1, **query)


def post(path: str, body: Any, **query: str) -> Request:
    """A create."""
    return Request(path + encoded(query), "POST", body)


def put(path: str, body: Any, **query: str) -> Request:
    """An update."""
    return Request(path + encoded(query), "PUT", body)


def patch(kind: str, path: str, body: Any, **query: str) -> Request:
    """A patch of this media type."""
    return Request(path + encoded(query), "PATCH", body, {"content_type": kind})


def delete(path: str, body: Any = None, **query: str) -> Request:
    """A delete, or a deletecollection."""
    return Request(path + encoded(query), "DELETE", body)


def encoded(query: Mapping[str, str | int]) -> str:
    """`?a=b&c=d`, or nothing; braces stay, for what is filled in."""
    return ("?" + urlencode(query, safe="{}", quote_via=quote)) if query else ""


def send(api: Api, request: Request, last: Mapping[str, str]) -> Answer:
    """Sends it to one of the two."""

    def filled(text: str) -> str:
        for name, value in last.items():
            text = text.replace(f"{{{name}}}", value)
        return text

    body = request.body
    if body is not None and not isinstance(body, bytes):
        body = filled(json.dumps(body)).encode()
    return api.ask(filled(request.path), request.method, body, **request.headers)


def of_object(answer: Answer) -> dict[str, str]:
    """The names that later requests may use: the uid, resourceVersion and continue token of an answer."""
    try:
        metadata = answer.json["metadata"]
    except (ValueError, KeyError, TypeError):
        return {}
    names = {"uid": "uid", "version": "resourceVersion", "token": "continue"}
    return {name: metadata[key] for name, key in names.items() if key in metadata}


def comparable(answer: Answer) -> dict[str, Any]:
    """Status, headers and body, with marks for what two servers cannot share: versions, uids, times, tokens."""
    body = _read(answer.body)
    headers = {name: value for name in HEADERS if (value := answer.headers.get(name)) is not None}
    return {"status": answer.status, "headers": headers, "body": marked(body)}


def _read(body: bytes) -> Any:
    """JSON, the events of a watch as a list, or text."""
    try:
        read = json.loads(body)
        return [read] if isinstance(read, dict) and read.keys() == {"type", "object"} else read
    except ValueError:
        pass
    try:
        return [json.loads(line) for line in body.splitlines()]
    except ValueError:
        return body.decode(errors="replace")


def marked(value: Any, key: str = "") -> Any:
    """The value with its volatile parts replaced by what they are."""
    if isinstance(value, dict):
        value = {name: marked(inner, name) for name, inner in value.items()}
        if value.get("kind") == "Table":
            _mark_ages(value)
        if value.get("kind") == "APIGroupDiscoveryList":
            value["items"] = {item["metadata"].get("name", ""): item for item in value["items"]}
        if value.get("generateName") and value.get("name", "").startswith(value["generateName"]):
            value["name"] = "<generated>"
        for name in _KEYED & value.keys():
            value[name] = _keyed(value[name])
        return value
    if isinstance(value, list):
        return [marked(inner, key) for inner in value]
    if not isinstance(value, str):
        return value
    if key == "resourceVersion" and _VERSION.fullmatch(value):
        return "<version>"
    if key == "continue" and value:
        return "<token>"
    if key == "serverAddress":
        return "<address>"
    return _TIME.sub("<time>", _UUID.sub("<uid>", value))


def _keyed(entries: Any) -> Any:
    """The list as an object with the entries' names for keys; other values stay as they are."""
    if not isinstance(entries, list):
        return entries

    def name_of(entry: Any) -> Any:
        keys = ("name", "resource", "subresource")
        return next((entry[key] for key in keys if key in entry), None) if isinstance(entry, dict) else entry

    names = [name_of(entry) for entry in entries]
    return dict(zip(names, entries, strict=True)) if all(isinstance(name, str) for name in names) else entries


def _mark_ages(table: dict[str, Any]) -> None:
    columns = [column["name"] for column in table.get("columnDefinitions") or []]
    for row in table.get("rows") or []:
        for i, name in enumerate(columns):
            if name in ("Age", "Last Seen", "First Seen") and i < len(row["cells"]):
                row["cells"][i] = re.sub(r"\d+[smhdy]", "<age>", str(row["cells"][i]))
