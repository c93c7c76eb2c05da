# SPDX-License-Identifier: MIT
"""INDIRECT of rpcbind 4 (RFC 1833 section 2.2.1): calls that are passed on."""

from __future__ import annotations

import pytest

from fixtures.checks.rpcbind import INDIRECT, MakeRelay
from fixtures.checks.wire import SILENCE, SUCCESS, Proto
from nfsjudge import expect_that, observe, proves, stated
from suites.portmap.calls import UNKNOWN_CALLS, unknown_call
from suites.portmap.clauses import TRANSPORTS

INDIRECT_REPORTS_ERRORS = stated(
    "RFC 1833", "2.2.2", "INDIRECT returns an error indication, for example if the program is not registered"
)


@TRANSPORTS
@pytest.mark.parametrize("what", list(UNKNOWN_CALLS))
@proves(INDIRECT_REPORTS_ERRORS, killed_by="indirect4-drops-failures", needs="rpcbind4")
def test_reports_errors(relay: MakeRelay, proto: Proto, what: str, mount_program: tuple[int, int]) -> None:
    """INDIRECT returns an error when program, version or procedure is unknown."""
    answer = relay(4, INDIRECT, proto).try_call(*unknown_call(what, mount_program))
    observe("answer", answer.outcome)
    tells = answer.outcome not in {SUCCESS, SILENCE}
    expect_that(tells, "an error", answer.outcome, f"answer to INDIRECT of an unknown {what}", reply=answer)
