# SPDX-License-Identifier: MIT
"""Changes on the server itself, without NFS, and what its own side shows of clients.

No RFC says how soon a server that caches sees such a change. What it must not do is answer half of it. And a change of
a delegated file waits for its holder, as one by another protocol does (RFC 5661 section 10.2).
"""

from __future__ import annotations

import typing as t

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch
from fixtures.checks.side_by_side import Wait, Waiting, side_by_side
from fixtures.checks.target import TargetView
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsjudge import expect, expect_data, expect_that, proves, skip, stated
from suites.nfs4.delegations import (
    ACCESS,
    CONFLICT_RECALLS,
    KEPT_FOR_A_LEASE,
    Granted,
    delegated,
    recalls,
    seconds_for,
    seconds_to_see_nothing,
)
from suites.nfs4.other_versions import OTHERS_WAIT
from suites.nfs4.test_destroy_clientid import DESTROYS_THE_CLIENT

CHANGE_TELLS = stated(
    "RFC 5661",
    "5.8.1.4",
    "by the value of change a client can tell whether data or attributes of the object have been modified",
    also={"4.0": ("RFC 7530", "5.8.1.4")},
)
_NAME: t.Final = b"file"
_ARRIVES: t.Final = 8.0
"""Seconds for a recall to arrive, and for the change to go on afterwards."""
_AT_LAST: t.Final = 30.0
"""Seconds, and no longer than a lease, after which a recall is missing though the change has not been made."""
_QUIET: t.Final = 1.0
_NOTICES: t.Final = 3.0
"""Seconds for a server that caches to see a change."""


def _size(granted: Granted) -> int:
    reply = granted.holder.compound(op.putfh(granted.file), op.getattr("size"))
    return expect(reply).ok().attributes.size or 0


@side_by_side(keeps_control=True)
@pytest.mark.late
@pytest.mark.parametrize("access", [*ACCESS.values()], ids=[*ACCESS])
@pytest.mark.parametrize("how", ["touch", "remove"])
@proves(
    OTHERS_WAIT,
    CONFLICT_RECALLS,
    KEPT_FOR_A_LEASE,
    killed_by=("open4-invents-delegations", "nfs4-local-changes-do-not-wait"),
)
def test_recall(target: TargetView, v4: Nfs4Dialect, how: str, access: int) -> Waiting[None]:
    """A change of a delegated file on the server itself recalls the delegation, and waits for its return."""
    granted = yield from delegated(v4, v4.scratch, access, _NAME)
    change = target.begin_locally(v4.scratch.name + b"/" + _NAME, remove=how == "remove")

    def came() -> bool:
        return bool(recalls(granted.holder))

    def comes_or_is_done() -> bool:
        return came() or change.is_over

    if not (yield from granted.serve(comes_or_is_done, seconds_for(v4, _ARRIVES))):
        at_last = (
            min(_AT_LAST, granted.lease.seconds) - _ARRIVES
        )  # it is put off, and nothing has gone wrong yet
        waits = v4.connections.waits
        yield from granted.serve(
            comes_or_is_done, seconds_to_see_nothing(v4, waits.seconds("local recall", at_last, 0.0))
        )
        waits.note("local recall", came=came())
    if not came():
        yield Wait(seconds_to_see_nothing(v4, _QUIET), came)
    expect_that(came(), "CB_RECALL", "no CB_RECALL")
    yield from change.ending(seconds_to_see_nothing(v4, _QUIET, granted.lease))
    granted.need_kept()
    if how == "touch":
        expect(_size(granted), "size of the file before DELEGRETURN", field="size").equals(0)
    else:
        names = v4.scratch.names()
        expect_that(_NAME in names, "the name of the file before DELEGRETURN", "no such name")
    granted.give_back()
    if not (yield from change.ending(seconds_for(v4, _ARRIVES))):
        skip("the change on the server has not ended after DELEGRETURN")


@side_by_side(keeps_control=True)
@proves(CHANGE_TELLS, killed_by="getattr4-change-stands")
def test_change_attribute(target: TargetView, scratch: Nfs4Scratch, v4: Nfs4Dialect) -> Waiting[None]:
    """A file that has grown without NFS, as its size shows, has another change attribute."""
    file = scratch.file(_NAME, b"data")
    before = scratch.attributes(file, "change", "size")
    target.touch_locally(scratch.name + b"/" + _NAME)

    def after() -> p.Fattr4:
        return scratch.attributes(file, "change", "size")

    now = v4.connections.now
    deadline = now() + seconds_for(v4, v4.connections.waits.seconds("local change", _NOTICES, 0.1))
    seen = after()
    while seen.size == before.size and now() < deadline:
        yield Wait(0.1)
        seen = after()
    v4.connections.waits.note("local change", came=seen.size != before.size)
    if seen.size == before.size:
        skip("the server has not noticed the change yet")
    expect(seen).field("change").differs_from(before.change)
    data = scratch.read(file)
    expect(len(data), "bytes that can be read").at_least(seen.size or 0)
    expect_data(data[:4], b"data")


def _status(target: TargetView, ownerid: bytes) -> str | None:
    """Of the client with this owner id among those that the server knows; None if there is none."""
    name = ownerid.decode("utf-8", "backslashreplace")
    return next((client.status for client in target.known_clients() if client.name == name), None)


@proves(DESTROYS_THE_CLIENT, killed_by="destroyclientid4-destroys-nothing")
def test_clients(target: TargetView, v4: Nfs4Dialect) -> None:
    """The server knows a client that has made a session, and does not know it after DESTROY_CLIENTID."""
    session = v4.new_session()
    client = session.client
    assert client is not None
    expect(_status(target, client.owner.co_ownerid), "status of the client").equals("confirmed")
    expect(session.destroy()).ok()
    expect(client.destroy()).ok()
    gone = _status(target, client.owner.co_ownerid)
    expect(gone, "status of the client after DESTROY_CLIENTID").equals(None)
