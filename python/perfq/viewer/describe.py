"""An object as text for people: what matters first, then all of it; then its events."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

__all__ = ["describe"]

#: Fields that only machines read.
_HIDDEN = frozenset({"managedFields"})


def describe(found: Mapping[str, Any], events: Sequence[Mapping[str, Any]]) -> list[str]:
    """The lines for an object and its events."""
    meta = found.get("metadata") or {}
    lines = [f"{'Name:':<16}{meta.get('name', '')}"]
    if meta.get("namespace"):
        lines.append(f"{'Namespace:':<16}{meta['namespace']}")
    lines += _summary(found)
    for title, of in (("Labels:", meta.get("labels")), ("Annotations:", meta.get("annotations"))):
        pairs = [f"{key}={value}" for key, value in sorted((of or {}).items())] or ["<none>"]
        lines += [f"{title if i == 0 else '':<16}{pair}" for i, pair in enumerate(pairs)]
    for section in ("spec", "status"):
        if found.get(section):
            lines += [f"{section.capitalize()}:", *_tree(found[section], "  ")]
    lines.append("Events:" if events else "Events:         <none>")
    return lines + [_event(event) for event in events]


def _summary(found: Mapping[str, Any]) -> Iterator[str]:
    spec, status = found.get("spec") or {}, found.get("status") or {}
    facts = {
        "Node:": spec.get("nodeName"),
        "Created:": (found.get("metadata") or {}).get("creationTimestamp"),
        "Status:": status.get("phase"),
        "Reason:": status.get("reason"),
        "IP:": status.get("podIP"),
    }
    for title, value in facts.items():
        if value:
            yield f"{title:<16}{value}"
    for container in status.get("containerStatuses") or ():
        state = ", ".join((container.get("state") or {}).keys()) or "unknown"
        yield (
            f"{'Container:':<16}{container.get('name')}  {state}  ready {str(container.get('ready')).lower()}"
            f"  restarts {container.get('restartCount')}  {container.get('image')}"
        )
    for condition in status.get("conditions") or ():
        why = f"  {condition['reason']}" if condition.get("reason") else ""
        yield f"{'Condition:':<16}{condition.get('type')} {condition.get('status')}{why}"


def _tree(value: Any, indent: str) -> Iterator[str]:
    """Nested values as indented lines, in the manner of YAML."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if key in _HIDDEN:
                continue
            if isinstance(inner, Mapping | list) and inner:
                yield f"{indent}{key}:"
                yield from _tree(inner, indent + "  ")
            else:
                yield f"{indent}{key}: {_scalar(inner)}"
    else:
        for inner in value:
            if isinstance(inner, Mapping | list) and inner:
                first, *others = _tree(inner, indent + "  ")
                yield f"{indent}- {first.strip()}"
                yield from others
            else:
                yield f"{indent}- {_scalar(inner)}"


def _scalar(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if value is None:
        return "null"
    return "{}" if value == {} else str(value)


def _event(event: Mapping[str, Any]) -> str:
    when = event.get("lastTimestamp") or event.get("eventTime") or ""
    count = event.get("count") or 1
    what = f"{event.get('type', ''):<9}{event.get('reason', ''):<20}"
    return f"  {when:<28}{what}x{count}  {event.get('message', '')}"
