"""The load profile: kperf's LoadProfile, version 1, and perfq's own fields; and the runner group around it."""

from __future__ import annotations

import re
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field, field_validator

from perfq.profile.load.part import MAX_SECONDS, Part, PositiveSpan, Span
from perfq.profile.load.requests import (
    OWN,
    GetPodLogRequest,
    GetRequest,
    ListRequest,
    PatchRequest,
    PostDelRequest,
    PutRequest,
    Resource,
    StaleListRequest,
    WatchListRequest,
)

#: What a first spec with neither total nor duration sends, as kperf's runner does.
DEFAULT_TOTAL: Final = 1_000
MAX_RATE: Final = 1_000_000
MAX_RUNNERS: Final = 10_000
_TOKEN: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
#: Headers that the connection, the credential or another field decides.
_TAKEN: Final = {
    "accept": "contentType",
    "authorization": "the kubeconfig",
    "connection": "disableHTTP2",
    "content-length": "the body",
    "content-type": "the type of the request",
    "host": "the kubeconfig",
    "te": "disableHTTP2",
    "transfer-encoding": "the body",
    "upgrade": "disableHTTP2",
}


class Impersonate(Part):
    """Whom the requests are sent as (Impersonate-* headers)."""

    user: str = Field(min_length=1, description="Impersonate-User.")
    groups: list[str] = Field(default_factory=list, description="Impersonate-Group, once each.")
    uid: str | None = Field(None, min_length=1, description="Impersonate-Uid.")
    extra: dict[str, list[str]] = Field(default_factory=dict, description="Impersonate-Extra-KEY, once a value.")

    def headers(self) -> list[tuple[str, str]]:
        """As headers."""
        found = [("Impersonate-User", self.user), *(("Impersonate-Group", group) for group in self.groups)]
        if self.uid is not None:
            found.append(("Impersonate-Uid", self.uid))
        found += [(f"Impersonate-Extra-{key}", value) for key, values in self.extra.items() for value in values]
        return found


def _can_be_sent(headers: dict[str, str]) -> dict[str, str]:
    for name, value in headers.items():
        if _TOKEN.fullmatch(name) is None:
            raise ValueError(f"names of headers; {name!r} is none")
        if name.lower() in _TAKEN:
            raise ValueError(f"other headers than {name}, which {_TAKEN[name.lower()]} decides")
        if not value.isascii() or not value.isprintable():
            raise ValueError(f"values in printable ASCII; that of {name} is not")
    return headers


Headers = Annotated[dict[str, str], AfterValidator(_can_be_sent)]


class WeightedRequest(Part):
    """One type of request, and how often it is drawn."""

    shares: int = Field(0, ge=0, le=2**31 - 1, description="Its weight among the shares of all requests of the spec.")
    stale_list: StaleListRequest | None = Field(None, description="LIST from the server's cache (resourceVersion=0).")
    quorum_list: ListRequest | None = Field(None, description="LIST of the newest state.")
    watch_list: WatchListRequest | None = Field(None, description="A streaming list, up to its bookmark.")
    stale_get: GetRequest | None = Field(None, description="GET from the server's cache (resourceVersion=0).")
    quorum_get: GetRequest | None = Field(None, description="GET of the newest state.")
    get: GetRequest | None = Field(None, description=f"The same as quorumGet. {OWN}.")
    put: PutRequest | None = Field(None, description="PUT of an existing object.")
    patch: PatchRequest | None = Field(None, description="PATCH of an existing object.")
    post_del: PostDelRequest | None = Field(None, description="POST of new objects, and DELETE of some.")
    get_pod_log: GetPodLogRequest | None = Field(None, description="GET of a log.")
    headers: Headers = Field(default_factory=dict, description=f"Headers on top. {OWN}.")
    impersonate: Impersonate | None = Field(None, description=f"Whom it is sent as. {OWN}.")


#: The keys of a request that say its type.
REQUEST_TYPES: Final = tuple(
    str(field.alias)
    for name, field in WeightedRequest.model_fields.items()
    if name not in ("shares", "headers", "impersonate")
)


class Stage(Part):
    """A stretch of time and its rate: constant (`rate`), or changing evenly (`from`, `to`)."""

    duration: PositiveSpan = Field(description="How long: seconds, or 90s, 2m.")
    rate: float | None = Field(None, ge=0, le=MAX_RATE, description="Requests a second of one runner.")
    from_: float | None = Field(None, ge=0, le=MAX_RATE, description="The rate at the start.")
    to: float | None = Field(None, ge=0, le=MAX_RATE, description="The rate at the end.")


class Watch(Resource):
    """Watches that are opened at the start and stay open, as those of informers do."""

    selector: str = Field("", description="Label selector.")
    field_selector: str = Field("", description="Field selector.")
    count: int = Field(1, ge=1, le=1_000_000, description="How many for each runner.")
    over: Span = Field(0, description="The time over which they are opened, evenly.")
    send_initial_events: bool = Field(
        False, description="Begins with a streaming list; false: with the state of the server's cache."
    )
    headers: Headers = Field(default_factory=dict, description=f"Headers on top. {OWN}.")
    impersonate: Impersonate | None = Field(None, description=f"Whom they are sent as. {OWN}.")


class Spec(Part):
    """One load: kperf's LoadProfileSpec. Rates and counts are those of one runner."""

    rate: float = Field(0, ge=0, le=MAX_RATE, description="Requests a second; 0: a closed loop of `client` workers.")
    total: int = Field(0, ge=0, le=10**12, description="Requests; 0: `duration` decides.")
    duration: int = Field(0, ge=0, le=MAX_SECONDS, description="Seconds; ignored where total is above 0.")
    conns: int | None = Field(None, ge=1, le=65_535, description="Connections. 1 in the first spec where absent.")
    client: int | None = Field(
        None, ge=1, le=1_000_000, description="Requests in flight at most. 1 in the first spec where absent."
    )
    content_type: Literal["json", "protobuf"] = Field("json", description="In which form responses are asked for.")
    disable_http2: bool = Field(False, alias="disableHTTP2", description="HTTP/1.1 instead of HTTP/2.")
    max_retries: int = Field(0, le=1_000, description="How often a request is sent again after a 429; below 1: never.")
    requests: list[WeightedRequest] = Field(default_factory=list, description="What is drawn, by share.")
    arrival: Literal["constant", "poisson"] = Field("constant", description=f"How due instants are spread. {OWN}.")
    warmup: Span = Field(0, description=f"Time before the measured load, with the same requests at its rate. {OWN}.")
    stages: list[Stage] = Field(default_factory=list, description=f"The rate over time, instead of rate. {OWN}.")
    watch: list[Watch] = Field(default_factory=list, description=f"Watches that stay open. {OWN}.")
    headers: Headers = Field(default_factory=dict, description=f"Headers on top. {OWN}.")
    impersonate: Impersonate | None = Field(None, description=f"Whom all requests are sent as. {OWN}.")


class LoadProfile(Part):
    """kperf's LoadProfile: its specs run one after another."""

    version: Literal[1] = Field(description="Always 1.")
    description: str = Field("", description="A line for people.")
    specs: list[Spec] = Field(min_length=1, description="One load after another. An older `spec` is a list of one.")
    seed: int = Field(0, ge=0, le=2**63 - 1, description=f"Seed of every draw. {OWN}.")
    timeout: PositiveSpan | None = Field(
        None, description=f"How long a response may take, from the send; 60 s where absent. {OWN}."
    )

    @field_validator("version", mode="before")
    @classmethod
    def _known(cls, value: object) -> object:
        if type(value) is not int or value != 1:  # True and 1.0 equal 1
            raise ValueError("1, the only version that this perfq reads")
        return value


class RunnerGroup(Part):
    """kperf's RunnerGroupSpec: so many runners, each with the same load profile or a part of one replay."""

    count: int = Field(ge=1, le=MAX_RUNNERS, description="Runners.")
    load_profile: LoadProfile | None = Field(None, description="What each of them does.")
    replay_profile: str | None = Field(None, min_length=1, description="Path or URL of a replay profile.")
    node_affinity: dict[str, list[str]] = Field(default_factory=dict, description="Nodes for Pods; unused locally.")
    service_account: str | None = Field(None, description="For Pods; unused locally.")
    owner_reference: str | None = Field(None, description="For Pods; unused locally.")
    replay_pvc_name: str | None = Field(None, alias="replayPVCName", description="For Pods; unused locally.")
