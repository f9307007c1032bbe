"""An input, whatever it holds → a planned load."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from perfq.errors import UsageError
from perfq.load.at_hand import LARGEST_DOCUMENT, Input, Replayed
from perfq.load.from_profile import planned_profile
from perfq.load.from_requests import TIMEOUT_MS, open_requests, planned_requests
from perfq.load.planned import PlannedLoad, Remark
from perfq.load.rewriting import asked, reading_options
from perfq.load.shape import Shape
from perfq.load.told import tell
from perfq.measure.load.manifest import InputFacts
from perfq.profile.load.reading import LoadDocument, load_document
from perfq.profile.override import Override
from perfq.profile.source import Source, read_source


def read_input(found: Input, given: Mapping[str, Any]) -> PlannedLoad:
    """Checks everything that can be checked without a target. UsageError (2) with every error, one a line."""
    if tell(found.path, found.name) == "requests":
        _refuse_overrides(given)
        options = reading_options(given)
        opened = open_requests(found.path, found.name, options)
        return planned_requests((found.path, found.name), opened, Shape.of(given), options)
    source = read_source(found.path, LARGEST_DOCUMENT, found.name)
    document = load_document(source, allow_unknown=given["allow_unknown"], overrides=_overrides(given))
    if document.profile is not None:
        flag = asked(given)
        if flag is not None:
            raise UsageError(f"{flag}: is for recordings; this input is a load profile")
        return planned_profile(source, document, Shape.of(given))
    assert found.replayed is not None
    _refuse_overrides(given)
    if found.replayed.path is None:
        return _not_fetched(source, document, found.replayed)
    return _replaying_group(document, found.replayed.path, found.replayed.name, given)


def _replaying_group(document: LoadDocument, path: Path, name: str, given: Mapping[str, Any]) -> PlannedLoad:
    """A group's runners share the requests of its replay profile, whose runnerCount they have to be."""
    options = reading_options(given)
    opened = open_requests(path, name, options)
    said = (opened["spec"] or {}).get("runnerCount")
    if said is not None and document.count is not None and said != document.count:
        origin = document.positions.origin(("count",))
        raise UsageError(f"{origin}: count: got {document.count}, expected {said}, the runnerCount of {name}")
    shape = Shape.of({**given, "runners": given["runners"] or document.count})
    return planned_requests((path, name), opened, shape, options)


def _not_fetched(source: Source, document: LoadDocument, replayed: Replayed) -> PlannedLoad:
    """A group that is well itself; what it replays is not known."""
    digest = hashlib.sha256(source.data).hexdigest()
    facts = InputFacts(kind="runner group", name=source.name, bytes=len(source.data), sha256=digest)
    remark = Remark(
        f"{document.count} runners replay {replayed.name}, which was not fetched", "add --fetch to check it"
    )
    return PlannedLoad(facts=facts, segments=(), timeout_ms=TIMEOUT_MS, verbs={}, remarks=[remark])


def _refuse_overrides(given: Mapping[str, Any]) -> None:
    """A list of requests has no fields to set and nothing to draw."""
    for flag, there in (("--set", given["assignments"]), ("--seed", given["seed"] is not None)):
        if there:
            raise UsageError(f"{flag}: is for load profiles; this input lists its requests")


def _overrides(given: Mapping[str, Any]) -> list[Override]:
    overrides = list(given["assignments"])
    if given["seed"] is not None:
        overrides.append(Override(("seed",), given["seed"], "--seed"))
    return overrides
