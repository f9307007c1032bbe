"""`load search`: the highest rate at which an input holds its budgets on a target."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from perfq.drive.bisection import Bisection, Try
from perfq.drive.leaving import Leaving, ended_by_signals
from perfq.drive.progress import Progress
from perfq.drive.rundir import RunDirectory
from perfq.drive.searching import Tried, search
from perfq.drive.signals import Interruption
from perfq.errors import UsageError
from perfq.load.at_hand import Input, at_hand
from perfq.load.command import LoadRequest, measured, resolve
from perfq.load.reading import read_input
from perfq.load.search_step import outcome, refuse_few_samples, step_budgets
from perfq.profile.override import Override
from perfq.report.search import SearchStep, search_document, search_text

if TYPE_CHECKING:
    from perfq.load.options import LoadOptions

#: A shorter step does not show whether answers come as fast as requests go.
SHORTEST_S: Final = 3


@dataclass(frozen=True)
class SearchRequest:
    """The command line: what is sent, and between which rates (requests/s of all runners)."""

    load: LoadRequest
    lo: float
    hi: float
    duration_s: int
    tolerance: float
    confirmations: int


def search_request(request: SearchRequest) -> int:
    """Tries rates until one is confirmed; writes search.json; gives the exit code."""
    if request.lo > request.hi:
        raise UsageError(f"--lo: got {request.lo:g}/s, expected at most --hi, {request.hi:g}/s")
    if request.duration_s < SHORTEST_S:
        raise UsageError(
            f"--step: got {request.duration_s} s, expected at least {SHORTEST_S} s, to see answers keep up"
        )
    with at_hand(request.load.file, fetching=True) as found:
        return _Search(request, found).run()


class _Search:
    def __init__(self, request: SearchRequest, found: Input) -> None:
        self._request = request
        self._found = found
        self._given = request.load.given
        self._bisection = Bisection(request.lo, request.hi, request.tolerance, request.confirmations)
        self._steps: list[SearchStep] = []
        self._rate = _one_rate(found, self._given)
        self._progress = Progress(quiet=self._given["quiet"])

    def run(self) -> int:
        options = resolve(replace(self._request.load, given=self._at(self._request.lo)), self._found)
        refuse_few_samples(options.budgets, self._request.lo, self._request.duration_s)
        directory = RunDirectory.create(options.out)
        leaving = Leaving(f"; what each step recorded is in {directory.path}")
        # The time is of all steps together.
        with ended_by_signals(self._progress, leaving, options.limits.max_time_s) as interrupted:
            why = search(
                self._bisection,
                lambda tried: self._once(options, directory.path, tried, interrupted),
                lambda rate: f"{rate:g}/s",
            )
        document = search_document(self._bisection, self._steps, self._found.name, why)
        directory.write("search.json", json.dumps(document, indent=1) + "\n")
        if self._given["as_json"]:
            sys.stdout.write(json.dumps(document, indent=1) + "\n")
        else:
            sys.stdout.write(search_text(document))
            sys.stdout.write(f"search: {directory.path / 'search.json'}\n")
        return why[0]

    def _once(self, options: LoadOptions, out: Path, tried: Try, interrupted: Interruption) -> Tried:
        number, rate = len(self._steps) + 1, tried.value
        step = replace(
            options,
            planned=read_input(self._found, self._at(rate)),
            out=out / f"step-{number:02}",
            run_id=f"{options.run_id[:32]}-{number:02}",
            budgets=step_budgets(options.budgets, rate),
        )
        self._progress.say(f"perfq: {tried.why}: {rate:,.6g}/s")
        judgement = measured(step, self._progress, interrupted)
        came = outcome(judgement)
        self._steps.append(SearchStep.of(rate, tried.why, step.out.name, came.held, judgement.result))
        return came

    def _at(self, rate: float) -> dict[str, Any]:
        """The flags with this rate, shared among the runners, for so long."""
        each = [
            Override((*self._rate.where, "rate"), rate / self._rate.runners, "--lo, --hi"),
            Override((*self._rate.where, "total"), 0, "--step"),
            Override((*self._rate.where, "duration"), self._request.duration_s, "--step"),
        ]
        return {**self._given, "assignments": (*self._given["assignments"], *each)}


@dataclass(frozen=True)
class _OneRate:
    """Where in the input the rate stands, and how many runners share it."""

    where: tuple[str | int, ...]
    runners: int


def _one_rate(found: Input, given: Mapping[str, Any]) -> _OneRate:
    """UsageError where the input has no one rate that could be another."""
    planned = read_input(found, given)
    if planned.facts.kind not in ("load profile", "runner group"):
        raise UsageError(f"{found.name}: a {planned.facts.kind} has its own instants; search takes a load profile")
    specs = [one.facts for one in planned.segments if not one.facts.warm_up]
    if len(specs) != 1:
        raise UsageError(f"{found.name}: has {len(specs)} specs; search takes a load profile with one")
    where = ("loadProfile", "specs", 0) if planned.facts.kind == "runner group" else ("specs", 0)
    return _OneRate(where, 1 if specs[0].runner_index is not None else specs[0].runners)
