# SPDX-License-Identifier: MIT
"""What happens to packets below messages: copies from a forged sender, and a RST that neither side has sent.

They need a server in a private network. As in test_drc.py, a check fails only if no sequence of executions of the calls
leaves what is there.
"""

from __future__ import annotations

import typing as t

from fixtures.checks.faults import ForgeReset, MakeFaulty, Replay, on
from fixtures.checks.scratch import Scratch
from fixtures.checks.wire import SUCCESS
from nfsjudge import expect_names, observe, proves, skip
from suites.faults.cases import EACH_CHANGE, Case
from suites.faults.clauses import COPIES_ARE_EXECUTIONS
from suites.rpc.clauses import EXECUTES_AT_LEAST_ONCE


@EACH_CHANGE
@proves(COPIES_ARE_EXECUTIONS, killed_by="first-copy-of-a-change-makes-a-file")
def test_forged_copy(
    faults: MakeFaulty, scratch: Scratch[t.Any, t.Any], nfs_version: str, procedure: str
) -> None:
    """A change and a copy of it from another address have the effect of one change."""
    case = Case(nfs_version, procedure, scratch)
    peer = faults("udp", case.version, on("call", case.call.procedure, Replay(via="forged")))
    case.need(peer.call(case.arrange(peer)))
    peer.call(peer.make())  # datagrams stay in order here: the copy has arrived
    expect_names(
        scratch.names(), case.after, f"names after {case.name}, and a copy of it from another address"
    )


@EACH_CHANGE
@proves(EXECUTES_AT_LEAST_ONCE, killed_by="first-copy-of-a-change-makes-a-file")
def test_reset_before_reply(
    faults: MakeFaulty, scratch: Scratch[t.Any, t.Any], nfs_version: str, procedure: str
) -> None:
    """A change whose connection is reset before its reply, and that is sent again, has the effect of one change."""
    case = Case(nfs_version, procedure, scratch)
    peer = faults("tcp", case.version, on("call", case.call.procedure, ForgeReset("client")))
    message = case.arrange(peer)
    peer.send_record(message.message())
    if not peer.client.wait_closed():
        skip("the reset has not reached the client")
    peer.note(message, None)
    peer.client.reconnect()
    answer = peer.try_message(message.message())
    observe("copy after a reset", case.text_of(answer))
    if answer.outcome != SUCCESS or case.status(answer) not in {int(status) for status in case.call.again}:
        case.need(answer)  # else the first call has made the change
    expect_names(scratch.names(), case.after, f"names after {case.name}, a reset, and its copy")
