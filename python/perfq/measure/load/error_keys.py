"""The keys under which errors of a load are counted: those of kperf (rust/engine/src/load/outcome.rs)."""

from __future__ import annotations

import re
from typing import Final

#: The words of Go's errors, as kperf counts them.
_CONNECTION: Final = (
    "connection refused",
    "connection reset by peer",
    "EOF",
    "unexpected EOF",
    "broken pipe",
    "connection timed out",
    "no route to host",
    "no such host",
    "TLS handshake failed",
    "other",
)
#: RFC 9113, section 7.
_HTTP2: Final = (
    "NO_ERROR",
    "PROTOCOL_ERROR",
    "INTERNAL_ERROR",
    "FLOW_CONTROL_ERROR",
    "SETTINGS_TIMEOUT",
    "STREAM_CLOSED",
    "FRAME_SIZE_ERROR",
    "REFUSED_STREAM",
    "CANCEL",
    "COMPRESSION_ERROR",
    "CONNECT_ERROR",
    "ENHANCE_YOUR_CALM",
    "INADEQUATE_SECURITY",
    "HTTP_1_1_REQUIRED",
)
_UNKNOWN: Final = ("malformed HTTP response", "tls", "ERROR event", "don't receive bookmark", "other")

#: All that have a name of their own; beside them there is one for each HTTP status, and for error codes that
#: HTTP/2 does not name.
NAMED: Final = (
    *(f"connection/{one}" for one in _CONNECTION),
    *(f"http2-protocol/{one}" for one in _HTTP2),
    *(f"unknown/{one}" for one in _UNKNOWN),
)
_NUMBERED: Final = re.compile(r"http/[1-5]\d\d|http2-protocol/unknown error code 0x[0-9a-f]{1,8}", re.ASCII)


def is_error_key(key: str) -> bool:
    """Whether an error can be counted under this key."""
    return key in NAMED or _NUMBERED.fullmatch(key) is not None
