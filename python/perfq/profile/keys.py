"""Keys as people write them in a client definition: text as it is typed, special keys in angle brackets.

`/web<Enter>` types `/web` and Enter. Names: Enter, Esc, Tab, Space, Backspace, Up, Down, Left, Right,
Home, End, PageUp, PageDown, Delete, C-a … C-z, lt (a literal `<`).
Source of the sequences: xterm's control sequences (normal cursor keys).
"""

from __future__ import annotations

import re

_NAMED = {
    "enter": b"\r",
    "esc": b"\x1b",
    "tab": b"\t",
    "space": b" ",
    "backspace": b"\x7f",
    "up": b"\x1b[A",
    "down": b"\x1b[B",
    "right": b"\x1b[C",
    "left": b"\x1b[D",
    "home": b"\x1b[H",
    "end": b"\x1b[F",
    "pageup": b"\x1b[5~",
    "pagedown": b"\x1b[6~",
    "delete": b"\x1b[3~",
    "lt": b"<",
}
_TOKEN = re.compile(r"<([^<>]*)>|([^<]+)|(<)")


def parse_keys(text: str) -> bytes:
    """The bytes that a terminal sends for these keys. ValueError names the key that is not known."""
    out = b""
    for named, plain, stray in _TOKEN.findall(text):
        if plain:
            out += plain.encode()
        elif stray:
            raise ValueError("keys: '<' begins a key name such as <Enter>; write <lt> for the character")
        elif named.lower() in _NAMED:
            out += _NAMED[named.lower()]
        elif re.fullmatch(r"[cC]-[a-zA-Z]", named):
            out += bytes([ord(named[2].lower()) & 0x1F])
        else:
            raise ValueError(f"keys: <{named}> is not a key; known are {', '.join(_NAMED)} and C-a to C-z")
    return out
