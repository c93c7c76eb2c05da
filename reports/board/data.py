# SPDX-License-Identifier: MIT
"""The data of a board: an index of all that is shown at once, and details in portions that are read when asked for.

Strings that occur often (lines of transcripts, reasons, clauses) are stored once and referred to by number.
"""

from __future__ import annotations

import math
import typing as t
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from nfsjudge.records import (
    CheckRecord,
    FindingRecord,
    MessageRecord,
    ProcedureStatistics,
    RequirementRecord,
    deviation,
    elsewhere_lines,
    seen,
)
from nfsjudge.verdict import VERDICTS
from reports.again import for_others
from reports.board.causes import causes_data, is_red, severities_data
from reports.board.clients import clients_data
from reports.board.duplicates import duplicates_data
from reports.board.safe import clause_url, inside, visible, visible_line
from reports.changes import MEANINGS as CHANGES
from reports.changes import OF_SERVERS, change, lasting, symptom
from reports.idlist import OF_CLIENTS, is_of_client
from reports.order import natural
from reports.run import MEANINGS, Run, distinct_labels

SYMBOLS = {"FAIL": "✗", "VOID": "?", "NONSTRICT": "!", "SKIP": "»", "UNSUPPORTED": "○", "PASS": "✓"}
"""The symbol next to the word, or instead of it in narrow columns."""

LETTERS = {verdict: verdict[0] for verdict in VERDICTS}
"""One letter a verdict: the verdicts of a run are one string."""

Plain: t.TypeAlias = dict[str, t.Any]

_DIFFERENCES = 20
"""At most this many differences from a baseline are listed at the top of the page, where somebody opens the list."""

_NOT_JUDGED = 10
"""The exit status of a run in which nothing failed and too little could be judged."""


@dataclass(slots=True)
class Table:
    """Strings, each once."""

    strings: list[str] = field(default_factory=list)
    _numbers: dict[str, int] = field(default_factory=dict)

    def number(self, text: str) -> int:
        """The number of a string; it is made visible before it is kept."""
        known = self._numbers.get(text)
        if known is None:
            known = self._numbers[text] = len(self.strings)
            self.strings.append(visible(text))
        return known

    def numbers(self, texts: Iterable[str]) -> list[int]:
        return [self.number(text) for text in texts]


@dataclass(slots=True)
class Clauses:
    """Requirements, each once."""

    rows: list[list[str]] = field(default_factory=list)
    _numbers: dict[tuple[str, ...], int] = field(default_factory=dict)

    def number(self, requirement: RequirementRecord) -> int:
        """[rfc, section, part, level, gist, harm, URL] by number."""
        key = (
            requirement.rfc,
            requirement.section,
            requirement.part,
            requirement.level,
            requirement.gist,
            requirement.harm,
        )
        known = self._numbers.get(key)
        if known is None:
            known = self._numbers[key] = len(self.rows)
            self.rows.append([*map(visible_line, key), clause_url(requirement.rfc, requirement.section)])
        return known


@dataclass(slots=True)
class Board:
    """Everything that the page gets."""

    index: Plain
    portions: dict[str, Plain]
    """Name -> {"strings": [...], "checks": {number of the check: details}}."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where the records of a run come from."""

    folder: str | None
    """As in `inside`."""
    hidden: str = ""
    """The address of a target that a label stands for; empty if it may be shown."""

    def file(self, path: str) -> list[str]:
        """[path as shown, URL or nothing]; empty for no file."""
        return [visible_line(path), inside(path, self.folder)] if path else []

    def command(self, text: str) -> str:
        """A command that names the target only if it may be shown."""
        return visible_line(for_others(text, self.hidden) if self.hidden else text)


def _source(run: Run, folder: str | None) -> Source:
    return Source(folder, run.about.target if run.about is not None and run.is_anonymous else "")


def group_of(check_id: str) -> tuple[str, str]:
    """Protocol and subject (a procedure or a mechanism): the first two parts of an id."""
    parts = check_id.split("/")
    return parts[0], parts[1] if len(parts) > 2 else ""


def worst_first(checks: Iterable[CheckRecord]) -> dict[str, CheckRecord]:
    """The checks of a run by id. An id that came twice keeps its worse verdict: a repetition must not hide a red."""
    chosen: dict[str, CheckRecord] = {}
    for check in checks:
        other = chosen.get(check.id)
        if other is None or _rank(check.verdict) < _rank(other.verdict):
            chosen[check.id] = check
    return chosen


def _rank(verdict: str) -> int:
    return VERDICTS.index(verdict) if verdict in VERDICTS else -1


def build(runs: Sequence[Run], folders: Sequence[str | None]) -> Board:
    """The data of some runs. `folders`: from the page to the records of each run, as in `inside`."""
    clauses, strings = Clauses(), Table()
    by_id = [worst_first(run.checks) for run in runs]
    ids = sorted(
        {check_id for checks in by_id for check_id in checks},
        key=lambda check_id: (*group_of(check_id), natural(check_id)),
    )
    numbers = {check_id: number for number, check_id in enumerate(ids)}
    groups = _groups(ids)
    index: Plain = {
        "verdicts": [
            [verdict, SYMBOLS[verdict], MEANINGS[verdict], LETTERS[verdict]] for verdict in VERDICTS
        ],
        "changes": [[name, meaning, *OF_SERVERS[name]] for name, meaning in CHANGES.items()],
        "change": _change_table(),
        "of_clients": f"{OF_CLIENTS}/",
        "runs": [
            _about(run, label, folder)
            for run, label, folder in zip(runs, distinct_labels(runs), folders, strict=True)
        ],
        "checks": [
            [
                visible_line(check_id),
                _clauses_of(check_id, by_id, clauses),
                strings.number(_title_of(check_id, by_id)),
            ]
            for check_id in ids
        ],
        "groups": [[*map(visible_line, name), first, last] for name, first, last in groups],
        "results": [_results(checks, ids, clauses, strings) for checks in by_id],
        "observations": [
            [number, run, visible(key), visible(value)]
            for run, checks in enumerate(by_id)
            for check_id, check in checks.items()
            for number in [numbers[check_id]]
            for key, value in check.observations.items()
        ],
        "findings": [
            _finding(finding, checks, run, numbers, clauses) | {"symptom": strings.number(_symptom(finding))}
            for run, loaded in enumerate(runs)
            for finding, checks in loaded.rules_broken
        ],
    }
    sources = [_source(run, folder) for run, folder in zip(runs, folders, strict=True)]
    portions = {
        f"{run}-{group}": _portion(ids[first:last], first, checks, findings, clauses, sources[run])
        for run, checks in enumerate(by_id)
        for findings in [_findings_by_check(runs[run].findings)]
        for group, (_, first, last) in enumerate(groups)
    }
    index["causes"] = causes_data(runs, numbers)
    index["severities"] = severities_data()
    index["duplicates"] = duplicates_data(runs)
    index["clients"] = clients_data(runs, numbers)
    index["requirements"] = clauses.rows
    index["strings"] = strings.strings
    return Board(index, {name: portion for name, portion in portions.items() if portion["checks"]})


def _groups(ids: Sequence[str]) -> list[tuple[tuple[str, str], int, int]]:
    """(protocol, procedure), number of its first check, number after its last."""
    groups: list[tuple[tuple[str, str], int, int]] = []
    for number, check_id in enumerate(ids):
        name = group_of(check_id)
        if groups and groups[-1][0] == name:
            groups[-1] = (name, groups[-1][1], number + 1)
        else:
            groups.append((name, number, number + 1))
    return groups


def _change_table() -> dict[str, str]:
    """Letters of two verdicts ("-" for absent) -> how the check has changed."""
    letters: dict[str | None, str] = {None: "-"}
    letters.update((verdict, letter) for verdict, letter in LETTERS.items())
    return {
        letters[before] + letters[after]: found
        for before in letters
        for after in letters
        if (found := change(before, after)) is not None
    }


def _clauses_of(check_id: str, by_id: Sequence[dict[str, CheckRecord]], clauses: Clauses) -> list[int]:
    """The requirements of a check in all runs; first the one that a red verdict is about, if there is one."""
    found = [checks[check_id] for checks in by_id if check_id in checks]
    judged = [check for check in found if check.verdict in {"FAIL", "NONSTRICT"}] or found
    first = [check.requirement for check in judged if check.requirement is not None]
    rest = [each for check in found for each in [check.requirement, *check.requirements] if each is not None]
    return list(dict.fromkeys(clauses.number(each) for each in [*first[:1], *rest]))


def _title_of(check_id: str, by_id: Sequence[dict[str, CheckRecord]]) -> str:
    """The title of a check: of the last run that gives it one, or else what its id says in words."""
    found = [checks[check_id] for checks in by_id if check_id in checks]
    return visible_line(next((check.title for check in reversed(found) if check.title), found[0].heading))


def _results(checks: dict[str, CheckRecord], ids: Sequence[str], clauses: Clauses, strings: Table) -> Plain:
    """Of one run: a letter a check, and what was said of those that are not green, by number of the check."""
    letters, said, symptoms, levels = [], {}, {}, {}
    for number, check_id in enumerate(ids):
        check = checks.get(check_id)
        if check is None:
            letters.append("-")
            continue
        letters.append(LETTERS.get(check.verdict, "V"))  # a verdict of a stranger could not be judged here
        text = check.reason or deviation(check)
        if text:
            said[number] = strings.number(text[:400])
        if check.verdict != "PASS":
            symptoms[number] = strings.number(symptom(check))
        if check.requirement is not None:
            levels[number] = clauses.number(check.requirement)
    return {"letters": "".join(letters), "said": said, "symptoms": symptoms, "clauses": levels}


def _about(run: Run, label: str, folder: str | None) -> Plain:
    """What the page shows about a run as a whole."""
    about, end = run.about, run.end
    unjudged = [f"not judged: {text}" for text in run.below_floor]
    is_unjudged = end is not None and end.exit_code == _NOT_JUDGED
    facts: Plain = {
        "label": visible_line(label),
        "brief": visible_line(label.removeprefix(f"{run.label}, ")),
        "series": visible_line(run.label),
        "target": visible_line(run.target),
        "ending": visible(run.ending),
        "red": is_red(run),
        "client": any(is_of_client(check.id) for check in run.checks),
        "trouble": visible(run.trouble),
        # What made a run end as "not judged" is a problem; next to a FAIL it is a remark.
        "problems": [visible_line(text) for text in (*run.problems, *(unjudged if is_unjudged else []))],
        "differences": [visible_line(text) for text in run.differences[:_DIFFERENCES]],
        "more": max(0, len(run.differences) - _DIFFERENCES),
        "unjudged": [] if is_unjudged else [visible_line(text) for text in unjudged],
        "commit": visible_line(run.commit),
        "seconds": _number(end.duration) if end is not None else None,
        "logs": [[visible_line(log), inside(log, folder)] for log in (end.logs if end is not None else [])],
        "lint": visible_line(about.lint) if about is not None else "",
        "started": visible_line(about.started) if about is not None else "",
        "capabilities": _pairs(about.capabilities) if about is not None else [],
        "environment": _pairs({"nfsproof": about.version, **about.environment}) if about is not None else [],
        "statistics": [_procedure(procedure) for procedure in run.statistics.procedures]
        if run.statistics is not None
        else [],
    }
    return facts


def _pairs(values: dict[str, str]) -> list[list[str]]:
    return [[visible_line(key), visible(value)] for key, value in values.items()]


def _number(value: float) -> float | None:
    """A number that JSON can hold."""
    return round(value, 6) if math.isfinite(value) else None


def _procedure(procedure: ProcedureStatistics) -> list[t.Any]:
    latency = [
        _number(procedure.latency[key]) if key in procedure.latency else None
        for key in ("p50", "p90", "p99", "max", "mean")
    ]
    counts = [
        procedure.calls,
        procedure.replies,
        procedure.retransmissions,
        procedure.bytes_sent,
        procedure.bytes_received,
    ]
    name = f"{procedure.within}: {procedure.procedure}" if procedure.within else procedure.procedure
    return [visible_line(procedure.protocol), visible_line(name), *counts, *latency, bool(procedure.within)]


def _finding(
    finding: FindingRecord, checks: Sequence[str], run: int, numbers: dict[str, int], clauses: Clauses
) -> Plain:
    """A rule that the lint found broken in a run: once, with all checks that show it."""
    return {
        "run": run,
        "id": visible_line(finding.id),
        "verdict": visible_line(finding.verdict),
        "clause": clauses.number(finding.requirement) if finding.requirement is not None else None,
        "expected": [visible(each) for each in finding.expected],
        "observed": visible(finding.observed),
        "elsewhere": [visible_line(each) for each in finding.elsewhere],
        "checks": [[visible_line(each), numbers.get(each)] for each in checks],
    }


def _symptom(finding: FindingRecord) -> str:
    return lasting("\n".join([*finding.expected, finding.observed]))


def _findings_by_check(findings: Iterable[FindingRecord]) -> dict[str, list[FindingRecord]]:
    found: defaultdict[str, list[FindingRecord]] = defaultdict(list)
    for finding in findings:
        found[finding.check].append(finding)
    return found


def _portion(
    ids: Sequence[str],
    first: int,
    checks: dict[str, CheckRecord],
    findings: dict[str, list[FindingRecord]],
    clauses: Clauses,
    source: Source,
) -> Plain:
    """The details of the checks of one group in one run."""
    strings = Table()
    return {
        "checks": {
            first + offset: _details(checks[check_id], findings.get(check_id, []), strings, clauses, source)
            for offset, check_id in enumerate(ids)
            if check_id in checks
        },
        "strings": strings.strings,
    }


def _details(
    check: CheckRecord,
    findings: Sequence[FindingRecord],
    strings: Table,
    clauses: Clauses,
    source: Source,
) -> Plain:
    """All of a check that the index does not have; what is empty is left out."""
    details: Plain = {
        "clause": clauses.number(check.requirement) if check.requirement is not None else None,
        "expected": strings.numbers(check.expected),
        "observed": visible(seen(check)),
        "reason": visible(check.reason),
        "alone": "" if check.elsewhere else visible_line("; ".join(elsewhere_lines(check))),
        "noted": _pairs(check.observations),
        "elsewhere": strings.numbers(check.elsewhere),
        "seconds": _number(check.duration),
        "began": _number(check.began),
        "exchanges": check.exchanges,
        "messages": [_message(message, strings) for message in check.messages],
        "transcript": strings.numbers(check.transcript) if not check.messages else [],
        "capture": source.file(check.capture),
        "script": source.file(check.script),
        "rerun": source.command(check.rerun),
        "verdict": visible_line(check.verdict) if check.verdict not in VERDICTS else "",
        "findings": [_finding_of_check(finding, strings, clauses) for finding in findings],
    }
    return {key: value for key, value in details.items() if value not in ("", [], None, 0)}


def _message(message: MessageRecord, strings: Table) -> list[t.Any]:
    """[number, seconds, 1 for a reply, summary, lines of all fields, indices of those that deviate]."""
    is_reply = int(message.direction == "reply")
    lines = strings.numbers(message.fields)
    return [
        message.number,
        _number(message.time),
        is_reply,
        visible_line(message.summary),
        lines,
        message.deviating,
    ]


def _finding_of_check(finding: FindingRecord, strings: Table, clauses: Clauses) -> Plain:
    return {
        "id": visible_line(finding.id),
        "verdict": visible_line(finding.verdict),
        "clause": clauses.number(finding.requirement) if finding.requirement is not None else None,
        "expected": [visible(each) for each in finding.expected],
        "observed": visible(finding.observed),
        "elsewhere": strings.numbers(finding.elsewhere),
        "transcript": strings.numbers(finding.transcript),
    }
