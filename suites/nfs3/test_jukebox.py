# SPDX-License-Identifier: MIT
"""JUKEBOX (RFC 1813 section 2.6): the server needs more time; the client retries the call with a new xid.

A knob makes the embedded server answer JUKEBOX. On other targets each check makes its call once, and goes on if the
server happens to answer JUKEBOX.
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable

import pytest

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from fixtures.checks.target import KnobsView
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Nfsstat3
from nfsclient.rpc.blocking import RpcClient
from nfsjudge import (
    Harm,
    expect,
    expect_that,
    must,
    observe,
    proves,
    should,
    stated,
    unsupported,
)
from nfsjudge.expect import StatusReply
from suites.catalogue import Call
from suites.nfs3.calls import CALLS
from suites.nfs3.jukebox import (
    DELAYED,
    OBJECT,
    Snapshot,
    expect_no_change,
    final_status,
    is_changed,
    need_jukebox,
    snapshot,
    with_full_patience,
)

JUKEBOX_CAN_BE_RETRIED = stated(
    "RFC 1813", "2.6", "a client can retry a call that failed with NFS3ERR_JUKEBOX with a new xid"
)
JUKEBOX_ENDS = should(  # no time is named, and a tape may be slower than any client waits
    "RFC 1813",
    "2.6",
    "NFS3ERR_JUKEBOX is about a time: a call about a quiet object gets another answer when it is made again later",
)
JUKEBOX_IS_NOT_COMPLETE = should(  # "initiated the request" leaves open how far the server got
    "RFC 1813",
    "2.6",
    "a call that fails with NFS3ERR_JUKEBOX is not complete: it should not have changed anything yet",
)
OK_MEANS_COMPLETED = stated(
    "RFC 1813",
    "2.6",
    "NFS3_OK says that the call completed, whatever an earlier reply to the same call said",
    harm=Harm.SUCCESS,
)
CONFLICT_WAITS_FOR_DELEGATION = must(
    "RFC 5661",
    "10.2",
    "an operation of another protocol that conflicts with a delegation waits until the delegation is returned",
)
Connect = Callable[..., RpcClient]
CHANGES = ["write", "create", "rename", "link"]
REPEATED = ["write", "link"]
"""Calls that are sent again with the same xid: the answer is that of one cache."""
CONFLICTING = ["read", "write"]
"""Reading and changing: one code path looks for delegations."""


def _expect_effect(scratch: Nfs3Scratch, before: Snapshot, call: Call, reply: StatusReply, what: str) -> None:
    """Expect that the call, which `reply` answers, changed what a snapshot shows."""
    __tracebackhide__ = True
    is_done = is_changed(scratch, before)
    expected = f"the effect of {call.procedure.name}"
    expect_that(is_done, expected, "no change", f"directory after {what}", reply=reply, field="status")


@pytest.mark.parametrize("name", DELAYED)
@proves(JUKEBOX_CAN_BE_RETRIED, killed_by="jukebox3-refuses-the-retry")
def test_retry_succeeds(
    rpc_connect: Connect, nfs3: Nfs3, scratch: Nfs3Scratch, knobs: KnobsView, name: str
) -> None:
    """A retry of a call that got JUKEBOX, with a new xid, succeeds."""
    call = CALLS[name]
    args = call.arranged(scratch, OBJECT)
    need_jukebox(rpc_connect("nfs"), knobs, call, args)
    status = final_status(nfs3.call(call.procedure, args))
    observe("status with a new xid", status)
    expect(status, f"status of {call.procedure.name} with a new xid", field="status").one_of(
        Nfsstat3.NFS3_OK, *call.again
    )


@pytest.mark.parametrize("name", CHANGES)
@proves(JUKEBOX_CAN_BE_RETRIED, killed_by="jukebox3-retry-does-nothing")
def test_retry_takes_effect(
    rpc_connect: Connect, nfs3: Nfs3, scratch: Nfs3Scratch, knobs: KnobsView, name: str
) -> None:
    """A retry of a call that got JUKEBOX takes effect."""
    call = CALLS[name]
    args = call.arranged(scratch, OBJECT)
    before = snapshot(scratch)
    need_jukebox(rpc_connect("nfs"), knobs, call, args)
    reply = nfs3.call(call.procedure, args)
    status = final_status(reply)
    if status not in {Nfsstat3.NFS3_OK, *call.again}:
        unsupported(f"{call.procedure.name} with a new xid answers {status}; another check judges that")
    _expect_effect(scratch, before, call, reply, f"{status} to the retry")


@pytest.mark.parametrize("name", CHANGES)
@proves(JUKEBOX_IS_NOT_COMPLETE, killed_by="jukebox3-executes-the-call")
def test_no_effect_yet(rpc_connect: Connect, scratch: Nfs3Scratch, knobs: KnobsView, name: str) -> None:
    """A call that gets JUKEBOX has changed nothing yet."""
    call = CALLS[name]
    args = call.arranged(scratch, OBJECT)
    before = snapshot(scratch)
    need_jukebox(rpc_connect("nfs"), knobs, call, args)
    expect_no_change(scratch, before)


@pytest.mark.parametrize("name", REPEATED)
@proves(OK_MEANS_COMPLETED, killed_by="jukebox3-retransmission-does-nothing")
def test_same_xid_ok(rpc_connect: Connect, scratch: Nfs3Scratch, knobs: KnobsView, name: str) -> None:
    """NFS3_OK to a retry with the same xid means that the call took effect."""
    call, rpc = CALLS[name], rpc_connect("nfs")
    args = call.arranged(scratch, OBJECT)
    before = snapshot(scratch)
    need_jukebox(rpc, knobs, call, args, xid=0x4A55_4B45)
    reply = rpc.call(call.procedure, args, xid=0x4A55_4B45)
    observe("status with the same xid", reply.status)
    if reply.status == Nfsstat3.NFS3_OK:
        _expect_effect(scratch, before, call, reply, f"{reply.status} to the same xid")


@pytest.mark.parametrize("name", REPEATED)
@proves(JUKEBOX_CAN_BE_RETRIED, killed_by="jukebox3-refuses-the-retry")
def test_retry_after_same_xid(
    rpc_connect: Connect, nfs3: Nfs3, scratch: Nfs3Scratch, knobs: KnobsView, name: str
) -> None:
    """A retry with a new xid succeeds after one with the same xid."""
    call, rpc = CALLS[name], rpc_connect("nfs")
    args = call.arranged(scratch, OBJECT)
    need_jukebox(rpc, knobs, call, args, xid=0x4A55_4B46)
    done = rpc.call(call.procedure, args, xid=0x4A55_4B46).status == Nfsstat3.NFS3_OK
    status = final_status(nfs3.call(call.procedure, args))
    expect(status, f"status of {call.procedure.name} with a new xid", field="status").one_of(
        Nfsstat3.NFS3_OK, *call.again
    )
    observe("NFS3_OK to the same xid", "yes" if done else "no")


def _delegate(knobs: KnobsView) -> None:
    """Give another client a write delegation on the object."""
    knobs.set(delegated_names=OBJECT.decode())


@pytest.mark.parametrize("name", CONFLICTING)
@proves(CONFLICT_WAITS_FOR_DELEGATION, killed_by="jukebox3-ignores-delegations")
def test_delegation_out(rpc_connect: Connect, scratch: Nfs3Scratch, knobs: KnobsView, name: str) -> None:
    """A call that conflicts with an NFSv4 delegation does not succeed while it is out."""
    call, rpc = CALLS[name], rpc_connect("nfs")
    args = call.arranged(scratch, OBJECT)
    _delegate(knobs)
    replies = [rpc.call(call.procedure, args) for _ in range(3)]
    for reply in replies:
        expect_that(
            reply.status != Nfsstat3.NFS3_OK,
            "an error",
            "success",
            f"status of {call.procedure.name} before the delegation is returned",
            reply=reply,
            field="status",
        )


@pytest.mark.parametrize("name", [name for name in CONFLICTING if name in CHANGES])
@proves(CONFLICT_WAITS_FOR_DELEGATION, killed_by="jukebox3-ignores-delegations")
def test_delegation_no_effect(
    rpc_connect: Connect, scratch: Nfs3Scratch, knobs: KnobsView, name: str
) -> None:
    """A call that conflicts with an NFSv4 delegation changes nothing while it is out."""
    call = CALLS[name]
    args = call.arranged(scratch, OBJECT)
    before = snapshot(scratch)
    _delegate(knobs)
    observe("status before the delegation is returned", rpc_connect("nfs").call(call.procedure, args).status)
    expect_no_change(scratch, before)


@pytest.mark.parametrize("name", CONFLICTING)
@proves(JUKEBOX_CAN_BE_RETRIED, killed_by="jukebox3-refuses-the-retry")
def test_delegation_returned(
    rpc_connect: Connect, nfs3: Nfs3, scratch: Nfs3Scratch, knobs: KnobsView, name: str
) -> None:
    """A call that got JUKEBOX for a delegation succeeds once it is returned."""
    call = CALLS[name]
    args = call.arranged(scratch, OBJECT)
    _delegate(knobs)
    status = rpc_connect("nfs").call(call.procedure, args).status
    if status != Nfsstat3.NFS3ERR_JUKEBOX:
        unsupported(
            f"the server does not answer JUKEBOX for the delegation: {call.procedure.name} answers {status}"
        )
    knobs.set(delegated_names="")
    status = final_status(nfs3.call(call.procedure, args))
    expect(status, f"status of {call.procedure.name} with a new xid", field="status").one_of(
        Nfsstat3.NFS3_OK, *call.again
    )


@pytest.fixture
def arguments(scratch: Nfs3Scratch, name: str) -> t.Any:
    """Creates what the call needs, and gives arguments with which it can succeed at once."""
    return CALLS[name].arranged(scratch, OBJECT)


@pytest.mark.parametrize("name", CALLS)
@proves(JUKEBOX_ENDS, killed_by="jukebox3-never-ends")
def test_ends(nfs3: Nfs3, arguments: t.Any, name: str) -> None:
    """A call about a quiet object that is made again after JUKEBOX gets another answer."""
    procedure = CALLS[name].procedure
    reply = with_full_patience(nfs3, procedure.name).call(procedure, arguments)
    expect_that(
        reply.status != Nfsstat3.NFS3ERR_JUKEBOX,
        "another status than NFS3ERR_JUKEBOX",
        "NFS3ERR_JUKEBOX until patience ended",
        f"{procedure.name} of a quiet object",
        reply=reply,
        field="status",
    )
