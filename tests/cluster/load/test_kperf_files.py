"""kperf's own files are accepted unchanged. They are kperf's: PERFQ_KPERF_SRC names a folder with checkouts of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.contract.load.running import command

pytestmark = pytest.mark.cluster

SOURCE = Path(os.environ.get("PERFQ_KPERF_SRC", "/nonexistent"))
PROFILES = sorted(SOURCE.glob("*/contrib/internal/manifests/loadprofile/*.yaml"))


@pytest.mark.skipif(not PROFILES, reason="PERFQ_KPERF_SRC names no folder with checkouts of kperf")
def test_every_load_profile_of_kperf_is_accepted() -> None:
    refused = {path.name: ended.stderr for path in PROFILES if (ended := command("check", str(path))).code != 0}
    assert refused == {}
