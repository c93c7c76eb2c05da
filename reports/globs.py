# SPDX-License-Identifier: MIT
"""Patterns of ids with ``*``, searched in a time that does not explode with the number of stars."""

from __future__ import annotations

import functools
import re


@functools.cache
def glob(pattern: str) -> re.Pattern[str]:
    """A pattern of ids: ``*`` is any text, all else is itself (brackets are a part of ids)."""
    return re.compile(glob_source(pattern), re.DOTALL)


def glob_source(pattern: str, *, has_question_marks: bool = False) -> str:
    """The regular expression of a pattern; ``?`` is any character if `has_question_marks`.

    What stands between two stars is looked for once, from the left: atomic groups forbid to try the others, which
    could only leave less text for the rest.
    """
    first, *rest = (_literal(part, has_question_marks) for part in re.split(r"\*+", pattern))
    if not rest:
        return first
    return first + "".join(f"(?>.*?{part})" for part in rest[:-1]) + f".*{rest[-1]}"


def _literal(text: str, has_question_marks: bool) -> str:
    found = re.escape(text)
    return found.replace(r"\?", ".") if has_question_marks else found
