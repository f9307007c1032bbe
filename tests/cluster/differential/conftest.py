"""All conversations with both servers, held once for all tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.cluster.differential import discovery, kinds, reading, watching, writing
from tests.cluster.differential.sides import Exchanged, sides

#: What lists everything comes before what adds to it.
TOPICS = {"discovery": discovery, "reading": reading, "watching": watching, "kinds": kinds, "writing": writing}
CONVERSATIONS = {
    f"{topic}: {name}": requests for topic, module in TOPICS.items() for name, requests in module.CONVERSATIONS.items()
}


@pytest.fixture(scope="package")
def exchanges(programs: object, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, list[Exchanged]]]:
    """By conversation: each request with the answers of both servers."""
    with sides(tmp_path_factory.mktemp("sides") / "bed") as both:
        yield {name: both.talk(name, requests) for name, requests in CONVERSATIONS.items()}
