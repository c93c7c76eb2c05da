# SPDX-License-Identifier: MIT
"""Duplicates of calls that are not idempotent (RFC 1831 section 4, RFC 1813 section 4.5, RFC 1094 section 3.6).

NFSv2 and NFSv3 promise no exactly-once: a server may answer a copy from a cache, execute it again at any later
moment, or drop it. It may also refuse to execute any call with an XID that it has seen. So these checks fail only if no
sequence of such executions leaves the names that are there. What the server did is recorded.
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable

import pytest

from fixtures.checks.faults import Drop, Duplicate, MakeFaulty, on
from fixtures.checks.scratch import Scratch
from fixtures.checks.side_by_side import Waiting, side_by_side
from fixtures.checks.wire import SUCCESS, Answer, Proto, Wire
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Nfsstat3, Sattr3
from nfsclient.rpc.auth import AuthSys
from nfsjudge import Harm, expect, expect_names, expect_that, observe, proves, show, skip, stated
from nfsjudge.duplicates import cell_key
from suites.faults.cases import EACH_CHANGE, NAME, Case
from suites.faults.clauses import COPIES_ARE_EXECUTIONS
from suites.faults.duplicated import Either, outcome_of
from suites.nfs3.permissions import STRANGER
from suites.rpc.clauses import EXECUTES_AT_LEAST_ONCE
from suites.rpc.parameters import TRANSPORTS

PERMISSIONS_OF_COPIES = stated(
    "RFC 1813",
    "4.4",
    "the server checks the permissions of the user in the credential of each call",
    harm=Harm.SECRET,
)
EACH_WAY = pytest.mark.parametrize("way", ["same", "other", "again"])
"""On which connection a copy arrives: that of the call, another one while that is open, or a new one after it."""
_WAYS: t.Final = {"same": "late-tcp", "other": "port-tcp", "again": "reconnect-other"}


@TRANSPORTS
@EACH_CHANGE
@proves(EXECUTES_AT_LEAST_ONCE, killed_by="first-copy-of-a-change-makes-a-file")
def test_reply_lost(
    faults: MakeFaulty, scratch: Scratch[t.Any, t.Any], nfs_version: str, procedure: str, proto: Proto
) -> None:
    """A change whose reply is lost, and that is sent again, has the effect of one change."""
    case = Case(nfs_version, procedure, scratch)
    peer = faults(proto, case.version, on("reply", case.call.procedure, Drop()))
    message = case.arrange(peer)
    case.need(peer.call_and_lose(message))
    answer = peer.try_message(message.message())
    observe("copy after a lost reply", case.text_of(answer))
    _note(case, f"lost-{proto}", answer)
    expect_names(scratch.names(), case.after, f"names after {case.name}, whose reply was lost, and its copy")


@side_by_side
@TRANSPORTS
@EACH_CHANGE
@proves(EXECUTES_AT_LEAST_ONCE, killed_by="first-copy-of-a-change-makes-a-file")
def test_doubled(
    faults: MakeFaulty, scratch: Scratch[t.Any, t.Any], nfs_version: str, procedure: str, proto: Proto
) -> Waiting[None]:
    """A change that the network doubles has the effect of one change."""
    case = Case(nfs_version, procedure, scratch)
    peer = faults(proto, case.version, on("call", case.call.procedure, Duplicate()))
    message = case.arrange(peer)
    answer = peer.call(message)
    if answer.outcome != SUCCESS or case.status(answer) not in {int(status) for status in case.call.again}:
        case.need(answer)  # else it is the reply to the second execution, which overtook the first
    peer.call(peer.make())
    second = yield from peer.second_reply(message)
    _note(case, f"doubled-{proto}", answer if case.is_second(answer) else second)
    expect_names(scratch.names(), case.after, f"names after a doubled {case.name}")


@EACH_WAY
@EACH_CHANGE
@proves(COPIES_ARE_EXECUTIONS, killed_by="late-copy-of-a-change-makes-a-file")
def test_late_copy(
    faults: MakeFaulty,
    second_client: Either,
    scratch: Scratch[t.Any, t.Any],
    nfs_version: str,
    procedure: str,
    way: str,
) -> None:
    """A copy that arrives after the change was taken back is executed as a new call, or has no effect."""
    case = Case(nfs_version, procedure, scratch)
    peer: Wire = faults("tcp", case.version)
    message = case.arrange(peer)
    case.need(peer.call(message))
    case.take_back(second_client)
    if way == "again":
        peer.client.close()
    answer = (peer if way == "same" else faults("tcp", case.version)).try_message(message.message())
    names = scratch.names()
    observe("late copy", case.text_of(answer))
    is_made = sorted(names) == sorted(case.after)
    observe("effect of a late copy", "executed again" if is_made else "none")
    _note(case, _WAYS[way], answer, is_made=is_made)
    legal = [sorted(case.before), sorted(case.after)]
    what = f"names after {case.name}, its reversal, and a copy of it"
    expect_that(sorted(names) in legal, " or ".join(map(_shown, legal)), _shown(names), what)


def _note(case: Case, way: str, answer: Answer, *, is_made: bool | None = None) -> None:
    """Note a cell of the profile of duplicates."""
    is_alike = not case.call.again
    found = outcome_of(answer, is_made=is_made, is_second=case.is_second(answer), is_alike=is_alike)
    observe(cell_key(case.version, case.full_name, way), found)


def _shown(names: list[bytes]) -> str:
    return ", ".join(show(name) for name in sorted(names)) or "none"


@TRANSPORTS
@proves(
    PERMISSIONS_OF_COPIES,
    killed_by="copies-act-as-the-first-user",
    needs=("other_users", "distinct_users"),
)
def test_other_user(
    faults: MakeFaulty,
    nfs3: Nfs3,
    as_user: Callable[..., Nfs3],
    scratch: Scratch[t.Any, t.Any],
    proto: Proto,
) -> None:
    """A copy of REMOVE with the credential of a user without permission removes nothing."""
    case = Case("v3", "remove", scratch)
    peer = faults(proto, 3)
    message = case.arrange(peer)
    expect(nfs3.setattr(scratch.handle, Sattr3(mode=0o700))).ok()
    if as_user(*STRANGER).lookup(scratch.handle, NAME).status != Nfsstat3.NFS3ERR_ACCES:
        skip("the other user may search a directory of mode 0700")
    case.need(peer.call(message))
    case.take_back(nfs3)
    theirs = AuthSys(*STRANGER).opaque()[0]
    answer = peer.try_message(peer.make(message.proc, message.args, xid=message.xid, cred=theirs).message())
    observe("copy with another credential", case.text_of(answer))
    expect_names(
        scratch.names(), [NAME], "names after REMOVE by another user with the XID of an earlier REMOVE"
    )
