# SPDX-License-Identifier: MIT
"""UNSET (RFC 1833): removes a registration."""

from __future__ import annotations

import pytest

from fixtures.checks.rpcbind import UNUSED_PROGRAM, RemoteCaller
from nfsclient.errors import RpcError
from nfsjudge import expect_that, observe, proves
from suites.portmap.clauses import EVERY_VERSION, PORTMAP_SET_IS_LOCAL, SET_IS_LOCAL


@pytest.mark.exclusive
@EVERY_VERSION
@proves(SET_IS_LOCAL, PORTMAP_SET_IS_LOCAL, killed_by="portmap-unset-accepts-remote-callers")
def test_other_machine(remote_caller: RemoteCaller, version: int) -> None:
    """UNSET from another machine removes nothing."""
    registered = remote_caller.registered()
    client = remote_caller.port_mapper(version)
    try:
        client.unset(UNUSED_PROGRAM, registered)
    except RpcError as error:
        observe("answer", error)
    rule = PORTMAP_SET_IS_LOCAL if version == 2 else SET_IS_LOCAL
    port = remote_caller.port_mapper(version).port(UNUSED_PROGRAM, registered)
    what = "port of the program after UNSET from another machine"
    expect_that(port != 0, "the registered port", "none", what, because=rule)
