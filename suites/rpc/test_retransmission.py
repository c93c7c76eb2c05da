# SPDX-License-Identifier: MIT
"""A call that is sent again with the same XID (RFC 1831 section 4, RFC 1813 section 4.5).

A server may answer it as it did before, execute it again, or drop it: there is no exactly-once. So what may come back
is what came before, or what a second execution would say.
"""

from __future__ import annotations

import pytest

from fixtures.raw import CLOSED, SILENCE, SUCCESS, MakeWire, Proto
from fixtures.scratch import Scratch
from nfsclient.protocol import nfs3 as v3
from nfsclient.protocol.nfs3 import Nfsstat3
from nfsjudge import Level, Requirement, expect, observe, proves
from suites.rpc.damage import ARGUMENTS, NAME, AnyProcedure, need

AGAIN = Requirement(
    rfc="RFC 1831",
    section="4",
    gist="a call that comes again should get the same reply, or be executed again, or none",
    level=Level.SHOULD,
)
AT_LEAST_ONCE = Requirement(
    rfc="RFC 1831",
    section="4",
    gist="a call that is answered was executed at least once: its effect is there, however often it came",
)

THE_SECOND_TIME = {
    v3.CREATE: Nfsstat3.NFS3ERR_EXIST,
    v3.MKDIR: Nfsstat3.NFS3ERR_EXIST,
    v3.SYMLINK: Nfsstat3.NFS3ERR_EXIST,
    v3.MKNOD: Nfsstat3.NFS3ERR_EXIST,
    v3.LINK: Nfsstat3.NFS3ERR_EXIST,
    v3.REMOVE: Nfsstat3.NFS3ERR_NOENT,
    v3.RMDIR: Nfsstat3.NFS3ERR_NOENT,
    v3.RENAME: Nfsstat3.NFS3ERR_NOENT,
}
"""What a procedure answers that is executed twice."""
LEFT = {
    v3.REMOVE: [],
    v3.RMDIR: [],
    v3.RENAME: [NAME + b" 2"],
    v3.LINK: [NAME, NAME + b" 2"],
}
"""The names that are left; one elsewhere."""

TRANSPORTS = pytest.mark.parametrize("proto", ["tcp", "udp"])
PROCEDURES = pytest.mark.parametrize("procedure", THE_SECOND_TIME, ids=lambda each: each.name.lower())


@TRANSPORTS
@PROCEDURES
@proves(AGAIN, killed_by="rpc-fails-at-retransmissions")
def test_a_retransmission_gets_a_reply_that_makes_sense(
    wire: MakeWire, scratch: Scratch, proto: Proto, procedure: AnyProcedure
) -> None:
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
        Nfsstat3.NFS3_OK, THE_SECOND_TIME[procedure], Nfsstat3.NFS3ERR_JUKEBOX
    )


@TRANSPORTS
@PROCEDURES
@proves(AT_LEAST_ONCE, killed_by="rpc-undoes-at-retransmissions")
def test_a_retransmission_undoes_nothing(
    wire: MakeWire, scratch: Scratch, proto: Proto, procedure: AnyProcedure
) -> None:
    peer = wire(proto)
    call = peer.make(procedure.number, ARGUMENTS[procedure](scratch, NAME).to_xdr())
    need(procedure, peer.ask(call))
    peer.attempt(call.message())
    expect(sorted(scratch.names()), f"the names after {procedure.name}, sent twice").equals(
        LEFT.get(procedure, [NAME])
    )
