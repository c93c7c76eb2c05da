# SPDX-License-Identifier: MIT
"""The duplicate-request profile: what a server does with duplicates of calls that are not idempotent.

NFSv2 and NFSv3 promise no exactly-once (RFC 1813 section 4.5), so what is noted here has no effect on a verdict. A
check fails only if the state afterwards is none that executions of its calls leave. `test_drc.py` has further cells.
"""

from __future__ import annotations

import dataclasses
import typing as t
from collections.abc import Callable

import pytest

from fixtures.checks.budget import Budget
from fixtures.checks.faults import FaultyWire, MakeFaulty
from fixtures.checks.scratch import Scratch
from fixtures.checks.side_by_side import Waiting, side_by_side
from fixtures.checks.wire import Answer, Proto, RawCall
from nfsclient.rpc.auth import AuthSys
from nfsjudge import observe, proves, unsupported
from nfsjudge.duplicates import ENTRIES, SECONDS, bound_key, cell_key
from suites.faults.cases import CHANGES, EACH_VERSION
from suites.faults.clauses import COPIES_ARE_EXECUTIONS
from suites.faults.duplicated import MODES, Change, Either, make_change, outcome_of
from suites.faults.endurance import MOST_CALLS, Trial, entries_kept, seconds_kept
from suites.rpc.parameters import TRANSPORTS

_LATE: t.Final = ("late-udp", "port-udp", "reconnect-same")
_ELSEWHERE: t.Final = ("late-tcp", "port-tcp", "reconnect-other")
"""Of changes of names, `test_drc.py` has them."""
_SAME_XID: t.Final = ("arguments-tcp", "arguments-udp", "credential-tcp", "credential-udp")
_FURTHER: t.Final = [*(("v3", change) for change in (*MODES, "setattr", "write")), ("v2", "write")]
_SHORT: t.Final = {
    "create-unchecked": "unchecked",
    "create-exclusive": "exclusive",
    "reconnect-same": "again-same",
    "reconnect-other": "again-other",
    "arguments-tcp": "args-tcp",
    "arguments-udp": "args-udp",
    "credential-tcp": "cred-tcp",
    "credential-udp": "cred-udp",
}
"""In ids, which have 48 characters at most."""


def _each(cases: list[tuple[str, str, str]]) -> pytest.MarkDecorator:
    ids = ["-".join(_SHORT.get(word, word) for word in case) for case in cases]
    return pytest.mark.parametrize(("nfs_version", "change", "way"), cases, ids=ids)


EACH_LATE = _each(
    [
        *((*change, way) for change in CHANGES for way in _LATE),
        *((*change, way) for change in _FURTHER for way in (*_LATE, *_ELSEWHERE)),
    ]
)
EACH_SAME_XID = _each([(*change, way) for change in (*CHANGES, *_FURTHER) for way in _SAME_XID])


def _same(peer: FaultyWire, _faults: MakeFaulty, call: RawCall, _version: int) -> Answer:
    return peer.try_message(call.message())


def _other_port(peer: FaultyWire, faults: MakeFaulty, call: RawCall, version: int) -> Answer:
    return faults(peer.proto, version).try_message(call.message())


def _reconnected(peer: FaultyWire, _faults: MakeFaulty, call: RawCall, _version: int) -> Answer:
    peer.client.reconnect(same_port=True)
    return peer.try_message(call.message())


def _reconnected_elsewhere(peer: FaultyWire, faults: MakeFaulty, call: RawCall, version: int) -> Answer:
    peer.client.close()
    return faults("tcp", version).try_message(call.message())


_SENDS: t.Final[dict[str, Callable[[FaultyWire, MakeFaulty, RawCall, int], Answer]]] = {
    "late": _same,
    "port": _other_port,
    "reconnect-same": _reconnected,
    "reconnect-other": _reconnected_elsewhere,
}


def _with_other_credential(peer: FaultyWire, call: RawCall) -> RawCall:
    """The call as the same user makes it from another machine."""
    user = peer.client.credential
    if not isinstance(user, AuthSys):
        unsupported("the run does not use AUTH_SYS, which has a name of the machine")
    cred = AuthSys(user.uid, user.gid, user.gids, b"another machine", user.stamp + 1).opaque()[0]
    return dataclasses.replace(call, cred=cred)


def _note(change: Change, way: str, answer: Answer, is_made: bool) -> None:
    found = outcome_of(answer, is_made=is_made, is_second=change.is_second(answer))
    observe(cell_key(change.version, change.name, way), found)


@EACH_LATE
@proves(COPIES_ARE_EXECUTIONS, killed_by="late-copies-leave-something")
def test_late(
    faults: MakeFaulty,
    second_client: Either,
    scratch: Scratch[t.Any, t.Any],
    nfs_version: str,
    change: str,
    way: str,
) -> None:
    """A duplicate that arrives after its change was undone is executed as a new call, or has no effect."""
    made = make_change(nfs_version, change, scratch)
    peer = faults("udp" if way.endswith("udp") else "tcp", made.version)
    call = made.arrange(peer)
    made.need(peer.call(call))
    made.undo(second_client)
    send = _SENDS[way if way in _SENDS else way.partition("-")[0]]
    answer = send(peer, faults, call, made.version)
    _note(made, way, answer, made.is_made())


@EACH_SAME_XID
@proves(COPIES_ARE_EXECUTIONS, killed_by="same-xid-leaves-something")
def test_same_xid(
    faults: MakeFaulty,
    second_client: Either,
    scratch: Scratch[t.Any, t.Any],
    nfs_version: str,
    change: str,
    way: str,
) -> None:
    """A call with the XID of another one, and other arguments or another credential, is executed or has no effect."""
    made = make_change(nfs_version, change, scratch)
    peer = faults("udp" if way.endswith("udp") else "tcp", made.version)
    call = made.arrange(peer)
    made.need(peer.call(call))
    if way.startswith("arguments"):
        answer = peer.try_message(made.other_call(peer, call).message())
        is_made = made.is_other_made()
    else:
        made.undo(second_client)
        answer = peer.try_message(_with_other_credential(peer, call).message())
        is_made = made.is_made()
    _note(made, way, answer, is_made)


@TRANSPORTS
@EACH_VERSION
@proves(COPIES_ARE_EXECUTIONS, killed_by="late-copies-leave-something")
def test_cache_size(
    faults: MakeFaulty,
    second_client: Either,
    scratch: Scratch[t.Any, t.Any],
    budget: Budget,
    nfs_version: str,
    proto: Proto,
) -> None:
    """A duplicate that arrives after many other changes is executed as a new call, or has no effect."""
    change = make_change(nfs_version, "mkdir", scratch)
    peer = faults(proto, change.version)
    trial = Trial(change, peer, scratch.handle, second_client)
    observe(bound_key(change.version, proto, ENTRIES), entries_kept(trial, budget.of(MOST_CALLS, ours=64)))


@side_by_side
@TRANSPORTS
@EACH_VERSION
@proves(COPIES_ARE_EXECUTIONS, killed_by="late-copies-leave-something")
def test_cache_time(
    faults: MakeFaulty,
    second_client: Either,
    scratch: Scratch[t.Any, t.Any],
    nfs_version: str,
    proto: Proto,
) -> Waiting[None]:
    """A duplicate that arrives seconds after its change was undone is executed as a new call, or has no effect."""
    change = make_change(nfs_version, "mkdir", scratch)
    peer = faults(proto, change.version)
    trial = Trial(change, peer, scratch.handle, second_client)
    observe(bound_key(change.version, proto, SECONDS), (yield from seconds_kept(trial)))
