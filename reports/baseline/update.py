# SPDX-License-Identifier: MIT
"""A baseline brought up to a run: what people wrote stays, in its order; what is new waits for a reason."""

from __future__ import annotations

import datetime as dt
import difflib
import re
import typing as t
from collections.abc import Collection, Iterable, Iterator, Sequence

import tomlkit
from tomlkit.items import AoT, Array, Table

from nfsjudge.verdict import VERDICTS
from reports.baseline.gate import (
    LINT,
    Difference,
    Match,
    Names,
    Seen,
    agrees,
    compare_with_baseline,
    compared_in,
    compares_lint,
    left_out_of,
    unlisted_in,
)
from reports.baseline.model import UNEXPLAINED, BadBaseline, Baseline, Entry, parse_baseline
from reports.baseline.symptoms import Patience, pattern_of_texts
from reports.globs import glob
from reports.idlist import IdList, known_ids
from reports.plain import printable
from reports.run import Run

_CATEGORY = {"FAIL": "proto", "NONSTRICT": "proto", "VOID": "bug", "SKIP": "env", "UNSUPPORTED": "feature"}


def updated(
    text: str, run: Run, name: str, listed: IdList | None = None, patience: Patience | None = None
) -> str:
    """The text of the file after the run; an empty text makes a new file. Raises `BadBaseline`.

    Entries that fit no check any more go; a list of ids loses those that do; what is red and has no entry gets one.
    Comments, order, reasons, links and dates are kept; but an entry of which nothing is as it says waits for another
    reason, followed by the old one, which was about something else. Old ids are replaced by the present ones;
    `listed` knows them: the list of this version. All its steps together have the time of one file for symptoms.
    """
    patience = patience or Patience()
    listed = listed or known_ids()
    text = _with_new_names(text, compared_in(run), name, listed, patience)
    # A check that loses its entry may fall to a later one, which is then about it: until nothing changes.
    for _ in range(2 + len(parse_baseline(text, name, patience).entries)):
        before, text = text, _pass(text, run, name, listed, patience)
        if text == before:
            break
    return text


def _with_new_names(text: str, ids: Collection[str], name: str, listed: IdList, patience: Patience) -> str:
    """The text with new ids instead of old ones."""
    baseline = parse_baseline(text, name, patience)
    names = Names(baseline, ids, listed)
    taken = {name for entry in baseline.entries for name in entry.ids}
    document = tomlkit.parse(text)
    tables = document.get("entry")
    if not isinstance(tables, AoT):
        return text
    for number, entry in enumerate(baseline.entries):
        found: list[str] = []
        for pattern in entry.ids:
            new = names.renamed(pattern)
            # What another entry names already stays here as it is: no id may stand twice.
            fresh = [new_id for new_id in new if new_id not in taken] if new != [pattern] else new
            found += fresh or [pattern]
            taken |= set(fresh)
        _set_ids(tables[number], found, entry)
    return tomlkit.dumps(document)


def _pass(text: str, run: Run, name: str, listed: IdList, patience: Patience) -> str:
    baseline = parse_baseline(text, name, patience)
    whole = text if text.endswith("\n") else text + "\n"
    document = tomlkit.parse(whole) if text.strip() else _new_document(run)
    if "entry" in document and not isinstance(document["entry"], AoT):
        if baseline.entries:
            raise BadBaseline(f"{name}: entry: an update needs tables [[entry]], seen a list in brackets")
        del document["entry"]
    unlisted = unlisted_in(run, baseline)
    seen = compared_in(run)
    match = Match(baseline, seen, listed, left_out_of(run, listed.present))
    keeper = _Keeper(document, match, seen, unlisted, are_rules_compared=compares_lint(run))
    orphans = keeper.keep(baseline)
    orphans |= {name for name in seen if name not in match.entry_of and seen[name].verdict not in unlisted}
    _add_entries(document, [seen[name] for name in sorted(orphans)])
    after = keeper.lead + tomlkit.dumps(document)
    return text if after in {text, whole} else _without_gaps(after)


def _new_document(run: Run) -> tomlkit.TOMLDocument:
    document = tomlkit.document()
    document.add(tomlkit.comment("Known failures of this server, each with its reason."))
    head = tomlkit.table()
    head["target"] = run.about.target if run.about is not None else ""
    head["server"] = run.target
    head["floor"] = sum(1 for check in run.checks if check.verdict not in {"SKIP", "UNSUPPORTED"})
    head.add(tomlkit.nl())
    document["baseline"] = head
    return document


class _Keeper:
    """Updates the existing entries. Each entry of the baseline is one table of the document."""

    def __init__(
        self,
        document: tomlkit.TOMLDocument,
        match: Match,
        seen: dict[str, Seen],
        unlisted: Collection[str],
        *,
        are_rules_compared: bool,
    ) -> None:
        self.document = document
        self.match = match
        self.seen = seen
        self.unlisted = unlisted
        self.are_rules_compared = are_rules_compared
        self.lead = ""
        """Comments that have lost the table before them, and stand at the beginning now."""

    def keep(self, baseline: Baseline) -> set[str]:
        """Go through all of them. Gives the ids that have lost their entry, since it is about something else."""
        tables = self.document.get("entry")
        orphans: set[str] = set()
        if not isinstance(tables, AoT):
            return orphans
        for number in reversed(range(len(tables))):
            orphans |= self._keep_entry(tables, number, baseline.entries[number])
        if not len(tables):
            del self.document["entry"]
        return orphans

    def _keep_entry(self, tables: AoT, number: int, entry: Entry) -> set[str]:
        mine = [self.seen[name] for name, owner in self.match.entry_of.items() if owner is entry]
        good = {record.id for record in mine if agrees(record, entry)}
        red = [record for record in mine if record.id not in good and record.verdict not in self.unlisted]
        table = tables[number]
        if not entry.ids:
            if not (good or (entry.sometimes and not mine)):
                self._remove(tables, number)
            return {record.id for record in red}
        if good or not red:
            ids = self._patterns(entry, good, {record.id for record in mine})
            if ids:
                _set_ids(table, ids, entry)
            else:
                self._remove(tables, number)
            return {record.id for record in red}
        worst = min((record.verdict for record in red), key=VERDICTS.index)
        kept = [record for record in red if record.verdict == worst]
        ids = self._patterns(entry, {record.id for record in kept}, {record.id for record in mine})
        _set_ids(table, ids, entry)
        _wait_for_a_reason(table, entry, kept)
        return {record.id for record in red if record.verdict != worst}

    def _patterns(self, entry: Entry, kept: Collection[str], mine: set[str]) -> list[str]:
        """The ids of an entry, where each pattern that fits something else than `kept` gives way to what it kept."""
        useless = self.match.useless(entry)
        found: list[str] = []
        for pattern in entry.ids:
            fitting = {name for name in mine if name == pattern or glob(pattern).fullmatch(name)}
            if pattern in useless:
                whole = [pattern] if self._may_fit_later(entry, pattern) else []
            elif pattern in self.match.left_out:
                whole = [pattern]
            else:
                whole = [pattern] if fitting and fitting <= set(kept) else sorted(fitting & set(kept))
            found += [name for name in whole if name not in found]
        return found

    def _may_fit_later(self, entry: Entry, pattern: str) -> bool:
        """Whether a pattern stays that fits nothing: it need not each time, or this run could not tell."""
        fits_nothing = any(owner is entry and its == pattern for owner, its in self.match.empty)
        return fits_nothing and (
            entry.sometimes or (pattern.startswith(LINT) and not self.are_rules_compared)
        )

    def _remove(self, tables: AoT, number: int) -> None:
        """Take a table out. What tomlkit holds for its end, comments that stand before the next table, stays."""
        body = tables[number].value.body
        tail: list[tuple[t.Any, t.Any]] = []
        while body and body[-1][0] is None:
            tail.insert(0, body.pop())
        before = tables[number - 1] if number else self.document.get("baseline")
        keys = list(self.document)
        if isinstance(before, Table) and (number or keys.index("baseline") < keys.index("entry")):
            before.value.body.extend(tail)
        else:
            self.lead = "".join(item.as_string() for _, item in tail).lstrip("\n") + self.lead
        del tables[number]


def _wait_for_a_reason(table: Table, entry: Entry, kept: Sequence[Seen]) -> None:
    """Nothing is as the entry says: what its reason explains is not what there is now."""
    verdict, text = kept[0].verdict, kept[0].text
    reason = f"{UNEXPLAINED}. Seen: {_first_line(text) or verdict}"
    if entry.is_explained:
        reason += f". Before, of {entry.verdict}: {entry.reason}"
    table["reason"] = reason
    if verdict != entry.verdict:
        table["verdict"] = verdict
        table["category"] = _CATEGORY.get(verdict, "proto")
    pattern = pattern_of(kept)
    if pattern:
        table["symptom"] = pattern
    elif "symptom" in table:
        del table["symptom"]


def pattern_of(alike: Sequence[Seen]) -> str:
    """The symptom that checks share, as an entry has it; empty if they share none, or have nothing to tell."""
    return pattern_of_texts([record.text for record in alike])


def _first_line(text: str) -> str:
    return printable(text.splitlines()[0][:200]) if text else ""


def _set_ids(table: Table, ids: Sequence[str], entry: Entry) -> None:
    """The ids of an entry that has `entry.ids`; comments within a list stay as long as none is added."""
    if tuple(ids) == entry.ids:
        return
    if "ids" not in table:
        if len(ids) == 1:
            table["id"] = ids[0]
            return
        table.remove("id")
        table["ids"] = _array(ids)
        return
    there = table["ids"]
    if isinstance(there, Array) and len(ids) == len(entry.ids):
        for number, name in enumerate(ids):
            if there[number] != name:
                there[number] = name
        return
    if isinstance(there, Array) and [name for name in entry.ids if name in ids] == list(ids):
        for number in reversed(range(len(entry.ids))):
            if entry.ids[number] not in ids:
                del there[number]
        if list(there) == list(ids):
            return
    table["ids"] = _array(ids)


def _array(ids: Iterable[str]) -> Array:
    many = tomlkit.array()
    many.extend(ids)
    return many.multiline(multiline=True)


def _add_entries(document: tomlkit.TOMLDocument, fresh: Iterable[Seen]) -> None:
    """An entry for each verdict and symptom: what many checks show alike is one thing to explain."""
    groups: dict[tuple[str, str], list[Seen]] = {}
    for record in fresh:
        groups.setdefault((record.verdict, pattern_of([record]) or record.text), []).append(record)
    tables = document.get("entry")
    if not isinstance(tables, AoT):
        if not groups:
            return
        tables = tomlkit.aot()
        document["entry"] = tables
    for (verdict, _), alike in groups.items():
        ids, text = [record.id for record in alike], alike[0].text
        table = tomlkit.table()
        table.trivia.indent = "\n"  # the table before may end without an empty line
        if len(ids) == 1:
            table["id"] = ids[0]
        else:
            table["ids"] = _array(ids)
        table["verdict"] = verdict
        table["category"] = _CATEGORY.get(verdict, "proto")
        table["reason"] = f"{UNEXPLAINED}. Seen: {_first_line(text) or verdict}"
        if pattern := pattern_of(alike):
            table["symptom"] = pattern
        tables.append(table)


def _without_gaps(text: str) -> str:
    return re.sub(r"\n{3,}", "\n\n", text).rstrip("\n") + "\n"


def shown_difference(before: str, after: str, name: str) -> str:
    """The change of the file as a patch; empty when there is none."""
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), f"a/{name}", f"b/{name}"
    )
    return "".join(lines)


def left_over(
    text: str,
    run: Run,
    name: str,
    today: dt.date,
    promised: Collection[str] = (),
    patience: Patience | None = None,
) -> Iterator[Difference]:
    """What an update cannot settle: an entry that has expired, too few checks. Raises `BadBaseline`."""
    yield from compare_with_baseline(
        run, parse_baseline(text, name, patience), today=today, promised=promised
    )
