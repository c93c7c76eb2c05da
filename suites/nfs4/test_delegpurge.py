# SPDX-License-Identifier: MIT
"""DELEGPURGE (RFC 5661 section 18.5), which belongs to claims for delegations of an earlier client instance."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Scratch, new_state_owner, through_grace
from nfsclient.clients.nfs4 import Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsjudge import expect, must, observe, proves
from suites.nfs4.minors import MINORS
from suites.nfs4.opens import READ

BELONGS_TO_THE_CLAIMS = must(
    "RFC 5661",
    "18.5.3",
    "a server without DELEGPURGE does not support CLAIM_DELEGATE_PREV, nor CLAIM_DELEG_PREV_FH",
)
CLIENTID_IS_IGNORED = must(
    "RFC 5661",
    "18.5.3",
    "the server ignores the client id in the arguments of DELEGPURGE: that of the session counts",
)


@MINORS
@pytest.mark.parametrize("claim", ["name", "filehandle"])
@proves(BELONGS_TO_THE_CLAIMS, killed_by="open4-takes-claims-of-earlier-instances")
def test_claims(compounds: Compounds, scratch: Nfs4Scratch, claim: str) -> None:
    """Where DELEGPURGE is not supported, OPEN with CLAIM_DELEGATE_PREV or CLAIM_DELEG_PREV_FH is refused."""
    purging = compounds.compound(op.delegpurge())
    observe("DELEGPURGE", purging.status.name)
    if purging.status != Nfsstat4.NFS4ERR_NOTSUPP:
        return
    file = scratch.file("file")
    if claim == "name":
        where, what = (
            scratch.handle,
            p.OpenClaim4(p.OpenClaimType4.CLAIM_DELEGATE_PREV, file_delegate_prev=b"file"),
        )
    else:
        where, what = file, p.OpenClaim4(p.OpenClaimType4.CLAIM_DELEG_PREV_FH)
    reply = through_grace(compounds, op.putfh(where), op.open(what, READ, owner=new_state_owner()))
    observe("OPEN", reply.status.name)
    if reply.status != Nfsstat4.NFS4ERR_NOTSUPP:
        expect(reply).refused()


@MINORS
@proves(CLIENTID_IS_IGNORED, killed_by="delegpurge4-wants-the-client-id")
def test_clientid(compounds: Compounds) -> None:
    """DELEGPURGE with any client id is answered as with 0."""
    first = compounds.compound(op.delegpurge())
    answers = {compounds.compound(op.delegpurge(number)).status for number in (1, 2**64 - 1)}
    expect(answers, "statuses of DELEGPURGE", field="status").equals({first.status})
