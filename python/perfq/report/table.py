"""Markdown tables and the escaping of what clients and users wrote."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def escaped(text: object) -> str:
    """Text inside a table cell: no pipe or line end may end the cell, no markup is interpreted."""
    out = "".join(sign if sign.isprintable() else " " for sign in str(text)).replace("\\", "\\\\")
    for sign in "|`*_<>[]":
        out = out.replace(sign, "\\" + sign)
    return " ".join(out.split())


def code(text: object) -> str:
    """Inline code, whatever it holds; the fence is longer than any in it."""
    value = " ".join("".join(sign if sign.isprintable() else " " for sign in str(text)).split()) or " "
    longest = max((len(run) for run in value.replace("`", " ` ").split() if set(run) == {"`"}), default=0)
    while "`" * (longest + 1) in value:
        longest += 1
    fence = "`" * (longest + 1)
    space = " " if value.startswith("`") or value.endswith("`") else ""
    return f"{fence}{space}{value.replace('|', chr(92) + '|')}{space}{fence}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: Sequence[int] = ()) -> str:
    """A table of finished cells; columns in `numbers` are aligned to the right."""
    lines = [f"| {' | '.join(head)} |"]
    lines.append("|" + "|".join("---:" if index in numbers else "---" for index in range(len(head))) + "|")
    lines += [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join(lines) + "\n"


def fenced(text: str) -> str:
    """A block of code, whatever it holds; control characters are left out."""
    text = "".join(sign for sign in text if sign == "\n" or sign.isprintable())
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}text\n{text.rstrip()}\n{fence}\n"
