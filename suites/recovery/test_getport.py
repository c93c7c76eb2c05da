# SPDX-License-Identifier: MIT
"""The port mapper after a crash or a restart of the server (RFC 1833 section 3.2)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fixtures.checks.across import Pause, Steps, across
from fixtures.checks.target import TargetView
from fixtures.checks.wire import Proto
from nfsclient.clients import Portmap
from nfsclient.protocol.portmap import IPPROTO_TCP, IPPROTO_UDP
from nfsclient.rpc.blocking import RpcClient
from nfsjudge import observe, proves, skip
from suites.portmap.addresses import WhyNobodyAnswers, expect_service
from suites.portmap.clauses import PROGRAM_AWAITS_CALLS, TRANSPORTS
from suites.recovery.either import ENDINGS


@pytest.mark.parametrize("program", ["nfs", "mount"])
@TRANSPORTS
@ENDINGS
@across("ending")
@proves(PROGRAM_AWAITS_CALLS.of("2"), killed_by="getport2-returns-old-ports-after-restart", needs="portmap")
def test_answers(
    rpc_connect: Callable[..., RpcClient],
    target: TargetView,
    why_nobody_answers: WhyNobodyAnswers,
    program: str,
    proto: Proto,
    ending: str,
) -> Steps:
    """NFS and MOUNT answer at the ports that GETPORT returns after a crash or a restart."""
    number, version = (100003, target.address.version) if program == "nfs" else (100005, 3)
    prot = IPPROTO_UDP if proto == "udp" else IPPROTO_TCP
    before = Portmap(rpc_connect("portmap")).getport(number, version, prot)
    reason = why_nobody_answers(number, version, before, proto) if before else ""
    if not before or reason:
        skip(f"the program is not registered, or cannot be reached, before the {ending}: {reason}")
    yield Pause(ending)
    port = Portmap(rpc_connect("portmap")).getport(number, version, prot)
    if not port:
        skip(f"the program is not registered after the {ending}")
    observe(f"port after a {ending}", "the same" if port == before else "another one")
    reason = why_nobody_answers(number, version, port, proto)
    expect_service(reason, f"{program.upper()} at port {port} over {proto.upper()}")
