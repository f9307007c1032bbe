"""The rules between the fields of a load profile. They read the document as it was written.

A model checks its fields one by one, and not at all how they fit where one of them is wrong; here every rule is
checked whose own fields are sound, so that a document's errors are all named at once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from perfq.profile.document import Broken
from perfq.profile.load.part import MAX_SECONDS
from perfq.profile.load.profile import REQUEST_TYPES
from perfq.profile.shown import show_value
from perfq.profile.tree import Path

#: Resources that perfq can make an object of by itself.
CREATABLE: Final = ("pods", "configmaps")
_PLACEHOLDER: Final = re.compile(r"\{(?:seq|name|namespace|rand:\d{1,7})\}")
_BROKEN_PLACEHOLDER: Final = re.compile(r"\{rand:(?!\d{1,7}\})[^}]{0,20}\}?")
_MAX_RANDOM: Final = 3 << 20
_MAX_SHARES: Final = 2**32 - 1


def broken_rules(profile: Any, at: Path = ()) -> Iterator[Broken]:
    """Every broken rule of a load profile; `at` is where it stands in the document."""
    for index, spec in enumerate(_list(profile, "specs")):
        if isinstance(spec, dict):
            here = (*at, "specs", index)
            yield from _ends(spec, here, first=index == 0)
            yield from _rates(spec, here)
            yield from _drawn(spec, here)


def group_rules(group: Any) -> Iterator[Broken]:
    """Every broken rule of a runner group, those of its load profile with them."""
    if not isinstance(group, dict):
        return
    both = [key for key in ("loadProfile", "replayProfile") if group.get(key) is not None]
    if len(both) != 1:
        got = "both loadProfile and replayProfile" if both else "neither loadProfile nor replayProfile"
        yield (), got, "one of them"
    yield from broken_rules(group.get("loadProfile"), ("loadProfile",))


def _ends(spec: dict[str, Any], here: Path, *, first: bool) -> Iterator[Broken]:
    total, duration = _number(spec, "total"), _number(spec, "duration")
    if not first:
        for key in ("conns", "client"):
            if spec.get(key) is None:
                yield (*here, key), "nothing", "an integer of at least 1 (only the first spec has a default)"
    if spec.get("stages") or duration or duration is None:
        return
    if not spec.get("requests") and spec.get("watch"):
        yield here, "only watches and no duration", "a duration above 0"
    elif total == 0 and not first:
        wanted = "total or duration above 0 (only the first spec has a default, of 1000 requests)"
        yield here, "neither total nor duration", wanted


def _rates(spec: dict[str, Any], here: Path) -> Iterator[Broken]:
    rate, total = _number(spec, "rate"), _number(spec, "total")
    if rate and rate < 1e-6:
        yield (*here, "rate"), show_value(rate), "0 for a closed loop, or at least 0.000001"
    elif rate and total and total / rate > MAX_SECONDS:
        yield (*here, "total"), show_value(total), f"a run of at most 30 days (at {rate:g}/s)"
    stages = _list(spec, "stages")
    if not stages:
        return
    for key in ("rate", "duration"):
        if _number(spec, key):
            yield (*here, "stages"), f"stages and {key}", f"either of them; stages have a {key} of their own"
    ever = False
    for index, stage in enumerate(stages):
        if isinstance(stage, dict):
            given = {key for key in ("rate", "from", "to") if stage.get(key) is not None}
            ever |= any(_number(stage, key) != 0 for key in given)
            if given not in ({"rate"}, {"from", "to"}):
                got = " and ".join(sorted(given)) or "no rate"
                yield (*here, "stages", index), got, "either rate, or from and to"
    if not ever:
        yield (*here, "stages"), "rates of 0 only", "a stage with a rate above 0"


def _drawn(spec: dict[str, Any], here: Path) -> Iterator[Broken]:
    requests = _list(spec, "requests")
    if not requests:
        if not spec.get("watch") and not spec.get("requests"):
            yield (*here, "requests"), "no requests", "at least one of them, or a watch"
        elif _text_or_number(spec, "warmup"):
            yield (*here, "warmup"), "a warm-up without requests", "requests to warm up with"
        return
    shares = [_number(each, "shares") for each in requests]
    known = [share for share in shares if share is not None]
    if not any(known) and len(known) == len(shares):
        yield (*here, "requests"), "shares of 0 only", "a request with shares above 0"
    if sum(known) > _MAX_SHARES:
        yield (*here, "requests"), f"shares that add up to {sum(known)}", f"at most {_MAX_SHARES}"
    for index, request in enumerate(requests):
        if isinstance(request, dict):
            yield from _request(request, (*here, "requests", index))


def _request(request: dict[str, Any], here: Path) -> Iterator[Broken]:
    types = [key for key in REQUEST_TYPES if request.get(key) is not None]
    if len(types) != 1:
        got = f"{' and '.join(types)} at once" if types else "no type of request"
        yield here, got, f"one of {', '.join(REQUEST_TYPES)}"
    for key in types:
        of_type = request[key]
        if isinstance(of_type, dict):
            at = (*here, key)
            if isinstance(of_type.get("body"), str):
                yield from _template(of_type["body"], (*at, "body"))
            if key == "put":
                yield from _put(of_type, at)
            elif key == "postDel":
                yield from _post_del(of_type, at)


def _put(put: dict[str, Any], here: Path) -> Iterator[Broken]:
    if put.get("body") is not None:
        if put.get("payloadSize") is not None:
            yield (*here, "payloadSize"), "a payloadSize and a body", "either of them; {rand:N} in the body is one"
        return
    if _core(put) and put.get("version") == "v1" and put.get("resource") == "configmaps":
        if put.get("payloadSize") is None:
            yield (*here, "payloadSize"), "nothing", "an integer of at least 1, or a body"
        if not put.get("namespace"):
            yield (*here, "namespace"), "no namespace", "that of the ConfigMaps"
    elif isinstance(put.get("resource"), str) and isinstance(put.get("version"), str):
        yield (*here, "resource"), show_value(put["resource"]), "configmaps of v1, or a body for any other"


def _post_del(post: dict[str, Any], here: Path) -> Iterator[Broken]:
    if post.get("body") is not None:
        if post.get("payloadSize"):
            yield (*here, "payloadSize"), "a payloadSize and a body", "either of them; {rand:N} in the body is one"
        elif isinstance(post["body"], str) and "{name}" not in post["body"]:
            yield (*here, "body"), "a body without {name}", "{name} as metadata.name, so that each object is its own"
        return
    if _core(post) and post.get("version") == "v1" and post.get("resource") in CREATABLE:
        if not post.get("namespace"):
            yield (*here, "namespace"), "no namespace", f"that of the {post['resource']}"
    elif isinstance(post.get("resource"), str) and isinstance(post.get("version"), str):
        wanted = f"{' or '.join(CREATABLE)} of v1, or a body for any other"
        yield (*here, "resource"), show_value(post["resource"]), wanted


def _template(body: str, here: Path) -> Iterator[Broken]:
    odd = _BROKEN_PLACEHOLDER.search(body)
    sizes = (int(size) for size in re.findall(r"\{rand:(\d{1,7})\}", body))
    if odd is not None or any(size > _MAX_RANDOM for size in sizes):
        got = show_value(odd[0]) if odd is not None else "a {rand:N} that is too large"
        yield here, got, f"{{rand:N}} with N from 0 to {_MAX_RANDOM}"
        return
    try:
        json.loads(_PLACEHOLDER.sub("1", body))
    except (ValueError, RecursionError):
        yield here, show_value(body), "JSON, with {seq}, {rand:N}, {name} or {namespace} in it"


def _core(resource: dict[str, Any]) -> bool:
    return resource.get("group") in (None, "", "core")


def _list(value: Any, key: str) -> list[Any]:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, list) else []


def _number(value: Any, key: str) -> float | None:
    """The number there, 0 where there is none, None where something else is."""
    found = value.get(key) if isinstance(value, dict) else None
    if found is None:
        return 0
    return found if isinstance(found, (int, float)) and not isinstance(found, bool) else None


def _text_or_number(value: dict[str, Any], key: str) -> bool:
    return value.get(key) not in (None, 0, "0s")
