"""YAML in its 1.2 core sense, with line numbers: no aliases, no tags, one document.

PyYAML scans and parses; what a plain scalar means is decided here, since PyYAML's own rules are those
of YAML 1.1 (`yes` and `on` as booleans, sexagesimal numbers, dates). Core schema: YAML 1.2.2, 10.3.2.
Events are taken one by one, so that depth costs no stack and an anchor is refused before it is used.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import yaml

from perfq.profile.json_text import add_flawed, add_float, add_integer
from perfq.profile.tree import TreeBuilder, Unreadable

#: The same events; libyaml is some twenty times as fast and comes with the wheels of PyYAML.
_LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff￾￿]")
_INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_WORDS: Final[dict[str, Any]] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}


def read_yaml(text: str) -> TreeBuilder:
    """A YAML text with the line of each value. Raises `Unreadable` at what cannot be read."""
    tree = TreeBuilder()
    odd = _UNPRINTABLE.search(text)
    if odd is not None:
        line = text.count("\n", 0, odd.start()) + 1
        raise Unreadable(tree.flaw(line, f"the character {odd[0]!a}", "printable text"))
    documents = 0
    for event in _events(text, tree):
        if isinstance(event, yaml.DocumentStartEvent):
            documents += 1
            if documents > 1:
                raise Unreadable(tree.flaw(_line(event), "a second document", "one document"))
        else:
            _take(tree, event)
    return tree


def _events(text: str, tree: TreeBuilder) -> Iterator[Any]:
    try:
        yield from yaml.parse(text, Loader=_LOADER)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        said = " ".join(part for part in (error.problem, error.context) if part)
        raise Unreadable(
            tree.flaw(mark.line + 1 if mark else 1, f"text that is not YAML ({said})", "YAML or JSON")
        ) from error
    except yaml.YAMLError as error:
        raise Unreadable(tree.flaw(1, f"text that is not YAML ({error})", "YAML or JSON")) from error


def _take(tree: TreeBuilder, event: Any) -> None:
    line = _line(event)
    if isinstance(event, yaml.AliasEvent):
        raise Unreadable(tree.flaw(line, f"the alias *{event.anchor}", "the value itself; aliases are not read"))
    if isinstance(event, yaml.NodeEvent) and event.anchor is not None:
        raise Unreadable(tree.flaw(line, f"the anchor &{event.anchor}", "no anchors; they are not read"))
    if isinstance(event, (yaml.ScalarEvent, yaml.CollectionStartEvent)) and event.tag is not None:
        raise Unreadable(tree.flaw(line, f"the tag {event.tag}", "a plain value; tags are not read"))
    if isinstance(event, yaml.ScalarEvent):
        if tree.wants_key:
            tree.key(event.value, line)
        else:
            _scalar(tree, event, line)
    elif isinstance(event, yaml.CollectionStartEvent):
        if tree.wants_key:
            raise Unreadable(tree.flaw(line, "a mapping or list as a key", "text"))
        tree.begin({} if isinstance(event, yaml.MappingStartEvent) else [], line)
    elif isinstance(event, yaml.CollectionEndEvent):
        tree.end()


def _scalar(tree: TreeBuilder, event: Any, line: int) -> None:
    text: str = event.value
    if event.style not in (None, ""):
        tree.scalar(text, line)
    elif text in _WORDS:
        tree.scalar(_WORDS[text], line)
    elif _INTEGER.fullmatch(text):
        base = {"0o": 8, "0x": 16}.get(text[:2], 10)
        add_integer(tree, line, text, base)
    elif _FLOAT.fullmatch(text):
        add_float(tree, line, text)
    elif _NOT_FINITE.fullmatch(text):
        add_flawed(tree, line, text, "a finite number")
    else:
        tree.scalar(text, line)


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 1
