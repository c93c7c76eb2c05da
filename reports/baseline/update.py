# SPDX-License-Identifier: MIT
"""A baseline brought up to a run: what people wrote stays, in its order; what is new waits for a reason."""

from __future__ import annotations

import datetime as dt
import difflib
import re
from collections.abc import Iterable, Iterator, Sequence

import tomlkit
from tomlkit.items import AoT, Array, Table

from reports.baseline.gate import Difference, Kind, Match, Seen, hold_against, seen_in
from reports.baseline.model import VERDICTS, Baseline, Entry, glob, parse_baseline
from reports.run import Run

UNEXPLAINED = "TODO: compare with the text of the RFC"
_CATEGORY = {"FAIL": "proto", "NONSTRICT": "proto", "VOID": "bug", "SKIP": "env", "UNSUPPORTED": "feature"}


def updated(text: str, run: Run, name: str) -> str:
    """The text of the file after the run; an empty text makes a new file. Raises `BadBaseline`.

    Entries that fit no check any more go; a list of ids loses those that do; a verdict or symptom that changed is
    set; what is red and has no entry gets one. Comments, order, reasons, links and dates are kept.
    """
    baseline = parse_baseline(text, name)
    document = tomlkit.parse(text) if text.strip() else _new_document(run)
    seen = seen_in(run)
    match = Match(baseline, seen)
    orphans = _keep_entries(document, baseline, match, seen)
    orphans |= {
        one for one in seen if one not in match.entry_of and seen[one].verdict not in baseline.unlisted
    }
    _add_entries(document, [seen[one] for one in sorted(orphans)])
    return _without_gaps(tomlkit.dumps(document))


def _new_document(run: Run) -> tomlkit.TOMLDocument:
    document = tomlkit.document()
    document.add(tomlkit.comment("What this server is known to do otherwise, each with its reason."))
    head = tomlkit.table()
    head["target"] = run.about.target if run.about is not None else ""
    head["server"] = run.target
    head["floor"] = sum(1 for one in run.checks if one.verdict not in {"SKIP", "UNSUPPORTED"})
    document["baseline"] = head
    return document


def _keep_entries(
    document: tomlkit.TOMLDocument, baseline: Baseline, match: Match, seen: dict[str, Seen]
) -> set[str]:
    """Mend those that are there: `baseline.entries` are the tables of the document, one for one.

    Gives the ids that have lost their entry, since it is about another verdict.
    """
    orphans: set[str] = set()
    tables = document.get("entry")
    if not isinstance(tables, AoT):
        return orphans
    for number in reversed(range(len(tables))):
        entry = baseline.entries[number]
        mine = [seen[one] for one, owner in match.entry_of.items() if owner is entry]
        table = tables[number]
        if entry.sometimes or _is_good(entry, mine):
            _forget_ids(table, [pattern for owner, pattern in match.empty if owner is entry], entry)
            continue
        still = [one for one in mine if one.verdict not in {"PASS", *baseline.unlisted}]
        if not still:
            del tables[number]
            continue
        orphans |= _narrow(table, entry, still, mine)
    return orphans


def _is_good(entry: Entry, mine: Sequence[Seen]) -> bool:
    fits = [
        one.verdict == entry.verdict and (not entry.symptom or re.search(entry.symptom, one.text))
        for one in mine
    ]
    return bool(fits) and all(fits)


def _forget_ids(table: Table, gone: Sequence[str], entry: Entry) -> None:
    """Leave out the ids that fit nothing, of an entry that has others."""
    kept = [one for one in entry.ids if one not in gone]
    if gone and kept and not entry.sometimes:
        _set_ids(table, kept)


def _narrow(table: Table, entry: Entry, still: Sequence[Seen], mine: Sequence[Seen]) -> set[str]:
    """An entry for what is still wrong of what it was for, with one verdict; gives those with others."""
    worst = min((one.verdict for one in still), key=VERDICTS.index)
    kept = [one for one in still if one.verdict == worst]
    if len(kept) < len(mine):
        _set_ids(table, _patterns(entry, {one.id for one in kept}, {one.id for one in mine}))
    if str(table.get("verdict", "FAIL")) != worst:
        table["verdict"] = worst
    symptom = str(table.get("symptom", ""))
    if symptom and not all(re.search(symptom, one.text) for one in kept):
        del table["symptom"]
    return {one.id for one in still if one.verdict != worst}


def _patterns(entry: Entry, kept: set[str], mine: set[str]) -> list[str]:
    """The ids of an entry, where each pattern that fits something else than `kept` gives way to what it kept."""
    found: list[str] = []
    for pattern in entry.ids:
        fitting = {one for one in mine if one == pattern or glob(pattern).fullmatch(one)}
        whole = [pattern] if fitting and fitting <= kept else sorted(fitting & kept)
        found += [one for one in whole if one not in found]
    return found


def _set_ids(table: Table, ids: Sequence[str]) -> None:
    key = "ids" if "ids" in table else "id"
    if len(ids) == 1:
        table[key] = [ids[0]] if key == "ids" else ids[0]
        return
    many = _array(ids)
    if key == "id":
        table.remove("id")
    table["ids"] = many


def _array(ids: Iterable[str]) -> Array:
    many = tomlkit.array()
    many.extend(ids)
    return many.multiline(multiline=True)


def _add_entries(document: tomlkit.TOMLDocument, fresh: Iterable[Seen]) -> None:
    """An entry for each verdict and text: what many checks show alike is one thing to explain."""
    groups: dict[tuple[str, str], list[str]] = {}
    for one in fresh:
        groups.setdefault((one.verdict, one.text), []).append(one.id)
    tables = document.get("entry")
    if not isinstance(tables, AoT):
        if not groups:
            return
        tables = tomlkit.aot()
        document["entry"] = tables
    for (verdict, text), ids in groups.items():
        table = tomlkit.table()
        if len(ids) == 1:
            table["id"] = ids[0]
        else:
            table["ids"] = _array(ids)
        table["verdict"] = verdict
        table["category"] = _CATEGORY.get(verdict, "proto")
        table["reason"] = f"{UNEXPLAINED}. Seen: {text.splitlines()[0][:200] if text else verdict}"
        tables.append(table)


def _without_gaps(text: str) -> str:
    return re.sub(r"\n{3,}", "\n\n", text).rstrip("\n") + "\n"


def shown_difference(before: str, after: str, name: str) -> str:
    """The change of the file as a patch; empty when there is none."""
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), f"a/{name}", f"b/{name}"
    )
    return "".join(lines)


def left_over(text: str, run: Run, name: str, today: dt.date) -> Iterator[Difference]:
    """What an update cannot settle: an entry that has expired, a run that has not finished, too few checks."""
    for one in hold_against(run, parse_baseline(text, name), today=today):
        if one.kind in {Kind.EXPIRED, Kind.UNFINISHED, Kind.FLOOR}:
            yield one
