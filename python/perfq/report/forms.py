"""The forms that a result is rendered in, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from perfq.measure.result import Result
from perfq.report.junit import junit
from perfq.report.markdown import markdown
from perfq.report.summary import PLAIN, Style, summary

_FORMS: Final[dict[str, Callable[[Result, Style], str]]] = {
    "text": summary,
    "md": lambda result, _: markdown(result),
    "junit": lambda result, _: junit(result),
    "json": lambda result, _: result.to_json(),
}


def rendered(result: Result, form: str, style: Style = PLAIN) -> str:
    """`form` is text, md, junit or json; `style` is for text alone."""
    return _FORMS[form](result, style)
