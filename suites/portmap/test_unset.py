# SPDX-License-Identifier: MIT
"""UNSET (RFC 1833): removes a registration."""

from __future__ import annotations

import pytest

from fixtures.checks.rpcbind import NOBODYS_PROGRAM, Stranger
from nfsclient.errors import RpcError
from nfsjudge import expect_that, observe, proves
from suites.portmap.clauses import EVERY_VERSION, PORTMAP_SET_IS_LOCAL, SET_IS_LOCAL


@pytest.mark.exclusive
@EVERY_VERSION
@proves(SET_IS_LOCAL, PORTMAP_SET_IS_LOCAL, killed_by="portmap-unset-serves-everybody")
def test_other_machine(stranger: Stranger, version: int) -> None:
    """UNSET from another machine removes nothing."""
    registered = stranger.registered()
    client = stranger.binder(version)
    try:
        client.unset(NOBODYS_PROGRAM, registered)
    except RpcError as error:
        observe("answer", error)
    rule = PORTMAP_SET_IS_LOCAL if version == 2 else SET_IS_LOCAL
    port = stranger.binder(version).port(NOBODYS_PROGRAM, registered)
    what = "port of the program after UNSET from another machine"
    expect_that(port != 0, "the registered port", "none", what, because=rule)
