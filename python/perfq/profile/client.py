"""A client definition (`perfq.client/v1`): what differs between one program in a terminal and another.

A model of a document; nothing is run here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator, model_validator

from perfq.profile.keys import key_name, parse_keys


def _pattern(pattern: str) -> str:
    from perfq._core import pattern_error

    error = pattern_error(pattern)
    if error is not None:
        raise ValueError(f"a regular expression in the syntax of Rust's regex crate ({' '.join(error.split())})")
    return pattern


def _keys(text: str) -> str:
    parse_keys(text)
    return text


#: The terminal engine's own syntax: what is accepted here is what it can use.
Pattern = Annotated[str, AfterValidator(_pattern)]
Keys = Annotated[str, AfterValidator(_keys)]
Key = Annotated[str, AfterValidator(key_name)]


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
    row: Pattern | None = Field(
        default=None, description="Where columns do not tell: a pattern with the groups namespace and name"
    )
    cursor: Literal["auto", "reverse", "background", "marker", "text", "none"] = Field(
        default="none", description="How the selected row is told from the others"
    )
    marker: str | None = Field(default=None, description="The text before the selected row, for cursor marker")
    not_cursor: Pattern | None = Field(
        default=None, description="A pattern of reversed rows that are never the cursor's"
    )
    append: bool = Field(default=False, description="Lines are appended, and the header may scroll away")

    @model_validator(mode="after")
    def _parts_fit(self) -> Screen:
        if self.cursor == "marker" and not self.marker:
            raise ValueError("a marker, since the cursor is one (cursor: marker)")
        if self.row is not None and "(?P<name>" not in self.row:
            raise ValueError("a pattern `row` with the group (?P<name>…)")
        return self


class Moves(_Part):
    """The keys that move the cursor by one row: a character, or a name such as down, up, ctrl+n."""

    down: Key = Field(default="down", description="To the next row")
    up: Key = Field(default="up", description="To the row before")


class Scenario(_Part):
    """Keys and the screen that they must lead to."""

    name: str = Field(description="Its name in reports; `logs` is the one that slow_logs needs")
    keys: Keys = Field(description="As they are typed; special ones in brackets: /web<Enter>")
    expect: Pattern = Field(description="Regular expression of the screen, lines joined by \\n")
    back: Keys = Field(default="", description="Keys that lead back to the table")
    back_expect: Pattern = Field(default="", description="Regular expression of the screen after that")


def _once(names: Iterable[str]) -> bool:
    listed = list(names)
    return len(set(listed)) == len(listed)


class ClientDefinition(_Part):
    """perfq.client/v1"""

    schema_: Literal["perfq.client/v1"] = Field(alias="schema", description="The name of this format")
    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,62}$", description="What reports call the client")]
    description: str = Field(default="", description="One line for `perfq client list`")
    command: list[str] = Field(
        default_factory=list, description="The program and its arguments; {python} is perfq's own interpreter"
    )
    environment: dict[str, str] = Field(default_factory=dict, description="Variables beside those that perfq sets")
    ready: Pattern | None = Field(default=None, description="Regular expression of the first screen that takes keys")
    scopes: list[Scope] = Field(
        default_factory=list, description="What it lists and watches; none: ready when no new scope opened for 1 s"
    )
    probe: bool = Field(default=False, description="It reports from inside (PERFQ_PROBE)")
    table: bool = Field(default=False, description="It keeps a table and reports its digest (probe)")
    metrics: bool = Field(default=False, description="It polls metrics.k8s.io")
    rows: Literal["always", "maybe", "never"] = Field(
        default="always", description="Whether rows of Pods are on its screen; maybe: it is waited for and not required"
    )
    screen: Screen = Field(default_factory=Screen, description="Where its rows and its cursor are")
    moves: Moves | None = Field(default=None, description="None: it has no cursor")
    scenarios: list[Scenario] = Field(default_factory=list, description="Walked in this order, after the churn")

    @field_validator("scenarios")
    @classmethod
    def _are_told_apart(cls, scenarios: list[Scenario]) -> list[Scenario]:
        if not _once(scenario.name for scenario in scenarios):
            raise ValueError("scenarios with names of their own")
        return scenarios

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
