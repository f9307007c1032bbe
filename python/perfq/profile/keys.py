"""Keys as people write them in a client definition: text as it is typed, special keys in angle brackets.

`/web<Enter>` types `/web` and Enter. In brackets stands a key of the terminal engine, in any case:
enter, esc, tab, space, backspace, up, down, left, right, home, end, page_up, page_down, insert,
delete, f1 … f12, after any of ctrl+, alt+, shift+; C-a is short for ctrl+a, lt is a literal `<`.
The engine encodes them as the client asked its terminal to, so bytes are made only when they are sent.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_TOKEN = re.compile(r"<([^<>]*)>|([^<]+)|(<)")
_SHORT = {"esc": "escape", "pageup": "page_up", "pagedown": "page_down", "lt": "<"}
_EXAMPLES = "enter, esc, up, page_down, f5, ctrl+d, lt for the character <"


def key_name(text: str) -> str:
    """The engine's name of one key: what stands in brackets, or one character. ValueError for no key."""
    from perfq._core import is_key

    name = text if len(text) == 1 else text.lower()
    control = re.fullmatch(r"c-(.)", name)
    name = f"ctrl+{control[1]}" if control else _SHORT.get(name, name)
    if not is_key(name):
        raise ValueError(f"a key such as {_EXAMPLES}; {text!r} is none")
    return name


def parse_keys(text: str) -> tuple[tuple[str, bool], ...]:
    """Runs of text, and names of keys: (what, whether it is a name). ValueError names the key that is not known."""
    found: list[tuple[str, bool]] = []
    for named, plain, stray in _TOKEN.findall(text):
        if stray:
            raise ValueError("keys, where '<' begins a key such as <Enter>; write <lt> for the character")
        found.append((plain, False) if plain else (key_name(named), True))
    return tuple(found)


def encode_keys(text: str, key: Callable[[str], bytes]) -> bytes:
    """The bytes to send; `key` gives those of a key by its name (`Terminal.key`)."""
    return b"".join(key(what) if named else what.encode() for what, named in parse_keys(text))
