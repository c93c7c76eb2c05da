# SPDX-License-Identifier: MIT
"""Each bound of the server is filled by a client: it gets the refusal that the table names, and others are served."""

from __future__ import annotations

import re
import socket
import typing as t
from collections.abc import Callable
from pathlib import Path

import pytest

from nfsclient.clients import Rpcbind, nfs4
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs3 import Nfsstat3
from nfsclient.protocol.nfs4.acl import Nfsace4
from nfsclient.protocol.portmap import IPPROTO_TCP
from nfsclient.rpc.auth import AuthSys
from nfsclient.rpc.messages import ReplyHeader
from nfsclient.rpc.record import frame
from nfsclient.sessions.reply import CompoundError
from nfsclient.xdr import XdrType
from nfsserver.bounds import MOST, Bounds
from nfsserver.state.records import Session
from tests.nfsserver.nfs4.conftest import Rig4, S
from tests.nfsserver.test_hostile import PEER, message_of

Fill: t.TypeAlias = Callable[[Rig4], None]
FILLS: dict[str, tuple[int, Fill]] = {}
ELSEWHERE = {"dialed", "waiting_calls", "waiting_bytes", "registrations", "snfs_blocks", "snfs_waiting"}
"""Those that `test_dialing.py`, `nfs4/test_waiting.py`, `test_binding.py` and `test_snfs.py` fill."""


def fills(name: str, most: int) -> Callable[[Fill], Fill]:
    """The test of a bound, which is this small in it."""

    def note(function: Fill) -> Fill:
        FILLS[name] = most, function
        return function

    return note


@pytest.mark.parametrize("name", [name for name, *_ in Bounds.rows() if name not in ELSEWHERE])
def test_a_bound_is_filled(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    most, fill = FILLS[name]
    rig = Rig4()
    rig.listen()
    other = rig.nfs3()
    monkeypatch.setattr(MOST, name, most)
    fill(rig)
    assert other.getattr(rig.root).status == Nfsstat3.NFS3_OK
    rig.close()


def test_the_documentation_has_each_bound() -> None:
    text = (Path(__file__).resolve().parents[2] / "docs" / "architecture.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `(\w+)` \| ([\d,]+) \| (.+) \| (.*) \|$", text, re.MULTILINE)
    assert [tuple(row) for row in listed if row[0] in {name for name, *_ in Bounds.rows()}] == [
        (name, f"{most:,}", what, above or "-") for name, most, what, above in Bounds.rows()
    ]


# ---------------------------------------------------------------- helpers


def compound(rig: Rig4, count: int, operations: bytes, *, minor: int = 1, tag: bytes = b"") -> p.Compound4Res:
    """The reply to a compound that says `count`, made of bytes."""
    padded = tag + bytes(-len(tag) % 4)
    head = len(tag).to_bytes(4, "big") + padded + minor.to_bytes(4, "big") + count.to_bytes(4, "big")
    reply = rig.server.messages.answer(message_of(p.COMPOUND, head + operations), PEER, "tcp")
    assert reply is not None
    data = b"".join(reply)
    _, at = ReplyHeader.unpack_from(data)
    return p.Compound4Res.from_xdr(data[at:])


def packed(*operations: XdrType) -> bytes:
    whole = p.Compound4Args(b"", 1, list(operations)).to_xdr()
    return whole[12:]


def state_of(rig: Rig4, session: nfs4.Session) -> Session:
    return rig.server.states.sessions.require(session.id)


def opened(
    rig: Rig4, session: nfs4.Session, name: bytes = b"file", owner: bytes = b"o"
) -> tuple[bytes, p.Stateid4]:
    """A file, open for writing: its handle and the stateid."""
    how = op.unchecked()
    opening = op.open(name, 3 | p.OPEN4_SHARE_ACCESS_WANT_NO_DELEG, owner=owner, how=how)
    reply = session.compound(op.putfh(rig.root), opening, op.getfh()).ok()
    return reply.handle, reply.stateid


# ---------------------------------------------------------------- connections


@fills("buffered_bytes", 1 << 20)
def _buffered_bytes(rig: Rig4) -> None:
    """Half of a call on each of several connections: those with the most are closed, a small one stays."""
    sockets = [socket.create_connection((rig.host, rig.server.port)) for _ in range(4)]
    small, *large = sockets
    rpc = rig.server._rpc
    assert rpc is not None
    rpc.max_buffered = MOST.buffered_bytes
    for connection, size in ((small, 1000), *((client, 600_000) for client in large)):
        connection.setblocking(False)
        left = memoryview(b"".join(frame([bytes(1 << 20)])))[:size]
        while left:
            try:
                left = left[connection.send(left) :]
            except BlockingIOError:
                rig.loop.run_once(rig.loop.clock() + 0.01)
            except OSError:
                break
    rig.loop.catch_up()
    assert sum(connection.buffered for connection in rpc.connections) <= MOST.buffered_bytes
    held = sorted(connection.buffered for connection in rpc.connections)
    assert held[:2] == [0, 1000]  # `other`, and the small one
    assert len(held) < 5
    for sock in sockets:
        sock.close()
    rig.loop.catch_up()


# ---------------------------------------------------------------- one compound


@fills("operations", 64)
def _operations(rig: Rig4) -> None:
    session = rig.session()
    granted = state_of(rig, session).fore.operations
    assert granted == MOST.operations
    slot = state_of(rig, session).slots[0]
    before = slot.sequence_id
    asked = op.sequence(session.id, before + 1, 0, 0)
    reply = compound(rig, granted + 1, packed(asked, *[op.putrootfh()] * granted))
    assert reply.status == S.NFS4ERR_TOO_MANY_OPS
    assert (
        len(reply.resarray) == granted + 1
    )  # the one that is too many gets it; what came before was executed
    assert slot.sequence_id == before + 1


@fills("decoded_operations", 200)
def _decoded_operations(rig: Rig4) -> None:
    """What follows SEQUENCE is not looked at: it is nothing that could be decoded."""
    session = rig.session()
    slot = state_of(rig, session).slots[0]
    before = slot.sequence_id
    head = packed(op.sequence(session.id, before + 1, 0, 0))
    reply = compound(rig, 100_000, head + b"\xff" * 500_000, tag=b"tag")
    assert (reply.status, bytes(reply.tag), len(reply.resarray)) == (S.NFS4ERR_TOO_MANY_OPS, b"tag", 1)
    assert slot.sequence_id == before
    session.compound(op.putrootfh()).ok()
    for first in (packed(op.exchange_id(p.ClientOwner4(bytes(8), b"o"))), packed(op.putrootfh()), b""):
        reply = compound(rig, 100_000, first + b"\xff" * 500_000)
        assert (reply.status, reply.resarray) == (S.NFS4ERR_TOO_MANY_OPS, [])
    assert compound(rig, 100_000, bytes(400_000), minor=0).status == S.NFS4ERR_MINOR_VERS_MISMATCH
    assert compound(rig, 100_000, bytes(400_000), tag=b"\xff").status == S.NFS4ERR_INVAL
    unknown = packed(op.sequence(bytes(16), 1, 0, 0))
    assert compound(rig, 100_000, unknown + bytes(400_000)).status == S.NFS4ERR_BADSESSION


@fills("request_bytes", 4096)
def _request_bytes(rig: Rig4) -> None:
    session = rig.session()
    assert state_of(rig, session).fore.request == MOST.request_bytes
    before = state_of(rig, session).slots[0].sequence_id
    head = packed(op.sequence(session.id, before + 1, 0, 0), op.lookup(bytes(5000)))
    reply = compound(rig, 2, head)
    assert (reply.status, len(reply.resarray)) == (S.NFS4ERR_REQ_TOO_BIG, 2)
    assert state_of(rig, session).slots[0].sequence_id == before + 1


@fills("decoded_bytes", 4096)
def _decoded_bytes(rig: Rig4) -> None:
    session = rig.session()
    head = packed(op.sequence(session.id, 1, 0, 0))
    fore = state_of(rig, session).fore
    reply = compound(rig, 2, head + b"\xff" * (fore.request + 1))
    assert (reply.status, len(reply.resarray)) == (S.NFS4ERR_REQ_TOO_BIG, 1)
    reply = compound(rig, 1, b"\xff" * (fore.request + 1))
    assert (reply.status, reply.resarray) == (S.NFS4ERR_REQ_TOO_BIG, [])


@fills("bitmap_words", 64)
def _bitmap_words(rig: Rig4) -> None:
    session = rig.session()
    handle, stateid = opened(rig, session)
    most = [0] * (MOST.bitmap_words - 1) + [1]
    assert session.compound(op.putfh(handle), p.Getattr4Args(most)).status == S.NFS4_OK
    ones = [*[0] * 10, *[0xFFFF_FFFF] * 20_000]
    fattr = p.Fattr4(attrmask=tuple(ones))
    for asked in (
        p.Getattr4Args([*most, 1]),
        p.Getattr4Args(ones),
        op.setattr(fattr, stateid),
        p.Verify4Args(fattr),
        p.Nverify4Args(fattr),
    ):
        assert session.compound(op.putfh(handle), asked).status == S.NFS4ERR_BADXDR
    making: tuple[XdrType, ...] = (
        op.mkdir(b"d", fattr),
        op.open(b"new", 3, owner=b"o", how=op.guarded(fattr)),
        p.Readdir4Args(0, bytes(8), 1000, 10_000, ones),
    )
    for made in making:
        assert session.compound(op.putfh(rig.root), made).status == S.NFS4ERR_BADXDR


# ---------------------------------------------------------------- NFSv4 clients


@fills("clients", 3)
def _clients(rig: Rig4) -> None:
    nfs4 = rig.nfs4()
    found = [nfs4.exchange_id(p.ClientOwner4(bytes(8), b"%d" % number)).eir_status for number in range(5)]
    assert found == [S.NFS4_OK] * 3 + [S.NFS4ERR_DELAY] * 2


@fills("sessions", 2)
def _sessions(rig: Rig4) -> None:
    client = rig.nfs4().new_client()
    client.create_session()
    client.create_session()
    with pytest.raises(CompoundError, match="NFS4ERR_NOSPC"):
        client.create_session()


@fills("reply_cache", 100_000)
def _reply_cache(rig: Rig4) -> None:
    rig.server.knobs.update(session_slots=100)
    attributes = p.ChannelAttrs4(0, 4096, 4096, 200, 8, 100, [])
    slots = [len(state_of(rig, rig.session(fore=attributes)).slots) for _ in range(3)]
    assert slots == [100, 1, 1]


@fills("slot_bytes", 2000)
def _slot_bytes(rig: Rig4) -> None:
    attributes = p.ChannelAttrs4(0, 4096, 4096, 200, 8, 4, [])
    rig.session(fore=attributes)
    assert rig.server.states.sessions.cache_size == 4 * (200 + 2000)


@fills("cached_reply", 600)
def _cached_reply(rig: Rig4) -> None:
    session = rig.session()
    asked = (op.putfh(rig.root), *[op.getattr("type", "change")] * 30)
    assert session.compound(*asked, cache_this=True).status == S.NFS4ERR_REP_TOO_BIG_TO_CACHE
    assert session.compound(*asked).status == S.NFS4_OK
    slot = state_of(rig, session).slots[0]
    assert compound(rig, 1, packed(op.sequence(session.id, slot.sequence_id + 1, 0, 0)), tag=b"t" * 5000).tag
    assert slot.reply.tag == b""


@fills("callback_slots", 2)
def _callback_slots(rig: Rig4) -> None:
    back = p.ChannelAttrs4(0, 4096, 4096, 4096, 8, 1 << 31, [])
    assert state_of(rig, rig.session(back=back)).callback_slots == [0, 0]


@fills("callback_flavors", 2)
def _callback_flavors(rig: Rig4) -> None:
    user = p.AuthsysParms(1, b"machine" * 30, 5, 5, [1] * 16)
    offered = [p.CallbackSecParms4(p.AUTH_SYS, cbsp_sys_cred=user)] * 500
    session = state_of(rig, rig.session(sec_parms=offered))
    assert len(session.flavors) == 2
    assert isinstance(session.flavors[0], AuthSys)


@fills("connections", 2)
def _connections(rig: Rig4) -> None:
    session = rig.session()
    for _ in range(4):
        bound = rig.nfs4().bind_conn_to_session(session.id)
        assert bound.bctsr_status == S.NFS4_OK
    assert len(state_of(rig, session).connections) == 2


@fills("states", 3)
def _states(rig: Rig4) -> None:
    session = rig.session()
    statuses = []
    for number in range(5):
        opening = op.open(
            b"file", 3 | p.OPEN4_SHARE_ACCESS_WANT_NO_DELEG, owner=b"%d" % number, how=op.unchecked()
        )
        statuses.append(session.compound(op.putfh(rig.root), opening).status)
    assert statuses == [S.NFS4_OK] * 3 + [S.NFS4ERR_DELAY] * 2


@fills("lock_ranges", 5)
def _lock_ranges(rig: Rig4) -> None:
    session = rig.session()
    handle, stateid = opened(rig, session)
    first = session.compound(op.putfh(handle), op.lock(stateid, offset=0, length=10, owner=b"l")).ok()
    locks = p.Stateid4(0, first.stateid.other)
    found = [
        session.compound(op.putfh(handle), op.lock_more(locks, offset=at * 100, length=10)).status
        for at in range(1, 7)
    ]
    assert found == [S.NFS4_OK] * 4 + [S.NFS4ERR_DELAY] * 2


@fills("lock_owners", 3)
def _lock_owners(rig: Rig4) -> None:
    session = rig.session()
    handle, stateid = opened(rig, session)
    found = [
        session.compound(
            op.putfh(handle), op.lock(stateid, offset=at * 100, length=10, owner=b"%d" % at)
        ).status
        for at in range(5)
    ]
    assert found == [S.NFS4_OK] * 3 + [S.NFS4ERR_DELAY] * 2


@fills("xattrs", 1000)
def _xattrs(rig: Rig4) -> None:
    session = rig.session(minor=2)
    handle, _ = opened(rig, session)
    found = [
        session.compound(op.putfh(handle), op.setxattr(b"%d" % number, bytes(400))).status
        for number in range(3)
    ]
    assert found == [S.NFS4_OK, S.NFS4_OK, S.NFS4ERR_NOSPC]
    assert session.compound(op.putfh(handle), op.setxattr(b"0", bytes(2000))).status == S.NFS4ERR_XATTR2BIG


@fills("all_xattrs", 1000)
def _all_xattrs(rig: Rig4) -> None:
    session = rig.session(minor=2)
    files = [opened(rig, session, b"file-%d" % number)[0] for number in range(3)]
    found = [session.compound(op.putfh(handle), op.setxattr(b"k", bytes(400))).status for handle in files]
    assert found == [S.NFS4_OK, S.NFS4_OK, S.NFS4ERR_NOSPC]
    session.compound(op.putfh(files[0]), op.setxattr(b"k", bytes(10))).ok()  # smaller than before
    session.compound(op.putfh(files[2]), op.setxattr(b"k", bytes(400))).ok()
    session.compound(op.putfh(files[2]), op.removexattr(b"k")).ok()
    assert rig.server.fs.objects.xattrs == 11 + 401
    session.compound(op.putfh(rig.root), op.remove(b"file-1")).ok()  # it is open: its attributes are kept
    assert rig.server.fs.objects.xattrs == 11 + 401


def _acl(entries: int) -> list[Nfsace4]:
    return [Nfsace4(p.ACE4_ACCESS_ALLOWED_ACE_TYPE, 0, p.ACE4_READ_DATA, p.ACE4_WHO_OWNER)] * entries


@fills("acl_entries", 3)
def _acl_entries(rig: Rig4) -> None:
    session = rig.session()
    handle, _ = opened(rig, session)
    found = [
        session.compound(op.putfh(handle), op.setattr(p.Fattr4(acl=_acl(entries)))).status
        for entries in (3, 4)
    ]
    assert found == [S.NFS4_OK, S.NFS4ERR_ATTRNOTSUPP]


@fills("all_acl_entries", 5)
def _all_acl_entries(rig: Rig4) -> None:
    session = rig.session()
    files = [opened(rig, session, b"file-%d" % number)[0] for number in range(3)]
    found = [session.compound(op.putfh(handle), op.setattr(p.Fattr4(acl=_acl(2)))).status for handle in files]
    assert found == [S.NFS4_OK, S.NFS4_OK, S.NFS4ERR_NOSPC]
    with_acl = p.Fattr4(acl=_acl(2))
    for asked in (
        op.mkdir(b"d", with_acl),
        op.open(b"new", 3, owner=b"o", how=op.guarded(with_acl)),
    ):
        assert session.compound(op.putfh(rig.root), asked).status == S.NFS4ERR_NOSPC
    assert session.compound(op.putfh(rig.root), op.lookup(b"new")).status == S.NFS4ERR_NOENT


# ---------------------------------------------------------------- the other protocols


@fills("replays", 4)
def _replays(rig: Rig4) -> None:
    client = rig.nfs3()
    for number in range(10):
        client.mkdir(rig.root, b"%d" % number)
    assert len(rig.server.messages.replays._replies) == 4


@fills("replay_bytes", 10)
def _replay_bytes(rig: Rig4) -> None:
    rig.nfs3().mkdir(rig.root, b"d")
    assert not rig.server.messages.replays._replies


@fills("mounts", 2)
def _mounts(rig: Rig4) -> None:
    paths = _directories(rig, 4)
    assert rig.server.mounts.entries() == [(b"127.0.0.1", path) for path in paths[2:]]


@fills("mount_bytes", 30)
def _mount_bytes(rig: Rig4) -> None:
    paths = _directories(rig, 4)
    assert rig.server.mounts.entries() == [(b"127.0.0.1", path) for path in paths[1:]]
    rig.mount().umntall()
    assert (rig.server.mounts.entries(), rig.server.mounts._size) == ([], 0)


def _directories(rig: Rig4, count: int) -> list[bytes]:
    client, mounting = rig.nfs3(), rig.mount()
    paths = [b"/export/%d" % number for number in range(count)]
    for path in paths:
        client.mkdir(rig.root, path.rpartition(b"/")[2])
        assert mounting.mnt(path).fhs_status == 0
    return paths


@fills("universal_address", 20)
def _universal_address(rig: Rig4) -> None:
    binding = Rpcbind(rig.rpc(), 4)
    assert binding.set(400_000, 1, "tcp", "127.0.0.1.8.1")
    assert not binding.set(400_001, 1, "tcp6", "fe80::1111:2222:3333:4444.8.1")


@fills("counted", 3)
def _counted(rig: Rig4) -> None:
    portmap = rig.portmap()
    for number in range(6):
        portmap.getport(400_000 + number, 1, IPPROTO_TCP)
    assert len(rig.server.registry.statistics[2].result().addrinfo) == 3


# ---------------------------------------------------------------- others are served


def test_hostile_calls_do_not_hold_up_others() -> None:
    """One connection sends large compounds and bitmaps: other calls are answered between them."""
    rig = Rig4()
    rig.listen()
    session = rig.session()
    ones = (0xFFFF_FFFF).to_bytes(4, "big") * 250_000
    getattr_ = p.PUTROOTFH.number.to_bytes(4, "big") + p.GETATTR.number.to_bytes(4, "big")
    bitmap = getattr_ + (250_000).to_bytes(4, "big") + ones
    head = packed(op.sequence(session.id, 1, 1, 1))
    many = p.PUTROOTFH.number.to_bytes(4, "big") * 900_000
    assert compound(rig, 3, head + bitmap).status == S.NFS4ERR_BADXDR
    assert (
        compound(rig, 900_001, packed(op.sequence(session.id, 2, 1, 1)) + many).status
        == S.NFS4ERR_TOO_MANY_OPS
    )
    assert compound(rig, 900_000, many).status == S.NFS4ERR_TOO_MANY_OPS
    rig.close()
