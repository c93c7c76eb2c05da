# SPDX-License-Identifier: MIT
"""Spritely NFS on the embedded server: entries that must not stay, callbacks that must end, and other versions."""

from __future__ import annotations

import typing as t

import pytest

from nfsclient.clients.nfs4 import Nfs4
from nfsclient.clients.nfs4 import operations as op
from nfsclient.clients.snfs import Snfs, SnfsCallbacks
from nfsclient.protocol import nfs4
from nfsclient.protocol import snfs as p
from nfsclient.protocol.nfs2 import Nfsstat2, Sattr
from nfsclient.protocol.snfs import CbMode, Snfsstat
from nfsserver.bounds import MOST
from tests.nfsserver.conftest import ALICE, Rig
from tests.nfsserver.test_snfs import Client, come_again

Make: t.TypeAlias = t.Callable[..., Rig]


def _makes_dirty(client: Client, file: bytes) -> None:
    assert client.snfs.open(file, write_mode=True).status is Snfsstat.NFS_OK
    assert client.snfs.close(file, write_mode=True).status is Snfsstat.NFS_OK


# ---------------------------------------------------------------- the table


@pytest.mark.parametrize("bound", ["entries", "blocks"])
def test_files_that_other_versions_have_read_do_not_fill_the_table(
    make_rig: Make, monkeypatch: pytest.MonkeyPatch, bound: str
) -> None:
    """Other versions never close: what they have not accessed for long is closed when room is needed, too."""
    rig = make_rig(knobs={"snfs_entries": 1 if bound == "entries" else 9})
    if bound == "blocks":
        monkeypatch.setattr(MOST, "snfs_blocks", 2)
    a, file, other = Client(rig), rig.file(b"f"), rig.file(b"g")
    a.snfs.open(file)
    assert rig.nfs3().read(file, 0, 10).status == 0
    a.snfs.close(file)
    if bound == "blocks":
        a.snfs.open(rig.file(b"h"))
    assert a.snfs.open(other).status is Snfsstat.NFSERR_NOSPC
    rig.clock.advance(61)
    assert a.snfs.open(other).status is Snfsstat.NFS_OK


def test_a_loss_that_nobody_waits_for_is_said_at_the_next_open(make_rig: Make) -> None:
    """Section 3.2: the client whose open is honored is informed, also where another file needed the callback."""
    rig = make_rig(knobs={"snfs_entries": 1, "snfs_callback_timeout": 0.05})
    a, b, file, other = Client(rig), Client(rig), rig.file(b"f"), rig.file(b"g")
    _makes_dirty(a, file)
    a.callbacks.silent = True
    assert b.snfs.open(other).status is Snfsstat.NFS_OK
    b.snfs.close(other)
    assert b.snfs.open(file).status is Snfsstat.SNFS_INCONSISTENT
    assert b.snfs.open(file).status is Snfsstat.NFS_OK


def test_losses_of_files_that_are_gone_are_forgotten(make_rig: Make) -> None:
    rig = make_rig(knobs={"snfs_entries": 1, "snfs_callback_timeout": 0.05})
    a, b, file = Client(rig), Client(rig), rig.file(b"f")
    _makes_dirty(a, file)
    a.callbacks.silent = True
    b.snfs.open(rig.file(b"g"))
    assert rig.server.spritely.lost
    b.snfs.remove(rig.root, b"f")
    assert not rig.server.spritely.lost


# ---------------------------------------------------------------- callbacks


def test_a_client_that_connects_again_and_again_is_given_up(
    make_rig: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A callback that may have been lost is made again, but not for ever."""
    monkeypatch.setattr("nfsserver.snfs.calling._MOST_REPEATS", 2)
    rig = make_rig(knobs={"snfs_callback_timeout": 0.3})
    a, b, file = Client(rig), Client(rig), rig.file(b"f")
    a.snfs.open(file, write_mode=True)
    a.callbacks.silent = True
    opening = b.rpc.submit(p.OPEN, p.Openargs(file, 0, False))
    received = 0
    for _ in range(8):
        a.rpc.loop.catch_up()
        received += len(a.callbacks.received)
        come_again(a)
        a.callbacks = SnfsCallbacks(a.rpc)
        a.callbacks.silent = True
        a.snfs.null()
    assert received <= 3
    assert b.rpc.wait(opening).status is Snfsstat.SNFS_INCONSISTENT


def test_a_called_client_that_says_that_it_has_nothing_is_not_dead(rig: Rig) -> None:
    """Its reply was lost with its connection, after it had written back."""
    a, b, file = Client(rig), Client(rig), rig.file(b"f")
    version = a.snfs.open(file, write_mode=True).resok.cache_version
    a.snfs.close(file, write_mode=True)
    a.callbacks.holds = True
    opening = b.rpc.submit(p.OPEN, p.Openargs(file, 0, False))
    a.rpc.loop.catch_up()
    assert a.called == [CbMode.SNFS_CBWRITE]
    come_again(a)
    a.callbacks = SnfsCallbacks(a.rpc)
    a.callbacks.silent = True
    assert a.snfs.reopen(file, cache_version=version).status is Snfsstat.NFS_OK
    assert b.rpc.wait(opening).status is Snfsstat.NFS_OK
    assert a.snfs.open(file).status is Snfsstat.NFS_OK


# ---------------------------------------------------------------- calls that wait


def test_an_open_for_which_there_is_no_room_to_wait_is_refused(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over TCP nobody sends it again for long."""
    monkeypatch.setattr(MOST, "waiting_calls", 1)
    a, b, c, file = Client(rig), Client(rig), Client(rig), rig.file(b"f")
    a.snfs.open(file, write_mode=True)
    a.callbacks.holds = True
    opening = b.rpc.submit(p.OPEN, p.Openargs(file, 0, False))
    b.rpc.loop.catch_up()
    assert c.snfs.open(file).status is Snfsstat.NFSERR_NOSPC
    a.callbacks.release()
    assert b.rpc.wait(opening).status is Snfsstat.NFS_OK


def test_who_may_not_search_a_directory_takes_nothing_from_caches(rig: Rig) -> None:
    directory = rig.nfs3().mkdir(rig.root, b"d").resok.obj
    rig.server.backend.resolve(directory).mode = 0o700
    file = rig.nfs3().create(directory, b"f").resok.obj
    a, stranger = Client(rig), Snfs(rig.rpc(ALICE))
    a.snfs.open(file)
    assert stranger.create(directory, b"f", Sattr(size=0)).status == Nfsstat2.NFSERR_ACCES
    assert a.called == []


# ---------------------------------------------------------------- NFSv4


def _session(rig: Rig) -> t.Any:
    return Nfs4(rig.rpc()).establish(callbacks=True)


def _open4(session: t.Any, file: bytes, wants: int) -> t.Any:
    access = nfs4.OPEN4_SHARE_ACCESS_READ | wants
    owner = nfs4.StateOwner4(session.state.clientid, b"owner")
    return session.compound(op.putfh(file), op.open(None, access, owner=owner))


def test_readers_are_called_before_a_write_delegation_is_granted(make_rig: Make) -> None:
    """Its holder opens the file for writing without asking the server (RFC 5661 section 10.4)."""
    rig = make_rig(knobs={"delegations": "write"})
    a, file = Client(rig), rig.file(b"f")
    rig.clock.advance(61)
    a.snfs.open(file)
    session = _session(rig)
    first = _open4(session, file, nfs4.OPEN4_SHARE_ACCESS_WANT_WRITE_DELEG)
    assert first.status == nfs4.Nfsstat4.NFS4ERR_DELAY
    assert a.called == [CbMode.SNFS_CBINVAL]
    opened = _open4(session, file, nfs4.OPEN4_SHARE_ACCESS_WANT_WRITE_DELEG).of(nfs4.OPEN)
    assert opened.resok4.delegation.delegation_type == nfs4.OpenDelegationType4.OPEN_DELEGATE_WRITE


def test_attributes_are_no_access(rig: Rig) -> None:
    """Whatever else clients of NFSv4 have open (docs/spritely.md)."""
    a, file, other = Client(rig), rig.file(b"f"), rig.file(b"g")
    rig.clock.advance(61)
    a.snfs.open(file, write_mode=True)
    session = _session(rig)
    _open4(session, other, 0)
    attributes = op.getattr("size", "change")
    assert session.compound(op.putfh(file), attributes).status == 0
    assert a.called == []
