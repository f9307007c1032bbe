"""The types of requests: kperf's, with perfq's additions marked as such."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator

from perfq.profile.load.part import Part, PathText

#: kperf reads no such key there.
OWN = "perfq's own"


class Resource(Part):
    """Whose path it is."""

    group: str = Field("", pattern=r"^[A-Za-z0-9.-]*$", description='API group; "" or core for the core group.')
    version: PathText = Field(description="API version: v1.")
    resource: PathText = Field(description="Plural, as in the path: pods.")
    namespace: str = Field("", pattern=r"^[A-Za-z0-9._-]*$", description='"" for a resource of the cluster, or all.')


class ListRequest(Resource):
    """LIST."""

    limit: int = Field(0, ge=0, le=2**31 - 1, description="Objects on a page; 0 for all on one. One page is read.")
    selector: str = Field("", description="Label selector.")
    field_selector: str = Field("", description="Field selector.")


class StaleListRequest(ListRequest):
    """LIST from the server's cache."""

    limit: int = Field(0, description="0: a list from the cache is never in pages.")

    @field_validator("limit")
    @classmethod
    def _never_in_pages(cls, limit: int) -> int:
        if limit != 0:
            raise ValueError("0: a list from the cache is never in pages; quorumList has a limit")
        return limit


class WatchListRequest(Resource):
    """A streaming list: WATCH until the bookmark that ends the initial events."""

    selector: str = Field("", description="Label selector.")
    field_selector: str = Field("", description="Field selector.")


class GetRequest(Resource):
    """GET of one object."""

    name: PathText = Field(description="The object's name, or what its name begins with.")
    key_space_size: int | None = Field(
        None, ge=1, le=2**32 - 1, description=f"N: the name is NAME-0 … NAME-(N−1), drawn evenly. {OWN}."
    )


class PutRequest(Resource):
    """PUT of one object."""

    name: PathText = Field(description="The object's name, or what its name begins with.")
    key_space_size: int | None = Field(
        None, ge=1, le=2**32 - 1, description="N: the name is NAME-0 … NAME-(N−1), drawn evenly."
    )
    payload_size: int | None = Field(
        None, ge=1, le=3 << 20, description="Random characters in data.payload of a ConfigMap."
    )
    body: str | None = Field(
        None, min_length=1, description=f"The object as JSON, a template, instead of a ConfigMap. {OWN}."
    )


class PatchRequest(Resource):
    """PATCH of one object."""

    name: PathText = Field(description="The object's name, or what its name begins with.")
    key_space_size: int | None = Field(
        None, ge=1, le=2**32 - 1, description="N: the name is NAME-0 … NAME-(N−1), drawn evenly."
    )
    patch_type: Literal["json", "merge", "strategic-merge"] = Field(description="Which patch the body is.")
    body: str = Field(min_length=1, description="The patch as JSON, a template.")


class PostDelRequest(Resource):
    """POST of a new object, or DELETE of the oldest that is left."""

    name: PathText | None = Field(
        None, description=f"Objects are named NAME-0, NAME-1, …; absent: a name that only this run has. {OWN}."
    )
    delete_ratio: float = Field(0, ge=0, le=0.5, description="The chance of a DELETE.")
    payload_size: int = Field(0, ge=0, le=3 << 20, description="Random characters in the new object.")
    body: str | None = Field(
        None, min_length=1, description=f"The new object as JSON, a template, instead of a built-in one. {OWN}."
    )


class GetPodLogRequest(Part):
    """GET of a container's log."""

    namespace: PathText = Field(description="The Pod's namespace.")
    name: PathText = Field(description="The Pod's name.")
    container: str = Field("", description='"" where the Pod has only one.')
    tail_lines: int | None = Field(None, ge=0, le=2**63 - 1, description="Lines from the end; all where absent.")
    limit_bytes: int | None = Field(None, ge=1, le=2**63 - 1, description="Bytes at most; all where absent.")
