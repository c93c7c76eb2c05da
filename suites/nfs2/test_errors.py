# SPDX-License-Identifier: MIT
"""Calls of procedures that NFSv2 does not define (RFC 1831 section 7.1)."""

from __future__ import annotations

import pytest

from nfsclient.errors import AuthFailed, ProcUnavail, ProgMismatch
from nfsclient.protocol.nfs2 import PROGRAM, VERSION
from nfsclient.rpc.program import Procedure
from nfsclient.xdr import Void
from nfsjudge import expect_error, proves, stated
from suites.nfs2.objects import Connect, size_id

UNKNOWN_PROCEDURE_IS_UNAVAIL = stated(
    "RFC 1831", "7.1", "a call of a procedure that does not exist is answered with PROC_UNAVAIL"
)


@pytest.mark.parametrize("number", [18, 19, 2**32 - 1], ids=size_id)
@proves(UNKNOWN_PROCEDURE_IS_UNAVAIL, killed_by="nfs2-treats-unknown-procedures-as-null", needs="nfs2")
def test_unknown_procedure(rpc_connect: Connect, number: int) -> None:
    """A call of an unknown procedure is rejected with an RPC error."""
    rpc = rpc_connect("nfs")
    unknown = Procedure(PROGRAM, VERSION, number, f"procedure {number}", Void, Void)
    # A server may check the credential first.
    expect_error((ProcUnavail, ProgMismatch, AuthFailed), lambda: rpc.call(unknown, Void()))
