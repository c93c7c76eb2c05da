# SPDX-License-Identifier: MIT
"""Makes `data/sections.csv`: the sections of RFCs with the number of their normative words.

``python -m reports.coverage.counting rfc1094.txt rfc1813.txt ... > sections.csv``, with the texts of
https://www.rfc-editor.org/rfc/. Facts only: numbers, titles and counts; no sentence of an RFC is carried over.
"""

from __future__ import annotations

import csv
import itertools
import re
import sys
import typing as t
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

COLUMNS: t.Final = ("rfc", "section", "title", "must", "should", "may")
_HEADINGS: t.Final = (
    re.compile(r"(?:[Aa]ppendix|APPENDIX) ([A-Z])[.:] +(.*)"),
    re.compile(r"((?:[1-9][0-9]*|[A-Z])(?:\.[0-9]+)+)\.? +(\S.*)"),
    re.compile(r"([1-9][0-9]*)(?:\. +(?=\S)| +(?=[A-Z]))(.*)"),
)
_PAGE = re.compile(r"\S.*\[Page [0-9]+\]$|RFC [0-9]+  .*[12][0-9]{3}$")
_LEVELS: t.Final = {
    "must": "must",
    "shall": "must",
    "required": "must",
    "should": "should",
    "recommended": "should",
    "may": "may",
    "optional": "may",
}
_WORD = re.compile(rf"\b({'|'.join(_LEVELS)})\b", re.IGNORECASE)


def lines_of(text: str) -> Iterator[str]:
    """The lines of an RFC without the headers and footers of its pages, from the end of its table of contents."""
    lines = [line.rstrip() for line in text.splitlines()]
    kept = [line for line in lines if not _PAGE.match(line)]
    starts = [
        number
        for number, line in enumerate(kept)
        if re.match(r"1\. +introduction$", line, re.IGNORECASE)  # in the contents it has a page number
    ]
    return iter(kept[starts[0] :] if starts else kept)


def headings_and_words(lines: Iterable[str], *, any_case: bool) -> Iterator[tuple[str, str, str]]:
    """("heading", number, title) and ("word", level, "") in the order of the text; headings stand at the margin."""
    before: tuple[object, ...] = ()
    following = iter([*lines, ""])
    for line in following:
        heading = next(filter(None, (form.fullmatch(line) for form in _HEADINGS)), None)
        if heading is not None and (place := _place(heading[1])) > before:
            before = place
            rest = itertools.takewhile(str.strip, following)  # a title may go on, up to the next empty line
            yield "heading", heading[1], _title(" ".join([heading[2], *rest]))
            continue
        for word in _WORD.findall(line):
            if any_case or word.isupper():
                yield "word", _LEVELS[word.lower()], ""


def _place(number: str) -> tuple[object, ...]:
    """For the order of sections: appendices after numbers."""
    return tuple((0, int(part)) if part.isdigit() else (1, ord(part)) for part in number.split("."))


def _title(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def rows_of(rfc: str, text: str) -> Iterator[tuple[str | int, ...]]:
    """Rows of the table for one RFC; words count in any case where the RFC does not speak of RFC 2119."""
    any_case = re.search(r"RFC ?2119", text) is None
    sections: list[tuple[str, str, Counter[str]]] = [("", "", Counter())]
    for kind, first, title in headings_and_words(lines_of(text), any_case=any_case):
        if kind == "heading":
            sections.append((first, title, Counter()))
        else:
            sections[-1][2][first] += 1
    for number, title, counts in sections[1:]:
        yield rfc, number, title, counts["must"], counts["should"], counts["may"]


def main(paths: Iterable[str]) -> None:
    """Write the table to standard output."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(COLUMNS)
    for path in map(Path, paths):
        rfc = path.stem.upper().replace("RFC", "RFC ")
        writer.writerows(rows_of(rfc, path.read_text(encoding="utf-8", errors="replace")))


if __name__ == "__main__":
    main(sys.argv[1:])
