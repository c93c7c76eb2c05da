# SPDX-License-Identifier: MIT
"""What stands between the bytes of a stranger's server and a page: text that shows itself, links that stay inside."""

from __future__ import annotations

import json
import re
import typing as t
from urllib.parse import quote

from reports.plain import HIDING, escape

_RFC = re.compile(r"RFC (\d{1,5})")
_SECTION = re.compile(r"[0-9]+(?:\.[0-9]+)*\.?")
_APPENDIX = re.compile(r"[A-Z](?:\.[0-9]+)*")


def visible(text: object) -> str:
    """The text with each character that hides itself, or moves others, written out as an escape."""
    return HIDING.sub(escape, str(text))


def visible_line(text: object) -> str:
    """As `visible`, and on one line: what is copied into a shell must not run before it was read."""
    return visible(text).replace("\n", "\\n").replace("\t", "\\t")


def inside(path: str, folder: str | None) -> str:
    """The relative URL of a file next to the records; empty if it is elsewhere, or `folder` is not known.

    `folder` is the relative URL from the page to the records, empty or ending with a slash.
    """
    parts = path.split("/")
    if folder is None or not path or "\\" in path or HIDING.search(path) or {"", ".", ".."} & set(parts):
        return ""
    # A colon is quoted as well, so that nothing can be read as the scheme of a URL.
    return folder + quote(path, safe="/")


def clause_url(rfc: str, section: str) -> str:
    """Where the clause can be read; empty if it is of no RFC."""
    number = _RFC.fullmatch(rfc)
    if number is None:
        return ""
    url = f"https://www.rfc-editor.org/rfc/rfc{number[1]}"
    if _SECTION.fullmatch(section):
        return f"{url}#section-{section.rstrip('.')}"
    if _APPENDIX.fullmatch(section):
        return f"{url}#appendix-{section}"
    return url


def json_block(value: t.Any) -> str:
    """JSON that may stand in a <script> element: it cannot end the element, nor open a comment in it."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e")
