# SPDX-License-Identifier: MIT
"""Two names that are easy to confuse, and what must be true of the files that are created with them."""

from __future__ import annotations

import typing as t
import unicodedata

from nfsjudge import Requirement, expect, expect_data, expect_that, observe, show, skip
from suites.common_client import CommonClient

_EXIST: t.Final = 17
_CAFE: t.Final = "caf\u00e9"
_DATA: t.Final = b"first"
MAY_BE_SAME: t.Final = frozenset({"case", "normalization", "a dot at the end", "a space at the end"})
"""What a server may ignore, as file systems of other systems do."""


def _composed(form: t.Literal["NFC", "NFD"]) -> bytes:
    return unicodedata.normalize(form, _CAFE).encode()


def names_alike(longest: int) -> dict[str, tuple[bytes, bytes]]:
    """Pairs of names by how they differ. `longest` is the longest name that the server takes."""
    size = min(255, longest)
    half = size // 2
    pairs = {
        "the last byte of the longest name": (b"n" * (size - 1) + b"1", b"n" * (size - 1) + b"2"),
        "the first half": (b"1" * half + b"n" * half, b"2" * half + b"n" * half),
        "length": (b"name", b"name1"),
        "the order of bytes": (b"name-ab", b"name-ba"),
        "the byte at offset 8": (b"12345678-name", b"12345678+name"),
        "case": (b"readme", b"README"),
        "normalization": (_composed("NFC"), _composed("NFD")),
        "a dot at the end": (b"final", b"final."),
        "a space at the end": (b"space", b"space "),
    }
    return {
        how: names
        for how, names in pairs.items()
        if names[0] != names[1] and max(len(name) for name in names) <= longest
    }


def expect_two_files(
    client: CommonClient,
    where: bytes,
    names: tuple[bytes, bytes],
    how: str,
    because: Requirement,
    may_be_same: Requirement | None = None,
) -> None:
    """Create a file by each name: the first is not found by the second name, they are two files, its data stays.

    With `may_be_same` the second may be refused as existing; that is what success without a second file breaks.
    """
    __tracebackhide__ = True
    first, second = names
    made = client.create(where, first)
    if not made.succeeded:
        if may_be_same is None:
            skip(f"no file {show(first)} can be made: the server answers {made.reply.status}")
        observe(f"names that differ in {how}", made.reply.status)
        return
    found = client.lookup(where, first)
    expect(found.reply, because=because).ok()
    assert found.value is not None
    handle = found.value[0]
    written = client.write(handle, 0, _DATA)
    expect(written.reply, because=because).ok()
    if may_be_same is None:
        is_found = client.lookup(where, second).succeeded
        text = f"LOOKUP of a name that differs from that of the file in {how}"
        expect_that(not is_found, "no file", "a file", text, because=because)
    again = client.create(where, second)
    if not again.succeeded:
        if may_be_same is None:
            expect(again.reply, because=because).ok()
        observe(f"names that differ in {how}", again.reply.status)
    data = client.read(handle, 0, 100)
    clause = may_be_same or because
    if data.value is not None:
        seen, what = data.value[0], f"data after a file was created whose name differs in {how}"
        wanted = _DATA[
            : written.value or 0
        ]  # the server may take a part of the data, and return a part of that
        expect_data(seen, wanted[: len(seen)] if seen else wanted, what, because=clause)
    if not again.succeeded:
        return
    ids = [_fileid(client, where, name, clause) for name in names]
    text = f"files by two names that differ in {how}"
    expect_that(None in ids or ids[0] != ids[1], "two", "one", text, because=clause)


def _fileid(client: CommonClient, where: bytes, name: bytes, because: Requirement) -> int | None:
    found = client.lookup(where, name)
    expect(found.reply, because=because).ok()
    if found.value is None:
        return None
    seen = found.value[1] or client.getattr(found.value[0]).value
    return None if seen is None else seen.fileid
