# SPDX-License-Identifier: MIT
"""Callbacks that a path client answers and acts upon: CB_GETATTR and CB_NOTIFY_LOCK."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

import pytest

from nfsclient import connect
from nfsclient.clients.nfs4 import Session
from nfsclient.clients.nfs4 import operations as op
from nfsclient.clients.patience import Patience
from nfsclient.errors import NfsStatusError
from nfsclient.highlevel.nfs4.files import NfsFile
from nfsclient.nfs4 import NfsClient
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Fattr4
from nfsclient.rpc.service import CallContext
from tests.nfsserver.nfs4.conftest import Rig4, S, rig4
from tests.waiting import AT_MOST

__all__ = ["rig4"]
WRITE = p.OpenDelegationType4.OPEN_DELEGATE_WRITE
Around = Callable[[CallContext, t.Any], t.Any]


def answers(client: NfsClient) -> list[Fattr4]:
    """What the client has answered to CB_GETATTR."""
    results = [each.result for each in client.live.session.callbacks.received]
    return [
        each.resok4.obj_attributes for each in results if isinstance(each, p.CbGetattr4Res) and each.resok4
    ]


def ask(session: Session, handle: bytes) -> Fattr4:
    """GETATTR by another client, until the server has asked the holder."""
    while True:
        reply = session.compound(op.putfh(handle), op.getattr("change", "size"))
        if reply.status != S.NFS4ERR_DELAY:
            return reply.ok().attributes


def writes(file: NfsFile) -> None:
    file.seek(2)
    file.write(b"345678")


CHANGES: dict[str, tuple[Callable[[NfsFile], object], int]] = {
    "nothing": (lambda _: None, 4),
    "write": (writes, 8),
    "write-inside": (lambda file: file.write(b"ab"), 4),
    "truncate": (lambda file: file.truncate(1), 1),
}


@pytest.mark.parametrize("change", CHANGES)
def test_the_holder_of_a_write_delegation_knows_size_and_change(rig4: Rig4, change: str) -> None:
    act, size = CHANGES[change]
    other = rig4.session()
    handle = rig4.make(other, b"f", b"data")
    before = ask(other, handle)
    holder = rig4.by_path()
    with holder.open("f", "r+") as file:
        assert file.delegation == WRITE
        act(file)
        seen = ask(other, handle)
        assert seen.size == size
        assert (seen.change == before.change) is (
            change == "nothing"
        )  # nothing was modified but by what was sent
        (answer,) = answers(holder)
        assert (answer.size, answer.change) == (size, before.change)


def test_a_file_that_is_written_as_a_whole_has_its_size(rig4: Rig4) -> None:
    holder, other = rig4.by_path(), rig4.session()
    handle = rig4.make(other, b"f", b"data")
    with holder.open("f", "r+") as file:
        assert file.delegation == WRITE
        holder.write_file("f", bytes(100_000))
        assert ask(other, handle).size == 100_000
        holder.setattr("f", Fattr4(size=7))
        assert ask(other, handle).size == 7
    assert [answer.size for answer in answers(holder)] == [100_000, 7]


def test_a_write_that_fails_leaves_the_size_unknown(rig4: Rig4) -> None:
    holder, other = rig4.by_path(), rig4.session()
    handle = rig4.make(other, b"f", b"data")
    with holder.open("f", "r+") as file:
        undo = rig4.server.interpose(p.WRITE, lambda *_: p.Write4Res(S.NFS4ERR_NOSPC))
        with pytest.raises(NfsStatusError):
            file.write(b"more than there is")
        undo()
        assert ask(other, handle).size == 4
        assert [answer.size for answer in answers(holder)] == [None]


@pytest.mark.parametrize("is_announced", [True, False])
def test_a_lock_that_waits_is_tried_again_when_it_may_be_had(rig4: Rig4, is_announced: bool) -> None:
    """With notices, a pause ends when one comes; without, when it is over."""
    rig4.server.knobs.set("lock_notices", is_announced)
    pause = AT_MOST if is_announced else 0.01
    patience = Patience.of(rig4.loop, first=pause, longest=pause, total=2 * AT_MOST)
    url = f"nfs://{rig4.host}:{rig4.server.port}/export?version=4.1&uid=0&gid=0"
    keeper = rig4.session()
    file = rig4.make(keeper, b"f", b"data")
    opening = op.open(None, p.OPEN4_SHARE_ACCESS_BOTH | p.OPEN4_SHARE_ACCESS_WANT_NO_DELEG, owner=b"keeper")
    opened = keeper.compound(op.putfh(file), opening).ok().stateid
    locking = op.lock(opened, p.NfsLockType4.WRITE_LT, 0, 10, owner=b"keeper")
    locked = keeper.compound(op.putfh(file), locking).ok().stateid
    statuses: list[S] = []

    def unlock_after_denial(_server: t.Any, context: CallContext, args: t.Any, proceed: Around) -> t.Any:
        result = proceed(context, args)
        statuses.append(p.status_of(result))
        if len(statuses) == 1:  # the keeper lets go while the other one waits
            request = keeper.state.begin([op.putfh(file), op.locku(locked, 0, 10)])
            t.cast("t.Any", keeper.nfs4.rpc).submit(p.COMPOUND, request.args)
        return result

    client = connect(url, loop=rig4.loop, patience=patience)
    assert isinstance(client, NfsClient)
    with client, client.open("f", "r+") as waiting:
        rig4.server.interpose(p.LOCK, unlock_after_denial)
        waiting.lock(0, 5, wait=True)
    assert (statuses[0], statuses[-1]) == (S.NFS4ERR_DENIED, S.NFS4_OK)
