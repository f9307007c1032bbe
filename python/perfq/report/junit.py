"""junit.xml: validity is a test case, and so is each budget. A pure function of the result."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from perfq.measure.result import Result
from perfq.measure.result.common import MISSED, BudgetResult, Check
from perfq.measure.wording import amount, budget_limit, budget_name, budget_seen

#: JUnit's own difference: a failure is an expectation that did not hold, an error a test that could not be made.
_BREAKING = ("failed", "unknown")


def junit(result: Result) -> str:
    """The report as CI systems read it. An invalid or aborted run is an error, a missed budget a failure."""
    profile = result.manifest.profile_id or "plan"
    suite = ET.Element("testsuite", name=_safe(f"perfq {result.kind} {profile}"), timestamp=result.manifest.started_at)
    _properties(suite, result)
    classname = _safe(f"perfq.{result.kind}.{profile}")
    _validity(suite, classname, result)
    for budget in result.budgets:
        _budget(ET.SubElement(suite, "testcase", classname=classname, name=_safe(_name(budget))), budget)
    for tag, attribute in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        suite.set(attribute, str(len(suite.findall(f"testcase/{tag}"))))
    suite.set("tests", str(len(suite.findall("testcase"))))
    root = ET.Element("testsuites")
    root.append(suite)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _properties(suite: ET.Element, result: Result) -> None:
    part = result.manifest
    known = {
        "run_id": result.run_id,
        "verdict": result.verdict.status,
        "profile_hash": part.profile_hash,
        "event_hash": part.event_hash,
        "perfq": part.perfq.version,
        "client": None if part.client is None else part.client.name,
    }
    properties = ET.SubElement(suite, "properties")
    for name, value in known.items():
        if value is not None:
            ET.SubElement(properties, "property", name=name, value=_safe(value))


def _validity(suite: ET.Element, classname: str, result: Result) -> None:
    case = ET.SubElement(suite, "testcase", classname=classname, name="validity")
    verdict = result.verdict
    if verdict.status in ("INVALID", "ABORTED"):
        error = ET.SubElement(case, "error", message=_safe("; ".join(verdict.reasons)), type=verdict.status)
        error.text = _safe("\n".join(_line(check) for check in result.validity.checks if check.status in _BREAKING))
    elif verdict.status == "FAIL" and not verdict.reasons[0].startswith(MISSED):
        kind = verdict.reasons[0].partition(":")[0]
        ET.SubElement(case, "failure", message=_safe(verdict.reasons[0]), type=_safe(kind))


def _budget(case: ET.Element, budget: BudgetResult) -> None:
    count = "" if budget.n is None else f", n {budget.n}"
    text = _safe(f"observed {budget_seen(budget)}, limit {budget_limit(budget)}{count}")
    if budget.status == "missed":
        ET.SubElement(case, "failure", message=text, type="missed").text = _safe(budget.rationale or "")
    elif budget.status == "not_measurable":
        ET.SubElement(case, "error", message=text, type="not_measurable")
    elif budget.status == "not_applicable":
        ET.SubElement(case, "skipped", message=_safe(budget.why or "not applicable"))
    else:
        ET.SubElement(case, "system-out").text = text


def _name(budget: BudgetResult) -> str:
    return f"{budget_name(budget)} {budget_limit(budget)}"


def _line(check: Check) -> str:
    advice = f" ({check.advice})" if check.advice else ""
    return f"{check.name}: {amount(check.observed, check.unit)}, limit {amount(check.limit, check.unit)}{advice}"


def _safe(text: str) -> str:
    """Without what XML 1.0 cannot hold: control characters, surrogates, U+FFFE and U+FFFF."""
    return "".join(
        sign
        if sign in "\t\n\r" or "\x20" <= sign <= "\ud7ff" or "\ue000" <= sign <= "\ufffd" or sign >= "\U00010000"
        else "\ufffd"
        for sign in text
    )
