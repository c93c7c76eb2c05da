# SPDX-License-Identifier: MIT
"""What the holder of a delegation may do, before and after its recall (RFC 5661 sections 10.2, 10.4.1 and 10.4.4)."""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Sequence

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch, new_state_owner
from fixtures.checks.side_by_side import Wait, Waiting, side_by_side
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Fattr4, Nfsstat4
from nfsclient.xdr import XdrType
from nfsjudge import Harm, expect, expect_data, proves, should, stated
from suites.nfs4.conflicts import Conflict, conflicting_open
from suites.nfs4.delegations import ACCESS, Granted, delegated, recalls, seconds_to_see_nothing
from suites.nfs4.locks import WRITE_LT
from suites.nfs4.opens import BOTH, READ
from suites.nfs4.test_write import NEEDS_WRITE_ACCESS

pytestmark = pytest.mark.late

OWN_CALLS_NEED_NONE = should(  # a server may recall whenever it likes (section 10.2)
    "RFC 5661",
    "10.4.1",
    "what the holder of a delegation does itself to the file needs no recall",
)
STATEID_IS_FOR_IO = stated(
    "RFC 5661",
    "8.2.5",
    "READ and WRITE take the stateid of a delegation that the client has, as that of an open",
)
CLAIMS_UNDER_RECALL = stated(
    "RFC 5661",
    "10.4.4",
    "while its delegation is recalled, the client sends OPENs with CLAIM_DELEGATE_CUR for the opens that it has",
)
FLUSH_UNDER_RECALL = stated(
    "RFC 5661",
    "10.4.4",
    "while its delegation is recalled, the client flushes the data that it has modified, before it returns it",
    harm=Harm.DATA,
)
LOCKS_UNDER_RECALL = stated(
    "RFC 5661",
    "10.4.4",
    "while its write delegation is recalled, the client sends LOCK for the byte ranges that it has locked",
)
SEPARATE_STATEIDS = stated(
    "RFC 5661", "10.4", "the stateid of a delegation is separate and distinct from that of the OPEN"
)
WORKS_AFTER_THE_RETURN = stated(
    "RFC 5661",
    "10.4",
    "the stateid of the OPEN is valid after the delegation was recalled, while the file is open",
)
_QUIET: t.Final = 0.4
"""Seconds in which no recall must come."""
_KINDS = pytest.mark.parametrize("access", [*ACCESS.values()], ids=[*ACCESS])

Own: t.TypeAlias = Callable[[Granted, bytes], Sequence[XdrType]]
_OWN: t.Final[dict[str, Own]] = {
    "open": lambda granted, _: (op.putfh(granted.file), op.open(None, BOTH, owner=new_state_owner())),
    "setattr": lambda granted, _: (op.putfh(granted.file), op.setattr(Fattr4(mode=0o640))),
    "read": lambda granted, _: (op.putfh(granted.file), op.read(op.ANONYMOUS, 0, 1)),
    "write": lambda granted, _: (op.putfh(granted.file), op.write(op.ANONYMOUS, 0, b"x")),
    "rename": lambda _, where: (op.putfh(where), op.savefh(), op.rename(b"file", b"renamed")),
    "link": lambda granted, where: (op.putfh(granted.file), op.savefh(), op.putfh(where), op.link(b"link")),
    "getattr": lambda granted, _: (op.putfh(granted.file), op.getattr("size", "change")),
    "remove": lambda _, where: (op.putfh(where), op.remove(b"file")),
}


@side_by_side
@pytest.mark.parametrize("call", _OWN)
@proves(OWN_CALLS_NEED_NONE, killed_by="calls4-recall-from-the-holder")
def test_own_call(v4: Nfs4Dialect, scratch: Nfs4Scratch, call: str) -> Waiting[None]:
    """What the holder of a delegation does to the file itself recalls nothing."""
    granted = yield from delegated(v4, scratch, ACCESS["write" if call == "write" else "read"])
    reply = granted.holder.compound(*_OWN[call](granted, scratch.handle))
    yield Wait(seconds_to_see_nothing(v4, _QUIET), lambda: bool(recalls(granted.holder)))
    expect(len(recalls(granted.holder)), "CB_RECALLs").equals(0)
    if reply.status != Nfsstat4.NFS4ERR_FILE_OPEN:
        expect(reply, because=OWN_CALLS_NEED_NONE).ok()


@side_by_side
@_KINDS
@proves(STATEID_IS_FOR_IO, killed_by="read4-refuses-delegations")
def test_read(v4: Nfs4Dialect, scratch: Nfs4Scratch, access: int) -> Waiting[None]:
    """READ with the stateid of a delegation returns the data."""
    granted = yield from delegated(v4, scratch, access, size=4)
    reply = granted.holder.compound(op.putfh(granted.file), op.read(granted.stateid, 0, 4))
    expect_data(bytes(expect(reply).of(p.READ).ok().data), bytes(4))


@side_by_side
@proves(STATEID_IS_FOR_IO, killed_by="write4-refuses-delegations")
def test_write(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> Waiting[None]:
    """WRITE with the stateid of a write delegation writes the data."""
    granted = yield from delegated(v4, scratch, ACCESS["write"])
    reply = granted.holder.compound(op.putfh(granted.file), op.write(granted.stateid, 0, b"data"))
    result = expect(reply).of(p.WRITE).ok()
    granted.give_back()
    expect_data(scratch.read(granted.file), b"data"[: result.count])


@side_by_side
@proves(NEEDS_WRITE_ACCESS, killed_by="write4-takes-read-delegations")
def test_write_to_read(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> Waiting[None]:
    """WRITE with the stateid of a read delegation fails with OPENMODE, and writes nothing."""
    granted = yield from delegated(v4, scratch, ACCESS["read"], size=4)
    reply = granted.holder.compound(op.putfh(granted.file), op.write(granted.stateid, 0, b"more"))
    granted.give_back()
    expect_data(scratch.read(granted.file), bytes(4))
    expect(reply).refused(Nfsstat4.NFS4ERR_OPENMODE, because=NEEDS_WRITE_ACCESS)


@side_by_side
@_KINDS
@proves(SEPARATE_STATEIDS, killed_by="open4-delegates-with-its-own-stateid")
def test_valid_stateid(v4: Nfs4Dialect, scratch: Nfs4Scratch, access: int) -> Waiting[None]:
    """A delegation has another stateid than the OPEN that it came with."""
    granted = yield from delegated(v4, scratch, access)
    expect(bytes(granted.stateid.other), "other field of its stateid", field="other").differs_from(
        bytes(granted.opened.other)
    )
    granted.give_back()


# ---------------------------------------------------------------- while it is recalled


def _under_recall(
    v4: Nfs4Dialect, scratch: Nfs4Scratch, kind: str, size: int = 0
) -> Waiting[tuple[Granted, Conflict]]:
    """A delegation that OPEN by another client has recalled, and that OPEN."""
    granted = yield from delegated(v4, scratch, ACCESS[kind], size=size)
    conflict = conflicting_open(granted)
    yield from conflict.need_callback(p.CbRecall4Args)
    return granted, conflict


@side_by_side
@pytest.mark.parametrize("claim", ["name", "filehandle"])
@proves(CLAIMS_UNDER_RECALL, killed_by="open4-claims-nothing-under-recall")
def test_claim(v4: Nfs4Dialect, scratch: Nfs4Scratch, claim: str) -> Waiting[None]:
    """OPEN with CLAIM_DELEGATE_CUR or CLAIM_DELEG_CUR_FH succeeds while the delegation is recalled."""
    granted, conflict = yield from _under_recall(v4, scratch, "read")
    if claim == "name":
        where, what = scratch.handle, op.claim_delegate_cur(granted.stateid, b"file")
    else:
        where, what = granted.file, op.claim_deleg_cur_fh(granted.stateid)
    opening = op.open(what, READ, owner=new_state_owner())
    reply = granted.holder.compound(op.putfh(where), opening)
    granted.need_kept()
    expect(reply).ok()
    granted.give_back()
    yield from conflict.succeeds()


@side_by_side
@proves(WORKS_AFTER_THE_RETURN, killed_by="delegreturn4-closes-what-was-claimed")
def test_claimed(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> Waiting[None]:
    """A file that was opened by CLAIM_DELEG_CUR_FH is open after the delegation is returned."""
    granted, conflict = yield from _under_recall(v4, scratch, "read", 4)
    opening = op.open(op.claim_deleg_cur_fh(granted.stateid), READ, owner=new_state_owner())
    stateid = expect(granted.holder.compound(op.putfh(granted.file), opening)).ok().stateid
    granted.give_back()
    yield from conflict.succeeds()
    expect(granted.holder.compound(op.putfh(granted.file), op.read(stateid, 0, 4))).ok()


@side_by_side
@proves(FLUSH_UNDER_RECALL, killed_by="write4-refuses-recalled-delegations")
def test_flush(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> Waiting[None]:
    """WRITE with the stateid of a write delegation succeeds while that is recalled, and its data stays."""
    granted, conflict = yield from _under_recall(v4, scratch, "write")
    reply = granted.holder.compound(op.putfh(granted.file), op.write(granted.stateid, 0, b"data"))
    granted.need_kept()
    result = expect(reply).of(p.WRITE).ok()
    granted.give_back()
    yield from conflict.succeeds()
    expect_data(scratch.read(granted.file), b"data"[: result.count])


@side_by_side
@proves(LOCKS_UNDER_RECALL, killed_by="lock4-is-denied-under-recall")
def test_lock(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> Waiting[None]:
    """LOCK by the holder of a write delegation succeeds while that is recalled."""
    granted, conflict = yield from _under_recall(v4, scratch, "write")
    locking = op.lock(granted.opened, WRITE_LT, 0, 10, owner=new_state_owner())
    reply = granted.holder.compound(op.putfh(granted.file), locking)
    granted.need_kept()
    expect(reply).ok()
    granted.give_back()
    yield from conflict.succeeds()
