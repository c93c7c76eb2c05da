# SPDX-License-Identifier: MIT
"""docs/knobs.md lists the knobs as they are declared. Run as a program, this module writes that part of the page."""

from __future__ import annotations

import re
from pathlib import Path

from nfsserver import KNOBS

PAGE = Path(__file__).parents[2] / "docs" / "knobs.md"
PART = re.compile(r"(?<=test_knobs_page.py -->\n\n).*?(?=\n\n<!-- end of knobs -->)", re.DOTALL)


def table() -> str:
    rows = [
        f"| `{knob.name}` | {knob.takes} | `{knob.usual or '(empty)'}` | {knob.meaning} | {'; '.join(knob.cites)} |"
        for knob in KNOBS.values()
    ]
    return "\n".join(
        [
            "| knob | values | default | effect | clause that permits it |",
            "| --- | --- | --- | --- | --- |",
            *rows,
        ]
    )


def test_page_lists_the_knobs_as_they_are() -> None:
    found = PART.search(PAGE.read_text(encoding="utf-8"))
    assert found is not None
    assert found.group() == table(), f"write it again: python -m {__name__}"


if __name__ == "__main__":
    PAGE.write_text(PART.sub(lambda _: table(), PAGE.read_text(encoding="utf-8")), encoding="utf-8")
