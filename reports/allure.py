# SPDX-License-Identifier: MIT
"""Runs as results for Allure (https://allurereport.org), also later and on another machine.

Written with Allure's own library: one result a check, and one for each rule that the lint saw broken. Results carry
no name of the machine that tested; a target with a label appears under this label only.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import html
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from allure_commons.logger import AllureFileLogger
from allure_commons.model2 import Attachment, Label, Link, Parameter, Status, StatusDetails, TestResult
from allure_commons.types import AttachmentType, LabelType, LinkType, Severity

from nfsjudge.harm import harm_text
from nfsjudge.records import CheckRecord, FindingRecord, RequirementRecord, deviation, seen
from reports.causes import Cause, causes_of
from reports.plain import clause_url, printable, shortened
from reports.run import Run, distinct_labels

SEVERITIES = {
    "MUST": Severity.CRITICAL,
    "STATED": Severity.CRITICAL,
    "SHOULD": Severity.NORMAL,
    "MAY": Severity.MINOR,
}
"""By the level of the requirement; CRITICAL if harm was done, MINOR for what names none."""

STATUSES = {
    "PASS": Status.PASSED,
    "FAIL": Status.FAILED,
    "NONSTRICT": Status.PASSED,
    "UNSUPPORTED": Status.SKIPPED,
    "SKIP": Status.SKIPPED,
    "VOID": Status.BROKEN,
}
"""NONSTRICT of a strict run is FAILED."""

CATEGORIES = {
    "FAIL": "Server defect: a MUST or a stated rule was broken, or harm was done",
    "NONSTRICT": "SHOULD not followed",
    "UNSUPPORTED": "Unsupported: the target lacks an optional feature",
    "VOID": "Void: could not be judged",
    "SKIP": "Skipped: a precondition was missing",
}

MAX_ATTACHMENT = 16 * 2**20
"""Bytes. A larger capture or log stays where it is."""

_LONG = 2000
_NAME = 250
"""Characters of the name of a category."""


@dataclass(slots=True)
class _Writer:
    """The results of one run on their way into a folder."""

    run: Run
    label: str
    log: AllureFileLogger
    began: int | None
    """Milliseconds since 1970."""
    logs: list[Attachment] = field(default_factory=list)
    cause_of: dict[str, Cause] = field(default_factory=dict)
    """Ids of checks and rules -> the cause that they share with others."""


def write_allure(runs: Sequence[Run], folder: Path) -> int:
    """Write the results, `environment.properties` and `categories.json`; the number of results.

    What an earlier call has left in the folder is replaced, files of others are kept. Raises OSError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for pattern in ("*-result.json", "*-attachment.*"):
        for old in folder.glob(f"nfsproof-{pattern}"):
            old.unlink()
    log = AllureFileLogger(folder)
    labels = distinct_labels(runs, dated=False)
    (folder / "categories.json").write_text(json.dumps(category_rules(runs), indent=1), encoding="utf-8")
    (folder / "environment.properties").write_text(_environment(runs, labels), encoding="ascii")
    number = 0
    for run, label in zip(runs, labels, strict=True):
        writer = _Writer(run, label, log, _epoch(run))
        writer.cause_of = {name: cause for cause in _shared(run) for name in [*cause.checks, *cause.findings]}
        writer.logs = [
            attachment
            for name in (run.end.logs if run.end else [])
            if (attachment := _attach_file(writer, name, "server log"))
        ]
        results = [_of_check(writer, check) for check in run.checks]
        results += [_of_finding(writer, record, checks) for record, checks in run.rules_broken]
        for result in results:
            log.report_result(result)
        number += len(results)
    return number


class ResultsOfOthers:
    """What allure-pytest writes while a run goes on, completed by what is known of its checks.

    `run` needs no checks; its folder is where captures and scripts are.
    """

    def __init__(self, run: Run, folder: Path) -> None:
        self._writer = _Writer(run, run.label, AllureFileLogger(folder), _epoch(run))
        self._folder = folder

    def complete(self, result: TestResult, check: CheckRecord) -> None:
        """Give the result of a check its verdict, title, clause, labels and evidence.

        What identifies it, when it ran, its steps and what others have added stay.
        """
        ours = _of_check(self._writer, check)
        trace = result.statusDetails.trace if result.statusDetails is not None else None
        result.name, result.status, result.statusDetails = ours.name, ours.status, ours.statusDetails
        if result.statusDetails is not None and trace:
            result.statusDetails.trace = printable(trace)
        if result.descriptionHtml is None:
            result.descriptionHtml = ours.descriptionHtml
        result.labels += [label for label in ours.labels if label.name not in _LABELS_OF_PYTEST]
        result.links += ours.links
        result.attachments += ours.attachments
        known = {parameter.name for parameter in result.parameters} | {"case"}
        result.parameters += [parameter for parameter in ours.parameters if parameter.name not in known]

    def finish(self, run: Run) -> None:
        """Add a result for each rule that the lint saw broken; categories and environment, unless the user has some.

        Raises OSError.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        writer = _Writer(run, run.label, self._writer.log, _epoch(run))
        for record, checks in run.rules_broken:
            writer.log.report_result(_of_finding(writer, record, checks))
        categories, environment = self._folder / "categories.json", self._folder / "environment.properties"
        if not categories.exists():
            categories.write_text(json.dumps(category_rules(), indent=1), encoding="utf-8")
        if not environment.exists():
            environment.write_text(_environment([run], [run.label]), encoding="ascii")


_LABELS_OF_PYTEST = {
    str(label)
    for label in (LabelType.PARENT_SUITE, LabelType.SUITE, LabelType.SUB_SUITE, LabelType.FRAMEWORK)
}


class _Result(TestResult):
    """With known names, to find them again."""

    file_pattern = "nfsproof-{prefix}-result.json"


def _of_check(writer: _Writer, check: CheckRecord) -> TestResult:
    _, bracket, parameters = check.id.partition("[")
    parameters = parameters.removesuffix("]")
    result = _result(writer, check, check.protocol)
    heading = check.heading or check.id  # an id of another version may have another form
    result.name = printable(f"{heading} [{parameters}]" if bracket else heading)
    if parameters:
        result.parameters.append(Parameter(name="case", value=printable(parameters)))
    result.parameters += [
        Parameter(name=printable(key), value=printable(value), excluded=True)
        for key, value in check.observations.items()
    ]
    if writer.began is not None:
        result.start = writer.began + round(1000 * check.began)
        result.stop = result.start + round(1000 * max(0.0, check.duration))
    result.descriptionHtml = _description(writer, check, check.reason)
    if check.script:
        result.attachments += filter(
            None, [_attach_file(writer, check.script, "script that sends the same messages")]
        )
    return result


def _of_finding(writer: _Writer, record: FindingRecord, checks: Sequence[str]) -> TestResult:
    result = _result(writer, record, "lint")
    result.name = printable(record.id)
    if writer.run.is_printed_only(record):
        result.status = Status.PASSED
    also = "in the exchanges of " + ", ".join(shortened(check, 200) for check in checks[:50])
    result.descriptionHtml = _description(writer, record, also)
    if writer.began is not None:
        result.start = result.stop = writer.began
    return result


def _result(writer: _Writer, record: CheckRecord | FindingRecord, protocol: str) -> _Result:
    """What checks and findings have in common."""
    is_strict = record.verdict == "NONSTRICT" and writer.run.is_strict
    result = _Result(
        uuid=_digest(writer.run.about.started if writer.run.about else "", writer.label, record.id),
        historyId=_digest(record.id, writer.label),
        testCaseId=_digest(record.id),
        fullName=printable(record.id),
        titlePath=[writer.label, *printable(record.id).split("/")[:-1]],
        status=Status.FAILED if is_strict else STATUSES[record.verdict],
        # A part of an id may be empty in a record that somebody else wrote: Allure wants a text.
        labels=[label for label in _labels(writer, record, protocol) if label.value],
        parameters=[Parameter(name="target", value=printable(writer.label))],
        stage="finished",
    )
    if record.verdict != "PASS":
        message = printable(f"{record.verdict}: {deviation(record)}")
        lines = [f"expected: {expectation}" for expectation in record.expected]
        cause = writer.cause_of.get(record.id)
        if cause is not None:
            lines.insert(0, f"cause {cause.key}: {cause.line}")
        trace = "\n".join(lines)
        result.statusDetails = StatusDetails(
            message=shortened(message, _LONG), trace=shortened(printable(trace), _LONG)
        )
    requirement = record.requirement
    if requirement is not None and (url := clause_url(requirement)):
        result.links = [Link(type=LinkType.LINK, url=url, name=printable(requirement.citation))]
    result.attachments = _attachments(writer, record)
    return result


def _labels(writer: _Writer, record: CheckRecord | FindingRecord, protocol: str) -> list[Label]:
    titles = {"lint": "Lint", **(writer.run.about.protocols if writer.run.about else {})}
    # Records of earlier versions have no titles.
    epic = titles.get(protocol) or re.sub(r"^NFS(?=\d)", "NFSv", protocol.upper())
    feature = record.id.split("/")[1] if record.id.count("/") > 1 else protocol
    pairs = [
        (LabelType.EPIC, epic),
        (LabelType.FEATURE, titles.get(feature, feature)),
        (LabelType.STORY, _story(record.requirement)),
        (LabelType.SEVERITY, _severity(record)),
        (LabelType.PARENT_SUITE, writer.label),
        (LabelType.SUITE, epic),
        (LabelType.SUB_SUITE, feature),
        (LabelType.TAG, record.verdict),
        (LabelType.FRAMEWORK, "nfsproof"),
    ]
    pairs += [(LabelType.TAG, record.requirement.level)] if record.requirement is not None else []
    return [Label(name=str(name), value=printable(value)) for name, value in pairs]


def _story(requirement: RequirementRecord | None) -> str:
    return "no clause" if requirement is None else f"{requirement.citation}: {requirement.gist}"


def _harm(record: CheckRecord | FindingRecord) -> str:
    declared = "" if record.requirement is None else record.requirement.harm
    return harm_text(declared, record.outcome)


def _severity(record: CheckRecord | FindingRecord) -> str:
    level = "" if record.requirement is None else record.requirement.level
    if _harm(record):
        return Severity.CRITICAL.value
    return SEVERITIES.get(level, Severity.MINOR).value


def _description(writer: _Writer, record: CheckRecord | FindingRecord, more: str) -> str:
    """HTML with nothing in it that is not escaped."""
    rows = [("id", record.id), ("requirement", _story(record.requirement))]
    if record.requirement is not None:
        rows.append(("level", f"{record.requirement.level}, {record.requirement.part}"))
        rows.append(("harm", _harm(record).removeprefix("harm ")))
    rows += [("expected", expectation) for expectation in record.expected]
    rows += [
        ("seen", seen(record)),
        ("also on", ", ".join(record.elsewhere)),
        ("verdict", f"{record.verdict} {more}".strip()),
    ]
    rows += [] if writer.run.is_anonymous else [("again", record.rerun)]
    cells = ((name, html.escape(shortened(printable(text), _LONG))) for name, text in rows if text)
    return "".join(f"<p><b>{name}</b>: <code>{text}</code></p>" for name, text in cells)


def _attachments(writer: _Writer, record: CheckRecord | FindingRecord) -> list[Attachment]:
    found: list[Attachment | None] = []
    if record.transcript:
        source = f"nfsproof-{_digest(writer.label, record.id, 'transcript')}-attachment.txt"
        writer.log.report_attached_data(printable("\n".join(record.transcript) + "\n"), source)
        found.append(Attachment(name="transcript", source=source, type=AttachmentType.TEXT.mime_type))
    if record.capture:
        found.append(_attach_file(writer, record.capture, "capture for Wireshark"))
    if record.verdict in {"FAIL", "VOID"}:
        found += writer.logs
    return [link for link in found if link is not None]


_TYPES = {
    ".pcapng": AttachmentType.PCAP.mime_type,
    ".py": AttachmentType.TEXT.mime_type,
    ".log": AttachmentType.TEXT.mime_type,
}


def _attach_file(writer: _Writer, name: str, title: str) -> Attachment | None:
    """Copy a file from the folder of the records; None if it is missing, elsewhere, or too large."""
    if writer.run.folder is None or _would_tell(writer.run):
        return None
    root = writer.run.folder.resolve()
    try:
        path = (root / name).resolve()
        usable = path.is_relative_to(root) and path.is_file() and path.stat().st_size <= MAX_ATTACHMENT
    except (OSError, ValueError, RuntimeError):
        return None
    kind = _TYPES.get(path.suffix)
    if not usable or kind is None:
        return None
    source = f"nfsproof-{_digest(writer.label, name)}-attachment{path.suffix}"
    writer.log.report_attached_file(path, source)
    return Attachment(name=f"{title}: {printable(path.name)}", source=source, type=kind)


def _would_tell(run: Run) -> bool:
    """Whether the files of a run tell the address that its label hides. Those of an archive do not."""
    return run.is_anonymous and run.about is not None and "://" in run.about.target


def _shared(run: Run) -> list[Cause]:
    """The causes that several results of a run show."""
    return [cause for cause in causes_of(run) if len(cause.checks) + len(cause.findings) > 1]


def category_rules(runs: Sequence[Run] = ()) -> list[dict[str, object]]:
    """As Allure 2 and 3 read them: selected by the cause in the trace, or by the verdict that begins the message."""
    strictly = {"NONSTRICT": [Status.FAILED]}
    by_cause: dict[str, dict[str, object]] = {}
    for cause in (shown for run in runs for shown in _shared(run)):
        name = shortened(printable(f"{cause.verdict}: {cause.headline}"), _NAME)
        by_cause.setdefault(
            cause.key,
            {
                "name": name,
                "traceRegex": f"cause {cause.key}:[\\s\\S]*",
                "matchedStatuses": [STATUSES[cause.verdict], *strictly.get(cause.verdict, [])],
            },
        )
    return [
        *by_cause.values(),
        *_by_verdict(strictly),
    ]


def _by_verdict(strictly: Mapping[str, list[str]]) -> list[dict[str, object]]:
    return [
        {
            "name": name,
            "messageRegex": f"^{verdict}:[\\s\\S]*",
            "matchedStatuses": [STATUSES[verdict], *strictly.get(verdict, [])],
        }
        for verdict, name in CATEGORIES.items()
    ]


def _environment(runs: Sequence[Run], labels: Sequence[str]) -> str:
    """As Java reads properties: ASCII, each pair on its line."""
    pairs: list[tuple[str, str]] = []
    for run, label in zip(runs, labels, strict=True):
        environment = {
            "target": run.target,
            "ended": run.ending,
            "note": run.trouble,
            "rules broken": run.rules_summary,
        }
        if _would_tell(run):
            environment["files"] = (
                "left out, because they contain the address of the target; a report of the archive of the run has them"
            )
        if run.about is not None:
            environment |= {
                "nfsproof": run.about.version,
                "started": run.about.started,
            } | run.about.environment
            lacks = [name for name, value in run.about.capabilities.items() if value != "yes"]
            environment["lacks"] = ", ".join(lacks)
        # After the key, because pages cut long texts.
        of = f" ({label})" if len(runs) > 1 else ""
        pairs += [(key + of, value) for key, value in environment.items() if value]
    return "".join(f"{_property(key)}={_property(shortened(value, _LONG))}\n" for key, value in pairs)


def _property(text: str) -> str:
    marked = "".join(
        f"\\{sign}" if sign in "\\ :=#!" else sign for sign in printable(text).replace("\n", " ")
    )
    units = marked.encode("utf-16-be")
    pairs = (units[at : at + 2] for at in range(0, len(units), 2))
    numbers = (int.from_bytes(pair, "big") for pair in pairs)
    return "".join(chr(number) if 32 <= number < 127 else f"\\u{number:04x}" for number in numbers)


def _epoch(run: Run) -> int | None:
    """When the run began, in milliseconds since 1970; None if it does not say."""
    try:
        began = dt.datetime.fromisoformat(run.about.started if run.about is not None else "")
        return round(1000 * began.timestamp())
    except (ValueError, OverflowError, OSError):
        return None


def _digest(*parts: str) -> str:
    """Stable, and as long as Allure's own."""
    return hashlib.md5("\0".join(parts).encode(), usedforsecurity=False).hexdigest()
