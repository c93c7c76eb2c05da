# SPDX-License-Identifier: MIT
"""Names of which only the beginning is left, because a line, a value or a dump was cut there."""

from __future__ import annotations

import re
import typing as t
from collections.abc import Mapping

_LEAST: t.Final = 4
"""Letters of a beginning; fewer tell little, and are found by chance."""
_MOST: t.Final = 512
"""Longer values are cut before."""
_CUT = re.compile(r"['\"]?\.\.\.")
_DIGITS = re.compile(r"(?<![0-9A-Za-z])[0-9a-f]{8,}\Z")


class Beginnings:
    """Finds the beginnings of words at the end of texts, as letters and as hexadecimal digits."""

    def __init__(self, instead: Mapping[str, str], masks: Mapping[str, str]) -> None:
        """`instead` has what stands in place of each word; `masks` those of them that have a mask of their length."""
        self._found: dict[str, str] = {}
        for word in sorted(instead, key=len):
            mask = masks.get(word, "")
            for size in range(_LEAST, min(len(word), _MOST)):
                self._found[word[:size]] = mask[:size] if mask else "x" * size
        self._longest = max(map(len, self._found), default=0)

    def hide(self, text: str) -> str:
        """A text without what is left of words before `...`."""
        done, at = [], 0
        for match in _CUT.finditer(text):
            done += [self._without_digits(text[at : match.start()]), match.group()]
            at = match.end()
        return "".join([*done, text[at:]])

    def _without_digits(self, text: str) -> str:
        """A text without a word that began at its end, in letters or in hexadecimal digits."""
        digits = _DIGITS.search(text)
        if digits is None:
            return self._without_end(text)
        whole = digits.group()[: len(digits.group()) // 2 * 2]
        return (
            text[: digits.start()]
            + self.hide_at_end(bytes.fromhex(whole)).hex()
            + digits.group()[len(whole) :]
        )

    def hide_at_end(self, data: bytes) -> bytes:
        """Bytes without what is left of a word at their end."""
        return self._without_end(data.decode("latin-1")).encode("latin-1")

    def _without_end(self, text: str) -> str:
        end = text[-self._longest - 1 :].lower() if self._longest else ""
        for size in range(min(self._longest, len(end)), _LEAST - 1, -1):
            mask = self._found.get(end[-size:])
            if mask is not None and not end[: len(end) - size][-1:].isalnum():
                return text[:-size] + mask
        return text
