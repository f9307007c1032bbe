"""A client definition (`perfq.client/v1`): what differs between one program in a terminal and another.

A model of a document; nothing is run here.
"""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from perfq.profile.keys import parse_keys


def _regex(pattern: str) -> str:
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"a regular expression ({error})") from error
    return pattern


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Scope(_Part):
    """A LIST+WATCH pair that makes the client ready."""

    resource: str = Field(description="Plural, as in the API path")
    namespace: str = Field(default="", description='"" for all namespaces')


class Screen(_Part):
    """How rows of objects and the cursor are found on the screen."""

    name: str = Field(default="NAME", description="Text of the name column in the header")
    namespace: str | None = Field(default="NAMESPACE", description="The same of the namespace column; null: none")
    required: list[str] = Field(default=["RESTARTS"], description="Further columns that make a line the header")
    row: str | None = Field(
        default=None, description="Where columns do not tell: a pattern with the groups namespace and name"
    )
    cursor: Literal["auto", "reverse", "background", "marker", "text", "none"] = Field(
        default="none", description="How the selected row is told from the others"
    )
    marker: str | None = Field(default=None, description="The text before the selected row, for cursor marker")
    not_cursor: str | None = Field(default=None, description="A pattern of reversed rows that are never the cursor's")
    append: bool = Field(default=False, description="Lines are appended, and the header may scroll away")

    @field_validator("row", "not_cursor")
    @classmethod
    def _is_regex(cls, value: str | None) -> str | None:
        return value if value is None else _regex(value)


class Moves(_Part):
    """The keys that move the cursor by one row: a character, or a name such as down, up, ctrl+n."""

    down: str = "down"
    up: str = "up"


class Scenario(_Part):
    """Keys and the screen that they must lead to."""

    name: str
    keys: str
    expect: str = Field(description="Regular expression of the screen, lines joined by \\n")
    back: str = Field(default="", description="Keys that lead back to the table")
    back_expect: str = Field(default="", description="Regular expression of the screen after that")

    @field_validator("keys", "back")
    @classmethod
    def _are_keys(cls, value: str) -> str:
        parse_keys(value)
        return value

    @field_validator("expect", "back_expect")
    @classmethod
    def _is_regex(cls, value: str) -> str:
        return _regex(value)


class ClientDefinition(_Part):
    """perfq.client/v1"""

    schema_: Literal["perfq.client/v1"] = Field(alias="schema")
    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,62}$")]
    description: str = ""
    command: list[str] = Field(
        default_factory=list, description="The program and its arguments; {python} is perfq's own interpreter"
    )
    environment: dict[str, str] = Field(default_factory=dict)
    ready: str | None = Field(default=None, description="Regular expression of the first screen that takes keys")
    scopes: list[Scope] = Field(default_factory=list, description="None: ready when no new scope opened for 1 s")
    probe: bool = Field(default=False, description="It reports from inside (PERFQ_PROBE)")
    table: bool = Field(default=False, description="It keeps a table and reports its digest (probe)")
    metrics: bool = Field(default=False, description="It polls metrics.k8s.io")
    rows: Literal["always", "maybe", "never"] = Field(
        default="always", description="Whether rows of Pods are on its screen; maybe: it is waited for and not required"
    )
    screen: Screen = Field(default_factory=Screen)
    moves: Moves | None = Field(default=None, description="None: it has no cursor")
    scenarios: list[Scenario] = Field(default_factory=list)

    @field_validator("ready")
    @classmethod
    def _is_regex(cls, value: str | None) -> str | None:
        return value if value is None else _regex(value)

    @property
    def has_cursor(self) -> bool:
        """Whether input can be measured."""
        return self.moves is not None and self.screen.cursor != "none"

    def scenario(self, name: str) -> Scenario | None:
        """The scenario of that name."""
        return next((one for one in self.scenarios if one.name == name), None)

    def failure_kinds(self) -> frozenset[str]:
        """Which injected failures a client of this kind can meet."""
        kinds = {"gone", "throttled"}
        if any(scope.resource == "nodes" for scope in self.scopes):
            kinds.add("forbidden")
        if self.has_cursor:
            kinds.add("slow")
            if self.metrics:
                kinds.add("metrics_unavailable")
        if self.scenario("logs") is not None:
            kinds.add("slow_logs")
        return frozenset(kinds)
