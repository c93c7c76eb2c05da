# SPDX-License-Identifier: MIT
"""Knobs of what real servers choose: commitment, crashes, listings, attributes, handles, names, refusals, RPC."""

from __future__ import annotations

import socket
import typing as t

import pytest

from nfsclient.clients import Nfs2
from nfsclient.errors import AuthFailed
from nfsclient.protocol.nfs3 import CreateMode3, Ftype3, Mknoddata3, Nfsstat3, Sattr3, StableHow
from nfsclient.rpc.auth import AuthNone
from nfsclient.rpc.messages import AuthStat
from nfsserver import KNOBS
from nfsserver.knobs import draw
from tests.nfsserver.conftest import AnyNfs3, Rig

S = Nfsstat3
PAGE = 4096
NULL_CALL = "{xid:08x} 00000000 00000002 000186a3 00000003 00000000" + " 00000000" * 4
"""NULL of NFSv3 in hexadecimal."""


# ---------------------------------------------------------------- the table


def test_draws_are_legal_values_other_than_the_default() -> None:
    for knob in KNOBS.values():
        assert knob.draws, knob.name
        for value in knob.draws:
            assert knob.parse(knob.spell(value)) == value
            assert value != knob.default, knob.name


def test_a_seed_draws_the_same_again() -> None:
    assert draw(7) == draw(7)
    assert draw(7) != draw(8)
    drawn = {name for seed in range(200) for name in draw(seed)}
    assert drawn == set(KNOBS)


def test_choices_are_words() -> None:
    assert KNOBS["on_garbage"].takes == "one of reply, silence, close"


# ---------------------------------------------------------------- data and stable storage


def test_every_write_is_committed(rig: Rig, nfs3: AnyNfs3) -> None:
    file = rig.file(b"f")
    rig.server.knobs.set("always_commits", True)
    reply = nfs3.write(file, 0, b"data", StableHow.UNSTABLE)
    assert reply.resok.committed == StableHow.FILE_SYNC
    rig.server.crash()
    assert bytes(rig.nfs3().read(file, 0, 4).resok.data) == b"data"


def test_without_commit_every_write_is_stable(rig: Rig, nfs3: AnyNfs3) -> None:
    file = rig.file(b"f")
    rig.server.knobs.set("commit", False)
    assert nfs3.write(file, 0, b"data", StableHow.UNSTABLE).resok.committed == StableHow.FILE_SYNC
    assert nfs3.commit(file).status == Nfsstat3.NFS3ERR_NOTSUPP
    rig.server.crash()
    assert bytes(rig.nfs3().read(file, 0, 4).resok.data) == b"data"


@pytest.mark.parametrize("moves", [False, True])
def test_write_of_nothing_and_the_times(rig: Rig, nfs3: AnyNfs3, moves: bool) -> None:
    file = rig.file(b"f", b"data")
    rig.server.knobs.set("empty_write_moves_times", moves)
    before = nfs3.getattr(file).resok.obj_attributes
    assert nfs3.write(file, 1000, b"").resok.count == 0
    after = nfs3.getattr(file).resok.obj_attributes
    assert (after.size, after.mtime != before.mtime) == (4, moves)


def test_memory_survives_a_crash(rig: Rig, nfs3: AnyNfs3) -> None:
    file = rig.file(b"f")
    rig.server.knobs.set("nonvolatile_memory", True)
    before = nfs3.write(file, 0, b"data", StableHow.UNSTABLE).resok
    assert before.committed == StableHow.UNSTABLE
    rig.server.crash()
    again = rig.nfs3()
    assert bytes(again.read(file, 0, 4).resok.data) == b"data"
    assert again.commit(file).resok.verf == before.verf


def test_a_crash_loses_a_part(rig: Rig, nfs3: AnyNfs3) -> None:
    file = rig.file(b"f", bytes(20 * PAGE))
    rig.server.knobs.set("crash_loses", 3)
    verifier = nfs3.write(file, 0, b"x" * 20 * PAGE, StableHow.UNSTABLE).resok.verf
    rig.server.crash()
    again = rig.nfs3()
    data = bytes(again.read(file, 0, 20 * PAGE).resok.data)
    assert len(data) == 20 * PAGE
    pages = {data[start : start + PAGE] for start in range(0, len(data), PAGE)}
    assert pages == {bytes(PAGE), b"x" * PAGE}
    assert again.commit(file).resok.verf != verifier


def test_the_size_after_a_crash_is_that_of_the_last_page_that_survives(rig: Rig, nfs3: AnyNfs3) -> None:
    sizes = set()
    rig.server.knobs.set("crash_loses", 5)
    for name in (b"a", b"b", b"c", b"d", b"e"):
        file = rig.file(name)
        rig.nfs3().write(file, 0, b"x" * (2 * PAGE + 10), StableHow.UNSTABLE)
        rig.server.crash()
        again = rig.nfs3()
        size = again.getattr(file).resok.obj_attributes.size
        sizes.add(size)
        assert size in {0, PAGE, 2 * PAGE, 2 * PAGE + 10}
        again.setattr(file, Sattr3(size=3 * PAGE))
        grown = bytes(again.read(file, size, 3 * PAGE).resok.data)
        assert grown == bytes(3 * PAGE - size)
    assert len(sizes) > 1


def test_data_that_finds_no_room_is_lost_under_a_new_verifier(rig: Rig, nfs3: AnyNfs3) -> None:
    file = rig.file(b"f", b"old")
    rig.server.knobs.set("write_back_fails", True)
    before = nfs3.write(file, 0, b"new data", StableHow.UNSTABLE).resok.verf
    assert nfs3.commit(rig.file(b"other")).resok.verf == before
    rig.server.knobs.set("free_bytes", 0)
    reply = nfs3.commit(file)
    assert reply.resok.verf != before
    assert bytes(nfs3.read(file, 0, 10).resok.data) == b"old"
    rig.server.knobs.set("free_bytes", None)
    assert nfs3.commit(file).resok.verf == reply.resok.verf


# ---------------------------------------------------------------- directory listings


def _listed(nfs3: AnyNfs3, directory: bytes) -> list[list[t.Any]]:
    """All pages of a listing, each as a list of entries."""
    pages, cookie, verifier, eof = [], 0, bytes(8), False
    while not eof:
        page = nfs3.readdir(directory, cookie, verifier, 200).resok
        pages.append(page.entries)
        cookie = page.entries[-1].cookie if page.entries else cookie
        verifier, eof = page.cookieverf, page.eof
    return pages


@pytest.fixture
def filled(rig: Rig) -> set[bytes]:
    names = {b"f%d" % number for number in range(12)}
    for name in names:
        rig.file(name)
    return names


def test_no_dots(rig: Rig, nfs3: AnyNfs3, filled: set[bytes]) -> None:
    rig.server.knobs.set("list_dots", False)
    assert {entry.name for page in _listed(nfs3, rig.root) for entry in page} == filled
    listed = Nfs2(rig.rpc()).readdir(rig.root, bytes(4), 4096).resok
    assert listed is not None
    assert {entry.name for entry in listed.entries} == filled


def test_eof_on_an_empty_page(rig: Rig, nfs3: AnyNfs3, filled: set[bytes]) -> None:
    rig.server.knobs.set("late_eof", True)
    *pages, last = _listed(nfs3, rig.root)
    assert last == []
    assert {entry.name for page in pages for entry in page} == filled | {b".", b".."}


def test_cookies_are_opaque(rig: Rig, nfs3: AnyNfs3, filled: set[bytes]) -> None:
    rig.server.knobs.set("opaque_cookies", True)
    entries = [entry for page in _listed(nfs3, rig.root) for entry in page]
    cookies = [entry.cookie for entry in entries]
    assert {entry.name for entry in entries} == filled | {b".", b".."}
    assert len(set(cookies)) == len(cookies)
    assert cookies != sorted(cookies)
    assert max(cookies) > 2**60
    plus = nfs3.readdirplus(rig.root).resok
    assert {entry.cookie for entry in plus.entries}.isdisjoint(cookies)
    assert nfs3.readdirplus(rig.root, cookies[3], plus.cookieverf).status == S.NFS3ERR_BAD_COOKIE
    assert _listed(nfs3, rig.root)[0][0].cookie == cookies[0]


def test_cookies_of_version_2_are_opaque(rig: Rig, filled: set[bytes]) -> None:
    rig.server.knobs.set("opaque_cookies", True)
    nfs2 = Nfs2(rig.rpc())
    names, cookie, eof = set(), bytes(4), False
    while not eof:
        page = nfs2.readdir(rig.root, cookie, 100).resok
        assert page is not None
        names |= {entry.name for entry in page.entries}
        cookie, eof = bytes(page.entries[-1].cookie), page.eof
    assert names == filled | {b".", b".."}


def test_a_change_makes_cookies_expire(rig: Rig, nfs3: AnyNfs3, filled: set[bytes]) -> None:
    rig.server.knobs.update(cookies_expire=True, opaque_cookies=True)
    before = nfs3.readdir(rig.root, 0, bytes(8), 200).resok
    last = before.entries[-1].cookie
    assert nfs3.readdir(rig.root, last, before.cookieverf, 200).status == S.NFS3_OK
    rig.file(b"new")
    assert nfs3.readdir(rig.root, last, before.cookieverf, 200).status == S.NFS3ERR_BAD_COOKIE
    after = nfs3.readdir(rig.root, 0, bytes(8), 200).resok
    assert after.cookieverf != before.cookieverf
    assert after.entries[0].cookie != before.entries[0].cookie
    assert {entry.name for page in _listed(nfs3, rig.root) for entry in page} >= filled


# ---------------------------------------------------------------- attributes, handles and names


def test_directories_are_plain(rig: Rig, nfs3: AnyNfs3) -> None:
    rig.server.knobs.set("plain_directories", True)
    made = nfs3.mkdir(rig.root, b"d").resok
    assert (made.obj_attributes.nlink, made.obj_attributes.size) == (1, 0)
    assert (made.dir_wcc.before.size, made.dir_wcc.after.nlink) == (0, 1)
    seen = Nfs2(rig.rpc()).getattr(rig.root).attributes
    assert seen is not None
    assert (seen.nlink, seen.size) == (1, 0)


def test_the_space_of_a_file_includes_its_holes(rig: Rig, nfs3: AnyNfs3) -> None:
    file = nfs3.create(rig.root, b"f").resok.obj
    nfs3.setattr(file, Sattr3(size=1 << 31))
    assert nfs3.getattr(file).resok.obj_attributes.used == 0
    rig.server.knobs.set("holes", False)
    assert nfs3.getattr(file).resok.obj_attributes.used == 1 << 31
    seen = Nfs2(rig.rpc()).getattr(file.ljust(32, b"\0")[:32]).attributes
    assert seen is None or seen.blocks > 0


def test_times_of_directories_lag(rig: Rig, nfs3: AnyNfs3) -> None:
    rig.clock.advance(1)
    before = nfs3.getattr(rig.root).resok.obj_attributes
    rig.server.knobs.set("directory_times_lag", 3.0)
    for name in (b"a", b"b"):
        wcc = nfs3.create(rig.root, name).resok.dir_wcc
        assert (wcc.after.mtime, wcc.after.ctime) == (before.mtime, before.ctime)
        rig.clock.advance(1)
    rig.clock.advance(2)
    after = nfs3.getattr(rig.root).resok.obj_attributes
    assert after.mtime.seconds == before.mtime.seconds + 2
    assert after.ctime == after.mtime


def test_times_that_a_client_sets_do_not_lag(rig: Rig, nfs3: AnyNfs3) -> None:
    rig.server.knobs.set("directory_times_lag", 3.0)
    nfs3.create(rig.root, b"a")
    rig.clock.advance(0.5)
    nfs3.setattr(rig.root, Sattr3(mode=0o755))
    assert nfs3.getattr(rig.root).resok.obj_attributes.ctime.nseconds >= 500_000_000


def test_ctime_is_a_copy_of_mtime(rig: Rig, nfs3: AnyNfs3) -> None:
    file = rig.file(b"f")
    rig.server.knobs.set("ctime_is_mtime", True)
    rig.clock.advance(1)
    reply = nfs3.setattr(file, Sattr3(mode=0o600)).resok.obj_wcc
    assert reply.before.ctime == reply.before.mtime == reply.after.ctime == reply.after.mtime
    assert nfs3.setattr(file, Sattr3(mode=0o644), guard=reply.after.ctime).status == S.NFS3_OK


def test_an_object_has_several_handles(rig: Rig, nfs3: AnyNfs3) -> None:
    file = rig.file(b"f", b"data")
    rig.server.knobs.set("several_handles", True)
    handles = {nfs3.lookup(rig.root, b"f").resok.object for _ in range(6)} | {file}
    assert len(handles) == 3
    for handle in handles:
        assert bytes(nfs3.read(handle, 0, 4).resok.data) == b"data"


def test_rename_makes_handles_stale(rig: Rig, nfs3: AnyNfs3) -> None:
    file = rig.file(b"f", b"data")
    rig.server.knobs.set("stale_on_rename", True)
    nfs3.rename(rig.root, b"f", rig.root, b"g")
    assert nfs3.getattr(file).status == S.NFS3ERR_STALE
    found = nfs3.lookup(rig.root, b"g").resok.object
    assert bytes(nfs3.read(found, 0, 4).resok.data) == b"data"
    nfs3.remove(rig.root, b"g")
    assert nfs3.getattr(found).status == S.NFS3ERR_STALE


def test_names_are_truncated(rig: Rig, nfs3: AnyNfs3) -> None:
    rig.server.knobs.update(truncates_names=True, name_max=10)
    assert not nfs3.pathconf(rig.root).resok.no_trunc
    made = nfs3.create(rig.root, b"n" * 20).resok.obj
    assert nfs3.lookup(rig.root, b"n" * 10).resok.object == made
    assert nfs3.lookup(rig.root, b"n" * 15).resok.object == made
    assert nfs3.rename(rig.root, b"n" * 12, rig.root, b"m" * 12).status == S.NFS3_OK
    assert nfs3.lookup(rig.root, b"m" * 10).resok.object == made


@pytest.mark.parametrize("name", [b"\xff", b"a:b", b"tab\there", b"\\"])
def test_names_are_restricted(rig: Rig, nfs3: AnyNfs3, name: bytes) -> None:
    rig.server.knobs.set("restricted_names", True)
    assert nfs3.create(rig.root, name).status == S.NFS3ERR_ACCES
    assert nfs3.create(rig.root, "näme".encode()).status == S.NFS3_OK


# ---------------------------------------------------------------- what the server lacks or denies


def test_procedures_that_the_server_lacks(rig: Rig, nfs3: AnyNfs3) -> None:
    rig.server.knobs.update(mknod=False, readdirplus=False, exclusive_create=False)
    fifo = Mknoddata3(Ftype3.NF3FIFO, pipe_attributes=Sattr3())
    assert nfs3.mknod(rig.root, b"p", fifo).status == S.NFS3ERR_NOTSUPP
    assert nfs3.readdirplus(rig.root).status == S.NFS3ERR_NOTSUPP
    exclusive = nfs3.create(rig.root, b"f", mode=CreateMode3.EXCLUSIVE, verf=bytes(8))
    assert exclusive.status == S.NFS3ERR_NOTSUPP
    assert nfs3.lookup(rig.root, b"f").status == S.NFS3ERR_NOENT
    assert nfs3.create(rig.root, b"f").status == S.NFS3_OK


def test_access_denies(rig: Rig, nfs3: AnyNfs3) -> None:
    assert nfs3.access(rig.root, 63).resok.access & 16
    rig.server.knobs.set("access_grants", 15)
    assert not nfs3.access(rig.root, 63).resok.access & 16
    rig.file(b"f")
    assert nfs3.remove(rig.root, b"f").status == S.NFS3_OK


def test_no_mount_list(rig: Rig) -> None:
    rig.server.knobs.set("mount_list", False)
    mount = rig.mount()
    mount.mnt(b"/export")
    assert mount.dump() == []
    rig.server.knobs.reset()
    assert len(mount.dump()) == 1


# ---------------------------------------------------------------- RPC


def _sent(rig: Rig, messages: list[str]) -> list[bytes]:
    """Records that come back on a connection for calls that are sent at once, until silence or its end."""
    records = b"".join(
        (0x80000000 | len(data)).to_bytes(4, "big") + data for data in map(bytes.fromhex, messages)
    )
    with socket.create_connection(("127.0.0.1", rig.server.port)) as sock:
        sock.sendall(records)
        sock.shutdown(socket.SHUT_WR)
        sock.setblocking(False)
        received, ended = b"", False
        deadline = rig.loop.clock() + 10
        while not ended and rig.loop.clock() < deadline:
            rig.loop.run_until(lambda: False, rig.loop.clock() + 0.01)
            try:
                piece = sock.recv(65536)
            except BlockingIOError:
                continue
            received, ended = received + piece, not piece
    assert ended
    found = []
    while received:
        size = int.from_bytes(received[:4], "big") & 0x7FFFFFFF
        found.append(received[4 : 4 + size])
        received = received[4 + size :]
    return found


def _null(xid: int) -> str:
    return NULL_CALL.format(xid=xid)


def _xids(replies: list[bytes]) -> list[int]:
    return [int.from_bytes(reply[:4], "big") for reply in replies]


def test_replies_in_reverse_order(rig: Rig) -> None:
    assert _xids(_sent(rig, [_null(1), _null(2), _null(3)])) == [1, 2, 3]
    rig.server.knobs.set("reversed_replies", True)
    assert _xids(_sent(rig, [_null(1), _null(2), _null(3)])) == [3, 2, 1]


GARBAGE = NULL_CALL.format(xid=2).replace("00000003 00000000", "00000003 00000001", 1)
"""GETATTR without a handle."""


@pytest.mark.parametrize(("answer", "xids"), [("reply", [1, 2, 3]), ("silence", [1, 3]), ("close", [1])])
def test_what_follows_garbage(rig: Rig, answer: str, xids: list[int]) -> None:
    rig.server.knobs.set("on_garbage", answer)
    assert _xids(_sent(rig, [_null(1), GARBAGE, _null(3)])) == xids
    assert _xids(_sent(rig, [_null(7)])) == [7]


def test_auth_stat(rig: Rig) -> None:
    rig.server.knobs.set("auth_stat", 7)
    client = rig.nfs3(AuthNone())
    with pytest.raises(AuthFailed) as refused:
        client.getattr(rig.root)
    assert refused.value.auth_stat == AuthStat.AUTH_FAILED
