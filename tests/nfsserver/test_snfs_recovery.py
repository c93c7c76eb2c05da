# SPDX-License-Identifier: MIT
"""Spritely NFS on the embedded server after a restart: what must not come back, and what must not change."""

from __future__ import annotations

import typing as t

import pytest

from nfsclient.clients.snfs import SnfsCallbacks
from nfsclient.protocol.nfs2 import CREATE, Createargs, Diropargs, Sattr
from nfsclient.protocol.nfs3 import StableHow
from nfsclient.protocol.snfs import CbMode, Snfsstat, in_snfs
from tests.nfsserver.conftest import Rig
from tests.nfsserver.test_snfs import Client, come_again

Make: t.TypeAlias = t.Callable[..., Rig]


def _makes_dirty(client: Client, file: bytes) -> int:
    version: int = client.snfs.open(file, write_mode=True).resok.cache_version
    assert client.snfs.close(file, write_mode=True).status is Snfsstat.NFS_OK
    return version


def _crash(rig: Rig, *clients: Client) -> None:
    rig.server.crash()
    for client in clients:
        come_again(client)
        client.callbacks = SnfsCallbacks(client.rpc)


# ---------------------------------------------------------------- clients that were given up


def _overwritten(rig: Rig, a: Client, file: bytes) -> int:
    """`a` was the last writer, was given up, and others have written since: the version that it knows."""
    b, c = Client(rig), Client(rig)
    version = _makes_dirty(a, file)
    a.callbacks.silent = True
    assert b.snfs.open(file, write_mode=True).status is Snfsstat.SNFS_INCONSISTENT
    b.snfs.close(file, write_mode=True)
    c.snfs.open(file)
    c.snfs.close(file)
    assert b.called == [CbMode.SNFS_CBWRITE]
    return version


def test_a_client_that_was_given_up_does_not_come_back_with_a_crash(make_rig: Make) -> None:
    """Section 3.2: it must be prevented from using the file until it has opened it again."""
    rig = make_rig(knobs={"snfs_callback_timeout": 0.05})
    a, file, other = Client(rig), rig.file(b"f"), rig.file(b"g")
    known = a.snfs.open(other).resok.cache_version
    version = _overwritten(rig, a, file)
    _crash(rig, a)
    assert a.snfs.reopen(other, readers=1, cache_version=known).status is Snfsstat.NFS_OK
    for claim in ({"dirty": True}, {"writers": 1}, {"readers": 1}):
        assert a.snfs.reopen(file, cache_version=version, **claim).status is Snfsstat.NFSERR_STALE
    assert a.snfs.write(file, 0, b"old").status == Snfsstat.NFSERR_STALE
    a.snfs.recovered()
    a.snfs.lookup(rig.root, b"f")
    assert a.snfs.open(file).status is Snfsstat.NFS_OK


def test_old_data_is_not_written_back_after_a_crash_by_a_client_whose_end_was_forgotten(
    make_rig: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The list of those that were given up is bounded; the version tells as much."""
    monkeypatch.setattr("nfsserver.state.spritely._MOST_DEAD", 0)
    rig = make_rig(knobs={"snfs_callback_timeout": 0.05})
    a, file = Client(rig), rig.file(b"f")
    a.snfs.open(rig.file(b"g"))
    version = _overwritten(rig, a, file)
    _crash(rig, a)
    assert a.snfs.reopen(file, dirty=True, cache_version=version).status is Snfsstat.NFSERR_STALE


def test_who_was_given_up_for_a_file_is_forgotten_with_it(make_rig: Make) -> None:
    rig = make_rig(knobs={"snfs_callback_timeout": 0.05})
    a, b, file = Client(rig), Client(rig), rig.file(b"f")
    a.snfs.open(file, write_mode=True)
    a.callbacks.silent = True
    b.snfs.open(file)
    assert rig.server.spritely.dead
    b.snfs.remove(rig.root, b"f")
    assert not rig.server.spritely.dead


# ---------------------------------------------------------------- REOPEN


@pytest.mark.parametrize("claim", [{"dirty": True}, {"writers": 1}], ids=["dirty", "writer"])
def test_a_writer_that_reopens_late_gives_the_file_another_version(rig: Rig, claim: dict[str, t.Any]) -> None:
    """Who has read it since keeps data that is old then (section 3.1)."""
    a, b, file = Client(rig), Client(rig), rig.file(b"f", b"old")
    version = _makes_dirty(a, file)
    _crash(rig, a, b)
    rig.clock.advance(11)
    read = b.snfs.open(file).resok.cache_version
    b.snfs.close(file)
    reopened = a.snfs.reopen(file, cache_version=version, **claim)
    assert reopened.status is Snfsstat.NFS_OK
    assert reopened.resok.cache_version != read
    again = a.snfs.reopen(file, cache_version=reopened.resok.cache_version, **claim)
    assert again.resok.cache_version == reopened.resok.cache_version, "it is not late any more"
    opened = b.snfs.open(file).resok
    assert read not in (opened.cache_version, opened.old_cache_vers)
    assert CbMode.SNFS_CBWRITE in a.called or CbMode.SNFS_WRINVAL in a.called


def test_a_reader_that_reopens_late_keeps_its_version(rig: Rig) -> None:
    a, file = Client(rig), rig.file(b"f")
    version = a.snfs.open(file).resok.cache_version
    _crash(rig, a)
    rig.clock.advance(11)
    assert a.snfs.reopen(file, readers=1, cache_version=version).resok.cache_version == version


def test_over_udp_no_reopen_enables_caching(rig: Rig) -> None:
    """Who cannot be called must not cache, however it has come to an open."""
    a, over_udp, file = Client(rig), Client(rig, "udp"), rig.file(b"f")
    version = over_udp.snfs.open(file).resok.cache_version
    over_udp.snfs.close(file)
    reopened = over_udp.snfs.reopen(file, readers=1, dirty=True, cache_version=version)
    assert reopened.status is Snfsstat.NFS_OK
    assert reopened.resok.cache_enabled is False
    assert a.snfs.open(file, write_mode=True).status is Snfsstat.NFS_OK, "nobody is given up for it"
    over_udp.snfs.close(file)
    dirty = over_udp.snfs.reopen(file, dirty=True, cache_version=version)
    assert dirty.status is Snfsstat.NFSERR_STALE


# ---------------------------------------------------------------- what does not change meanwhile


def test_no_creation_empties_a_file_while_the_server_recovers(rig: Rig) -> None:
    """Section 2.4: the state does not change until the server is willing."""
    a, b, file = Client(rig), Client(rig), rig.file(b"f", b"data")
    version = a.snfs.open(file, write_mode=True).resok.cache_version
    _crash(rig, a, b)
    arguments = Createargs(Diropargs(rig.root, b"f"), Sattr(size=0))
    creating = b.rpc.submit(in_snfs(CREATE), arguments)
    b.rpc.loop.catch_up()
    assert not creating.done
    reopened = a.snfs.reopen(file, writers=1, cache_version=version)
    assert (reopened.resok.cache_version, reopened.resok.attributes.size) == (version, 4)
    a.snfs.recovered()
    assert b.rpc.wait(creating).status == 0
    assert a.called == [CbMode.SNFS_WRINVAL]


def test_files_that_nobody_had_are_created_while_the_server_recovers(rig: Rig) -> None:
    a, b = Client(rig), Client(rig)
    a.snfs.open(rig.file(b"f"), write_mode=True)
    _crash(rig, b)
    assert b.snfs.create(rig.root, b"new", Sattr(size=0)).status == Snfsstat.NFS_OK


def test_a_last_writer_whose_open_was_lost_in_the_crash_reopens(rig: Rig) -> None:
    """The version of its file may have grown for the OPEN, and for what the crash took."""
    a, file = Client(rig), rig.file(b"f", b"data")
    rig.nfs3().write(file, 0, b"unstable", StableHow.UNSTABLE)
    rig.clock.advance(61)
    version = _makes_dirty(a, file)
    a.snfs.open(file, write_mode=True)
    _crash(rig, a)
    assert a.snfs.reopen(file, dirty=True, cache_version=version).status is Snfsstat.NFS_OK
