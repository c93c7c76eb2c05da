# SPDX-License-Identifier: MIT
"""SET (RFC 1833): registers a program."""

from __future__ import annotations

import pytest

from fixtures.checks.rpcbind import UNUSED_PROGRAM, RemoteCaller
from nfsclient.errors import RpcError
from nfsjudge import expect, observe, proves
from suites.portmap.clauses import EVERY_VERSION, PORTMAP_SET_IS_LOCAL, SET_IS_LOCAL


@pytest.mark.exclusive
@EVERY_VERSION
@proves(SET_IS_LOCAL, PORTMAP_SET_IS_LOCAL, killed_by="portmap-set-accepts-remote-callers")
def test_other_machine(remote_caller: RemoteCaller, version: int) -> None:
    """SET from another machine registers nothing."""
    client = remote_caller.port_mapper(version)
    try:
        answer = client.set(UNUSED_PROGRAM, 1, 1)
    except RpcError as error:
        observe("answer", error)
        answer = False
    # On a new connection, because the server may have closed the first one.
    registered = remote_caller.port_mapper(version).port(UNUSED_PROGRAM, 1)
    if answer or registered:
        remote_caller.port_mapper(version).unset(UNUSED_PROGRAM, 1)
    rule = PORTMAP_SET_IS_LOCAL if version == 2 else SET_IS_LOCAL
    expect(registered, "port registered by SET from another machine", field="port", because=rule).equals(0)
    expect(answer, "answer to SET from another machine", because=rule).equals(False)
