# SPDX-License-Identifier: MIT
"""CREATE_SESSION (RFC 5661 section 18.36): new sessions, their limits, and the reply cache of the client id."""

from __future__ import annotations

import pytest

from nfsclient.clients.nfs4 import Nfs4, new_owner
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsjudge import Harm, expect, must, observe, proves, stated
from suites.nfs4.clauses import NOT_ONLY_OP
from suites.nfs4.minors import MINORS
from suites.nfs4.retries import need_answer

ECHOES_SEQUENCE = must("RFC 5661", "18.36.3", "csr_sequence equals csa_sequence")
SEQUENCE_ID_COUNTS = stated(
    "RFC 5661",
    "18.36.4",
    "a sequence id more than one above that of the client id gets NFS4ERR_SEQ_MISORDERED",
)
NEXT_MAKES_ANOTHER = stated(
    "RFC 5661",
    "18.36.4",
    "the sequence id after that of the client id goes on to the creation of another session",
)
REPLAY_IS_CACHED = stated(
    "RFC 5661",
    "18.36.4",
    "CREATE_SESSION with the sequence id of the last one is a replay: the server returns the cached result",
    harm=Harm.SUCCESS,
)
UNKNOWN_IS_STALE = stated("RFC 5661", "18.36.4", "a client id without a record gets NFS4ERR_STALE_CLIENTID")
SIZES_DO_NOT_GROW = must(
    "RFC 5661",
    "18.36.3",
    "the server may decrease header padding and sizes of a channel, and does not increase them",
)
BACKCHANNEL_IS_KEPT = must(
    "RFC 5661", "18.36.3", "ca_maxoperations and ca_maxrequests of the backchannel are what the client offers"
)
FLAGS_ARE_NOT_ADDED = must(
    "RFC 5661",
    "18.36.3",
    "CONN_BACK_CHAN and CONN_RDMA are not set in the result if the client did not set them",
)
RESTART_ENDS_THE_OLD = stated(
    "RFC 5661",
    "18.35.4",
    "case 5: once the new incarnation is confirmed, the record of the earlier one is destroyed",
)
_AUTH_SYS = p.CallbackSecParms4(p.AUTH_SYS, cbsp_sys_cred=p.AuthsysParms(0, b"nfsproof", 0, 0, []))
_UNDEFINED_FLAGS = 0x4000_0000 | 0x10
_SIZES = ("ca_headerpadsize", "ca_maxrequestsize", "ca_maxresponsesize", "ca_maxresponsesize_cached")


@MINORS
@proves(ECHOES_SEQUENCE, killed_by="createsession4-returns-the-next-sequence")
def test_echo(nfs4: Nfs4) -> None:
    """CREATE_SESSION returns the sequence id that it was sent."""
    client = nfs4.new_client()
    result = expect(nfs4.create_session(client.id, client.sequence_id)).ok()
    expect(result).field("csr_sequence").equals(client.sequence_id)


@MINORS
@pytest.mark.parametrize("step", [1, 1000])
@proves(SEQUENCE_ID_COUNTS, killed_by="createsession4-takes-any-sequence")
def test_misordered(nfs4: Nfs4, step: int) -> None:
    """A sequence id that is too high gets SEQ_MISORDERED, and the right one works afterwards."""
    client = nfs4.new_client()
    wrong = (client.sequence_id + step) % (1 << 32)
    expect(nfs4.create_session(client.id, wrong)).status(Nfsstat4.NFS4ERR_SEQ_MISORDERED)
    expect(nfs4.create_session(client.id, client.sequence_id)).ok()


@MINORS
@proves(REPLAY_IS_CACHED, killed_by="createsession4-replay-makes-another")
def test_replay(nfs4: Nfs4) -> None:
    """CREATE_SESSION with the same sequence id returns the same session."""
    client = nfs4.new_client()
    first = expect(nfs4.create_session(client.id, client.sequence_id)).ok()
    again = expect(nfs4.create_session(client.id, client.sequence_id)).ok()
    expect(again).field("csr_sessionid", "session id").equals(first.csr_sessionid)


@MINORS
@proves(NEXT_MAKES_ANOTHER, killed_by="createsession4-second-is-misordered")
def test_second_session(nfs4: Nfs4) -> None:
    """The next sequence id makes another session of the same client, and the first one goes on."""
    client = nfs4.new_client()
    first = client.create_session()
    result = expect(nfs4.create_session(client.id, client.sequence_id)).ok()
    expect(result).field("csr_sessionid", "session id").differs_from(first.id)
    expect(first.renew()).ok()


@MINORS
@proves(UNKNOWN_IS_STALE, killed_by="createsession4-unknown-is-inval")
def test_unknown_client(nfs4: Nfs4) -> None:
    """CREATE_SESSION for a client id that was never given fails with STALE_CLIENTID."""
    client = nfs4.new_client()
    result = nfs4.create_session(client.id ^ 0x5A5A_5A5A_5A5A_5A5A, 1)
    expect(result).refused(Nfsstat4.NFS4ERR_STALE_CLIENTID, because=UNKNOWN_IS_STALE)


@MINORS
@proves(SIZES_DO_NOT_GROW, killed_by="createsession4-doubles-sizes")
def test_sizes(nfs4: Nfs4) -> None:
    """The sizes of the fore channel are not above those of the request."""
    client = nfs4.new_client()
    asked = op.channel(requestsize=32768, responsesize=32768, responsesize_cached=4096)
    granted = expect(nfs4.create_session(client.id, client.sequence_id, fore=asked)).ok().csr_fore_chan_attrs
    for name in _SIZES:
        expect(granted).field(name).at_most(getattr(asked, name))


@MINORS
@proves(BACKCHANNEL_IS_KEPT, killed_by="createsession4-halves-the-backchannel")
def test_backchannel(nfs4: Nfs4) -> None:
    """Operations and slots of the backchannel are those that the client offers."""
    client = nfs4.new_client()
    asked = op.channel(requestsize=8192, responsesize=8192, operations=6, requests=5)
    created = expect(nfs4.create_session(client.id, client.sequence_id, back=asked)).ok()
    granted = created.csr_back_chan_attrs
    expect(granted).field("ca_maxoperations").equals(6)
    expect(granted).field("ca_maxrequests").equals(5)


@MINORS
@proves(FLAGS_ARE_NOT_ADDED, killed_by="createsession4-adds-a-backchannel")
def test_flags(nfs4: Nfs4) -> None:
    """Without CONN_BACK_CHAN and CONN_RDMA in the arguments, they are not in the result."""
    client = nfs4.new_client()
    flags = expect(nfs4.create_session(client.id, client.sequence_id, 0)).ok().csr_flags
    unrequested = p.CREATE_SESSION4_FLAG_CONN_BACK_CHAN | p.CREATE_SESSION4_FLAG_CONN_RDMA
    expect(flags & unrequested, "flags that the request does not name").equals(0)


@MINORS
@proves(FLAGS_ARE_NOT_ADDED, killed_by="createsession4-any-flag-is-a-backchannel")
def test_undefined_flags(nfs4: Nfs4) -> None:
    """Flags that nobody has defined are refused, or put neither CONN_BACK_CHAN nor CONN_RDMA into the result."""
    client = nfs4.new_client()
    reply = nfs4.create_session(client.id, client.sequence_id, _UNDEFINED_FLAGS)
    observe("CREATE_SESSION with undefined flags", reply.csr_status.name)
    if reply.csr_resok4 is None:
        expect(reply).refused()
        return
    made, unrequested = (
        reply.csr_resok4,
        p.CREATE_SESSION4_FLAG_CONN_BACK_CHAN | p.CREATE_SESSION4_FLAG_CONN_RDMA,
    )
    seen = made.csr_flags & unrequested
    expect(seen, "flags that the request does not name", of=made, field="csr_flags").equals(0)


@MINORS
@proves(NOT_ONLY_OP, killed_by="compound4-sessionless-with-company")
def test_with_company(nfs4: Nfs4) -> None:
    """CREATE_SESSION without SEQUENCE, and with another operation after it, fails with NOT_ONLY_OP."""
    client = nfs4.new_client()
    reply = need_answer(nfs4.compound(op.create_session(client.id, client.sequence_id), op.putrootfh()))
    expect(reply).field("status").equals(Nfsstat4.NFS4ERR_NOT_ONLY_OP)


@MINORS
@proves(RESTART_ENDS_THE_OLD, killed_by="createsession4-keeps-the-old-client")
def test_ends_old_incarnation(nfs4: Nfs4) -> None:
    """CREATE_SESSION of a restarted client ends the sessions of its earlier incarnation."""
    owner = new_owner()
    old = nfs4.new_client(owner).create_session()
    new = nfs4.new_client(new_owner(owner.co_ownerid)).create_session()
    expect(new.renew()).ok()
    expect(old.renew()).status(Nfsstat4.NFS4ERR_BADSESSION, Nfsstat4.NFS4ERR_DEADSESSION)


@MINORS
@proves(SIZES_DO_NOT_GROW, killed_by="createsession4-doubles-back-sizes")
def test_back_sizes(nfs4: Nfs4) -> None:
    """The sizes of both channels do not grow, with paddings, another program for callbacks and two flavors."""
    client = nfs4.new_client()
    fore = op.channel(headerpadsize=64, requestsize=16384, responsesize=16384, operations=16, requests=2)
    back = op.channel(
        headerpadsize=32,
        requestsize=4096,
        responsesize=4096,
        responsesize_cached=0,
        operations=2,
        requests=1,
    )
    flags = p.CREATE_SESSION4_FLAG_PERSIST | p.CREATE_SESSION4_FLAG_CONN_BACK_CHAN
    parms = [p.CallbackSecParms4(p.AUTH_NONE), _AUTH_SYS]
    created = expect(
        nfs4.create_session(
            client.id,
            client.sequence_id,
            flags,
            fore=fore,
            back=back,
            cb_program=p.CALLBACK_PROGRAM + 7,
            sec_parms=parms,
        )
    ).ok()
    expect(
        created.csr_flags & ~flags, "flags that the request does not name", of=created, field="csr_flags"
    ).equals(0)
    for channel, asked in (("fore", fore), ("back", back)):
        granted = getattr(created, f"csr_{channel}_chan_attrs")
        for name in _SIZES:
            expect(granted).field(name, f"{name} of the {channel} channel").at_most(getattr(asked, name))
