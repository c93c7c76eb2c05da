# SPDX-License-Identifier: MIT
"""Masks: what stands in an archive in place of what names a machine, a person or a product.

A mask has the length and the punctuation of what it hides, so messages stay decodable. The same word has the same mask
everywhere in one archive, and another word another mask as far as its length allows: whether two replies name the same
server can still be seen. Masks are numbered as words come, so they tell nothing of the words.
"""

from __future__ import annotations

import ipaddress
import re
import typing as t
from collections.abc import Iterator

from nfsclient.protocol.nfs4 import acl
from nfsclient.protocol.rpcbind import UniversalAddressError, from_universal
from nfsclient.xdr.identity import IdentityKind
from nfsproof.archiving.common_words import COMMON_WORDS
from nfsproof.archiving.secrets import COMMON_EXPORTS, as_address

MOST_WORDS = 4000
"""Names that are looked for in all of an archive, at most. A run with more of them is not packed."""
_LETTERS = "abcdefghijklmnopqrstuvw"
_LEAST_WORD = 4
"""Letters of a name that is looked for wherever bytes do not decode, and in texts."""
_LEAST_PART = 5
"""The same for a part of a name."""
_TOKEN = re.compile(rb"[A-Za-z0-9\x80-\xff]+")
_OURS = re.compile(rb"(?:nfsproof|owner)(?:[ -][0-9a-f]*)?")
"""What clients of nfsproof call themselves and the owners of their state."""
_NOBODY: t.Final = frozenset(
    {
        *(b"root", b"wheel", b"nobody", b"nogroup", b"nfsnobody", b"bin", b"daemon", b"sys", b"system"),
        *(b"superuser", b"unknown", b"staff", b"adm"),
    }
)
"""Users and groups that every machine has."""
_SPECIAL: t.Final = frozenset(value for name, value in vars(acl).items() if name.startswith("ACE4_WHO_"))
_EVERYBODY: t.Final = frozenset({b"*", b"(everyone)", b"everyone", b"0.0.0.0/0", b"::/0", b"localhost"})
_NO_DOMAIN: t.Final = frozenset({b"", b"localdomain", b"localhost"})
_TEXT = re.compile(rb"[ -~]{4,}")


class TooManyNames(Exception):
    """More names than can be looked for."""


class Masks:
    """Makes masks, and remembers the names that have one."""

    def __init__(self, *, with_paths: bool, public: str = "") -> None:
        """`with_paths`: directories that a server lists are hidden, too.

        `public` is what the archive says of the server: fields with words of it are masked, texts with them are not.
        """
        self._with_paths = with_paths
        self._public = frozenset(_TOKEN.findall(public.lower().encode()))
        self._tokens: dict[bytes, bytes] = {}
        self._counts: dict[tuple[int, bool], int] = {}
        self.words: dict[str, str] = {}
        """Names to look for in all that is handed over, each with its mask."""

    def hidden(self, what: IdentityKind, data: bytes, own: bytes = b"") -> bytes:
        """What stands in place of a field, with the same length; the field itself if it names nobody.

        Of a body only text is hidden that is not in `own`, which is what its reader has sent. Raises `TooManyNames`.
        """
        done = bytearray(data)
        for start, end in _named(what, data, own, with_paths=self._with_paths):
            mask = self._mask(data[start:end])
            done[start:end] = mask
            self._remember(data[start:end])
        return bytes(done)

    def _mask(self, data: bytes) -> bytes:
        if not _is_text(data):
            return self._token(data)
        return _TOKEN.sub(lambda match: self._token(match.group()), data)

    def _token(self, data: bytes) -> bytes:
        """The mask of a word, in capitals where the word is."""
        key = data.lower()
        mask = self._tokens.get(key)
        while mask is None or mask == key:
            kind = len(key), key.isdigit()
            self._counts[kind] = count = self._counts.get(kind, -1) + 1
            mask = self._tokens[key] = _numbered(count, *kind)
        upper = mask.upper()
        return bytes(
            up if 0x41 <= was <= 0x5A else low for was, low, up in zip(data, mask, upper, strict=True)
        )

    def _remember(self, data: bytes) -> None:
        if not _is_text(data):
            self._add(data)
            for text in _TEXT.findall(data):
                self._remember(text)
            return
        data = data.rstrip(b"\0")
        if len(data) >= _LEAST_WORD and data.lower() not in COMMON_WORDS:
            self._add(data)
        for part in _parts_of(data):
            self._add(part)

    def _add(self, data: bytes) -> None:
        words = [word for word in _TOKEN.findall(data.lower()) if len(word) >= _LEAST_WORD]
        if words and self._public.issuperset(words):
            return
        word = data.decode("utf-8", "surrogateescape")
        if word.casefold() not in self.words:
            self.words[word.casefold()] = self._mask(data.lower()).decode("ascii", "replace")
            if len(self.words) > MOST_WORDS:
                raise TooManyNames


def _numbered(count: int, length: int, is_number: bool) -> bytes:
    letters, fill = ("0123456789", "0") if is_number else (_LETTERS, "x")
    digits = ""
    while not digits or count:
        count, digit = divmod(count, len(letters))
        digits = letters[digit] + digits
    return digits[-length:].rjust(length, fill).encode()


def _is_text(data: bytes) -> bool:
    """Whether people can read it: ASCII, or UTF-8 without control characters. Servers of C may send a 0 at the end."""
    try:
        text = data.rstrip(b"\0").decode("utf-8")
    except UnicodeDecodeError:
        return False
    return all(character.isprintable() for character in text)


def _parts_of(name: bytes) -> Iterator[bytes]:
    """Parts of a name that somebody may use alone: the first label, what stands between other signs, and long words."""
    for group in re.split(rb"[^A-Za-z0-9.\x80-\xff-]+", name):
        for part in {group.strip(b".-"), group.partition(b".")[0].strip(b"-")}:
            words = [word for word in _TOKEN.findall(part) if not word.isdigit()]
            if len(part) >= _LEAST_WORD and any(not _is_common(word) for word in words):
                yield part
    for word in _TOKEN.findall(name):
        if len(word) >= _LEAST_PART and not word.isdigit() and not _is_common(word):
            yield word


def _is_common(word: bytes) -> bool:
    return len(word) < _LEAST_WORD or word.lower() in COMMON_WORDS


# ---------------------------------------------------------------- what of a field names somebody


def _named(what: IdentityKind, data: bytes, own: bytes, *, with_paths: bool) -> Iterator[tuple[int, int]]:
    """Where in a field names stand: begin and end of each."""
    whole = [(0, len(data))] if data and not _OURS.fullmatch(data) else []
    match what:
        case "address":
            yield from _address(data)
        case "host":
            yield from whole if data.lower() not in _EVERYBODY and not _is_nowhere(data) else []
        case "principal":
            yield from _principal(data) if whole else []
        case "path":
            is_common = data.decode("utf-8", "replace").casefold() in COMMON_EXPORTS
            yield from whole if with_paths and not is_common else []
        case "body":
            yield from _texts(data, own)
        case _:
            yield from whole


def _is_nowhere(data: bytes) -> bool:
    """Whether an address, or the first part of a network, is of every machine."""
    found = as_address(data.partition(b"/")[0].decode("utf-8", "replace"))
    return found is not None and (found.is_loopback or found.is_unspecified)


def _address(data: bytes) -> Iterator[tuple[int, int]]:
    """Of a universal address the host. Other text may be a name; bytes are an address in a form of some system."""
    if not _is_text(data):
        nowhere = (ipaddress.ip_address("127.0.0.1").packed, ipaddress.ip_address("::1").packed)
        if any(data) and not any(hidden in data for hidden in nowhere):
            yield 0, len(data)
        return
    text = data.decode()
    try:
        host, _ = from_universal(text)
        end = len(text.rsplit(".", 2)[0].encode())
    except UniversalAddressError:
        host, end = text, len(data)
    if end and not _is_nowhere(host.encode()) and not text.startswith(("/run/", "/var/run/")):
        yield 0, end


def _principal(data: bytes) -> Iterator[tuple[int, int]]:
    """The user and the domain, without those that every machine has."""
    if data in _SPECIAL or data.isdigit():
        return
    user, at, domain = data.rpartition(b"@") if b"@" in data else (data, b"", b"")
    if user and not user.isdigit() and user.lower() not in _NOBODY:
        yield 0, len(user)
    if at and domain.lower() not in _NO_DOMAIN:
        yield len(user) + 1, len(data)


def _texts(data: bytes, own: bytes) -> Iterator[tuple[int, int]]:
    """Readable text in an encoded structure, without the length in front of it, which may look like a letter."""
    for match in _TEXT.finditer(data):
        start, text = match.start(), match.group()
        if data[max(0, start - 3) : start] == bytes(3) and text[0] <= len(text) - 1 + 3:
            start, text = start + 1, text[1:]
        if text.strip() and text not in own and re.search(rb"[A-Za-z0-9]", text):
            yield start, match.end()
