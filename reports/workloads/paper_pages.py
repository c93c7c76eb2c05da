# SPDX-License-Identifier: MIT
"""A page of papers that is made in parts: what was not run again stays as the page has it.

# Tables of the papers      the introduction, of the newer page
## a paper                  of both pages
### a table                 with its text, of the newer page if that has the paper
#### On a target            of the newer page if that has it, or of the older one
"""

from __future__ import annotations

import re


def merged(older: str, newer: str) -> str:
    """The newer page with the papers and the targets that only the older one has."""
    (introduction, new), (_, old) = _split(newer, "## "), _split(older, "## ")
    parts = [introduction]
    for paper in dict.fromkeys((*old, *new)):
        if paper not in new or paper not in old:
            parts.append(new.get(paper, old.get(paper, "")))
            continue
        head, tables = _split(new[paper], "### ")
        _, before = _split(old[paper], "### ")
        parts.append(head)
        for table, text in tables.items():
            about, targets = _split(text, "#### ")
            _, others = _split(before.get(table, ""), "#### ")
            parts.append(about)
            parts += [
                targets.get(target, others.get(target, "")) for target in dict.fromkeys((*others, *targets))
            ]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(part.strip("\n") + "\n" for part in parts))


def _split(text: str, mark: str) -> tuple[str, dict[str, str]]:
    """(what stands before the first headline of this level, the parts by their headlines)."""
    head, *parts = re.split(rf"(?m)^(?={mark})", text)
    return head, {part.partition("\n")[0]: part for part in parts}
