# SPDX-License-Identifier: MIT
"""Names that are no names of entries, at each operation that takes a name (RFC 5661 sections 14.5, 15.1.7, 18.13)."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Scratch, new_state_owner, through_grace
from nfsclient.clients.nfs4 import CompoundReply, Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.xdr import XdrType
from nfsjudge import (
    Harm,
    Requirement,
    expect,
    expect_names,
    expect_that,
    observe,
    proves,
    should,
    skip,
    stated,
    unsupported,
)
from suites.nfs4.opens import BOTH, READ

DOTS_ARE_NOT_SPECIAL = stated(
    "RFC 5661", "18.13.4", 'NFSv4.1 assigns no special semantics to the names "." and ".."', harm=Harm.OBJECT
)
DOTS_ARE_NOT_FOUND = should(
    "RFC 5661",
    "18.13.4",
    'errors say nothing of the directory and its parent: they are not what "." and ".." name',
)
DOTS_FIND_NOTHING = stated(
    "RFC 5661", "18.13.4", 'the names "." and ".." do not find the directory and its parent'
)
A_NAME_IS_ONE_COMPONENT = stated(
    "RFC 5661",
    "18.13.3",
    "a name is one component, which is evaluated in the directory of the current filehandle",
    harm=Harm.OBJECT,
    also={"4.0": ("RFC 7530", "16.13.4")},
)
A_PATH_FINDS_NOTHING = stated(
    "RFC 5661",
    "18.13.3",
    "a name is one component: it finds nothing in a directory below that of the current filehandle",
    also={"4.0": ("RFC 7530", "16.13.4")},
)
TOO_LONG_IS_NAMETOOLONG = stated(
    "RFC 5661",
    "15.1.7.3",
    "NFS4ERR_NAMETOOLONG: the name exceeds the limit of the server",
    also={"4.0": ("RFC 7530", "13.1.7.3")},
)
NO_UTF8_IS_REFUSED = should(
    "RFC 5661",
    "14.5",
    "a name that is no UTF-8 is refused, or is the name of the object if the file system takes such names",
)
NO_UTF8_IS_KEPT = stated(
    "RFC 5661",
    "14.4",
    "where FSCHARSET_CAP4_CONTAINS_NON_UTF8 is set, names that are no UTF-8 are kept as they are",
)
_LONGEST = 4096
"""Bytes: longer names are not tried."""
_BAD_UTF8 = b"n\xffm"


class _On(t.NamedTuple):
    """Where operations take a name."""

    directory: bytes
    file: bytes
    """A file named `file` in the directory."""


Naming: t.TypeAlias = Callable[[_On, bytes], list[XdrType]]
FINDING: t.Final[dict[str, Naming]] = {
    "lookup": lambda on, name: [op.putfh(on.directory), op.lookup(name)],
    "open": lambda on, name: [op.putfh(on.directory), op.open(name, READ, owner=new_state_owner())],
    "remove": lambda on, name: [op.putfh(on.directory), op.remove(name)],
    "rename-from": lambda on, name: [op.putfh(on.directory), op.savefh(), op.rename(name, b"moved")],
    "secinfo": lambda on, name: [op.putfh(on.directory), op.secinfo(name)],
}
"""Operations that find an entry."""
MAKING: t.Final[dict[str, Naming]] = {
    "create": lambda on, name: [op.putfh(on.directory), op.mkdir(name)],
    "open-create": lambda on, name: [
        op.putfh(on.directory),
        op.open(name, BOTH, owner=new_state_owner(), how=op.guarded()),
    ],
    "link": lambda on, name: [op.putfh(on.file), op.savefh(), op.putfh(on.directory), op.link(name)],
    "rename-to": lambda on, name: [op.putfh(on.directory), op.savefh(), op.rename(b"file", name)],
}
"""Operations that make one."""
ALL: t.Final = {**FINDING, **MAKING}
_LOOKING: t.Final = {"lookup", "open", "secinfo"}
"""Those that change no entry: their success destroys and replaces nothing."""


def _arrange(scratch: Nfs4Scratch) -> _On:
    return _On(scratch.handle, scratch.file("file"))


def _try(compounds: Compounds, on: _On, operation: str, name: bytes) -> CompoundReply:
    reply = through_grace(compounds, *ALL[operation](on, name))
    observe(operation, reply.status.name)
    return reply


def _expect_nothing_or_this(
    scratch: Nfs4Scratch,
    reply: CompoundReply,
    operation: str,
    name: bytes,
    *others: bytes,
    looking: Requirement | None = None,
) -> None:
    """The operation failed and changed nothing, or it made exactly this entry. `looking`: the clause of `_LOOKING`."""
    before = {b"file", *others}
    if reply.status == Nfsstat4.NFS4_OK and operation in MAKING:
        kept = before - {b"file"} if operation == "rename-to" else before
        expect_names(scratch.names(), sorted({*kept, name}))
        return
    expect_names(scratch.names(), sorted(before))
    expect(reply, because=looking if operation in _LOOKING else None).refused()


@pytest.mark.parametrize("operation", ALL)
@pytest.mark.parametrize("name", [b".", b".."], ids=["dot", "dots"])
@proves(
    DOTS_ARE_NOT_SPECIAL,
    DOTS_ARE_NOT_FOUND,
    DOTS_FIND_NOTHING,
    killed_by=("names4-dots-are-directories", "names4-dots-are-known"),
)
def test_dots(compounds: Compounds, scratch: Nfs4Scratch, operation: str, name: bytes) -> None:
    """ "." and ".." are not the directory and its parent: nothing is found by them, and what is made has that name."""
    on = _arrange(scratch)
    reply = _try(compounds, on, operation, name)
    if reply.status == Nfsstat4.NFS4_OK and operation in MAKING:
        # Lists of names are without "." and "..", so ask for it.
        expect(compounds.compound(op.putfh(on.directory), op.lookup(name))).ok()
        return
    expect_names(scratch.names(), [b"file"])
    expect(reply, because=DOTS_FIND_NOTHING if operation in _LOOKING else None).refused()
    # These say that the name was found, and that it is that of a directory.
    is_found = reply.status in {Nfsstat4.NFS4ERR_ISDIR, Nfsstat4.NFS4ERR_NOTEMPTY}
    expect_that(
        not is_found, "an error that is not about a directory", reply.status.name, because=DOTS_ARE_NOT_FOUND
    )


@pytest.mark.parametrize("operation", ALL)
@proves(A_NAME_IS_ONE_COMPONENT, A_PATH_FINDS_NOTHING, killed_by="names4-slashes-are-paths")
def test_slash(compounds: Compounds, scratch: Nfs4Scratch, operation: str) -> None:
    """A name with a slash is no path: nothing in a directory below is found, made or removed."""
    on, below = _arrange(scratch), scratch.directory("below")
    scratch.file("there", directory=below)
    name = b"below/there" if operation in FINDING else b"below/new"
    reply = _try(compounds, on, operation, name)
    expect_names(scratch.names(below), [b"there"], "names in the directory below")
    _expect_nothing_or_this(scratch, reply, operation, name, b"below", looking=A_PATH_FINDS_NOTHING)


@pytest.mark.parametrize("operation", ALL)
@proves(TOO_LONG_IS_NAMETOOLONG, killed_by="names4-long-ones-are-cut")
def test_too_long(compounds: Compounds, scratch: Nfs4Scratch, operation: str) -> None:
    """A name that is longer than maxname fails with NAMETOOLONG, where the server does not cut names."""
    known = scratch.attributes(None, "maxname", "no_trunc")
    if known.maxname is None or known.no_trunc is not True:
        unsupported("the server does not say that it refuses long names (maxname, no_trunc)")
    if known.maxname > _LONGEST:
        skip(f"maxname is {known.maxname}")
    on, name = _arrange(scratch), b"n" * (known.maxname + 1)
    if operation in FINDING:  # of a server that cuts it
        scratch.file(name[:-1])
    reply = _try(compounds, on, operation, name)
    others = [name[:-1]] if operation in FINDING else []
    expect_names(scratch.names(), sorted([b"file", *others]))
    # Of a name that is too long, an operation that looks for it may say that there is none.
    also = [Nfsstat4.NFS4ERR_NOENT] if operation in FINDING else []
    expect(reply).refused(Nfsstat4.NFS4ERR_NAMETOOLONG, *also, because=TOO_LONG_IS_NAMETOOLONG)


@pytest.mark.parametrize("operation", MAKING)
@proves(NO_UTF8_IS_REFUSED, NO_UTF8_IS_KEPT, A_NAME_IS_ONE_COMPONENT, killed_by="names4-replaces-bad-utf8")
def test_no_utf8(compounds: Compounds, scratch: Nfs4Scratch, operation: str) -> None:
    """A new name that is no UTF-8 is refused, or its object is found by the same bytes."""
    reply = _try(compounds, _arrange(scratch), operation, _BAD_UTF8)
    names = set(scratch.names())
    if reply.status != Nfsstat4.NFS4_OK or names == {b"file", _BAD_UTF8} - (
        {b"file"} if operation == "rename-to" else set()
    ):
        _expect_nothing_or_this(scratch, reply, operation, _BAD_UTF8)
        return
    # The storage may have another set of characters, and list the name in that.
    if operation != "rename-to":
        expect_names(sorted(names), [b"file"], others=True, because=A_NAME_IS_ONE_COMPONENT)
    capabilities = scratch.attributes(None, "fs_charset_cap").fs_charset_cap or 0
    if capabilities & p.FSCHARSET_CAP4_CONTAINS_NON_UTF8:
        expect_names(sorted(names), [_BAD_UTF8], others=True, because=NO_UTF8_IS_KEPT)
    found = compounds.compound(op.putfh(scratch.handle), op.lookup(_BAD_UTF8))
    observe("name that is listed with other bytes", found.status.name)
    expect(found).field("status", "status of LOOKUP by the bytes that were sent").equals(Nfsstat4.NFS4_OK)
