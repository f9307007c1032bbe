"""The parts of one load: recorder, server where it is ours, sampler, engine.

They are started in that order and stopped in the reverse one, whatever happens in between.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from perfq.drive.journal import Journal
from perfq.drive.session import Session
from perfq.errors import PerfqError, TargetUnreachable, UsageError
from perfq.load.credential import TokenKeeper
from perfq.load.server_metrics import record_metrics
from perfq.load.told import called
from perfq.profile.load.mix import salted

if TYPE_CHECKING:
    from perfq.drive.rundir import RunDirectory
    from perfq.load.options import LoadOptions

SAMPLE_EVERY_MS: Final = 250
#: Every sample of `--raw-data`, in the run directory.
RAW: Final = "raw.ndjson.zst"


class LoadSession(Session):
    """Everything that runs during a load."""

    def __init__(self, options: LoadOptions, run: RunDirectory) -> None:
        self.options = options
        self._run = run
        super().__init__()

    def open(self) -> None:
        """Starts them."""
        from perfq import _core

        self.recorder = _core.Recorder(self._run.path / "samples.ndjson")
        self.stack.callback(self.recorder.close)
        self.journal = Journal(self.recorder)
        self.journal.mark("start")
        endpoint = self._endpoint()
        self.sampler = _core.TreeSampler.start(
            {"recorder": self.recorder, "interval_ms": SAMPLE_EVERY_MS, "trees": [], "self": "harness"}
        )
        self.stack.callback(self.sampler.stop)
        self.read_server_metrics("before")
        try:
            self.engine = _core.LoadRun.start(self._engine_options(endpoint))
        except ValueError as error:
            planned = self.options.planned
            said = called(error, planned.requests_file, planned.facts.name)
            raise UsageError(f"this load cannot be run: {said}") from error
        self.stack.enter_context(self.engine)
        self.tokens = TokenKeeper(self.engine, self.options.target.token())
        if self.options.target.endpoint is not None:
            self.stack.enter_context(self.tokens)

    def _endpoint(self) -> dict[str, Any]:
        """The target's; the embedded server is started where it is the target."""
        from perfq import _core

        target = self.options.target
        if target.plan is None:
            return target.engine_options()
        self.server = _core.ApiServer.start({"plan": target.plan, "recorder": None, "start": "never"})
        self.stack.callback(self.server.stop)
        return {"url": self.server.url, "ca_pem": self.server.ca_pem, "token": self.server.token}

    def _engine_options(self, endpoint: Mapping[str, Any]) -> dict[str, Any]:
        options = self.options
        return {
            "recorder": self.recorder,
            "endpoint": dict(endpoint),
            "segments": [salted(one.options, options.run_id) for one in options.planned.segments],
            "timeout_ms": options.timeout_ms,
            "watch_timeout_ms": options.watch_timeout_ms,
            "grace_ms": options.grace_ms,
            "overload": options.overload,
            "ordering": options.ordering,
            "raw_data": str(self.raw_data) if options.raw_data else None,
        }

    def read_server_metrics(self, when: str) -> None:
        """Records the target's own metrics, where they were asked for."""
        endpoint = self.options.target.endpoint
        if self.options.server_metrics and endpoint is not None:
            record_metrics(endpoint, self.journal, when)

    @property
    def raw_data(self) -> Path:
        """Where every sample goes, where that was asked for."""
        return self._run.path / RAW


#: Classes of failure that connections have before they are warm.
WARMING_UP: Final = frozenset({"refused", "unreachable", "tls", "protocol", "unauthorised", "timeout"})
#: What kind of error each class of failure is before T0.
_BEFORE: Final[dict[str, type[PerfqError]]] = {"streams": UsageError, "input": UsageError}


def raise_failure(failure: Mapping[str, str], shown: str) -> None:
    """What ended a load before anything was measured, as the error that it is; a bug of ours as a plain one."""
    if failure["class"] == "internal":
        raise RuntimeError(failure["text"])
    kind = _BEFORE.get(failure["class"], TargetUnreachable)
    where = "" if kind is UsageError else f"{shown}: "
    raise kind(f"{where}{failure['text']}")
