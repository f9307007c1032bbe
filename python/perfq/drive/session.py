"""The parts of a drive: started one after another, stopped in the reverse order, whatever happens in between."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import ExitStack
from types import TracebackType
from typing import Self

from perfq.drive.outcome import could_not_start


class Session(ABC):
    """Everything that runs during a drive. A context manager; `close` is safe to call twice."""

    def __init__(self) -> None:
        #: Each part, as it starts, says here how it is stopped.
        self.stack = ExitStack()

    @abstractmethod
    def open(self) -> None:
        """Starts the parts. What has started is stopped where a later one cannot be."""

    def __enter__(self) -> Self:
        """InvalidRun (4) where the system refused what a part needs."""
        try:
            self.open()
        except OSError as error:
            self.close()
            raise could_not_start(error) from error
        except BaseException:
            self.close()
            raise
        return self

    def close(self) -> None:
        """Stops everything."""
        self.stack.close()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
