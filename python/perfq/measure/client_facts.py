"""The client under test, as manifest and result tell it."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, field

from perfq.measure.document import Document


class ScopeFact(Document):
    """A LIST+WATCH pair that makes the client ready."""

    resource: Annotated[str, Meta(description="Plural, as in the API path")]
    namespace: Annotated[str, Meta(description='"" for all namespaces')] = ""


class TerminalFacts(Document):
    """The terminal that the client was given: it changes what clients draw."""

    cols: int
    rows: int
    environment: Annotated[dict[str, str], Meta(description="What was set for drawing: TERM, LANG, …")] = field(
        default_factory=dict
    )


class ClientFacts(Document):
    """The client under test, and what a client of its kind can tell."""

    name: str
    kind: Literal["viewer", "watch", "command"]
    version: str | None = None
    commit: str | None = None
    argv: list[str]
    libraries: dict[str, str] = field(default_factory=dict)
    has_probe: Annotated[bool, Meta(description="It reports from inside: received, rendered, digests")]
    has_table: Annotated[bool, Meta(description="It keeps a table, so that a digest of it exists (probe only)")]
    has_screen: Annotated[bool, Meta(description="It shows rows of objects that are recognised on the terminal")]
    has_ready: Annotated[bool, Meta(description="It says, or its definition tells, when it takes keys")] = True
    has_cursor: Annotated[bool, Meta(description="Its cursor is recognised, so that input can be measured")]
    scopes: list[ScopeFact] = field(default_factory=list)
    cwd: Annotated[str | None, Meta(description="Where it was started")] = None
    terminal: TerminalFacts | None = None
