# SPDX-License-Identifier: MIT
"""Retransmissions: the same call sent again with the same XID (RFC 1831 section 4, RFC 1813 section 4.5).

A server may repeat its first reply, execute the call again, or drop it: RPC does not promise exactly-once. So a valid
reply is the first one, or that of a second execution.
"""

from __future__ import annotations

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from fixtures.checks.wire import CLOSED, SILENCE, SUCCESS, MakeWire, Proto
from nfsclient.protocol.nfs3 import Nfsstat3
from nfsjudge import Level, Requirement, expect, expect_names, observe, proves
from suites.catalogue import Call
from suites.rpc.damaged_calls import NAME, each_call, need
from suites.rpc.parameters import TRANSPORTS

ANSWERS_RETRANSMISSION = Requirement(
    rfc="RFC 1831",
    section="4",
    gist="a server should answer a retransmission as before, execute it again, or drop it",
    level=Level.SHOULD,
)
EXECUTES_AT_LEAST_ONCE = Requirement(
    rfc="RFC 1831",
    section="4",
    gist="a call that was answered has been executed at least once, so its effect remains",
)
each_change = each_call("create", "mkdir", "symlink", "mknod", "link", "remove", "rmdir", "rename")


@TRANSPORTS
@each_change
@proves(ANSWERS_RETRANSMISSION, killed_by="rpc-retransmission-is-io")
def test_reply(wire: MakeWire, scratch: Nfs3Scratch, proto: Proto, call: Call) -> None:
    """A retransmission gets the first reply, the reply of a second execution, or none."""
    peer = wire(proto)
    message = peer.make(call.procedure.number, call.arranged(scratch, NAME).to_xdr())
    need(call, peer.call(message))
    again = peer.try_message(message.message())
    if again.outcome in {SILENCE, CLOSED}:
        observe("retransmission", again.outcome)
        return
    expect(again.outcome, f"answer to a retransmitted {call.procedure.name}").equals(SUCCESS)
    status = again.decode(call.procedure.res).status
    observe("retransmission", "answered as before" if status == Nfsstat3.NFS3_OK else "executed again")
    expect(status, f"status of a retransmitted {call.procedure.name}").one_of(
        Nfsstat3.NFS3_OK, *call.again, Nfsstat3.NFS3ERR_JUKEBOX
    )


@TRANSPORTS
@each_change
@proves(EXECUTES_AT_LEAST_ONCE, killed_by="rpc-retransmission-creates-a-file")
def test_effect_remains(wire: MakeWire, scratch: Nfs3Scratch, proto: Proto, call: Call) -> None:
    """A retransmission does not undo the effect of the call."""
    peer = wire(proto)
    message = peer.make(call.procedure.number, call.arranged(scratch, NAME).to_xdr())
    need(call, peer.call(message))
    peer.try_message(message.message())
    what = f"names after {call.procedure.name} and its retransmission"
    expect_names(scratch.names(), call.names_after(NAME), what)
