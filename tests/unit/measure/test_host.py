"""What the manifest says of this host."""

from __future__ import annotations

import pytest

from perfq.measure.host import cpus_allowed, quota_cpus
from perfq.measure.manifest import HostFacts


@pytest.mark.parametrize(
    ("text", "cpus"),
    [("200000 100000\n", 2.0), ("50000 100000", 0.5), ("max 100000", None), ("", None), (None, None), ("1 0", None)],
)
def test_a_cgroup_quota_is_read_as_cpus(text: str | None, cpus: float | None) -> None:
    assert quota_cpus(text) == cpus


def test_this_host_is_described() -> None:
    host = HostFacts.here()
    assert host.kernel
    assert host.python
    assert host.cpus_allowed is not None
    assert host.memory_bytes is not None
    assert 0 < host.cpus_allowed <= (host.cpu_count or 0)
    assert host.cpus_allowed == cpus_allowed()
