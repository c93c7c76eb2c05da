# SPDX-License-Identifier: MIT
"""Values of attributes that a server cannot take, by the operation that sets them (RFC 5661 sections 5.9, 15.1.4)."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch, new_state_owner
from nfsclient.clients.nfs4 import CompoundReply, Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol.nfs4 import Fattr4, Nfsstat4
from nfsclient.xdr import XdrType
from nfsjudge import expect, observe, proves, should, skip, stated, unsupported
from suites.nfs4.opens import BOTH
from suites.nfs4.retries import need_answer
from suites.nfs4.test_users import STRANGER, client_of, need_distinct

STRANGE_OWNERS_ARE_BADOWNER = should(
    "RFC 5661",
    "5.9",
    "an owner without a translation gets NFS4ERR_BADOWNER, unless the server keeps every string",
)
BEYOND_MAXFILESIZE_IS_FBIG = stated(
    "RFC 5661",
    "15.1.4.4",
    "NFS4ERR_FBIG: the operation would have caused the file to grow beyond the limit of the server",
    also={"4.0": ("RFC 7530", "13.1.4.4")},
)
OWNERS_ARE_RESTRICTED = stated(
    "RFC 5661",
    "5.8.2.6",
    "with chown_restricted the server rejects a request of a common user to change the owner of a file",
    also={"4.0": ("RFC 7530", "5.8.2.5")},
)
NEW_OWNERS_ARE_RESTRICTED = should(  # the text speaks of a change, and a new object had no owner before
    "RFC 5661",
    "5.8.2.6",
    "with chown_restricted a common user does not become the maker of objects that belong to others",
)
_NOBODY: t.Final = b"nobody of nfsproof@nowhere.invalid"
_MADE: t.Final = b"made"
_SETTING: t.Final[dict[str, Callable[[Fattr4], XdrType]]] = {
    "create": lambda given: op.mkdir(_MADE, given),
    "open": lambda given: op.open(_MADE, BOTH, owner=new_state_owner(), how=op.guarded(given)),
    "setattr": op.setattr,
}


def _set(compounds: Compounds, scratch: Nfs4Scratch, name: str, given: Fattr4) -> CompoundReply:
    """The reply to an operation that sets attributes: of the file ``file``, or of a new object."""
    on = scratch.file("file") if name == "setattr" else scratch.handle
    return compounds.compound(op.putfh(on), _SETTING[name](given))


@pytest.mark.parametrize("name", _SETTING)
@proves(STRANGE_OWNERS_ARE_BADOWNER, killed_by="attributes4-badowner-is-serverfault")
def test_owner(compounds: Compounds, scratch: Nfs4Scratch, name: str) -> None:
    """An operation with an owner that nobody is gets BADOWNER, or the owner is kept as it is."""
    if scratch.attributes(None, "owner").owner is None:
        unsupported("the server does not support the attribute owner")
    reply = _set(compounds, scratch, name, Fattr4(owner=_NOBODY))
    observe("owner that nobody is", reply.status.name)
    if reply.status:
        expect(reply).refused(Nfsstat4.NFS4ERR_BADOWNER, because=STRANGE_OWNERS_ARE_BADOWNER)
        return
    made = scratch.lookup(b"file" if name == "setattr" else _MADE)
    assert made is not None
    expect(scratch.attributes(made, "owner")).field("owner").equals(_NOBODY)


@pytest.mark.parametrize("name", ["open", "setattr"])
@proves(BEYOND_MAXFILESIZE_IS_FBIG, killed_by="attributes4-fbig-is-serverfault")
def test_size(compounds: Compounds, scratch: Nfs4Scratch, name: str) -> None:
    """An operation with a size above maxfilesize gets FBIG or INVAL."""
    most = scratch.attributes(None, "maxfilesize").maxfilesize
    if most is None or most >= 2**64 - 1:
        skip(f"maxfilesize is {most}")
    reply = _set(compounds, scratch, name, Fattr4(size=most + 1))
    observe("size above maxfilesize", reply.status.name)
    wanted = (Nfsstat4.NFS4ERR_FBIG, Nfsstat4.NFS4ERR_INVAL)
    expect(reply).refused(*wanted, because=BEYOND_MAXFILESIZE_IS_FBIG)


@proves(OWNERS_ARE_RESTRICTED, killed_by="attributes4-owners-are-given-away", needs="nfs4_other_users")
def test_given_away(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> None:
    """With chown_restricted, a common user cannot make another one the owner of a directory."""
    owner = _need_restricted(scratch)
    user, on = _common_user(v4, scratch), scratch.directory("given", mode=0o777)
    making = user.compound(op.putfh(on), op.mkdir(_MADE), op.getfh(), op.getattr("owner"))
    if making.status or making.attributes.owner == owner:
        skip("another user has no separate directory", making)
    reply = need_answer(user.compound(op.putfh(making.handle), op.setattr(Fattr4(owner=owner))))
    observe("owner that a common user gives", reply.status.name)
    expect(scratch.attributes(making.handle, "owner")).field("owner").differs_from(owner)


@pytest.mark.parametrize("name", ["create", "open"])
@proves(NEW_OWNERS_ARE_RESTRICTED, killed_by="attributes4-owners-are-given-away", needs="nfs4_other_users")
def test_made_for_another(v4: Nfs4Dialect, scratch: Nfs4Scratch, name: str) -> None:
    """With chown_restricted, a common user cannot create an object that belongs to another one."""
    owner = _need_restricted(scratch)
    user, on = _common_user(v4, scratch), scratch.directory("given", mode=0o777)
    reply = need_answer(user.compound(op.putfh(on), _SETTING[name](Fattr4(owner=owner))))
    observe("owner that a common user gives", reply.status.name)
    made = scratch.lookup(_MADE, directory=on)
    if made is not None:
        expect(scratch.attributes(made, "owner")).field("owner").differs_from(owner)


def _common_user(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> Compounds:
    user = client_of(v4, *STRANGER)
    need_distinct(scratch, user)
    return user


def _need_restricted(scratch: Nfs4Scratch) -> bytes:
    """The owner of the directory of the check. UNSUPPORTED where owners may be given away."""
    known = scratch.attributes(None, "chown_restricted", "owner")
    if not known.chown_restricted or known.owner is None:
        unsupported(f"chown_restricted is {known.chown_restricted}, and owner {known.owner!r}")
    return bytes(known.owner)
