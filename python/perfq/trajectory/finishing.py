"""What has to be finished though nobody waits for it any more."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

_T = TypeVar("_T")


async def finish(what: Coroutine[Any, Any, _T]) -> _T:
    """Runs it to its end. A cancellation of the caller, however often it comes, goes on only afterwards."""
    task = asyncio.ensure_future(what)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError as error:
            if task.cancelled():
                raise
            cancelled = error
        except BaseException:
            break  # the task's own: raised below
    if cancelled is not None and task.exception() is None:
        raise cancelled
    return task.result()
