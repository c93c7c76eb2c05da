# SPDX-License-Identifier: MIT
"""JUKEBOX (RFC 1813 section 2.6): the server needs time; the same call is to be made again with a new xid.

Where the target has a knob for it, it is made to put calls off. Elsewhere each call is made once: a server that does
put it off is judged as well.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fixtures.checks import KnobsView
from fixtures.scratch import Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Nfsstat3
from nfsclient.rpc.blocking import RpcClient
from nfsjudge import Level, Requirement, expect, observe, proves, unsupported
from suites.nfs3.put_off import CALLS, CHANGES, OBJECT, look, put_off, settle

Connect = Callable[..., RpcClient]

AGAIN = Requirement(
    rfc="RFC 1813",
    section="2.6",
    gist="what was answered with JUKEBOX can be asked again with a new xid",
)
NOT_YET = Requirement(
    rfc="RFC 1813",
    section="2.6",
    level=Level.SHOULD,  # "initiated the request" leaves open how far it came
    gist="a request that is answered with JUKEBOX is not complete: what it changes has not changed",
)
DONE_ONCE = Requirement(
    rfc="RFC 1813",
    section="2.6",
    gist="OK says that the call completed, whatever was answered to the same call before",
)
NOT_BEFORE_THE_RETURN = Requirement(
    rfc="RFC 5661",
    section="10.2",
    level=Level.MUST,
    gist="an operation by another protocol that conflicts with a delegation proceeds after its return only",
)
CONFLICTING = ["read", "write", "setattr", "remove", "rename", "link"]


@pytest.mark.parametrize("name", CALLS)
@proves(AGAIN, killed_by="jukebox3-refuses-the-next-attempt")
def test_a_new_call_succeeds(
    rpc_connect: Connect, nfs3: Nfs3, scratch: Scratch, knobs: KnobsView, name: str
) -> None:
    call = CALLS[name]
    args = call.arguments(scratch)
    put_off(rpc_connect("nfs"), knobs, call, args)
    status = settle(nfs3.call(call.procedure, args))
    observe("the next attempt", status)
    expect(status, "the status of the same call with a new xid").one_of(Nfsstat3.NFS3_OK, *call.done_before)


@pytest.mark.parametrize("name", CHANGES)
@proves(AGAIN, killed_by="jukebox3-forgets-what-it-put-off")
def test_a_new_call_has_its_effect(
    rpc_connect: Connect, nfs3: Nfs3, scratch: Scratch, knobs: KnobsView, name: str
) -> None:
    call = CALLS[name]
    args = call.arguments(scratch)
    before = look(scratch)
    put_off(rpc_connect("nfs"), knobs, call, args)
    if settle(nfs3.call(call.procedure, args)) not in {Nfsstat3.NFS3_OK, *call.done_before}:
        unsupported("the next attempt is refused; that is for another check")
    expect(look(scratch) != before, "that something has changed").is_true()


@pytest.mark.parametrize("name", CHANGES)
@proves(NOT_YET, killed_by="jukebox3-changes-and-says-later")
def test_what_is_put_off_is_not_seen(
    rpc_connect: Connect, scratch: Scratch, knobs: KnobsView, name: str
) -> None:
    call = CALLS[name]
    args = call.arguments(scratch)
    before = look(scratch)
    put_off(rpc_connect("nfs"), knobs, call, args)
    expect(look(scratch), "names, types, modes, sizes and link counts in the directory").equals(before)


@pytest.mark.parametrize("name", CHANGES)
@proves(DONE_ONCE, killed_by="jukebox3-says-ok-to-the-same-xid")
def test_ok_to_the_same_xid_is_true(
    rpc_connect: Connect, scratch: Scratch, knobs: KnobsView, name: str
) -> None:
    call, rpc = CALLS[name], rpc_connect("nfs")
    args = call.arguments(scratch)
    before = look(scratch)
    put_off(rpc, knobs, call, args, xid=0x4A55_4B45)
    status = rpc.call(call.procedure, args, xid=0x4A55_4B45).status
    observe("the answer to the same xid", status)
    untrue = status == Nfsstat3.NFS3_OK and look(scratch) == before
    expect(untrue, f"that {status} was answered and nothing was done").is_false()


@pytest.mark.parametrize("name", CHANGES)
@proves(AGAIN, killed_by="jukebox3-refuses-the-next-attempt")
def test_a_new_call_succeeds_after_the_same_xid(
    rpc_connect: Connect, nfs3: Nfs3, scratch: Scratch, knobs: KnobsView, name: str
) -> None:
    call, rpc = CALLS[name], rpc_connect("nfs")
    args = call.arguments(scratch)
    put_off(rpc, knobs, call, args, xid=0x4A55_4B46)
    done = rpc.call(call.procedure, args, xid=0x4A55_4B46).status == Nfsstat3.NFS3_OK
    status = settle(nfs3.call(call.procedure, args))
    expect(status, "the status of the same call with a new xid").one_of(Nfsstat3.NFS3_OK, *call.done_before)
    observe("the same xid was executed", "yes" if done else "no")


def _delegate(knobs: KnobsView) -> None:
    """Somebody else has a write delegation on the object."""
    knobs.set(delegated_names=OBJECT)


@pytest.mark.parametrize("name", CONFLICTING)
@proves(NOT_BEFORE_THE_RETURN, killed_by="jukebox3-ignores-delegations")
def test_a_conflicting_call_waits_for_a_delegation(
    rpc_connect: Connect, scratch: Scratch, knobs: KnobsView, name: str
) -> None:
    call, rpc = CALLS[name], rpc_connect("nfs")
    args = call.arguments(scratch)
    _delegate(knobs)
    statuses = {rpc.call(call.procedure, args).status for _ in range(3)}
    expect(statuses, "what is answered while the delegation is out").lacks(Nfsstat3.NFS3_OK)


@pytest.mark.parametrize("name", [name for name in CONFLICTING if name in CHANGES])
@proves(NOT_BEFORE_THE_RETURN, killed_by="jukebox3-ignores-delegations")
def test_nothing_changes_while_a_delegation_is_out(
    rpc_connect: Connect, scratch: Scratch, knobs: KnobsView, name: str
) -> None:
    call = CALLS[name]
    args = call.arguments(scratch)
    before = look(scratch)
    _delegate(knobs)
    observe("while it is out", rpc_connect("nfs").call(call.procedure, args).status)
    expect(look(scratch), "names, types, modes, sizes and link counts in the directory").equals(before)


@pytest.mark.parametrize("name", CONFLICTING)
@proves(AGAIN, killed_by="jukebox3-refuses-the-next-attempt")
def test_a_conflicting_call_succeeds_when_a_delegation_is_back(
    rpc_connect: Connect, nfs3: Nfs3, scratch: Scratch, knobs: KnobsView, name: str
) -> None:
    call = CALLS[name]
    args = call.arguments(scratch)
    _delegate(knobs)
    if rpc_connect("nfs").call(call.procedure, args).status != Nfsstat3.NFS3ERR_JUKEBOX:
        unsupported("the call was not put off")
    knobs.set(delegated_names="")
    status = settle(nfs3.call(call.procedure, args))
    expect(status, "the status of the same call with a new xid").one_of(Nfsstat3.NFS3_OK, *call.done_before)
