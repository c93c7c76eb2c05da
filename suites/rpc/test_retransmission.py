# SPDX-License-Identifier: MIT
"""Retransmissions: the same call sent again with the same XID (RFC 1831 section 4, RFC 1813 section 4.5).

A server may repeat its first reply, execute the call again, or drop it: RPC does not promise exactly-once. So a valid
reply is the first one, or that of a second execution.
"""

from __future__ import annotations

import pytest

from fixtures.raw import CLOSED, SILENCE, SUCCESS, MakeWire, Proto
from fixtures.scratch import Scratch
from nfsclient.protocol import nfs3 as v3
from nfsclient.protocol.nfs3 import Nfsstat3
from nfsjudge import Level, Requirement, expect, observe, proves
from suites.rpc.damaged_calls import ARGUMENTS, NAME, AnyProcedure, need

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
SECOND_STATUS = {
    v3.CREATE: Nfsstat3.NFS3ERR_EXIST,
    v3.MKDIR: Nfsstat3.NFS3ERR_EXIST,
    v3.SYMLINK: Nfsstat3.NFS3ERR_EXIST,
    v3.MKNOD: Nfsstat3.NFS3ERR_EXIST,
    v3.LINK: Nfsstat3.NFS3ERR_EXIST,
    v3.REMOVE: Nfsstat3.NFS3ERR_NOENT,
    v3.RMDIR: Nfsstat3.NFS3ERR_NOENT,
    v3.RENAME: Nfsstat3.NFS3ERR_NOENT,
}
"""Procedure -> the status of its second execution."""
NAMES_AFTERWARDS = {
    v3.REMOVE: [],
    v3.RMDIR: [],
    v3.RENAME: [NAME + b" 2"],
    v3.LINK: [NAME, NAME + b" 2"],
}
"""Procedure -> the names in the directory after it; a single name for procedures that are not listed."""
TRANSPORTS = pytest.mark.parametrize("proto", ["tcp", "udp"])
CHANGING_PROCEDURES = pytest.mark.parametrize("procedure", SECOND_STATUS, ids=lambda each: each.name.lower())


@TRANSPORTS
@CHANGING_PROCEDURES
@proves(ANSWERS_RETRANSMISSION, killed_by="rpc-fails-at-retransmissions")
def test_reply(wire: MakeWire, scratch: Scratch, proto: Proto, procedure: AnyProcedure) -> None:
    """A retransmission gets the first reply, the reply of a second execution, or none."""
    peer = wire(proto)
    call = peer.make(procedure.number, ARGUMENTS[procedure](scratch, NAME).to_xdr())
    need(procedure, peer.ask(call))
    again = peer.attempt(call.message())
    if again.outcome in {SILENCE, CLOSED}:
        observe("retransmission", again.outcome)
        return
    expect(again.outcome, f"the answer to {procedure.name}, sent again").equals(SUCCESS)
    status = again.decode(procedure.res).status
    observe("retransmission", "answered as before" if status == Nfsstat3.NFS3_OK else "executed again")
    expect(status, f"the status of {procedure.name}, sent again").one_of(
        Nfsstat3.NFS3_OK, SECOND_STATUS[procedure], Nfsstat3.NFS3ERR_JUKEBOX
    )


@TRANSPORTS
@CHANGING_PROCEDURES
@proves(EXECUTES_AT_LEAST_ONCE, killed_by="rpc-undoes-at-retransmissions")
def test_effect_remains(wire: MakeWire, scratch: Scratch, proto: Proto, procedure: AnyProcedure) -> None:
    """A retransmission does not undo the effect of the call."""
    peer = wire(proto)
    call = peer.make(procedure.number, ARGUMENTS[procedure](scratch, NAME).to_xdr())
    need(procedure, peer.ask(call))
    peer.attempt(call.message())
    expect(sorted(scratch.names()), f"the names after {procedure.name}, sent twice").equals(
        NAMES_AFTERWARDS.get(procedure, [NAME])
    )
