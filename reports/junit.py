# SPDX-License-Identifier: MIT
"""Runs as JUnit XML, for Jenkins, GitLab and what else reads it (docs/reports.md has the mapping).

The elements and attributes are those of junit-10.xsd of Jenkins' xUnit plugin, and `properties` of a test case, which
pytest and Jenkins' JUnit plugin know and no schema has.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from xml.etree import ElementTree as ET

from nfsjudge.harm import harm_done
from nfsjudge.records import (
    CheckRecord,
    FindingRecord,
    any_of,
    deviation,
    failure_text,
    seen,
)
from nfsjudge.verdict import VERDICTS
from reports.causes import Cause, causes_of
from reports.not_asked import is_not_asked, not_asked, number_of
from reports.plain import legal_in_xml, shortened
from reports.run import Run, distinct_labels

_LONG = 500
"""Characters of a property or message."""


def render_junit(runs: Sequence[Run]) -> str:
    """The document, with its declaration: a test suite per run and protocol."""
    root = ET.Element("testsuites", name="nfsproof")
    labels = distinct_labels(runs, dated=False)
    for run, label in zip(runs, labels, strict=True):
        # The label is left out of a single run: CI then knows a test again whatever the port of its target.
        root.extend(list(_suites(run, f"{label}/" if len(runs) > 1 else "")))
    _count(root, [name for name in _COUNTED if name != "skipped"])
    ET.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _suites(run: Run, prefix: str) -> Iterator[ET.Element]:
    findings: dict[str, list[FindingRecord]] = {}
    for record in run.findings:
        findings.setdefault(record.check, []).append(record)
    not_judged: dict[str, str] = {}
    for text in run.below_floor:  # of a protocol, or of one of its operations
        protocol = re.split("[:/]", text, maxsplit=1)[0]
        not_judged[protocol] = "; ".join(filter(None, [not_judged.get(protocol, ""), text]))
    found = causes_of(run)
    cause_of = {name: cause for cause in found for name in cause.checks}
    for protocol in run.protocols:
        checks = [check for check in run.checks if check.protocol == protocol]
        cases = [
            _check(run, check, findings.get(check.id, []), prefix, cause_of.get(check.id)) for check in checks
        ]
        cases += _not_asked(checks, f"{prefix}{protocol}")
        mine = _cause_lines(
            [(cause, cause.checks) for cause in found], {check.id: check.verdict for check in checks}
        )
        yield _suite(run, prefix, protocol, cases, mine, {"not_judged": not_judged.get(protocol, "")})
    if run.rules_broken:
        rules = {record.id: record.verdict for record, _ in run.rules_broken}
        cases = [_finding(run, record, checks, prefix) for record, checks in run.rules_broken]
        yield _suite(
            run, prefix, "lint", cases, _cause_lines([(cause, cause.findings) for cause in found], rules)
        )
    if run.trouble:
        case = _case(f"{prefix}run", "is_complete", 0.0, {"verdict": "VOID"})
        _add_element(case, "error", "VOID", run.trouble, run.trouble)
        yield _suite(run, prefix, "run", [case])
    if run.baseline:
        case = _case(f"{prefix}run", "is_as_the_baseline_says", 0.0, {"baseline": run.baseline})
        if run.differences:
            _add_element(case, "failure", "BASELINE", run.differences[0], "\n".join(run.differences))
        yield _suite(run, prefix, "baseline", [case])


def _cause_lines(found: Iterable[tuple[Cause, Iterable[str]]], verdicts: Mapping[str, str]) -> list[str]:
    """The causes that a suite shows, each with the verdict that it has there: the lint may be red where no check is."""
    lines = []
    for cause, names in found:
        here = [verdicts[name] for name in names if name in verdicts]
        lines += [f"{min(here, key=VERDICTS.index)} {cause.line}"] if here else []
    return lines


_COUNTED = {"tests": "testcase", "failures": "failure", "errors": "error", "skipped": "skipped"}


def _count(element: ET.Element, names: Sequence[str]) -> None:
    for name in names:
        element.set(name, str(sum(1 for _ in element.iter(_COUNTED[name]))))
    seconds = sum(float(case.get("time", 0)) for case in element.iter("testcase"))
    element.set("time", f"{seconds:.3f}")


def _suite(
    run: Run,
    prefix: str,
    name: str,
    cases: Sequence[ET.Element],
    causes: Sequence[str] = (),
    properties: Mapping[str, str] = MappingProxyType({}),
) -> ET.Element:
    suite = ET.Element("testsuite", name=legal_in_xml(prefix + name))
    if run.about is not None:
        # The schema wants no offset, and XML Schema's dateTime none either.
        suite.set("timestamp", legal_in_xml(run.about.started[:19]))
        facts = {"target": run.target, "nfsproof": run.about.version} | run.about.environment
        facts |= {f"cause.{number}": text for number, text in enumerate(causes, 1)}
        facts |= dict(properties)
        _add_properties(suite, facts)
    suite.extend(cases)
    _count(suite, list(_COUNTED))
    return suite


def _case(classname: str, name: str, seconds: float, properties: dict[str, str]) -> ET.Element:
    case = ET.Element("testcase", classname=legal_in_xml(classname), name=legal_in_xml(name))
    case.set("time", f"{max(0.0, seconds):.3f}")
    _add_properties(case, properties)
    return case


def _add_properties(element: ET.Element, pairs: dict[str, str]) -> None:
    properties = ET.SubElement(element, "properties")
    for name, value in pairs.items():
        if value:
            pair = {"name": legal_in_xml(name), "value": legal_in_xml(shortened(value, _LONG))}
            ET.SubElement(properties, "property", pair)


def _add_element(case: ET.Element, kind: str, verdict: str, message: str, text: str) -> None:
    shown = legal_in_xml(shortened(message, _LONG))
    element = ET.SubElement(case, kind, type=legal_in_xml(verdict), message=shown)
    element.text = legal_in_xml(text)


def _of_requirement(record: CheckRecord | FindingRecord) -> dict[str, str]:
    requirement = record.requirement
    if requirement is None:
        return {}
    harm = harm_done(requirement.harm, record.outcome) or ""
    facts = {"requirement": requirement.citation, "level": requirement.level, "part": requirement.part}
    return facts | {"harm": str(harm)}


def _check(
    run: Run, check: CheckRecord, findings: Sequence[FindingRecord], prefix: str, cause: Cause | None
) -> ET.Element:
    """A check: its class is protocol and subject of the id, its name the rest."""
    base, bracket, parameters = check.id.partition("[")
    place, _, name = base.rpartition("/")
    properties = {
        "id": check.id,
        "title": check.heading,
        "verdict": check.verdict,
        **_of_requirement(check),
    }
    if check.expected:
        properties |= {"expected": any_of(check.expected), "observed": seen(check)}
    properties |= {f"observation.{key}": value for key, value in check.observations.items()}
    properties |= {f"figure.{key}": f"{value:g}" for key, value in check.figures.items()}
    properties |= {"reason": check.reason, "capture": check.capture}
    properties |= {f"finding.{finding.id}": finding.observed for finding in findings}
    properties |= {"cause": cause.headline} if cause is not None else {}
    classname = prefix + place.replace("/", ".")
    case = _case(classname, f"{name}{bracket}{parameters}", check.duration, properties)
    _add_outcome(case, check, strict=run.is_strict)
    return case


def _add_outcome(case: ET.Element, record: CheckRecord | FindingRecord, *, strict: bool) -> None:
    reason = record.reason if isinstance(record, CheckRecord) else ""
    title = f"{record.heading}\n" if isinstance(record, CheckRecord) else ""
    message = f"{record.verdict}: {title}{deviation(record)}"
    match record.verdict:
        case "FAIL":
            _add_element(case, "failure", record.verdict, message, failure_text(record))
        case "NONSTRICT" if strict:
            _add_element(case, "failure", record.verdict, message, failure_text(record))
        case "VOID" if isinstance(record, CheckRecord) and is_not_asked(record):
            _add_element(case, "skipped", record.verdict, f"VOID: {title}{reason}", reason)
        case "VOID":
            _add_element(case, "error", record.verdict, message, failure_text(record))
        case "SKIP" | "UNSUPPORTED":
            _add_element(case, "skipped", record.verdict, f"{record.verdict}: {title}{reason}", reason)


def _not_asked(checks: Sequence[CheckRecord], place: str) -> Iterator[ET.Element]:
    """A case in error for each reason why checks were not asked: they all say the same, and are skipped."""
    for number, (reason, times) in enumerate(not_asked(checks), 1):
        case = _case(place, "not_asked" if number == 1 else f"not_asked_{number}", 0.0, {"verdict": "VOID"})
        text = f"{number_of(times, 'check')} {reason}"
        _add_element(case, "error", "VOID", f"VOID: {text}", text)
        yield case


def _finding(run: Run, record: FindingRecord, checks: Sequence[str], prefix: str) -> ET.Element:
    """A rule that the lint saw broken: one case, whatever the number of checks that show it."""
    properties = {"id": record.id, "verdict": record.verdict, **_of_requirement(record)}
    properties |= {"observed": record.observed, "checks": " ".join(checks)}
    name = record.id.removeprefix("lint/")
    case = _case(f"{prefix}lint", name, 0.0, properties)
    if not run.is_printed_only(record):
        _add_outcome(case, record, strict=run.is_strict)
    return case
