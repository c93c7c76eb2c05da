# SPDX-License-Identifier: MIT
"""Short READs (RFC 1813 section 3.3.6): the data is correct, and further READs return the rest."""

from __future__ import annotations

import typing as t

import pytest

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from fixtures.checks.target import KnobsView
from nfsclient.clients import Nfs3
from nfsjudge import expect, expect_data, observe, proves
from suites.nfs3.clauses import READ_ABOVE_RTMAX, READ_DATA_AT_OFFSET, READ_EOF_AT_END
from suites.nfs3.contents import pattern, stored

KNOBS: t.Final[dict[str, dict[str, int]]] = {
    "returns-1": {"read_returns": 1},
    "returns-100": {"read_returns": 100},
    "returns-4097": {"read_returns": 4097},
    "rtmax-512": {"rtmax": 512},
}
_MORE: t.Final = {"returns-1": 60}
FILE_SIZES: t.Final = {
    name: next(iter(values.values())) + _MORE.get(name, 300) for name, values in KNOBS.items()
}
"""Sizes of files that take several READs, but not too many."""


@pytest.mark.exclusive
@pytest.mark.parametrize("knob", KNOBS)
@proves(READ_EOF_AT_END, killed_by="read3-short-returns-eof")
def test_short_eof(nfs3: Nfs3, scratch: Nfs3Scratch, knobs: KnobsView, knob: str) -> None:
    """A short READ sets eof only at the end of the file."""
    size = FILE_SIZES[knob]
    file = stored(scratch, "f", pattern(size))
    knobs.set(**KNOBS[knob])
    at = 0
    while at < size:
        reply = nfs3.read(file, at, size)
        at += expect(reply).field("resok.count").at_least(1)
        expect(reply).field("resok.eof").equals(at == size)


@pytest.mark.exclusive
@pytest.mark.parametrize("knob", KNOBS)
@proves(READ_DATA_AT_OFFSET, killed_by="read3-short-skips-the-first-byte")
def test_short_rest(nfs3: Nfs3, scratch: Nfs3Scratch, knobs: KnobsView, knob: str) -> None:
    """Repeated short READs return the whole file."""
    content = pattern(FILE_SIZES[knob])
    file = stored(scratch, "f", content)
    knobs.set(**KNOBS[knob])
    parts = b""
    while len(parts) < len(content):
        resok = expect(nfs3.read(file, len(parts), len(content))).ok()
        parts += bytes(resok.data)
        if not resok.count:
            break
    expect_data(parts, content)


@pytest.mark.exclusive
@pytest.mark.parametrize("more", [1, 511, 100_000])
@proves(READ_ABOVE_RTMAX, killed_by="read3-pads-above-rtmax")
def test_above_small_rtmax(nfs3: Nfs3, scratch: Nfs3Scratch, knobs: KnobsView, more: int) -> None:
    """READ of more than a small rtmax returns only data of the file."""
    content = pattern(300)
    file = stored(scratch, "f", content)
    knobs.set(rtmax=512)
    reply = nfs3.read(file, 0, 512 + more)
    if reply.resok is None:
        observe("READ of more than rtmax", expect(reply).refused())
        return
    data = reply.resok.data
    expect_data(data, content[: len(data)], of="range", reply=reply, field="resok.data")
