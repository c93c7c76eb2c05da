# SPDX-License-Identifier: MIT
"""What CREATE_SESSION grants of the channels (RFC 5661 section 18.36.3)."""

from __future__ import annotations

import typing as t

import pytest

from nfsclient.clients.nfs4 import Nfs4
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsjudge import expect, must, proves, should, stated

IMPOSSIBLE_IS_TOOSMALL = should(
    "RFC 5661",
    "18.36.3",
    "a ca_maxresponsesize with which no reply could be sent gets NFS4ERR_TOOSMALL",
)
READ_DEPTH_DOES_NOT_GROW = must(
    "RFC 5661", "18.36.3", "the server may decrease ca_rdma_ird of a channel, and does not increase it"
)
BACKCHANNEL_IS_KEPT = must(
    "RFC 5661", "18.36.3", "ca_maxoperations and ca_maxrequests of the backchannel are what the client offers"
)
SLOTS_END = stated(
    "RFC 5661",
    "15.1.11.2",
    "in a new session the slots are those below ca_maxrequests: the next one gets NFS4ERR_BADSLOT",
)
_DEPTH: t.Final = 8


@pytest.mark.parametrize("size", [0, 8])
@proves(IMPOSSIBLE_IS_TOOSMALL, killed_by="createsession4-grants-impossible-replies")
def test_too_small(nfs4: Nfs4, size: int) -> None:
    """CREATE_SESSION with replies of no or few bytes fails with TOOSMALL."""
    client = nfs4.new_client()
    fore = op.channel(responsesize=size, responsesize_cached=size)
    result = nfs4.create_session(client.id, client.sequence_id, fore=fore)
    expect(result).refused(Nfsstat4.NFS4ERR_TOOSMALL, because=IMPOSSIBLE_IS_TOOSMALL)


@pytest.mark.parametrize("channel", ["fore", "back"])
@proves(READ_DEPTH_DOES_NOT_GROW, killed_by="createsession4-doubles-the-read-depth")
def test_read_depth(nfs4: Nfs4, channel: str) -> None:
    """The read depth for RDMA of a channel is not above that of the request."""
    client = nfs4.new_client()
    asked = op.channel(requestsize=8192, responsesize=8192, operations=4, requests=2, rdma_ird=[_DEPTH])
    more: dict[str, t.Any] = {"fore" if channel == "fore" else "back": asked}
    made = expect(nfs4.create_session(client.id, client.sequence_id, **more)).ok()
    granted: p.ChannelAttrs4 = getattr(made, f"csr_{channel}_chan_attrs")
    for depth in granted.ca_rdma_ird:
        expect(depth, "ca_rdma_ird", of=granted, field="ca_rdma_ird").at_most(_DEPTH)


@pytest.mark.parametrize("slots", [1, 40])
@proves(BACKCHANNEL_IS_KEPT, killed_by="createsession4-clamps-the-backchannel")
def test_back_slots(nfs4: Nfs4, slots: int) -> None:
    """A backchannel of one slot, and of more than a server needs, is granted as the client offers it."""
    client = nfs4.new_client()
    asked = op.channel(requestsize=8192, responsesize=8192, operations=slots + 1, requests=slots)
    made = expect(nfs4.create_session(client.id, client.sequence_id, back=asked)).ok()
    granted = made.csr_back_chan_attrs
    expect(granted).field("ca_maxrequests").equals(slots)
    expect(granted).field("ca_maxoperations").equals(slots + 1)


@proves(SLOTS_END, killed_by="createsession4-has-a-slot-more")
def test_slot_after_last(nfs4: Nfs4) -> None:
    """The first request of a session in the slot after the last one is refused."""
    session = nfs4.new_client().create_session(fore=op.channel(requests=4))
    beyond = session.state.fore.ca_maxrequests
    reply = nfs4.compound(op.sequence(session.id, 1, beyond, beyond))
    expect(reply).status(Nfsstat4.NFS4ERR_BADSLOT, Nfsstat4.NFS4ERR_BAD_HIGH_SLOT)
