"""The client under test, as manifest and result tell it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from perfq.measure.document import Document


class ScopeFact(Document):
    """A LIST+WATCH pair that makes the client ready."""

    resource: str = Field(description="Plural, as in the API path")
    namespace: str = Field(default="", description='"" for all namespaces')


class TerminalFacts(Document):
    """The terminal that the client was given: it changes what clients draw."""

    cols: int
    rows: int
    environment: dict[str, str] = Field(default_factory=dict, description="What was set for drawing: TERM, LANG, …")


class ClientFacts(Document):
    """The client under test, and what a client of its kind can tell."""

    name: str
    kind: Literal["viewer", "watch", "command"]
    version: str | None = None
    commit: str | None = None
    argv: list[str]
    libraries: dict[str, str] = Field(default_factory=dict)
    has_probe: bool = Field(description="It reports from inside: received, rendered, digests")
    has_table: bool = Field(description="It keeps a table, so that a digest of it exists (probe only)")
    has_screen: bool = Field(description="It shows rows of objects that are recognised on the terminal")
    has_ready: bool = Field(default=True, description="It says, or its definition tells, when it takes keys")
    has_cursor: bool = Field(description="Its cursor is recognised, so that input can be measured")
    scopes: list[ScopeFact] = Field(default_factory=list)
    cwd: str | None = Field(default=None, description="Where it was started")
    terminal: TerminalFacts | None = None
