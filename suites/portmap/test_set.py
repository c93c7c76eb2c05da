# SPDX-License-Identifier: MIT
"""SET (RFC 1833): registers a program."""

from __future__ import annotations

import pytest

from fixtures.checks.rpcbind import NOBODYS_PROGRAM, Stranger
from nfsclient.errors import RpcError
from nfsjudge import expect, observe, proves
from suites.portmap.clauses import EVERY_VERSION, PORTMAP_SET_IS_LOCAL, SET_IS_LOCAL


@pytest.mark.exclusive
@EVERY_VERSION
@proves(SET_IS_LOCAL, PORTMAP_SET_IS_LOCAL, killed_by="portmap-set-serves-everybody")
def test_other_machine(stranger: Stranger, version: int) -> None:
    """SET from another machine registers nothing."""
    client = stranger.binder(version)
    try:
        said = client.set(NOBODYS_PROGRAM, 1, 1)
    except RpcError as error:
        observe("answer", error)
        said = False
    # On a new connection, because the server may have closed the first one.
    registered = stranger.binder(version).port(NOBODYS_PROGRAM, 1)
    if said or registered:
        stranger.binder(version).unset(NOBODYS_PROGRAM, 1)
    rule = PORTMAP_SET_IS_LOCAL if version == 2 else SET_IS_LOCAL
    expect(registered, "port registered by SET from another machine", because=rule).equals(0)
    expect(said, "answer to SET from another machine", because=rule).equals(False)
