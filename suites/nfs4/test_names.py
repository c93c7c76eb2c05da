# SPDX-License-Identifier: MIT
"""Names that are no names of entries, at each operation that takes a name (RFC 5661 sections 14.5, 15.1.7, 18.13)."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Scratch, new_state_owner, through_grace
from nfsclient.clients.nfs4 import CompoundReply, Session4
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.xdr import XdrType
from nfsjudge import Harm, Requirement, expect, expect_names, observe, proves, skip, unsupported
from suites.nfs4.opens import BOTH, READ

DOTS_ARE_NOT_SPECIAL = Requirement(
    rfc="RFC 5661",
    section="18.13.4",
    gist='NFSv4.1 assigns no special semantics to the names "." and ".."',
    harm=Harm.OBJECT,
)
A_NAME_IS_ONE_COMPONENT = Requirement(
    rfc="RFC 5661",
    section="18.13.3",
    gist="a name is one component, which is evaluated in the directory of the current filehandle",
    harm=Harm.OBJECT,
)
TOO_LONG_IS_NAMETOOLONG = Requirement(
    rfc="RFC 5661",
    section="15.1.7.3",
    gist="NFS4ERR_NAMETOOLONG: the name exceeds the limit of the server",
)
NO_UTF8_IS_REFUSED = Requirement(
    rfc="RFC 5661",
    section="14.5",
    gist="a name that is no UTF-8 is refused, or is the name of the object if the file system takes such names",
    harm=Harm.OBJECT,
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


def _arrange(scratch: Nfs4Scratch) -> _On:
    return _On(scratch.handle, scratch.file("file"))


def _try(session: Session4, on: _On, operation: str, name: bytes) -> CompoundReply:
    reply = through_grace(session, *ALL[operation](on, name))
    observe(operation, reply.status.name)
    return reply


def _expect_nothing_or_this(
    scratch: Nfs4Scratch, reply: CompoundReply, operation: str, name: bytes, *others: bytes
) -> None:
    """The operation failed and changed nothing, or it made exactly this entry."""
    before = {b"file", *others}
    if reply.status == Nfsstat4.NFS4_OK and operation in MAKING:
        kept = before - {b"file"} if operation == "rename-to" else before
        expect_names(scratch.names(), sorted({*kept, name}))
        return
    expect_names(scratch.names(), sorted(before))
    expect(reply).refused()


@pytest.mark.parametrize("operation", ALL)
@pytest.mark.parametrize("name", [b".", b".."], ids=["dot", "dots"])
@proves(DOTS_ARE_NOT_SPECIAL, killed_by="names4-dots-are-directories")
def test_dots(session: Session4, scratch: Nfs4Scratch, operation: str, name: bytes) -> None:
    """ "." and ".." are not the directory and its parent: nothing is found by them, and what is made has that name."""
    on = _arrange(scratch)
    reply = _try(session, on, operation, name)
    if reply.status == Nfsstat4.NFS4_OK and operation in MAKING:
        # Lists of names are without "." and "..", so ask for it.
        expect(session.compound(op.putfh(on.directory), op.lookup(name))).ok()
        return
    expect_names(scratch.names(), [b"file"])
    expect(reply).refused()


@pytest.mark.parametrize("operation", ALL)
@proves(A_NAME_IS_ONE_COMPONENT, killed_by="names4-slashes-are-paths")
def test_slash(session: Session4, scratch: Nfs4Scratch, operation: str) -> None:
    """A name with a slash is no path: nothing in a directory below is found, made or removed."""
    on, below = _arrange(scratch), scratch.directory("below")
    scratch.file("there", directory=below)
    name = b"below/there" if operation in FINDING else b"below/new"
    reply = _try(session, on, operation, name)
    expect_names(scratch.names(below), [b"there"], "names in the directory below")
    _expect_nothing_or_this(scratch, reply, operation, name, b"below")


@pytest.mark.parametrize("operation", ALL)
@proves(TOO_LONG_IS_NAMETOOLONG, killed_by="names4-long-ones-are-cut")
def test_too_long(session: Session4, scratch: Nfs4Scratch, operation: str) -> None:
    """A name that is longer than maxname fails with NAMETOOLONG, where the server does not cut names."""
    known = scratch.attributes(None, "maxname", "no_trunc")
    if known.maxname is None or known.no_trunc is not True:
        unsupported("the server does not say that it refuses long names (maxname, no_trunc)")
    if known.maxname > _LONGEST:
        skip(f"maxname is {known.maxname}")
    on, name = _arrange(scratch), b"n" * (known.maxname + 1)
    if operation in FINDING:  # of a server that cuts it
        scratch.file(name[:-1])
    reply = _try(session, on, operation, name)
    others = [name[:-1]] if operation in FINDING else []
    expect_names(scratch.names(), sorted([b"file", *others]))
    expect(reply).refused(
        Nfsstat4.NFS4ERR_NAMETOOLONG, Nfsstat4.NFS4ERR_NOENT, because=TOO_LONG_IS_NAMETOOLONG
    )


@pytest.mark.parametrize("operation", MAKING)
@proves(NO_UTF8_IS_REFUSED, killed_by="names4-replaces-bad-utf8")
def test_no_utf8(session: Session4, scratch: Nfs4Scratch, operation: str) -> None:
    """A new name that is no UTF-8 is refused, or is listed with the same bytes."""
    reply = _try(session, _arrange(scratch), operation, _BAD_UTF8)
    _expect_nothing_or_this(scratch, reply, operation, _BAD_UTF8)
