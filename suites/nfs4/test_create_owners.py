# SPDX-License-Identifier: MIT
"""CREATE (RFC 5661 section 18.4.3), and OPEN that creates: the owner and the group of a new object."""

from __future__ import annotations

import typing as t

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch, new_state_owner, through_grace
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Fattr4, NfsFtype4, Nfsstat4
from nfsclient.xdr import XdrType
from nfsjudge import expect, must, observe, proves, skip, stated, unsupported
from suites.nfs4.attribute_values import supported_names
from suites.nfs4.opens import BOTH
from suites.nfs4.strangers import a_stranger

OWNERS_ARE_DERIVED = must(
    "RFC 5661",
    "18.4.3",
    "where the request names neither owner nor group, the server derives both for a new object",
)
FOREIGN_OWNER_IS_PERM = stated(
    "RFC 5661",
    "18.4.3",
    "a new object with an owner for whom the caller may create no files gets NFS4ERR_PERM",
)


def _open(attributes: Fattr4) -> XdrType:
    return op.open(b"made", BOTH, owner=new_state_owner(), how=op.guarded(attributes))


_MAKING: t.Final[dict[str, t.Callable[[Fattr4], XdrType]]] = {
    "open": _open,
    "directory": lambda attributes: op.mkdir(b"made", attributes),
    "link": lambda attributes: op.symlink(b"made", b"target", attributes),
    "fifo": lambda attributes: op.create(b"made", NfsFtype4.NF4FIFO, attributes),
}


def _need_owners(scratch: Nfs4Scratch) -> None:
    if not {"owner", "owner_group"} <= set(supported_names(scratch, scratch.handle)):
        unsupported("the server does not support owner and owner_group")


@pytest.mark.parametrize("kind", _MAKING)
@proves(OWNERS_ARE_DERIVED, killed_by="create4-derives-no-owner", needs="nfs4_other_users")
def test_derived_owners(v4: Nfs4Dialect, scratch: Nfs4Scratch, kind: str) -> None:
    """A new object of another user has an owner and a group, though the request names none."""
    _need_owners(scratch)
    stranger = a_stranger(v4, scratch)
    making = _MAKING[kind](Fattr4())
    reply = through_grace(stranger, op.putfh(scratch.handle), making, op.getattr("owner", "owner_group"))
    if kind == "open" and reply.status == Nfsstat4.NFS4_OK:
        stranger.compound(op.putfh(scratch.lookup("made") or b""), op.close(reply.stateid))
    if kind in {"link", "fifo"} and reply.status == Nfsstat4.NFS4ERR_NOTSUPP:
        unsupported(f"the server does not make this: {reply.status}")
    if reply.status in {Nfsstat4.NFS4ERR_BADTYPE, Nfsstat4.NFS4ERR_PERM, Nfsstat4.NFS4ERR_ACCESS}:
        skip(f"another user cannot make this: {reply.status}", reply)
    seen = expect(reply).ok().attributes
    for name in ("owner", "owner_group"):
        expect(seen).field(name, f"{name} of a new object").is_present()
        expect(len(getattr(seen, name)), f"bytes of {name}", of=seen, field=name).at_least(1)


@pytest.mark.parametrize("kind", ["open", "directory"])
@proves(FOREIGN_OWNER_IS_PERM, killed_by="create4-foreign-owner-is-access", needs="nfs4_other_users")
def test_owner_of_another(v4: Nfs4Dialect, scratch: Nfs4Scratch, kind: str) -> None:
    """A new object that is to belong to the user of the run, made by another user, fails with PERM."""
    _need_owners(scratch)
    mine = scratch.attributes(scratch.handle, "owner").owner
    stranger = a_stranger(v4, scratch)
    reply = through_grace(stranger, op.putfh(scratch.handle), _MAKING[kind](Fattr4(owner=mine)))
    observe("new object for another owner", reply.status)
    if reply.status == Nfsstat4.NFS4_OK:
        if kind == "open":
            stranger.compound(op.putfh(scratch.lookup("made") or b""), op.close(reply.stateid))
        skip("the server lets any user make files for another owner, or ignores that")
    if reply.status == Nfsstat4.NFS4ERR_BADOWNER:
        skip("the server takes no such text for an owner")
    expect(reply).refused(Nfsstat4.NFS4ERR_PERM, because=FOREIGN_OWNER_IS_PERM)
    assert reply.failed in {p.OPEN, p.CREATE}
