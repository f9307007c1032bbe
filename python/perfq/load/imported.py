"""Audit logs become a trace: what an import came to, for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from perfq import units
from perfq.errors import UsageError

if TYPE_CHECKING:
    from perfq._core import Imported
    from perfq.drive.progress import Progress

_LOST: Final = ("file", "line", "event", "request")


#: The name that standard input has as a file.
STANDARD_INPUT: Final = "/dev/stdin"


def import_log(paths: Sequence[str], out: str, options: dict[str, Any], progress: Progress) -> Imported:
    """Writes the trace `out` from the files of an audit log (`-`: standard input).

    Options as `perfq._core.load_import` has them.

    UsageError (2): a file that cannot be read, `out` exists or cannot be written, a log without a request.
    """
    from perfq._core import load_import

    def tell(read: int, whole: int, requests: int) -> None:
        of = f" of {units.show_bytes(whole)}" if whole else ""
        progress.update(f"read {units.show_bytes(read)}{of}, {requests:,} requests written")

    try:
        return load_import([STANDARD_INPUT if path == "-" else path for path in paths], out, options, tell)
    except (ValueError, OSError) as error:
        raise UsageError(str(error)) from error
    finally:
        progress.close()


def described(imported: Imported, out: str) -> Iterator[tuple[str, str]]:
    """Names and values of the whole, in lines."""
    yield "trace", out
    yield "requests", f"{imported['requests']:,}"
    files = imported["files"]
    names = ", ".join(one["name"] for one in files[:3]) + (f" and {len(files) - 3} more" if len(files) > 3 else "")
    yield "log", f"{names}: {imported['lines']:,} lines, {imported['events']:,} events"
    window = imported["window"]
    if window is not None:
        length = units.show_duration(window["duration_us"] * 1000)
        yield "window", f"{window['since']} to {window['until']} ({length})"


HEADER: Final = ("COUNT", "OF", "WHY", "FIRST AT")


def lost_rows(imported: Imported) -> list[tuple[str, ...]]:
    """A line for each reason why something is not in the trace."""
    return [_row(one) for one in imported["losses"] if one["of"] in _LOST]


def changed_rows(imported: Imported) -> list[tuple[str, ...]]:
    """A line for each reason why something is in the trace, but not as it was sent."""
    return [_row(one) for one in imported["losses"] if one["of"] not in _LOST]


def _row(loss: Any) -> tuple[str, ...]:
    of = "request" if loss["of"] == "change" else loss["of"]
    return f"{loss['count']:,}", of, loss["text"], loss["first"]
