"""What the scheduler asks of a sampler: to be told of sessions, to stand still in a pause, to be drained."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from perfq.trajectory import audits
from perfq.trajectory.audits import Audit
from perfq.trajectory.waits import PauseRefused, Pausing


@dataclass(frozen=True)
class Drained:
    """How the sampling of one session ended."""

    #: No read of it is under way any more; None: it is not known.
    drained: bool | None
    evidence: str
    stopped_ns: int = 0
    #: The end of its last read; None: it has no sample.
    last_ns: int | None = None

    def audits(self) -> list[Audit]:
        """Those that concern the sampler."""
        return [
            audits.sampler_drained(self.drained, self.evidence),
            audits.no_sample_after_stop(self.last_ns, self.stopped_ns),
        ]


class Sampling(Protocol):
    """Sessions by their number."""

    def attach(self, n: int, place: Mapping[str, object]) -> None:
        """Samples it from now on; `place` is its sandbox's."""
        ...

    async def pause(self, n: int) -> None:
        """STOP: returns once it is acknowledged, which is when no read of it is under way."""
        ...

    async def resume(self, n: int) -> None:
        """CONT."""
        ...

    async def drain(self, n: int) -> Drained:
        """Ends it, its read in flight first. For a session that was never attached too."""
        ...


class NoSampling:
    """sampling.mode off."""

    def attach(self, n: int, place: Mapping[str, object]) -> None:
        """Nothing."""

    async def pause(self, n: int) -> None:
        """Nothing."""

    async def resume(self, n: int) -> None:
        """Nothing."""

    async def drain(self, n: int) -> Drained:
        """There is nothing to drain."""
        return Drained(True, "sampling is off: there is no sampler")


@dataclass(frozen=True)
class SampledPause:
    """STOP → acknowledged → pause … resume → CONT."""

    sampling: Sampling
    n: int
    inner: Pausing

    async def pause(self) -> None:
        """Nothing reads the session any more when it is paused."""
        try:
            await self.sampling.pause(self.n)
            await self.inner.pause()
        except PauseRefused:
            await self.sampling.resume(self.n)
            raise

    async def resume(self) -> None:
        """Its sampling goes on though it could not be resumed: what becomes of it is to be seen."""
        try:
            await self.inner.resume()
        finally:
            await self.sampling.resume(self.n)
