# SPDX-License-Identifier: MIT
"""Grants (RFC 5661 section 18.1): what ACCESS permits is not denied to everybody.

Who may do what is the server's policy, so in other checks a denial ends the check as SKIP, and a server that always
denies one operation would never fail. Here ACCESS itself says that the user may make the call, before and after it, and
nobody else knows the objects. Rights may be revoked at any time, so several new objects are tried.
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Scratch, new_state_owner, through_grace
from nfsclient.clients.nfs4 import CompoundReply, Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Fattr4, Nfsstat4
from nfsjudge import expect, observe, proves, should, skip, stated
from suites.nfs4.opens import BOTH

ACCESS_SAYS_WHAT_IS_ALLOWED = stated(
    "RFC 5661",
    "18.1.3",
    "ACCESS returns the rights that the user has: while nothing changes, such operations are not denied",
    also={"4.0": ("RFC 7530", "16.1.4")},
)
ACCESS_IS_ADVICE = should(  # "necessarily advisory in nature"
    "RFC 5661",
    "18.1.3",
    "an operation is not denied where ACCESS returns the rights for it, but a policy may know more than they say",
    also={"4.0": ("RFC 7530", "16.1.4")},
)
"""Retention, and rules for the removal of names, are such policies."""
_ADVICE: t.Final = frozenset({"remove", "rename"})
_ATTEMPTS: t.Final = 3
_DENIALS: t.Final = frozenset({Nfsstat4.NFS4ERR_ACCESS, Nfsstat4.NFS4ERR_PERM, Nfsstat4.NFS4ERR_ROFS})
_CHANGE: t.Final = p.ACCESS4_MODIFY | p.ACCESS4_EXTEND


class _Case(t.NamedTuple):
    """An operation on a new file, or in a new directory with a file, and the rights that it needs."""

    rights: int
    is_in_directory: bool
    act: Callable[[Compounds, bytes], CompoundReply]


def _open(compounds: Compounds, directory: bytes) -> CompoundReply:
    opening = op.open(b"new", BOTH, owner=new_state_owner(), how=op.guarded(Fattr4(mode=0o644)))
    return through_grace(compounds, op.putfh(directory), opening)


_CASES: t.Final = {
    "read": _Case(p.ACCESS4_READ, False, lambda s, h: s.compound(op.putfh(h), op.read(op.ANONYMOUS, 0, 4))),
    "write": _Case(_CHANGE, False, lambda s, h: s.compound(op.putfh(h), op.write(op.ANONYMOUS, 0, b"data"))),
    "lookup": _Case(p.ACCESS4_LOOKUP, True, lambda s, h: s.compound(op.putfh(h), op.lookup(b"file"))),
    "readdir": _Case(p.ACCESS4_READ, True, lambda s, h: s.compound(op.putfh(h), op.readdir(0, bytes(8)))),
    "open": _Case(_CHANGE, True, _open),
    "create": _Case(_CHANGE, True, lambda s, h: s.compound(op.putfh(h), op.mkdir(b"new"))),
    "remove": _Case(
        _CHANGE | p.ACCESS4_DELETE, True, lambda s, h: s.compound(op.putfh(h), op.remove(b"file"))
    ),
    "rename": _Case(
        _CHANGE | p.ACCESS4_DELETE,
        True,
        lambda s, h: s.compound(op.putfh(h), op.savefh(), op.rename(b"file", b"new")),
    ),
}


def _may(compounds: Compounds, handle: bytes, rights: int) -> bool:
    """Whether ACCESS grants all of the rights."""
    reply = compounds.compound(op.putfh(handle), op.access(rights))
    return bool(expect(reply).of(p.ACCESS).ok().access & rights == rights)


@pytest.mark.parametrize("operation", _CASES)
@proves(ACCESS_SAYS_WHAT_IS_ALLOWED, ACCESS_IS_ADVICE, killed_by="operations4-deny-what-access-grants")
def test_not_denied(compounds: Compounds, scratch: Nfs4Scratch, operation: str) -> None:
    """An operation on a new object is not denied to a user to whom ACCESS grants the rights for it."""
    case = _CASES[operation]
    made = [_make(scratch, number, case) for number in range(_ATTEMPTS)]
    for handle in made:
        if not _may(compounds, handle, case.rights):
            skip("ACCESS does not grant the rights for this operation")
        reply = case.act(compounds, handle)
        if reply.status not in _DENIALS:
            expect(reply).ok()
            return
        observe("denied", reply.status)
        if not _may(compounds, handle, case.rights):
            skip(f"ACCESS does not grant the rights any more: the server has revoked them ({reply.status})")
    expect(reply, because=ACCESS_IS_ADVICE if operation in _ADVICE else ACCESS_SAYS_WHAT_IS_ALLOWED).granted()


def _make(scratch: Nfs4Scratch, number: int, case: _Case) -> bytes:
    if not case.is_in_directory:
        return scratch.file(f"f{number}")
    directory = scratch.directory(f"d{number}")
    scratch.file("file", directory=directory)
    return directory
