# SPDX-License-Identifier: MIT
"""GETATTR (RFC 5661 section 5.8): what moves the attributes change, time_modify and time_metadata."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Scratch
from nfsclient.clients.nfs4 import Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Fattr4, Nfsstat4
from nfsclient.xdr import XdrType
from nfsjudge import expect, proves, should, skip, stated
from suites.nfs4.opens import BOTH, open_file
from suites.nfs4.ticks import expect_moves, need_tick

CHANGE_FOLLOWS_ATTRIBUTES = stated(
    "RFC 5661",
    "5.8.1.4",
    "attribute change has another value after an attribute of the object, as its mode or its links, was modified",
)
CHANGE_FOLLOWS_ENTRIES = stated(
    "RFC 5661",
    "5.8.1.4",
    "attribute change of a directory has another value after its contents were modified",
)
SIZE_MOVES_CHANGE_AND_TIME = stated(
    "RFC 5661", "18.30.4", "changing the size with SETATTR changes the attributes time_modify and change"
)
METADATA_HAVE_A_TIME = (
    should(  # the text does not say which attributes are metadata; the mode and the links surely are
        "RFC 5661",
        "5.8.2.42",
        "time_metadata is the time of the last modification of the metadata: it should move then",
    )
)
_LONG_AGO: t.Final = 946_684_800
"""The year 2000."""
Act: t.TypeAlias = Callable[[bytes, bytes, int], list[XdrType]]
"""(directory, object, number) -> the operations of a change: each number makes another one."""


def _set(attributes: Callable[[int], Fattr4]) -> Act:
    return lambda _, file, number: [op.putfh(file), op.setattr(attributes(number))]


def _name(number: int) -> bytes:
    return b"name-%d" % number


def _at(number: int) -> p.Settime4:
    return p.client_time(_LONG_AGO + number)


_LINK: t.Final[Act] = lambda here, file, number: [  # noqa: E731
    op.putfh(file),
    op.savefh(),
    op.putfh(here),
    op.link(_name(number)),
]
OF_FILES: t.Final[dict[str, Act]] = {
    "mode": _set(lambda number: Fattr4(mode=0o600 + number % 8)),
    "size": _set(lambda number: Fattr4(size=100 + number)),
    "modify": _set(lambda number: Fattr4(time_modify_set=_at(number))),
    "access": _set(lambda number: Fattr4(time_access_set=_at(number))),
    "link": _LINK,
    "unlink": lambda here, _, number: [op.putfh(here), op.remove(b"made-%d" % number)],
}
OF_DIRECTORIES: t.Final[dict[str, Act]] = {
    "mode": lambda here, _, number: [op.putfh(here), op.setattr(Fattr4(mode=0o700 + number % 8))],
    "mkdir": lambda here, _, number: [op.putfh(here), op.mkdir(_name(number))],
    "symlink": lambda here, _, number: [op.putfh(here), op.symlink(_name(number), b"target")],
    "link": _LINK,
    "remove": lambda here, _, number: [op.putfh(here), op.remove(b"made-%d" % number)],
    "rename": lambda here, _, number: [
        op.putfh(here),
        op.savefh(),
        op.rename(b"made-%d" % number, _name(number)),
    ],
}
_NEEDS_A_NAME: t.Final = {"unlink", "remove", "rename"}


def _act(compounds: Compounds, operations: list[XdrType], what: str) -> None:
    reply = compounds.compound(*operations)
    if reply.status != Nfsstat4.NFS4_OK:
        skip(f"the change ({what}) answers {reply.status}: other checks judge that", reply)


def _expect_moves(
    compounds: Compounds, scratch: Nfs4Scratch, which: str, act: Act, *, of_directory: bool
) -> None:
    """A change of an object in a new directory, or of that directory, moves `change`."""
    __tracebackhide__ = True
    here = scratch.directory("here")
    file = scratch.file("file", b"data", directory=here)

    def prepare(number: int) -> None:
        if which in _NEEDS_A_NAME:
            scratch.link(file, b"made-%d" % number, directory=here)

    expect_moves(
        scratch,
        here if of_directory else file,
        lambda number: _act(compounds, act(here, file, number), which),
        f"another {which}",
        prepare=prepare,
    )


@pytest.mark.parametrize("which", OF_FILES)
@proves(
    CHANGE_FOLLOWS_ATTRIBUTES,
    killed_by=("nfs4-leaves-change-of-files", "getattr4-change-stands-without-times"),
    needs="nfs4_hardlink",
)
def test_change_of_file(compounds: Compounds, scratch: Nfs4Scratch, which: str) -> None:
    """A change of an attribute of a file, or of its links, gives its attribute change another value."""
    _expect_moves(compounds, scratch, which, OF_FILES[which], of_directory=False)


@pytest.mark.parametrize("which", OF_DIRECTORIES)
@proves(
    CHANGE_FOLLOWS_ENTRIES,
    killed_by=("nfs4-leaves-change-of-directories", "getattr4-change-stands-without-times"),
    needs="nfs4_hardlink",
)
def test_change_of_directory(compounds: Compounds, scratch: Nfs4Scratch, which: str) -> None:
    """A change of the entries of a directory, or of its mode, gives its attribute change another value."""
    _expect_moves(compounds, scratch, which, OF_DIRECTORIES[which], of_directory=True)


@pytest.mark.parametrize("size", [0, 2, 20], ids=["empty", "shorter", "longer"])
@proves(
    SIZE_MOVES_CHANGE_AND_TIME,
    killed_by=("setattr4-size-leaves-time-modify", "setattr4-size-leaves-change"),
)
def test_size_moves(compounds: Compounds, scratch: Nfs4Scratch, size: int) -> None:
    """SETATTR of another size moves time_modify and change."""
    opened = open_file(compounds, scratch.file("file", b"data"), BOTH)
    _act(compounds, [op.putfh(opened.handle), op.setattr(Fattr4(time_modify_set=_at(0)))], "time_modify")
    before = scratch.attributes(opened.handle, "time_modify")
    if before.time_modify is None or before.time_modify.seconds != _LONG_AGO:
        skip("SETATTR does not set time_modify to the year 2000, so a later change would not show")

    def resize(new: int) -> None:
        _act(compounds, [op.putfh(opened.handle), op.setattr(Fattr4(size=new), opened.stateid)], "size")

    resize(size)
    after = scratch.attributes(opened.handle, "time_modify")
    expect(after).field("time_modify", "time_modify after SETATTR of the size").differs_from(
        before.time_modify
    )
    expect_moves(
        scratch,
        opened.handle,
        lambda _: resize(size),
        "SETATTR of the size",
        prepare=lambda _: resize(4),
    )


@pytest.mark.parametrize("which", ["mode", "link", "unlink"])
@proves(METADATA_HAVE_A_TIME, killed_by="nfs4-leaves-time-metadata", needs="nfs4_hardlink")
def test_metadata_time(compounds: Compounds, scratch: Nfs4Scratch, which: str) -> None:
    """time_metadata of a file moves with its mode, and with its links, once the clock of the server has moved."""
    here = scratch.directory("here")
    file = scratch.file("file", b"data", directory=here)
    scratch.link(file, b"made-1", directory=here)
    # A server may have one time for both: then they stay equal.
    compounds.compound(op.putfh(file), op.setattr(Fattr4(time_modify_set=p.client_time(1_000_000_000))))
    before = scratch.attributes(file, "time_metadata").time_metadata
    if before is None:
        skip("the server does not support time_metadata")
    need_tick(scratch, before)
    _act(compounds, OF_FILES[which](here, file, 1 if which != "link" else 2), which)
    after = scratch.attributes(file, "time_metadata", "time_modify")
    if after.time_metadata == before == after.time_modify:
        skip("the server has one time for both, that of the last modification")
    expect(after).field("time_metadata", f"time_metadata after another {which}").differs_from(before)
