"""The embedded server answers as kube-apiserver does, field for field, but for what is meant to differ."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cluster.differential.comparison import Difference, differences
from tests.cluster.differential.conftest import CONVERSATIONS
from tests.cluster.differential.exceptions import MEANT, Meant
from tests.cluster.differential.sides import Exchanged

pytestmark = pytest.mark.cluster


def of(exchanged: Exchanged) -> list[tuple[Difference, list[Meant]]]:
    """Each difference of one exchange with the exceptions that cover it."""
    request = str(exchanged.request)
    found = differences(exchanged.real, exchanged.embedded)
    return [(difference, [meant for meant in MEANT if meant.covers(request, difference)]) for difference in found]


@pytest.mark.parametrize("conversation", CONVERSATIONS)
def test_both_servers_answer_alike(exchanges: dict[str, list[Exchanged]], conversation: str) -> None:
    found = []
    for exchanged in exchanges[conversation]:
        mistakes = [str(difference) for difference, meant in of(exchanged) if not meant]
        if mistakes:
            found.append("\n  ".join([str(exchanged.request), *mistakes[:20]]))
    assert not found, "\n".join(found)


def test_what_is_meant_to_differ_does(exchanges: dict[str, list[Exchanged]]) -> None:
    seen = {meant for whole in exchanges.values() for exchanged in whole for _, all in of(exchanged) for meant in all}
    assert [meant for meant in MEANT if meant not in seen] == []


def test_what_is_meant_to_differ_is_documented(repository: Path) -> None:
    page = (repository / "docs" / "reference" / "api-server.md").read_text()
    rows = [line.removeprefix("| ") for line in page.splitlines() if line.startswith("| ")]
    assert [meant.why for meant in MEANT if not any(row.startswith(meant.why) for row in rows)] == []
