# SPDX-License-Identifier: MIT
"""Coverage as pages of the documentation, and as Markdown, HTML and JSON of runs."""

from __future__ import annotations

import functools
import json
import re
import typing as t
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from nfsjudge.records import CheckRecord, RequirementRecord
from nfsjudge.verdict import VERDICTS
from reports.coverage.errors import ErrorCoverage, Pair, cover_errors
from reports.coverage.sections import (
    Claim,
    CoveredDocument,
    CoveredSection,
    SectionCoverage,
    cover_sections,
    function_of,
)
from reports.coverage.tables import read_error_tables, read_tables
from reports.plain import printable
from reports.reach import Reach, reach_of, render_reach
from reports.run import Run

_TEMPLATES = Path(__file__).parent / "templates"
_NAMED = 3
"""Checks that are named with a pair."""
_RED: t.Final = ("FAIL", "VOID", "NONSTRICT")
Rules: t.TypeAlias = Iterable[tuple[str, RequirementRecord]]


# ---------------------------------------------------------------- pages of the suite


@dataclass(frozen=True, slots=True)
class Pages:
    """The pages of docs/, by file name, what is wrong with the tables, and the text of suites/reach.txt."""

    texts: dict[str, str]
    faults: list[str]
    reach: str = ""


def suite_pages(run: Run, rules: Rules) -> Pages:
    """The pages about the suite itself, from a whole run on the reference server. The same records, the same text."""
    coverage = cover_sections([run], read_tables(), rules)
    errors = cover_errors([run], read_error_tables())
    ids = {check.id for check in run.checks}
    rule_ids = {rule for claim in coverage.claims for rule in claim.rules}
    values = {
        "coverage": coverage,
        "errors": errors,
        "checks": len(ids),
        "functions": len({function_of(check_id) for check_id in ids}),
        "rules": len(rule_ids),
        "reaches": _reaches(run.checks),
    }
    texts = {
        "coverage.md": _markdown("suite.md.j2", values),
        "coverage-checks.md": _markdown("checks.md.j2", values),
    }
    refuted = [
        f"{error.protocol} {pair.operation} {pair.error}: errors-outside.toml says that no check provokes it, but "
        f"{pair.functions[0]} does"
        for error in errors
        for pair in error.refuted
    ]
    covered = [
        f"{section.section.rfc} section {section.section.number}: outside.toml says that no check can cover it, but "
        f"{min(section.checks | section.rules)} does"
        for document in coverage.documents
        for section in document.sections
        if section.claims and section.reason
    ]
    tabled = {document.document.name for document in coverage.documents}
    unknown = [
        f"{claim.requirement.citation}: the RFC has no such section"
        for claim in coverage.elsewhere
        if claim.requirement.rfc in tabled
    ]
    return Pages(texts, refuted + covered + unknown, render_reach(run.checks))


def _reaches(checks: Iterable[CheckRecord]) -> dict[str, list[int]]:
    """Protocol, or "all" -> how many checks it has, and how many of each reach."""
    found = Counter((name, reach_of(check.steered)) for check in checks for name in (check.protocol, "all"))
    names = [*sorted({name for name, _ in found} - {"all"}), "all"]
    rows = {name: [found[name, reach] for reach in Reach] for name in names}
    return {name: [sum(row), *row] for name, row in rows.items()}


# ---------------------------------------------------------------- runs


def render_coverage(runs: Sequence[Run], form: str, charts: Sequence[tuple[str, str]] = ()) -> str:
    """What `runs` cover; `form` is "md", "html" or "json". `charts` (title, trusted SVG) go into the HTML."""
    coverage = cover_sections(runs, read_tables())
    errors = cover_errors(runs, read_error_tables())
    short = [(label, why) for label, why in zip(coverage.targets, map(_not_whole, runs), strict=True) if why]
    match form:
        case "md":
            values = {"coverage": coverage, "errors": errors, "short": short}
            return _markdown("runs.md.j2", values, unseen=_NOT_SEEN)
        case "html":
            drawn = [(title, Markup(svg)) for title, svg in charts]  # noqa: S704  (SVG of reports.charts: escaped there)
            template = _environment(html=True, unseen=_NOT_SEEN).get_template("runs.html.j2")
            return template.render(coverage=coverage, errors=errors, charts=drawn, short=short)
        case "json":
            plain = to_plain(coverage, errors) | {"not_whole": dict(short)}
            return json.dumps(plain, indent=1) + "\n"
    raise ValueError(f"expected md, html or json as the form of coverage, got {form!r}")


def _not_whole(run: Run) -> str:
    """Why sections are open that the suite has checks of; empty if all of them were judged."""
    if run.about is not None and run.about.is_partial:
        return "only some of the checks were selected"
    return run.ending if run.end is None or run.end.exit_code in {2, 3, 4, 5} else ""


def to_plain(coverage: SectionCoverage, errors: Sequence[ErrorCoverage]) -> dict[str, t.Any]:
    """Both as str, int, list and dict."""
    return {
        "targets": coverage.targets,
        "documents": [
            {
                "rfc": document.document.name,
                "title": document.document.title,
                "numbers": dict(document.numbers()),
                "levels": dict(document.levels()),
                "sections": [_plain_section(each) for each in document.sections if each.state != "silent"],
            }
            for document in coverage.documents
        ],
        "elsewhere": [_plain_claim(claim) for claim in coverage.elsewhere],
        "errors": [
            {
                "protocol": error.protocol,
                "numbers": dict(error.counts),
                "pairs": [_plain_pair(pair) for pair in error.pairs],
                "unlisted": [_plain_pair(pair) for pair in error.unlisted],
            }
            for error in errors
        ],
    }


def _plain_section(covered: CoveredSection) -> dict[str, t.Any]:
    section = covered.section
    return {
        "section": section.number,
        "title": section.title,
        "words": {"must": section.must, "should": section.should, "may": section.may},
        "state": covered.state,
        "reason": covered.reason,
        "requirements": [_plain_claim(claim) for claim in covered.claims],
    }


def _plain_claim(claim: Claim) -> dict[str, t.Any]:
    requirement = claim.requirement
    return {
        "citation": requirement.citation,
        "part": requirement.part,
        "level": requirement.level,
        "gist": requirement.gist,
        "checks": sorted(claim.checks),
        "rules": sorted(claim.rules),
        "verdicts": claim.verdicts,
    }


def _plain_pair(pair: Pair) -> dict[str, t.Any]:
    reason = pair.reason.text if pair.reason is not None else ""
    named = {"operation": pair.operation, "error": pair.error, "state": pair.state, "reason": reason}
    return {**named, "checks": sorted(pair.checks)}


# ---------------------------------------------------------------- words of the templates


def _environment(*, html: bool, unseen: str) -> Environment:
    """`unseen`: what to call pairs that were not seen, and that have no reason for it."""
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=html,  # noqa: S701  (Markdown is escaped by the filter md)
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "chapters": _chapters,
        "citations": lambda claims: sorted({claim.requirement.citation for claim in claims}),
        "count": lambda count: "" if count is None else count,
        "is_bad": lambda section, run: any(section.counts(run)[name] for name in _RED),
        "is_broken": lambda claim: any(
            each in _RED for verdicts in claim.verdicts for each in verdicts.values()
        ),
        "md": escape_markdown,
        "provoked": functools.partial(_provoked, unseen=unseen),
        "seen_in": functools.partial(_seen_in, unseen=unseen),
        "standing": lambda section: (
            section.reason and f"outside: {section.reason}" if section.state == "outside" else section.state
        ),
        "tally": lambda claim, run: _tally(claim.counts(run)),
        "unlisted": lambda pairs: [f"{pair.operation} {escape_markdown(pair.error)}" for pair in pairs],
        "verdicts": lambda section, run: _tally(section.counts(run)) if section.claims else section.state,
    }
    environment.globals["unseen"] = unseen
    return environment


def _markdown(template: str, values: dict[str, t.Any], *, unseen: str = "open") -> str:
    text = _environment(html=False, unseen=unseen).get_template(template).render(values)
    return re.sub(r"\n{3,}", "\n\n", text).strip("\n") + "\n"


def escape_markdown(text: str) -> str:
    """A text that stands in one line and one cell, and is no markup, whoever it came from."""
    flat = " ".join(printable(text).split())
    quoted = re.sub(r"([\\`*_\[\]<>|#&~$@])", r"\\\1", flat).replace("\\<", "&lt;").replace("\\>", "&gt;")
    return quoted.replace("://", ":\\//").replace("www.", "www\\.")  # GitHub makes links of bare addresses


def _tally(counts: Counter[str]) -> str:
    names = [*VERDICTS, *sorted(set(counts) - set(VERDICTS))]
    return (
        ", ".join(f"{counts[name]} {escape_markdown(name)}" for name in names if counts[name]) or "no verdict"
    )


def _provoked(pair: Pair, *, unseen: str) -> str:
    """The cell of a pair, as Markdown."""
    if not pair.checks:
        return _why_not(pair, unseen) + (f": {escape_markdown(pair.reason.text)}" if pair.reason else "")
    named = ", ".join(f"`{function}`" for function in map(_in_code, pair.functions[:_NAMED]))
    more = len(pair.functions) - _NAMED
    return named + (f" and {more} more" if more > 0 else "")


def _in_code(text: str) -> str:
    return printable(text).replace("`", "'").replace("|", "/").replace("\n", " ")


def _seen_in(pair: Pair, *, unseen: str) -> str:
    """The cell of a pair, as plain text."""
    if not pair.checks:
        return _why_not(pair, unseen) + (f": {pair.reason.text}" if pair.reason else "")
    more = len(pair.functions) - _NAMED
    return ", ".join(pair.functions[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def _why_not(pair: Pair, unseen: str) -> str:
    return _STATES_OF_PAIRS.get(pair.state, unseen)


_STATES_OF_PAIRS: t.Final = {"outside": "not from outside", "server": "not with the reference server"}
_NOT_SEEN: t.Final = "not seen"
"""In the report of runs, where "open" would say that there is no check."""


def _chapters(document: CoveredDocument) -> list[dict[str, t.Any]]:
    """The sections at the top, each with the sum of those in it; those without normative words are left out."""
    found: list[dict[str, t.Any]] = []
    for each in document.sections:
        section = each.section
        if not found or found[-1]["number"] != section.chapter:
            title = section.title if section.number == section.chapter else ""
            found.append({"number": section.chapter, "title": title} | dict.fromkeys(_SUMS, 0))
        last = found[-1]
        last["worded"] += bool(section.words)
        last["covered"] += each.state == "covered"
        last["must"] += section.must or 0
        last["should"] += section.should or 0
        last["may"] += section.may or 0
    return [chapter for chapter in found if chapter["worded"] or chapter["covered"]]


_SUMS: t.Final = ("worded", "covered", "must", "should", "may")
