# SPDX-License-Identifier: MIT
"""Spritely NFS on the embedded server: what the suite of checks cannot see, or does not ask."""

from __future__ import annotations

import typing as t

import pytest

from nfsclient.clients import Nfs2
from nfsclient.clients.snfs import Snfs, SnfsCallbacks
from nfsclient.errors import ProcUnavail, RpcTimeout
from nfsclient.protocol import snfs as p
from nfsclient.protocol.nfs3 import Nfsstat3
from nfsclient.protocol.snfs import CbMode, Snfsstat
from nfsserver.bounds import MOST
from tests.nfsserver.conftest import Rig

Make: t.TypeAlias = t.Callable[..., Rig]
AnySnfs: t.TypeAlias = t.Any


class Client:
    """A client that answers callbacks."""

    def __init__(self, rig: Rig, proto: str = "tcp") -> None:
        self.rpc = rig.rpc(proto=proto, source_port=0)
        self.snfs: AnySnfs = Snfs(self.rpc)
        self.callbacks = SnfsCallbacks(self.rpc)

    @property
    def called(self) -> list[CbMode]:
        self.rpc.loop.catch_up()
        return [each.cbmode for each in self.callbacks.received]


def come_again(client: Client) -> None:
    """Connect again from the same port, as the same client."""
    before = client.rpc.local_address
    client.rpc.reconnect(same_port=True)
    if client.rpc.local_address != before:
        pytest.skip("the port of the client is not free any more, and from another one it is another client")


@pytest.fixture
def a(rig: Rig) -> Client:
    return Client(rig)


@pytest.fixture
def b(rig: Rig) -> Client:
    return Client(rig)


def test_a_server_is_not_called_back(rig: Rig, a: Client) -> None:
    """CALLBACK is of clients (section 4.2.4)."""
    file = rig.file(b"f")
    attributes: t.Any = Nfs2(a.rpc).getattr(file).resok
    with pytest.raises(ProcUnavail):
        a.rpc.call(p.CALLBACK, p.Callbackargs(file, CbMode.SNFS_CBINVAL, 0, attributes))


def test_who_cannot_be_called_does_not_cache(rig: Rig) -> None:
    """Over UDP there is no way back (docs/spritely.md)."""
    rig.file(b"f")
    client = Client(rig, "udp")
    found = client.snfs.lookup(rig.root, b"f").resok
    assert client.snfs.open(found.file, write_mode=True).resok.cache_enabled is False


def test_directories_are_not_opened(rig: Rig, a: Client) -> None:
    assert a.snfs.open(rig.root).status is Snfsstat.NFSERR_ISDIR


def test_an_open_over_udp_finds_the_callback_done_when_it_comes_again(rig: Rig, a: Client) -> None:
    """Section 3.2: when the client times out and retries, no harm is done."""
    file = rig.file(b"f")
    a.snfs.open(file, write_mode=True)
    over_udp = Client(rig, "udp")
    a.callbacks.holds = True
    with pytest.raises(RpcTimeout):
        over_udp.rpc.call(p.OPEN, p.Openargs(file, 0, False), timeout=0.2)
    a.callbacks.release()
    assert over_udp.snfs.open(file).status is Snfsstat.NFS_OK
    assert a.called == [CbMode.SNFS_WRINVAL]


def test_a_client_that_writes_back_slowly_is_not_given_up(make_rig: Make) -> None:
    """A callback is made again while its client writes (section 3.2: reissuing is safe)."""
    rig = make_rig(knobs={"snfs_callback_timeout": 0.1})
    a, b = Client(rig), Client(rig)
    file = rig.file(b"f")
    a.snfs.open(file, write_mode=True)
    a.callbacks.holds = True
    opening = b.rpc.submit(p.OPEN, p.Openargs(file, 0, False))
    for block in range(4):
        a.rpc.loop.run_until(lambda: len(a.callbacks.received) > block, a.rpc.loop.clock() + 10)  # noqa: B023
        assert not opening.done
        assert a.snfs.write(file, block * 512, bytes(512)).status == 0
    a.callbacks.release()
    assert b.rpc.wait(opening).status is Snfsstat.NFS_OK


def test_a_client_that_connects_again_in_time_is_called_then(rig: Rig, b: Client) -> None:
    file = rig.file(b"f")
    a = Client(rig)
    a.snfs.open(file, write_mode=True)
    come_again(a)
    a.callbacks = SnfsCallbacks(a.rpc)
    opening = b.rpc.submit(p.OPEN, p.Openargs(file, 0, False))
    b.rpc.loop.catch_up()
    assert not opening.done
    a.snfs.null()
    assert b.rpc.wait(opening).status is Snfsstat.NFS_OK
    assert a.called == [CbMode.SNFS_WRINVAL]


def test_clients_that_come_and_go_do_not_fill_the_memory(
    make_rig: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The state of a client stays when its connection ends, and each connection is a client."""
    monkeypatch.setattr(MOST, "snfs_blocks", 3)
    rig = make_rig(knobs={"snfs_callback_timeout": 0.05})
    file, first = rig.file(b"f"), Client(rig)
    statuses = [first.snfs.open(file).status] + [Client(rig).snfs.open(file).status for _ in range(4)]
    assert statuses == [Snfsstat.NFS_OK] * 3 + [Snfsstat.NFSERR_NOSPC] * 2
    assert first.snfs.open(file).status is Snfsstat.NFS_OK, "who is known may open once more"
    stranger = Client(rig)
    reopened = stranger.snfs.reopen(file, readers=1, cache_version=0)
    assert reopened.status in (Snfsstat.NFSERR_NOSPC, Snfsstat.NFSERR_STALE)
    for _ in range(2):
        first.snfs.close(file)
    assert stranger.snfs.open(file).status is Snfsstat.NFS_OK


def test_opens_that_come_again_and_again_do_not_fill_the_memory(
    rig: Rig, a: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over UDP an open that has to wait has no answer, and each may have another XID."""
    monkeypatch.setattr(MOST, "snfs_waiting", 2)
    file, over_udp = rig.file(b"f"), Client(rig, proto="udp")
    a.snfs.open(file, write_mode=True)
    a.callbacks.holds = True
    for _ in range(2):
        with pytest.raises(RpcTimeout):
            over_udp.rpc.call(p.OPEN, p.Openargs(file, 0, False), timeout=0.1)
    assert over_udp.snfs.open(file).status is Snfsstat.NFSERR_NOSPC
    a.callbacks.release()
    a.rpc.loop.catch_up()


def test_a_client_that_writes_for_ever_is_given_up(make_rig: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nfsserver.snfs.calling._MOST_REPEATS", 2)
    rig = make_rig(knobs={"snfs_callback_timeout": 0.05})
    a, b = Client(rig), Client(rig)
    file = rig.file(b"f")
    a.snfs.open(file, write_mode=True)
    a.callbacks.holds = True
    opening = b.rpc.submit(p.OPEN, p.Openargs(file, 0, False))
    deadline = a.rpc.loop.clock() + 10
    while not opening.done and a.rpc.loop.clock() < deadline:
        a.snfs.write(file, 0, bytes(512))
    assert b.rpc.wait(opening).status is Snfsstat.SNFS_INCONSISTENT
    assert len(a.callbacks.received) == 3


def test_an_open_recalls_a_delegation_and_waits_for_it(rig: Rig, a: Client) -> None:
    """Other versions and SNFS give way to each other."""
    from nfsclient.clients.nfs4 import Nfs4
    from nfsclient.clients.nfs4 import operations as op
    from nfsclient.protocol import nfs4

    file = rig.file(b"f")
    session = Nfs4(rig.rpc()).establish(callbacks=True)
    access = nfs4.OPEN4_SHARE_ACCESS_READ | nfs4.OPEN4_SHARE_ACCESS_WANT_READ_DELEG
    opened: t.Any = session.compound(
        op.putfh(file), op.open(None, access, owner=nfs4.StateOwner4(session.state.clientid, b"owner"))
    ).of(nfs4.OPEN)
    stateid = opened.resok4.delegation.read.stateid
    a.snfs.lookup(rig.root, b"f")
    opening = a.rpc.submit(p.OPEN, p.Openargs(file, 0, True))
    a.rpc.loop.catch_up()
    assert not opening.done
    session.compound(op.putfh(file), op.delegreturn(stateid))
    assert a.rpc.wait(opening).status is Snfsstat.NFS_OK


def test_version_3_is_put_off_while_a_client_writes_back(rig: Rig, a: Client) -> None:
    file = rig.file(b"f")
    a.snfs.open(file, write_mode=True)
    rig.clock.advance(61)  # what made the file is forgotten
    a.callbacks.holds = True
    nfs3 = rig.nfs3()
    assert nfs3.read(file, 0, 10).status is Nfsstat3.NFS3ERR_JUKEBOX
    assert a.snfs.write(file, 0, b"new").status == 0
    a.callbacks.release()
    a.rpc.loop.catch_up()
    assert bytes(nfs3.read(file, 0, 10).resok.data) == b"new"


@pytest.mark.parametrize("procedure", ["OPEN", "CLOSE"])
def test_a_call_that_waits_is_not_carried_out_when_its_connection_has_ended(
    rig: Rig, a: Client, b: Client, procedure: str
) -> None:
    """Its client says by REOPEN what it has open, and makes the call once more, as a new one."""
    file = rig.file(b"f")
    a.snfs.open(file, write_mode=True)
    a.callbacks.holds = True
    opening = b.rpc.submit(p.OPEN, p.Openargs(file, 0, False))
    a.rpc.loop.run_until(lambda: a.callbacks.withheld == 1, a.rpc.loop.clock() + 5)
    waits = b
    if procedure == "CLOSE":
        waits = a
        a.rpc.submit(p.CLOSE, p.Closeargs(file, True))
    waits.rpc.loop.catch_up()
    come_again(waits)
    if procedure == "OPEN":
        a.callbacks.release()
        a.rpc.loop.catch_up()
        a.snfs.getattr(file)  # and then what waits is answered
        assert b.snfs.close(file).status is Snfsstat.NFSERR_STALE
    else:
        reopening = a.rpc.submit(p.REOPEN, p.Reopenargs(file, 0, 0, 1, False, 2))  # brings the callback again
        a.rpc.loop.run_until(lambda: a.callbacks.withheld == 2, a.rpc.loop.clock() + 5)
        a.callbacks.release()
        assert a.rpc.wait(reopening).status is Snfsstat.NFS_OK
        assert b.rpc.wait(opening).status is Snfsstat.NFS_OK
        assert a.snfs.close(file, write_mode=True).status is Snfsstat.NFS_OK
    assert not any(entry.waiting for entry in rig.server.spritely.entries.values())


def test_a_client_that_may_cache_since_it_reopened_is_called_again(rig: Rig, a: Client) -> None:
    """What it was called for before does not count any more: the writer that it was called for has not come again."""
    file = rig.file(b"f")
    rig.clock.advance(61)  # what made the file is forgotten
    a.snfs.open(file)
    nfs3 = rig.nfs3()
    for calls in (1, 2):
        assert nfs3.write(file, 0, b"data").status is Nfsstat3.NFS3ERR_JUKEBOX
        assert a.called == [CbMode.SNFS_CBINVAL] * calls
        assert a.snfs.reopen(file, readers=1, cache_version=1).resok.cache_enabled is True
    assert nfs3.write(file, 0, b"data").status is Nfsstat3.NFS3ERR_JUKEBOX
    assert len(a.called) == 3
    assert nfs3.write(file, 0, b"data").status is Nfsstat3.NFS3_OK


def test_a_file_that_version_3_has_just_written_is_not_cached(rig: Rig, a: Client) -> None:
    """Its client may look for changes for a while (section 6.1)."""
    file = rig.file(b"f")
    a.snfs.open(file)
    a.snfs.close(file)
    rig.nfs3().write(file, 0, b"data")
    assert a.snfs.open(file).resok.cache_enabled is False
    a.snfs.close(file)
    rig.clock.advance(60)
    assert a.snfs.open(file).resok.cache_enabled is True


def test_creation_of_a_file_that_exists_empties_the_caches_of_others(rig: Rig, a: Client, b: Client) -> None:
    from nfsclient.protocol.nfs2 import Sattr

    file = rig.file(b"f", b"data")
    known = a.snfs.open(file).resok.cache_version
    assert b.snfs.create(rig.root, b"f", Sattr(size=0)).status == 0
    assert a.called == [CbMode.SNFS_CBINVAL]
    a.snfs.close(file)
    opened = a.snfs.open(file).resok
    assert known not in (opened.cache_version, opened.old_cache_vers)


def test_a_removed_file_needs_no_write_back(rig: Rig, a: Client, b: Client) -> None:
    """Section 4.2.5: delayed writes of a removed file are cancelled."""
    file = rig.file(b"f")
    a.snfs.open(file, write_mode=True)
    a.snfs.close(file, write_mode=True)
    assert b.snfs.remove(rig.root, b"f").status == 0
    assert a.called == []
    assert not rig.server.spritely.entries


def test_the_table_may_be_full_of_open_files(make_rig: Make) -> None:
    rig = make_rig(knobs={"snfs_entries": 1})
    a = Client(rig)
    assert a.snfs.open(rig.file(b"f")).status is Snfsstat.NFS_OK
    assert a.snfs.open(rig.file(b"g")).status is Snfsstat.NFSERR_NOSPC


def test_an_open_that_is_sent_again_counts_once_on_a_server_without_a_reply_cache(make_rig: Make) -> None:
    rig = make_rig(knobs={"replay_cache": False})
    a, file = Client(rig), rig.file(b"f")
    for _ in range(2):
        a.rpc.call(p.OPEN, p.Openargs(file, 0, False), xid=7)
    a.snfs.close(file)
    assert a.snfs.close(file).status is Snfsstat.NFSERR_STALE


def test_a_lost_write_back_may_refuse_the_open_once(make_rig: Make) -> None:
    rig = make_rig(knobs={"snfs_callback_timeout": 0.05, "snfs_honors_lost": False})
    a, b, file = Client(rig), Client(rig), rig.file(b"f")
    a.snfs.open(file, write_mode=True)
    a.callbacks.silent = True
    assert b.snfs.open(file).status is Snfsstat.NFSERR_IO
    assert b.snfs.open(file).status is Snfsstat.NFS_OK


@pytest.mark.parametrize("status", [Snfsstat.NFSERR_STALE, Snfsstat.SNFS_CLOSED])
def test_a_client_that_has_nothing_loses_nothing(rig: Rig, a: Client, b: Client, status: Snfsstat) -> None:
    file = rig.file(b"f")
    a.snfs.open(file, write_mode=True)
    a.callbacks.on = lambda _args: status
    opened = b.snfs.open(file)
    assert opened.status is Snfsstat.NFS_OK
    assert opened.resok.cache_enabled is True
    assert a.snfs.open(file).status is Snfsstat.NFS_OK  # it is not dead


def test_a_reopen_that_comes_late_is_judged_by_what_others_have_done(rig: Rig, a: Client, b: Client) -> None:
    file = rig.file(b"f")
    version = a.snfs.open(file).resok.cache_version
    rig.server.restart(clean=False)
    rig.clock.advance(11)
    for client in (a, b):
        client.rpc.reconnect()
        client.callbacks = SnfsCallbacks(client.rpc)
    assert a.snfs.reopen(file, readers=1, cache_version=version).status is Snfsstat.NFS_OK
    b.snfs.open(file, write_mode=True)
    a.snfs.close(file)
    assert a.snfs.reopen(file, readers=1, cache_version=version).status is Snfsstat.NFSERR_STALE


def test_a_restart_without_clients_waits_for_nobody(rig: Rig, a: Client) -> None:
    file = rig.file(b"f")
    a.snfs.open(file)
    a.snfs.close(file)
    rig.server.restart()
    a.rpc.reconnect()
    assert a.snfs.open(file).status is Snfsstat.NFS_OK


def test_an_open_may_wait_for_the_end_of_recovery(make_rig: Make) -> None:
    rig = make_rig(knobs={"snfs_recovery": "wait"})
    a, b, file = Client(rig), Client(rig), rig.file(b"f")
    a.snfs.open(file, write_mode=True)
    rig.server.restart(clean=False)
    b.rpc.reconnect()
    opening = b.rpc.submit(p.OPEN, p.Openargs(file, 0, False))
    b.rpc.loop.catch_up()
    assert not opening.done
    rig.clock.advance(11)
    assert b.rpc.wait(opening).status is Snfsstat.NFS_OK


def test_a_client_that_reopens_nothing_has_nothing(make_rig: Make) -> None:
    """As after a lost OPEN that was executed: neither the state of the file nor its entry stays."""
    rig = make_rig(knobs={"snfs_entries": 1})
    a, b, file, other = Client(rig), Client(rig), rig.file(b"f"), rig.file(b"g")
    for is_closed in (False, True):
        version = a.snfs.open(file, write_mode=True).resok.cache_version
        if is_closed:
            a.snfs.close(file, write_mode=True)
        assert a.snfs.reopen(file, cache_version=version).status is Snfsstat.NFS_OK
        assert not rig.server.spritely.entries
        assert b.snfs.open(other).status is Snfsstat.NFS_OK
        b.snfs.close(other)


def test_a_reader_that_reopens_as_a_writer_shares_the_file(rig: Rig, a: Client, b: Client) -> None:
    file = rig.file(b"f")
    version = a.snfs.open(file).resok.cache_version
    b.snfs.open(file)
    reopened = a.snfs.reopen(file, readers=1, writers=1, cache_version=version)
    assert reopened.resok.cache_enabled is False
    assert b.called == [CbMode.SNFS_CBINVAL]


def test_a_writer_that_reopens_as_a_clean_reader_leaves_nothing_to_write_back(
    rig: Rig, a: Client, b: Client
) -> None:
    file = rig.file(b"f")
    version = a.snfs.open(file, write_mode=True).resok.cache_version
    a.snfs.reopen(file, readers=1, cache_version=version)
    a.snfs.close(file)
    assert not rig.server.spritely.entries
    b.snfs.open(file)
    assert not a.called


@pytest.mark.parametrize("versions", ["file", "counter"])
def test_a_version_that_nobody_was_given_is_not_reopened(make_rig: Make, versions: str) -> None:
    """Versions have 32 bits: a client that claims the highest one would end them for all."""
    rig = make_rig(knobs={"snfs_versions": versions})
    a, file = Client(rig), rig.file(b"f")
    a.snfs.open(file, write_mode=True)
    rig.server.restart(clean=False)
    come_again(a)
    reopened = a.snfs.reopen(file, writers=1, cache_version=0xFFFF_FFFF)
    assert reopened.status is Snfsstat.NFSERR_STALE
    a.snfs.recovered()
    assert a.snfs.open(file, write_mode=True).status is Snfsstat.NFS_OK
