# SPDX-License-Identifier: MIT
"""SETATTR (RFC 5661 section 18.30) of owners, by the words of section 5.9, and of what nobody can set."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch
from nfsclient.clients.nfs4 import Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import ATTRIBUTES, NUMBERS, Fattr4, Nfsstat4
from nfsjudge import expect, must, observe, proves, should, skip, stated, unsupported
from suites.nfs4.attribute_values import is_translated, mismatches, statuses, supported_names
from suites.nfs4.strangers import STRANGER, a_stranger

READ_ONLY_IS_INVALID = must("RFC 5661", "5.5", "an attempt to set a read-only attribute gets NFS4ERR_INVAL")
UNKNOWN_IS_BADOWNER = should(
    "RFC 5661", "5.9", "an owner or group that has no translation gets NFS4ERR_BADOWNER from SETATTR"
)
ACCEPTED_IS_RETURNED = should(  # aliases "may make that promise impossible to honor"
    "RFC 5661",
    "5.9",
    "a server that accepts an owner or a group promises to return the same string by GETATTR",
)
NO_UTF8_IS_REFUSED = should(
    "RFC 5661",
    "14.5",
    "an owner or a group that is no UTF-8 gets NFS4ERR_INVAL: it is an invalid UTF-8 string",
)
CHOWN_IS_RESTRICTED = stated(
    "RFC 5661",
    "5.8.2.6",
    "chown_restricted: the server rejects a request of an unprivileged user to change the owner of a file",
)
_NOBODY_HAS_IT = b"no-such-user-or-group@no-such-domain.invalid"
_WHICH = pytest.mark.parametrize("name", ["owner", "owner_group"], ids=["owner", "group"])


def _need(scratch: Nfs4Scratch, *names: str) -> None:
    lacking = sorted(set(names) - set(supported_names(scratch, scratch.handle)))
    if lacking:
        unsupported(f"the server does not support {', '.join(lacking)}")


@proves(READ_ONLY_IS_INVALID, killed_by="setattr4-read-only-fileid-is-ignored")
def test_each_read_only(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """SETATTR of each supported attribute that is read-only fails with INVAL."""
    file = scratch.file("file")
    names = [name for name in supported_names(scratch, file) if name != "rdattr_error"]
    read_only = [name for name in names if not ATTRIBUTES[NUMBERS[name]].about.is_settable]
    values = {name: scratch.attributes(file, name) for name in read_only}
    known = {name: value for name, value in values.items() if getattr(value, name) is not None}
    seen = statuses(compounds, file, lambda value: p.Setattr4Args(p.ANONYMOUS_STATEID, value), known)
    expect(mismatches(seen, Nfsstat4.NFS4ERR_INVAL), "read-only attributes that are not INVAL").equals([])


@_WHICH
@proves(
    UNKNOWN_IS_BADOWNER,
    ACCEPTED_IS_RETURNED,
    killed_by=("setattr4-unknown-owner-is-inval", "setattr4-unknown-owner-is-nobody"),
    needs="root",
)
def test_unknown_owner(compounds: Compounds, scratch: Nfs4Scratch, name: str) -> None:
    """SETATTR of an owner or group that nobody has fails with BADOWNER, or the server keeps the string."""
    _need(scratch, name)
    file = scratch.file("file")
    reply = compounds.compound(op.putfh(file), op.setattr(Fattr4().changed(**{name: _NOBODY_HAS_IT})))
    observe("unknown owner", reply.status)
    if reply.status == Nfsstat4.NFS4_OK:
        seen = scratch.attributes(file, name)
        expect(seen, because=ACCEPTED_IS_RETURNED).field(name).equals(_NOBODY_HAS_IT)
        return
    expect(reply).refused(Nfsstat4.NFS4ERR_BADOWNER, because=UNKNOWN_IS_BADOWNER)


@_WHICH
@proves(ACCEPTED_IS_RETURNED, killed_by="setattr4-owner-is-next-to-that", needs="root")
def test_returned_owner(compounds: Compounds, scratch: Nfs4Scratch, name: str) -> None:
    """SETATTR of the owner, or of the group, that another file has: GETATTR returns the same string."""
    _need(scratch, name)
    other, file = scratch.file("other"), scratch.file("file")
    giving = op.setattr(Fattr4().changed(**{name: b"4242"}))
    if compounds.compound(op.putfh(other), giving).status != Nfsstat4.NFS4_OK:
        skip("the server takes no decimal digits for an owner, so all files have one owner")
    wanted = getattr(scratch.attributes(other, name), name)
    reply = compounds.compound(op.putfh(file), op.setattr(Fattr4().changed(**{name: wanted})))
    if reply.status == Nfsstat4.NFS4ERR_BADOWNER and not is_translated(bytes(wanted)):
        skip("the server translates no name for the owner, and refuses what it says instead (section 5.9)")
    expect(reply).ok()
    expect(scratch.attributes(file, name)).field(name).equals(wanted)


@_WHICH
@proves(NO_UTF8_IS_REFUSED, killed_by="setattr4-owner-of-any-bytes-is-nobody", needs="root")
def test_owner_no_utf8(compounds: Compounds, scratch: Nfs4Scratch, name: str) -> None:
    """SETATTR of an owner or a group that is no UTF-8 fails."""
    _need(scratch, name)
    file = scratch.file("file")
    before = scratch.attributes(file, name)
    setting = op.setattr(Fattr4().changed(**{name: b"\xff\xfe@localdomain"}))
    reply = compounds.compound(op.putfh(file), setting)
    observe("owner that is no UTF-8", reply.status)
    expect(scratch.attributes(file, name)).field(name).equals(getattr(before, name))
    expect(reply).refused(Nfsstat4.NFS4ERR_INVAL, Nfsstat4.NFS4ERR_BADOWNER, Nfsstat4.NFS4ERR_BADCHAR)


@proves(CHOWN_IS_RESTRICTED, killed_by="setattr4-anybody-gives-files-away", needs="nfs4_other_users")
def test_chown_restricted(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> None:
    """Where chown_restricted is TRUE, SETATTR of another owner by the owner of a file, who is not root, fails."""
    _need(scratch, "chown_restricted", "owner")
    if not scratch.attributes(None, "chown_restricted").chown_restricted:
        unsupported("chown_restricted is FALSE")
    mine = scratch.attributes(scratch.handle, "owner").owner
    stranger = a_stranger(v4, scratch)
    theirs = expect(stranger.compound(op.putfh(scratch.handle), op.mkdir(b"made"), op.getfh())).ok().handle
    before = scratch.attributes(theirs, "owner")
    reply = stranger.compound(op.putfh(theirs), op.setattr(Fattr4(owner=mine)))
    expect(scratch.attributes(theirs, "owner")).field("owner").equals(before.owner)
    expect(reply).refused()
    observe(f"owner given by uid {STRANGER[0]}", reply.status)
