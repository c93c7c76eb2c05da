# SPDX-License-Identifier: MIT
"""rpcbind after a crash or a restart of the server (RFC 1833 section 2.2.1)."""

from __future__ import annotations

import pytest

from fixtures.checks.across import Pause, Steps, across
from fixtures.checks.rpcbind import MakePortMapper
from fixtures.checks.target import TargetView
from fixtures.checks.wire import Proto
from nfsjudge import observe, proves, skip
from suites.portmap.addresses import WhyNobodyAnswers, expect_service
from suites.portmap.clauses import PROGRAM_AWAITS_CALLS, RPCBIND_VERSIONS, TRANSPORTS
from suites.recovery.either import ENDINGS


@pytest.mark.parametrize("program", ["nfs", "mount"])
@RPCBIND_VERSIONS
@TRANSPORTS
@ENDINGS
@across("ending")
@proves(PROGRAM_AWAITS_CALLS, killed_by="getaddr-returns-old-ports-after-restart")
def test_answers(
    port_mapper: MakePortMapper,
    target: TargetView,
    why_nobody_answers: WhyNobodyAnswers,
    program: str,
    version: int,
    proto: Proto,
    ending: str,
) -> Steps:
    """NFS and MOUNT answer at the addresses that GETADDR returns after a crash or a restart."""
    number, vers = (100003, target.address.version) if program == "nfs" else (100005, 3)
    before = port_mapper(version, proto).port(number, vers)
    reason = why_nobody_answers(number, vers, before, proto) if before else ""
    if not before or reason:
        skip(f"the program is not registered, or cannot be reached, before the {ending}: {reason}")
    yield Pause(ending)
    port = port_mapper(version, proto).port(number, vers)
    if not port:
        skip(f"the program is not registered after the {ending}")
    observe(f"port after a {ending}", "the same" if port == before else "another one")
    reason = why_nobody_answers(number, vers, port, proto)
    expect_service(reason, f"{program.upper()} at port {port} over {proto.upper()}")
