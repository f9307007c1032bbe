"""A replay profile from a URL, fetched into a file: bounded in size, time and redirects."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit, urlunsplit

from perfq import units
from perfq.errors import UsageError

if TYPE_CHECKING:
    import urllib3

#: A profile of a million requests is some hundred MB, packed a tenth of it.
LARGEST: Final = 2 << 30
REDIRECTS: Final = 5
#: Silence of a server, and the whole of it.
SILENCE_S: Final = 30.0
WHOLE_S: Final = 600.0
_PIECE: Final = 1 << 18


def shown_url(url: str) -> str:
    """A URL for reports: without user and query, where credentials and signatures stand."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path, "", "")) + ("?…" if parts.query else "")


def fetch(url: str, target: Path, *, largest: int = LARGEST, silence_s: float = SILENCE_S) -> None:
    """Writes what the URL gives to a new file. UsageError (2) with one sentence where it does not come."""
    import urllib3

    name = shown_url(url)
    deadline = time.monotonic() + WHOLE_S
    try:
        with _pool(url, silence_s) as pool, target.open("xb") as file:
            answer = pool.request("GET", url, preload_content=False, decode_content=False)
            try:
                if answer.status != 200:
                    raise UsageError(f"{name}: the server answered {answer.status}, expected 200 and a replay profile")
                for piece in answer.stream(_PIECE, decode_content=False):
                    file.write(piece)
                    if file.tell() > largest:
                        raise UsageError(f"{name}: more than {units.format_bytes(largest)}, expected at most that")
                    if time.monotonic() > deadline:
                        raise UsageError(f"{name}: not whole after {WHOLE_S:g} s; fetch it yourself and name the file")
            finally:
                answer.close()
    except urllib3.exceptions.HTTPError as error:
        raise UsageError(f"{name}: {_reason(error, silence_s)}") from error


def _pool(url: str, silence_s: float) -> urllib3.PoolManager:
    import urllib3

    from perfq.kube.endpoint import proxy_for

    timeout = urllib3.Timeout(connect=min(10.0, silence_s), read=silence_s)
    retries = urllib3.Retry(total=None, connect=0, read=0, other=0, status=0, redirect=REDIRECTS)
    proxy = proxy_for(url)
    if proxy is not None:
        return urllib3.ProxyManager(proxy, timeout=timeout, retries=retries)
    return urllib3.PoolManager(timeout=timeout, retries=retries)


def _reason(error: Exception, silence_s: float) -> str:
    import urllib3

    cause = error.reason if isinstance(error, urllib3.exceptions.MaxRetryError) and error.reason else error
    if isinstance(cause, urllib3.exceptions.ResponseError) and "redirect" in str(cause):
        return f"more than {REDIRECTS} redirects; does it redirect in a circle?"
    # A connection that was refused is a kind of time-out to urllib3.
    refused = isinstance(cause, urllib3.exceptions.NewConnectionError)
    if isinstance(cause, urllib3.exceptions.TimeoutError) and not refused:
        return f"no answer for {silence_s:g} s"
    if isinstance(cause, urllib3.exceptions.ProtocolError):
        return "the connection ended before the file was whole"
    text = str(cause).rpartition(": ")[2].strip() or type(cause).__name__
    return f"cannot be fetched: {text}"
