# SPDX-License-Identifier: MIT
"""Replaces secrets in texts, bytes and records. Bytes keep their length, because messages contain lengths."""

from __future__ import annotations

import re
import typing as t
from collections.abc import Iterable, Mapping, Sequence

from nfsproof.archiving.beginnings import Beginnings

_LEAST_IN_BYTES = 4
"""Shorter words are hidden in bytes only where they stand alone, as an XDR string: others would be found by chance."""
_NO_LETTER_BEFORE = "|".join(
    [
        r"(?<![A-Za-z0-9])",
        *(r"(?<=\\[abfnrtv])", r"(?<=\\x[0-9A-Fa-f]{2})", r"(?<=\\[0-7]{3})", r"(?<=\\u[0-9A-Fa-f]{4})"),
    ]
)
"""The letters of an escape (\\n, \\x00) do not belong to the next word."""
_LONG = 6
"""Letters of a word that is no part of other bytes by chance."""
_DUMP = re.compile(r"(?P<head>\s*[0-9a-f]{6}  )(?P<data>[0-9a-f]{2,8}(?: [0-9a-f]{2,8})*)")
_HEX = re.compile(r"(?<![0-9A-Za-z])[0-9a-f]{8,}(?![0-9A-Za-z])")
_DUMP_BEGINS = re.compile(r"\s*[0-9a-f]{6}  ").match
_OURS = frozenset(
    {
        *("id", "kind", "schema", "verdict", "nodeid", "check", "capture", "script", "statuses", "worker"),
        *("requirement", "requirements", "protocol", "procedure", "direction", "version", "lint", "started"),
        *("counts", "findings", "logs"),
    }
)
"""Fields of records that come from the suite alone: ids and clauses stay as they are, whatever a server is called."""


class Scrubber:
    """Replaces texts, as whole words and in any case, by others."""

    def __init__(self, secrets: Mapping[str, str], masks: Mapping[str, str] | None = None) -> None:
        """`masks` are words with masks of their length, which stand in bytes, too; elsewhere bytes become x and 0."""
        known = {key.casefold(): _unlike(key, value) for key, value in secrets.items() if key}
        self._masks = {key: value for key, value in (masks or {}).items() if key not in known}
        self._masks |= {form: self._masks[key] for key in list(self._masks) if (form := _escaped(key)) != key}
        self._instead = known | self._masks
        self._beginnings = Beginnings(self._instead, self._masks)
        words = sorted(self._instead, key=len, reverse=True)
        self._text = _joined(_in_text(word) for word in words)
        data = [(word, word.encode("utf-8", "surrogateescape")) for word in words]
        parts = [_in_bytes(word, encoded).decode("latin-1") for word, encoded in data]
        self._bytes = re.compile("|".join(parts).encode("latin-1"), re.IGNORECASE) if parts else None
        digits = [
            encoded.hex() if len(encoded) >= _LEAST_IN_BYTES else _marked(encoded).hex()
            for _, encoded in data
        ]
        self._hex = _joined(digits)
        # Looked for first, without case and at any place: that is fast, and mostly there is nothing.
        self._words = [*words, *digits]
        self._pieces = [encoded.lower() for _, encoded in data]

    def text(self, text: str) -> str:
        """A text without them; also where it writes bytes as hexadecimal digits."""
        lowered = text.casefold()
        if self._text is None:
            return text
        if any(word in lowered for word in self._words):
            text = self._text.sub(self._word, text)
            text = self._hex.sub(self._digits, text) if self._hex is not None else text
        text = _HEX.sub(self._of_digits, text)
        return self._beginnings.hide(text) if "..." in text else text

    def _word(self, match: re.Match[str]) -> str:
        word = match.group()
        mask = self._masks.get(word.casefold())
        if mask is not None and len(mask) == len(word):
            return "".join(
                letter.upper() if was.isupper() else letter for was, letter in zip(word, mask, strict=True)
            )
        return self._instead.get(word.casefold(), "HIDDEN")

    def _digits(self, match: re.Match[str]) -> str:
        return self.data(bytes.fromhex(match.group())).hex() if len(match.group()) % 2 == 0 else match.group()

    def _of_digits(self, match: re.Match[str]) -> str:
        """Digits may be those of a word in any case."""
        digits = match.group()
        whole = digits[: len(digits) // 2 * 2]
        return self.data(bytes.fromhex(whole)).hex() + digits[len(whole) :]

    def data(self, data: bytes) -> bytes:
        """Bytes without them, of the same length."""
        lowered = data.lower()
        if self._bytes is None or not any(piece in lowered for piece in self._pieces):
            return data
        return self._bytes.sub(self._masked, data)

    def _masked(self, match: re.Match[bytes]) -> bytes:
        word = match.group()
        mask = self._masks.get(word.decode("utf-8", "surrogateescape").casefold(), "").encode()
        if len(mask) != len(word):
            return _without_letters(word)
        return bytes(
            up if 0x41 <= was <= 0x5A else low for was, low, up in zip(word, mask, mask.upper(), strict=True)
        )

    def lines(self, lines: Iterable[str]) -> list[str]:
        """Lines without them, also where they dump bytes: a name may stand on two lines."""
        lines = list(lines)
        if not self._may_be_in(lines):
            return lines
        done: list[str] = []
        dump: list[re.Match[str]] = []
        for line in lines:
            match = _DUMP.fullmatch(line)
            if match is not None:
                dump.append(match)
                continue
            done += self._dumped(dump)
            dump = []
            done.append(self.text(line))
        return [*done, *self._dumped(dump)]

    def _may_be_in(self, lines: Sequence[str]) -> bool:
        """Whether a secret may stand in lines: looked for in all of them at once, since mostly there is none."""
        if any(map(_DUMP_BEGINS, lines)) or any("..." in line or _HEX.search(line) for line in lines):
            return True
        whole = "\n".join(lines).casefold()
        return self._text is not None and any(word in whole for word in self._words)

    def _dumped(self, dump: list[re.Match[str]]) -> list[str]:
        if not dump:
            return []
        digits = "".join(match["data"].replace(" ", "") for match in dump)
        if len(digits) % 2:
            return [self.text(match.group()) for match in dump]
        rest = iter(self._beginnings.hide_at_end(self.data(bytes.fromhex(digits))).hex())
        return [
            match["head"] + "".join(digit if digit == " " else next(rest) for digit in match["data"])
            for match in dump
        ]

    def plain(self, value: t.Any) -> t.Any:
        """The plain values of a record without them."""
        match value:
            case str():
                return self.text(value)
            case list() if value and all(isinstance(item, str) for item in value):
                return self.lines(value)
            case list():
                return [self.plain(item) for item in value]
            case dict():
                return {key: item if key in _OURS else self.plain(item) for key, item in value.items()}
        return value

    def left_in(self, data: bytes) -> dict[str, str]:
        """What is still found in bytes: word -> what would stand in its place."""
        if self._bytes is None:
            return {}
        left = [match.group() for match in self._bytes.finditer(data) if self._masked(match) != match.group()]
        words = {raw.decode("utf-8", "replace") for raw in left}
        return {word: self._instead.get(word.casefold(), "HIDDEN") for word in sorted(words)}

    def is_clean(self, data: bytes) -> bool:
        """Whether nothing is left in bytes that could be found."""
        return self._bytes is None or self.data(data) == data


def _unlike(word: str, instead: str) -> str:
    """The replacement of a word must not look like it, for example for a host with the name host."""
    return next((mask for mask in (instead, "HIDDEN", "***") if word.casefold() not in mask.casefold()), "")


def _joined(patterns: Iterable[str]) -> re.Pattern[str] | None:
    text = "|".join(patterns)
    return re.compile(text, re.IGNORECASE) if text else None


def _is_telling(word: str) -> bool:
    """Whether a word is no part of others: a name with a dot in it, or a path; an IPv4 address may be one."""
    return len(word) >= _LONG and not set(word) <= set("0123456789.") and bool({".", "/"} & set(word))


def _in_text(word: str) -> str:
    found = re.escape(word)
    if _is_telling(word):
        return found
    # A path may follow a host or a port.
    before = "" if word.startswith("/") else rf"(?:{_NO_LETTER_BEFORE})"
    return rf"{before}{found}(?![A-Za-z0-9])"


def _in_bytes(word: str, data: bytes) -> bytes:
    """As in text. What stands before it may also be its length, which may look like a letter."""
    found = re.escape(data)
    if len(data) < _LEAST_IN_BYTES:
        return rb"(?<=" + re.escape(len(data).to_bytes(4, "big")) + rb")" + found
    if _is_telling(word) or len(data) >= _LONG:
        return found
    return rb"(?:(?<![A-Za-z0-9])|(?<=\x00\x00\x00[\x00-\xff]))" + found + rb"(?![A-Za-z0-9])"


def _marked(data: bytes) -> bytes:
    """A string of XDR (RFC 4506 section 4.11), without its padding."""
    return len(data).to_bytes(4, "big") + data


def _without_letters(word: bytes) -> bytes:
    """Letters become x and digits 0: what is around them (dots, slashes) still says what it was."""
    return bytes(0x30 if 0x30 <= byte <= 0x39 else byte if byte in b"./:-" else 0x78 for byte in word)


def _escaped(word: str) -> str:
    """A word as Python writes its bytes."""
    return repr(word.encode("utf-8", "surrogateescape"))[2:-1]
