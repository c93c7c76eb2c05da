# SPDX-License-Identifier: MIT
"""Requests over UDP that packets carry a second time: doubled, sent again after a lost reply, or replayed later.

They need a server in a private network. As in test_drc.py, a check fails only if no sequence of executions of the calls
leaves what is there: a server may answer a copy from a cache, execute it again at any time, or drop it. Over TCP
neither shows, because TCP itself sends a lost segment again, and drops the second one of two.
"""

from __future__ import annotations

import typing as t

import pytest

from fixtures.checks.faults import DoublePackets, KeptPacket, LosePackets, MakeFaulty, on
from fixtures.checks.scratch import Scratch
from fixtures.checks.wire import SUCCESS
from nfsclient.protocol import nfs2, nfs3
from nfsjudge import expect_names, observe, proves
from suites.faults.cases import CHANGES, EACH_CHANGE, Case
from suites.faults.clauses import COPIES_ARE_EXECUTIONS
from suites.faults.duplicated import MODES, Either, make_change
from suites.rpc.clauses import EXECUTES_AT_LEAST_ONCE

_OTHER_PORT: t.Final = 61_000
_WAYS: t.Final[dict[str, int | None]] = {"same-port": None, "other-port": _OTHER_PORT}
_FURTHER: t.Final = [*(("v3", change) for change in (*MODES, "setattr", "write")), ("v2", "write")]
_SHORT: t.Final = {"create-unchecked": "unchecked", "create-exclusive": "exclusive"}
"""In ids, which have 48 characters at most."""
EACH_REQUEST = pytest.mark.parametrize(
    ("nfs_version", "change"),
    [*CHANGES, *_FURTHER],
    ids=[f"{version}-{_SHORT.get(change, change)}" for version, change in (*CHANGES, *_FURTHER)],
)


@EACH_CHANGE
@proves(EXECUTES_AT_LEAST_ONCE, killed_by="first-copy-of-a-change-makes-a-file")
def test_doubled(
    faults: MakeFaulty, scratch: Scratch[t.Any, t.Any], nfs_version: str, procedure: str
) -> None:
    """A change whose packets come twice has the effect of one change."""
    case = Case(nfs_version, procedure, scratch)
    peer = faults("udp", case.version, on("call", case.call.procedure, DoublePackets()))
    answer = peer.call(case.arrange(peer))
    if answer.outcome != SUCCESS or case.status(answer) not in {int(status) for status in case.call.again}:
        case.need(answer)  # else it is the reply to the second execution, which overtook the first
    peer.call(peer.make())  # datagrams stay in order here: the copy has arrived
    expect_names(scratch.names(), case.after, f"names after {case.name}, whose packets came twice")


@EACH_CHANGE
@proves(EXECUTES_AT_LEAST_ONCE, killed_by="first-copy-of-a-change-makes-a-file")
def test_reply_lost(
    faults: MakeFaulty, scratch: Scratch[t.Any, t.Any], nfs_version: str, procedure: str
) -> None:
    """A change whose reply's packets are lost, and that is sent again, has the effect of one change."""
    case = Case(nfs_version, procedure, scratch)
    peer = faults("udp", case.version, on("reply", case.call.procedure, LosePackets()))
    message = case.arrange(peer)
    case.need(peer.call_and_lose(message))
    observe("copy after lost packets", case.text_of(peer.try_message(message.message())))
    expect_names(scratch.names(), case.after, f"names after {case.name}, whose reply was lost, and its copy")


@pytest.mark.parametrize("way", _WAYS)
@EACH_REQUEST
@proves(COPIES_ARE_EXECUTIONS, killed_by="late-copies-leave-something")
def test_late(
    faults: MakeFaulty,
    second_client: Either,
    scratch: Scratch[t.Any, t.Any],
    nfs_version: str,
    change: str,
    way: str,
) -> None:
    """A request that is replayed after its change was undone is executed as a new call, or has no effect."""
    made, kept = make_change(nfs_version, change, scratch), KeptPacket()
    program = nfs2.NFS2 if made.version == 2 else nfs3.NFS3
    keep = on("call", program.by_name[change.partition("-")[0].upper()], kept.keep)
    again = on("call", program.by_name["NULL"], kept.again(port=_WAYS[way]))
    peer = faults("udp", made.version, keep, again, packets=True)
    made.need(peer.call(made.arrange(peer)))
    made.undo(second_client)
    peer.call(peer.make())  # before which the packet comes again
    observe("effect of a replayed packet", "executed again" if made.is_made() else "none")
