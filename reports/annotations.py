# SPDX-License-Identifier: MIT
"""Runs as annotations of GitHub Actions: lines of output that it shows next to the job and the changed files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from nfsjudge.records import CheckRecord, FindingRecord, seen
from nfsjudge.wording import count
from reports.causes import Cause, causes_of
from reports.plain import printable, shortened
from reports.run import Run, distinct_labels

PER_KIND = 10
"""GitHub shows as many errors, and as many warnings, of one step."""

_LONG = 1000
_KINDS = {"FAIL": "error", "VOID": "error", "NONSTRICT": "warning"}


def annotation_lines(runs: Sequence[Run], root: Path | None = None) -> list[str]:
    """The lines, one for each cause: errors for FAIL and VOID, warnings for NONSTRICT (errors in a strict run).

    Of a run with a baseline: an error for each difference, and nothing of what is known.

    `root` is the checkout that the job is about: a check whose file is there is shown at that file.
    """
    found = [
        line
        for run, label in zip(runs, distinct_labels(runs), strict=True)
        for line in _of_run(run, f"{label}: " if len(runs) > 1 else "", root)
    ]
    lines = []
    for kind in ("error", "warning"):
        mine = [line for line in found if line.startswith(f"::{kind} ")]
        lines += mine if len(mine) <= PER_KIND else mine[: PER_KIND - 1]
        if len(mine) > PER_KIND:
            lines.append(_command(kind, {"title": "nfsproof"}, f"{len(mine) - PER_KIND + 1} more like these"))
    return lines


def _of_run(run: Run, prefix: str, root: Path | None) -> Iterator[str]:
    if run.trouble:
        yield _command("error", {"title": f"{prefix}the run as a whole"}, run.trouble)
    if run.baseline:
        for text in run.differences:
            kind, _, rest = text.partition(": ")
            yield _command("error", {"title": f"{prefix}baseline: {kind}"}, rest)
        return
    checks = {check.id: check for check in run.checks if check.verdict in _KINDS}
    rules = {(finding.id, finding.check): finding for finding in run.findings if finding.verdict in _KINDS}
    for cause in causes_of(run):
        first = rules.get((cause.rule, cause.first)) if cause.rule else checks.get(cause.first)
        if first is not None:
            yield _annotation(run, first, prefix, root, cause)


def _annotation(
    run: Run, record: CheckRecord | FindingRecord, prefix: str, root: Path | None, cause: Cause
) -> str:
    """One for a cause: its first check."""
    kind = "error" if run.is_strict else _KINDS[record.verdict]
    if isinstance(record, FindingRecord) and run.is_printed_only(record):
        kind = "warning"
    more = len(cause.checks) - (0 if cause.rule else 1)
    also = f" and {count(more, 'check')} more" if more > 0 else ""
    properties = {"file": _file_of(record, root), "title": f"{prefix}{record.verdict} {record.id}{also}"}
    clause = "" if record.requirement is None else f"{record.requirement.citation}: {record.requirement.gist}"
    reason = record.reason if isinstance(record, CheckRecord) else ""
    text = f"seen: {seen(record)}" if record.observed else reason
    expected = f"expected: {' or '.join(record.expected)}" if record.expected else ""
    title = record.heading if isinstance(record, CheckRecord) else ""
    shown = f"cause: {cause.line}" if more > 0 else ""
    lines = (title, clause, shown, expected, text)
    return _command(kind, properties, "\n".join(line for line in lines if line))


def _file_of(record: CheckRecord | FindingRecord, root: Path | None) -> str:
    """The file of the check, if the checkout has it; empty else: it is in an installed package."""
    name = record.nodeid.partition("::")[0] if isinstance(record, CheckRecord) else ""
    if root is None or not name.endswith(".py") or Path(name).is_absolute() or ".." in Path(name).parts:
        return ""
    try:
        return name if (root / name).is_file() else ""
    except (OSError, ValueError):
        return ""


def _command(kind: str, properties: dict[str, str], message: str) -> str:
    pairs = ",".join(
        f"{key}={_in_property(shortened(value, 200))}" for key, value in properties.items() if value
    )
    return f"::{kind} {pairs}::{_in_message(shortened(message, _LONG))}"


def _in_message(text: str) -> str:
    """As the toolkit of GitHub Actions writes it; what is no text for people is made visible first."""
    return printable(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _in_property(text: str) -> str:
    return _in_message(text).replace(":", "%3A").replace(",", "%2C")
