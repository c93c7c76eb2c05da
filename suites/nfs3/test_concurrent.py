# SPDX-License-Identifier: MIT
"""Calls of two clients at the same time, by NFSv3: the result is that of one of them before the other."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import (
    RENAME,
    SETATTR,
    WRITE,
    Diropargs3,
    Nfsstat3,
    Rename3Args,
    Rename3Res,
    Sattr3,
    Setattr3Args,
    StableHow,
    Write3Args,
    Write3Res,
)
from nfsclient.rpc.blocking import RpcClient
from nfsjudge import Harm, expect, expect_data, expect_names, proves, skip, stated, unsupported
from suites.neighbours import SIZE, Part, Written, expect_nothing_lost, write_at_once
from suites.nfs3.clauses import RENAMES_THE_OBJECT, WRITE_CHANGES_ONLY_ITS_RANGE
from suites.races import ROUNDS

SHORTER_FILE_HAS_NO_OLD_DATA = stated(
    "RFC 1813",
    "3.3.2",
    "SETATTR of a smaller size truncates the file: data beyond it does not come back with a WRITE meanwhile",
    harm=Harm.DATA,
)
_ATTEMPTS = 5
_OLD, _KEPT, _NEW = b"o" * 100, 50, b"n" * 10


@pytest.mark.parametrize("where", ["inside", "at-the-end"])
@proves(WRITE_CHANGES_ONLY_ITS_RANGE, killed_by="write3-puts-the-file-back")
def test_neighbours(
    nfs3: Nfs3, rpc_connect: Callable[..., RpcClient], scratch: Nfs3Scratch, where: str
) -> None:
    """WRITEs of two clients to neighbouring ranges at the same time all take effect."""
    file = scratch.file("f", bytes(SIZE) if where == "inside" else b"")
    clients = [rpc_connect("nfs") for _ in range(2)]
    size = SIZE if where == "inside" else 0
    """Bytes that the file has at least: the replies so far say so."""

    def submit(client: RpcClient, part: Part) -> Callable[[], Written]:
        args = Write3Args(file, part.offset, len(part.data), StableHow.UNSTABLE, part.data)
        pending, is_beyond = client.submit(WRITE, args), part.offset > size

        def wait() -> Written:
            reply = client.wait(pending)
            if reply.status != Nfsstat3.NFS3ERR_JUKEBOX:
                granted(part, reply, is_beyond=is_beyond)
            return Written(reply.status, 0 if reply.resok is None else reply.resok.count)

        return wait

    def granted(part: Part, reply: Write3Res, *, is_beyond: bool) -> int:
        nonlocal size
        if is_beyond and reply.status == Nfsstat3.NFS3ERR_INVAL:
            unsupported("files cannot have gaps: WRITE beyond the end answers NFS3ERR_INVAL", reply)
        if is_beyond and reply.status:  # what is refused has changed nothing
            skip(f"WRITE beyond the end answers {reply.status}: the server may make no gaps in files", reply)
        count = expect(reply).ok().count
        size = max(size, part.offset + count)
        return count

    def again(part: Part) -> int:
        is_beyond = part.offset > size
        written = nfs3.write(file, part.offset, part.data, StableHow.UNSTABLE)
        return granted(part, written, is_beyond=is_beyond)

    def start(number: int) -> Callable[[Part], Callable[[], Written]]:
        return lambda part: submit(clients[number], part)

    wanted = write_at_once([start(0), start(1)], again)
    expect_nothing_lost(scratch.read(file), wanted)


@proves(SHORTER_FILE_HAS_NO_OLD_DATA, killed_by="write3-brings-truncated-bytes-back")
def test_append_or_truncate(rpc_connect: Callable[..., RpcClient], scratch: Nfs3Scratch) -> None:
    """A WRITE at the end and a truncation at the same time: the one or the other came first."""
    writer, cutter = rpc_connect("nfs"), rpc_connect("nfs")
    shorter, longer = _OLD[:_KEPT], _OLD[:_KEPT].ljust(len(_OLD), b"\0") + _NEW
    judged = False
    for number in range(ROUNDS // 2):
        file = scratch.file(f"f{number}", _OLD)
        cut = Setattr3Args(file, Sattr3(size=_KEPT))
        more = Write3Args(file, len(_OLD), len(_NEW), StableHow.FILE_SYNC, _NEW)
        for _ in range(_ATTEMPTS):
            if number % 2:
                cutting, writing = cutter.submit(SETATTR, cut), writer.submit(WRITE, more)
            else:
                writing, cutting = writer.submit(WRITE, more), cutter.submit(SETATTR, cut)
            wrote, cut_off = writer.wait(writing), cutter.wait(cutting)
            if {wrote.status, cut_off.status} != {Nfsstat3.NFS3ERR_JUKEBOX}:
                break
        is_whole = wrote.resok is not None and wrote.resok.count == len(_NEW)
        if is_whole and cut_off.status == Nfsstat3.NFS3_OK:
            judged, seen = True, scratch.read(file)
            expect_data(seen, longer if len(seen) > _KEPT else shorter)
    if not judged:
        skip(f"WRITE answers {wrote.status} or writes a part, SETATTR of the size answers {cut_off.status}")


def _rename_at_once(
    clients: list[RpcClient], where: bytes, renamings: list[tuple[bytes, bytes]]
) -> list[Rename3Res]:
    """RENAMEs in one directory, of each client one, under way at the same time."""
    pending = [
        client.submit(RENAME, Rename3Args(Diropargs3(where, source), Diropargs3(where, target)))
        for client, (source, target) in zip(clients, renamings, strict=True)
    ]
    return [client.wait(call) for client, call in zip(clients, pending, strict=True)]


def _is_put_off(replies: list[Rename3Res]) -> bool:
    """Whether nobody knows what one of them did: JUKEBOX says that the server has begun (RFC 1813 section 2.6)."""
    return any(reply.status == Nfsstat3.NFS3ERR_JUKEBOX for reply in replies)


def _expect_names_of(scratch: Nfs3Scratch, names: list[bytes], unclear: list[bytes]) -> None:
    """These names are there, and no others; the unclear ones may be."""
    __tracebackhide__ = True
    expect_names([name for name in scratch.names() if name not in unclear], names)


@proves(RENAMES_THE_OBJECT, killed_by="rename3-finds-renamed-sources")
def test_rename_one_source(rpc_connect: Callable[..., RpcClient], scratch: Nfs3Scratch) -> None:
    """Of two RENAMEs of one file at the same time one succeeds, and the file has one name."""
    clients, names, judged = [rpc_connect("nfs") for _ in range(2)], list[bytes](), False
    unclear: list[bytes] = []
    for number in range(ROUNDS // 2):
        source, targets = b"file-%d" % number, [b"one-%d" % number, b"two-%d" % number]
        scratch.file(source, b"data")
        replies = _rename_at_once(clients, scratch.handle, [(source, target) for target in targets])
        if _is_put_off(replies):
            unclear += [source, *targets]
            continue
        done = [
            name for name, reply in zip(targets, replies, strict=True) if reply.status == Nfsstat3.NFS3_OK
        ]
        if done:
            judged = True
            expect(len(done), "RENAMEs of one name that succeeded").equals(1)
        names += done or [source]
    if not judged:
        skip(f"no RENAME succeeds: the last ones answer {replies[0].status} and {replies[1].status}")
    _expect_names_of(scratch, names, unclear)


@proves(RENAMES_THE_OBJECT, killed_by="rename3-replaces-nothing-new")
def test_rename_to_one_target(rpc_connect: Callable[..., RpcClient], scratch: Nfs3Scratch) -> None:
    """After RENAMEs of two files to one name at the same time, one of the files has it, and nothing else is left."""
    clients, names, judged = [rpc_connect("nfs") for _ in range(2)], list[bytes](), False
    unclear: list[bytes] = []
    for number in range(ROUNDS // 2):
        sources, target = [b"one-%d" % number, b"two-%d" % number], b"target-%d" % number
        for source in sources:
            scratch.file(source, source)
        replies = _rename_at_once(clients, scratch.handle, [(source, target) for source in sources])
        if _is_put_off(replies):
            unclear += [*sources, target]
            continue
        done = [
            name for name, reply in zip(sources, replies, strict=True) if reply.status == Nfsstat3.NFS3_OK
        ]
        names += [*(name for name in sources if name not in done), *([target] if done else [])]
        if done:
            judged |= len(done) == len(sources)
            data = scratch.read(scratch.lookup(target) or b"")
            expect(data, "data of the target", field="data").one_of(*done)
    if not judged:
        skip(f"no RENAMEs succeed: the last ones answer {replies[0].status} and {replies[1].status}")
    _expect_names_of(scratch, names, unclear)
