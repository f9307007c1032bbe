"""A request for allocations is two runs: one as it would be without, and a traced one that is linked to it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.replay.test_command import request

from perfq.drive.rundir import check_run_id
from perfq.errors import UsageError
from perfq.profile.client_files import load_client_named
from perfq.replay.allocations import first_run, refuse_untraceable, traced_run
from perfq.replay.command import resolve
from perfq.replay.manifest import build_manifest


def test_the_two_runs_name_each_other_and_only_the_second_is_traced_and_without_budgets(tmp_path: Path) -> None:
    asked = resolve(request(out=str(tmp_path / "run"), run_id="a" * 40, budgets=("any",)))
    first, second = first_run(asked), traced_run(asked)
    assert second.out == first.out / "allocations"
    assert (first.allocations, first.linked_run, first.budgets) == (False, "allocations", asked.budgets)
    assert (second.allocations, second.linked_run, second.budgets) == (True, "..", ())
    assert check_run_id(second.run_id) != first.run_id
    options = build_manifest(second).options
    assert (options.allocations, options.linked_run) == (True, "..")


def test_a_client_without_a_probe_is_refused() -> None:
    refuse_untraceable(load_client_named("viewer"), 1)
    with pytest.raises(UsageError, match=r"^--allocations: client 'generic' has no probe"):
        refuse_untraceable(load_client_named("generic"), 1)


def test_repeated_runs_are_refused() -> None:
    with pytest.raises(UsageError, match="--repeat"):
        refuse_untraceable(load_client_named("viewer"), 2)
