# SPDX-License-Identifier: MIT
"""Delegations (RFC 5661 sections 10.2 to 10.4, 18.6, 20.2): recalled when another client needs the file.

No server owes one. Where none is granted, these checks are SKIP. A caller in conflict may wait for its reply, or get
DELAY: both are accepted (section 18.30.4).
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Sequence

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch, new_state_owner
from fixtures.checks.side_by_side import Waiting, side_by_side
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Fattr4, Nfsstat4
from nfsclient.xdr import XdrType
from nfsjudge import Part, Requirement, expect, expect_that, must, observe, proves, skip, stated
from suites.nfs4.clauses import WRITER_GETS_A_CALL
from suites.nfs4.conflicts import Conflict, conflict_of, conflicting_open
from suites.nfs4.delegations import (
    ACCESS,
    CONFLICT_RECALLS,
    KEPT_FOR_A_LEASE,
    Granted,
    delegated,
    recalls,
    seconds_to_see_nothing,
)
from suites.nfs4.handles import expect_same_object
from suites.nfs4.minors import MINORS

pytestmark = pytest.mark.late

RECALL_NAMES_THE_DELEGATION = stated(
    "RFC 5661", "20.2.3", "CB_RECALL has the stateid of the delegation, and the filehandle"
)
SEQID_IS_ZERO = must(  # "is required to be zero"
    "RFC 5661", "8.2.2", "the seqid of a stateid in a callback is zero"
)
RETURNED_IS_BAD = stated(
    "RFC 5661",
    "8.2.4",
    "a stateid is valid until what it stands for is returned by an operation such as CLOSE or DELEGRETURN",
    also={"4.0": ("RFC 7530", "9.1.4.4")},
)
EVENTS_RECALL = stated(
    "RFC 5661",
    "10.4.4",
    "READ or WRITE with a special stateid, SETATTR, and RENAME of or onto the file make recall necessary",
)
OPENS_RECALL = must(
    "RFC 5661",
    "10.4",
    "a delegation is recalled before a conflicting OPEN of another client is granted",
)
LINK_RECALLS = must(
    "RFC 5661",
    "18.9.4",
    "LINK recalls the delegations that other clients have of the file, and waits until they are returned",
    part=Part.IMPLEMENTATION,
    says_must=True,
)
SETXATTR_RECALLS = must(
    "RFC 8276",
    "8.4.2.4",
    "SETXATTR recalls the delegations that other clients have of the file, and waits until they are returned",
    part=Part.IMPLEMENTATION,
    says_must=True,
)
_QUIET: t.Final = 1.5
"""Seconds in which a conflicting request must not succeed while the delegation is neither returned nor revoked."""
_QUIET_IN_EACH: t.Final = 0.4
"""The same in each of many checks: what does not wait at all has ended by then."""
_KINDS = pytest.mark.parametrize("access", [*ACCESS.values()], ids=[*ACCESS])


def _recalled(
    v4: Nfs4Dialect, scratch: Nfs4Scratch, access: int
) -> Waiting[tuple[Granted, Conflict, p.CbRecall4Args]]:
    """A delegation that OPEN by another client recalls, and its CB_RECALL."""
    granted = yield from delegated(v4, scratch, access)
    conflict = conflicting_open(granted)
    yield from conflict.need_callback(p.CbRecall4Args)
    observe("request that conflicts with a delegation", conflict.manner)
    return granted, conflict, recalls(granted.holder)[-1]


@side_by_side
@MINORS
@_KINDS
@proves(CONFLICT_RECALLS, killed_by=("open4-invents-delegations", "open4-delays-after-the-return"))
def test_recall(v4: Nfs4Dialect, scratch: Nfs4Scratch, access: int) -> Waiting[None]:
    """OPEN for writing by another client recalls a delegation, and succeeds once it is returned."""
    granted, conflict, _ = yield from _recalled(v4, scratch, access)
    granted.give_back()
    yield from conflict.succeeds()


_SHARES: t.Final = {
    "write": (ACCESS["read"], p.OPEN4_SHARE_ACCESS_WRITE),
    "read-of-write": (ACCESS["write"], p.OPEN4_SHARE_ACCESS_READ),
    "write-of-write": (ACCESS["write"], p.OPEN4_SHARE_ACCESS_WRITE),
}
"""Name -> the delegation, and the access of an OPEN by somebody else that it is in the way of."""


@side_by_side
@pytest.mark.parametrize("share", _SHARES)
@proves(OPENS_RECALL, killed_by="open4-recalls-for-both-only")
def test_recall_by_share(v4: Nfs4Dialect, scratch: Nfs4Scratch, share: str) -> Waiting[None]:
    """OPEN by another client recalls a delegation that its access conflicts with, though the holder has no open."""
    yield from _recall_by_open(v4, scratch, *_SHARES[share])


@side_by_side
@proves(OPENS_RECALL, killed_by="open4-recalls-without-regard-to-deny")
def test_recall_by_deny(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> Waiting[None]:
    """OPEN for reading that denies reading recalls a read delegation: its holder opens the file without asking."""
    denying = p.OPEN4_SHARE_ACCESS_READ, p.OPEN4_SHARE_DENY_READ
    yield from _recall_by_open(v4, scratch, ACCESS["read"], *denying)


def _recall_by_open(
    v4: Nfs4Dialect, scratch: Nfs4Scratch, kind: int, access: int, deny: int = 0
) -> Waiting[None]:
    """A delegation whose holder has closed the file, and an OPEN that it is in the way of (section 10.4)."""
    granted = yield from delegated(v4, scratch, kind)
    expect(granted.holder.compound(op.putfh(granted.file), op.close(granted.opened))).ok()
    owner, unwanted = new_state_owner(), p.OPEN4_SHARE_ACCESS_WANT_NO_DELEG

    def make() -> Sequence[XdrType]:
        return op.putfh(granted.file), op.open(None, access | unwanted, deny, owner=owner)

    conflict = conflict_of(granted, make, "OPEN")
    yield from _expect_recall(granted, conflict, OPENS_RECALL, _QUIET_IN_EACH)


@side_by_side
@_KINDS
@proves(
    RECALL_NAMES_THE_DELEGATION,
    killed_by=("open4-recalls-another-stateid", "open4-recalls-another-file"),
)
def test_recall_names_it(v4: Nfs4Dialect, scratch: Nfs4Scratch, access: int) -> Waiting[None]:
    """CB_RECALL has the stateid of the delegation, apart from its seqid, and the filehandle."""
    granted, _, call = yield from _recalled(v4, scratch, access)
    expect(call.stateid).field("other", "other field of the stateid").equals(granted.stateid.other)
    granted.give_back()
    expect_same_object(scratch, call.fh, granted.file, "fh of CB_RECALL")


@side_by_side
@_KINDS
@proves(SEQID_IS_ZERO, killed_by="open4-recalls-with-the-seqid")
def test_recall_seqid(v4: Nfs4Dialect, scratch: Nfs4Scratch, access: int) -> Waiting[None]:
    """The seqid of the stateid in CB_RECALL is zero."""
    granted, _, call = yield from _recalled(v4, scratch, access)
    granted.give_back()
    expect(call.stateid).field("seqid", "seqid of the stateid").equals(0)


@side_by_side
@MINORS
@_KINDS
@proves(
    CONFLICT_RECALLS,
    KEPT_FOR_A_LEASE,
    killed_by=("open4-ignores-delegations", "open4-revokes-delegations-at-once"),
)
def test_waits(v4: Nfs4Dialect, scratch: Nfs4Scratch, access: int) -> Waiting[None]:
    """OPEN for writing by another client does not succeed before the delegation is returned."""
    granted = yield from delegated(v4, scratch, access)
    reply = yield from conflicting_open(granted).ends(seconds_to_see_nothing(v4, _QUIET, granted.lease))
    granted.need_kept()
    if reply is not None:
        expect(reply).field("status", "status of OPEN").differs_from(Nfsstat4.NFS4_OK)
    granted.give_back()
    if reply is not None:
        skip(f"OPEN answers {reply.status.name} while a delegation is out, instead of being put off")


@side_by_side
@MINORS
@_KINDS
@proves(RETURNED_IS_BAD, killed_by="delegreturn4-returns-nothing")
def test_returned(v4: Nfs4Dialect, scratch: Nfs4Scratch, access: int) -> Waiting[None]:
    """After DELEGRETURN the stateid of the delegation is bad, and the file stays open."""
    granted = yield from delegated(v4, scratch, access)
    granted.give_back()
    tested = expect(granted.holder.compound(op.test_stateid(granted.stateid))).of(p.TEST_STATEID).ok()
    # A server may retain the stateid for the same purpose.
    expect(list(tested.tsr_status_codes), "status codes", of=tested, field="tsr_status_codes").one_of(
        [Nfsstat4.NFS4ERR_BAD_STATEID], [Nfsstat4.NFS4ERR_OLD_STATEID]
    )
    expect(granted.holder.compound(op.putfh(granted.file), op.read(granted.opened, 0, 4))).ok()


def _expect_recall(
    granted: Granted, conflict: Conflict, because: Requirement = CONFLICT_RECALLS, quiet: float = _QUIET
) -> Waiting[None]:
    """Fail unless a request recalls the delegation, does not succeed while that is out, and succeeds afterwards."""
    __tracebackhide__ = True
    v4, name = granted.v4, conflict.name
    came = yield from conflict.brings(p.CbRecall4Args)
    refused = yield from conflict.ends(0)
    if not came and refused is not None and refused.status != Nfsstat4.NFS4_OK:
        granted.give_back()
        skip(f"{name} is refused, and so needs no recall: {refused.status.name}")
    reply = yield from conflict.ends(seconds_to_see_nothing(v4, quiet, granted.lease) if came else 0)
    # The holder has it open, and the server may know that without a recall (sections 18.9.4, 18.25.4 and 18.26.4).
    if reply is not None and reply.status == Nfsstat4.NFS4ERR_FILE_OPEN:
        skip(f"the server refuses {name} of a file that is open")
    expect_that(came, "CB_RECALL", "no CB_RECALL", because=because)
    granted.need_kept()
    if reply is not None:
        expect(reply, because=because).field("status", f"status of {name}").differs_from(Nfsstat4.NFS4_OK)
    granted.give_back()
    if reply is not None:
        skip(f"{name} answers {reply.status.name} while a delegation is out, instead of being put off")
    yield from conflict.succeeds(Nfsstat4.NFS4ERR_FILE_OPEN)


@side_by_side
@MINORS
@_KINDS
@proves(
    CONFLICT_RECALLS,
    KEPT_FOR_A_LEASE,
    killed_by=("remove4-ignores-delegations", "remove4-delays-after-the-return"),
)
def test_recall_by_remove(v4: Nfs4Dialect, scratch: Nfs4Scratch, access: int) -> Waiting[None]:
    """REMOVE by another client recalls a delegation, and is executed when that is returned, not before."""
    granted = yield from delegated(v4, scratch, access)
    yield from _expect_recall(
        granted, conflict_of(granted, lambda: (op.putfh(scratch.handle), op.remove(b"file")), "REMOVE")
    )


def _in_directory(directory: bytes, operation: XdrType, of: bytes | None = None) -> tuple[XdrType, ...]:
    """An operation with a directory as current filehandle, and `of` or the same one as saved filehandle."""
    return op.putfh(of or directory), op.savefh(), op.putfh(directory), operation


_EVENTS: t.Final[dict[str, Callable[[bytes, bytes], Sequence[XdrType]]]] = {
    "link": lambda where, file: _in_directory(where, op.link(b"link"), file),
    "rename": lambda where, _: _in_directory(where, op.rename(b"file", b"renamed")),
    "replace": lambda where, _: _in_directory(where, op.rename(b"source", b"file")),
    "setattr": lambda _, file: (op.putfh(file), op.setattr(Fattr4(mode=0o640))),
    "setxattr": lambda _, file: (op.putfh(file), op.setxattr(b"key", b"value")),
    "write": lambda _, file: (op.putfh(file), op.write(op.ANONYMOUS, 0, b"x")),
    "read": lambda _, file: (op.putfh(file), op.read(op.ANONYMOUS, 0, 1)),
}
"""What another client does in the directory of the delegated file, or to the file itself."""
_BECAUSE: t.Final = {"link": LINK_RECALLS, "setxattr": SETXATTR_RECALLS}


@side_by_side
@pytest.mark.parametrize(
    ("event", "access", "minor"),
    [
        pytest.param(event, access, 2 if event == "setxattr" else 1, id=f"{event}-{kind}")
        for event in _EVENTS
        for kind, access in ACCESS.items()
        if (event, kind) != ("read", "read")  # conflicts with no read delegation
    ],
)
@proves(
    EVENTS_RECALL,
    LINK_RECALLS,
    SETXATTR_RECALLS,
    CONFLICT_RECALLS,
    KEPT_FOR_A_LEASE,
    killed_by=(
        "changes4-ignore-delegations",
        "changes4-do-not-wait-for-the-return",
        "changes4-delay-after-the-return",
    ),
)
def test_recall_by(v4: Nfs4Dialect, scratch: Nfs4Scratch, event: str, access: int) -> Waiting[None]:
    """What another client does to a file, or to its name, recalls a delegation, and waits until that is returned."""
    if event == "replace":
        scratch.file("source")
    if event == "link" and scratch.attributes(None, "numlinks").numlinks is None:
        skip("the server does not support numlinks, and so need not recall for LINK")
    granted = yield from delegated(v4, scratch, access)
    name = "RENAME onto the file" if event == "replace" else event.upper()
    conflict = conflict_of(granted, lambda: _EVENTS[event](scratch.handle, granted.file), name)
    yield from _expect_recall(granted, conflict, _BECAUSE.get(event, EVENTS_RECALL), _QUIET_IN_EACH)


def _interrogation(granted: Granted) -> Waiting[tuple[Conflict, set[type]]]:
    """GETATTR of size and change by another client, and which callbacks have come for it."""
    mine = (
        expect(granted.holder.compound(op.putfh(granted.file), op.getattr("size", "change"))).ok().attributes
    )

    def answer(asked: p.CbGetattr4Args) -> p.CbGetattr4Res:
        named = {name: getattr(mine, name) for name in p.names_of(asked.attr_request) if hasattr(mine, name)}
        return p.CbGetattr4Res(Nfsstat4.NFS4_OK, p.CbGetattr4ResOk(Fattr4(**named)))

    granted.holder.callbacks.on(p.CB_GETATTR, answer)

    def make() -> Sequence[XdrType]:
        return op.putfh(granted.file), op.getattr("size", "change")

    conflict = conflict_of(granted, make, "GETATTR")
    yield from conflict.brings(p.CbGetattr4Args, p.CbRecall4Args)
    seen: set[type] = {type(exchange.args) for exchange in granted.holder.callbacks.received}
    return conflict, seen & {p.CbGetattr4Args, p.CbRecall4Args}


@side_by_side
@MINORS
@proves(
    WRITER_GETS_A_CALL,
    CONFLICT_RECALLS,
    killed_by=("getattr4-asks-no-writer", "getattr4-delays-after-the-return"),
)
def test_getattr(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> Waiting[None]:
    """GETATTR of size and change by another client makes the server call the holder of a write delegation."""
    granted = yield from delegated(v4, scratch, ACCESS["write"])
    conflict, came = yield from _interrogation(granted)
    expect_that(bool(came), "CB_GETATTR or CB_RECALL", "neither")
    granted.give_back()
    yield from conflict.succeeds()


@side_by_side
@MINORS
@proves(WRITER_GETS_A_CALL, KEPT_FOR_A_LEASE, killed_by="getattr4-answers-before-the-return")
def test_getattr_waits(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> Waiting[None]:
    """GETATTR does not succeed before CB_GETATTR is answered, or the write delegation is returned."""
    granted = yield from delegated(v4, scratch, ACCESS["write"])
    callbacks = granted.holder.nfs4.callbacks
    callbacks.holds = True
    conflict, came = yield from _interrogation(granted)
    if not came:
        granted.give_back()
        skip("GETATTR brings no callback")
    reply = yield from conflict.ends(seconds_to_see_nothing(v4, _QUIET, granted.lease))
    granted.need_kept()
    if reply is not None:
        expect(reply).field("status", "status of GETATTR").differs_from(Nfsstat4.NFS4_OK)
    callbacks.holds = False
    callbacks.release()
    granted.give_back()
