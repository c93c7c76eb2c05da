# SPDX-License-Identifier: MIT
"""Scenes: what a client does so that a server with a mutant breaks a rule of the lint, by the rule's name."""

from __future__ import annotations

import contextlib
import typing as t
from collections.abc import Callable

from nfsclient.clients import Mount, Nfs2, Nfs3
from nfsclient.clients.snfs import Snfs, SnfsCallbacks
from nfsclient.errors import NfsClientError
from nfsclient.protocol import nfs3 as p
from nfsclient.protocol.nfs2 import Sattr
from nfsclient.protocol.nfs3 import CreateMode3, Ftype3, Mknoddata3, Nfstime3, Sattr3, StableHow
from nfsclient.rpc.auth import RawCredential
from nfsclient.rpc.blocking import RpcClient
from nfsclient.rpc.exchange import Exchange
from nfsclient.rpc.program import Procedure
from nfsclient.xdr import Void
from tests.nfsserver.conftest import ROOT_USER, Rig

GUARDED = CreateMode3.GUARDED


class Scene:
    """A recorded client in a new directory, which was made while no mutant was on."""

    def __init__(self, rig: Rig) -> None:
        self.rig = rig
        self.exchanges: list[Exchange] = []
        self.rpc = self.connection()
        self.nfs: t.Any = Nfs3(self.rpc)
        made: t.Any = self.nfs.mkdir(rig.root, b"scene")
        self.top: bytes = made.resok.obj
        self.count = 0

    def connection(self) -> RpcClient:
        """Another recorded connection."""
        rpc = self.rig.rpc(ROOT_USER)
        rpc.on_exchange = self.exchanges.append
        return rpc

    def name(self) -> bytes:
        """A name that is not taken."""
        self.count += 1
        return b"n%d" % self.count

    def file(self, data: bytes = b"") -> bytes:
        handle: bytes = self.nfs.create(self.top, self.name(), GUARDED).resok.obj
        if data:
            self.nfs.write(handle, 0, data)
        return handle

    def directory(self) -> bytes:
        handle: bytes = self.nfs.mkdir(self.top, self.name()).resok.obj
        return handle

    def special(self, kind: Ftype3) -> bytes:
        what = Mknoddata3(kind, pipe_attributes=Sattr3(mode=0o644))
        handle: bytes = self.nfs.mknod(self.top, self.name(), what).resok.obj
        return handle

    def call(self, procedure: Procedure[t.Any, t.Any], credential: t.Any = None) -> None:
        """A call without arguments; the result is ignored."""
        with contextlib.suppress(NfsClientError):
            self.rpc.call(procedure, Void(), credential=credential)


Play: t.TypeAlias = Callable[[Scene], object]
SCENES: dict[str, Play] = {}


def scene(name: str) -> Callable[[Play], Play]:
    def register(play: Play) -> Play:
        SCENES[name] = play
        return play

    return register


# ---------------------------------------------------------------- RPC and MOUNT


@scene("rpc/results-decode")
def two_nulls(s: Scene) -> None:
    for _ in range(2):
        s.call(p.NULL)


@scene("rpc/reply-form")
def odd_verifier(s: Scene) -> None:
    s.call(p.NULL, RawCredential(0, b"", 0, b"seven b"))


@scene("rpc/reply-without-call")
def half_closed(s: Scene) -> None:
    pending = s.rpc.submit(p.NULL, Void())
    s.rpc.shutdown_write()
    s.rpc.wait(pending)
    s.rpc.wait_closed(1.0)
    for message in s.rpc.core.strays:
        xid, now = int.from_bytes(message[:4], "big"), s.rpc.loop.clock()
        s.exchanges.append(
            Exchange(xid, None, None, None, b"", now, "x:1", "tcp", reply=message, received_at=now)
        )


@scene("rpc/auth-error-ok")
def odd_credential(s: Scene) -> None:
    handle = s.file()
    with contextlib.suppress(NfsClientError):
        s.rpc.call(p.GETATTR, p.Getattr3Args(handle), credential=RawCredential(1, b"seven b"))


@scene("rpc/mismatch-range")
def another_version(s: Scene) -> None:
    s.call(Procedure(p.PROGRAM, 77, 0, "NULL", Void, Void))


@scene("mount3/status-defined")
def unknown_path(s: Scene) -> None:
    Mount(s.rpc).mnt(b"/nowhere")


# ---------------------------------------------------------------- statuses


@scene("nfs3/status-defined")
def readlink_of_a_fifo(s: Scene) -> None:
    s.nfs.readlink(s.special(Ftype3.NF3FIFO))


@scene("nfs3/status-listed")
def write_to_a_directory(s: Scene) -> None:
    s.nfs.write(s.directory(), 0, b"x")


@scene("nfs3/not-sync-unguarded")
def two_modes(s: Scene) -> None:
    handle = s.file()
    for mode in (0o600, 0o640, 0o644):
        s.rig.clock.advance(1)
        s.nfs.setattr(handle, Sattr3(mode=mode))


@scene("nfs3/bad-cookie")
def access_of_a_socket(s: Scene) -> None:
    s.nfs.access(s.special(Ftype3.NF3SOCK), 1)


@scene("nfs3/badtype")
def write_to_a_socket(s: Scene) -> None:
    s.nfs.write(s.special(Ftype3.NF3SOCK), 0, b"x")


@scene("nfs3/xdev")
def remove_elsewhere(s: Scene) -> None:
    s.nfs.remove(s.top, b"elsewhere")


# ---------------------------------------------------------------- attributes


@scene("nfs3/enum-values")
def unstable_and_a_fifo(s: Scene) -> None:
    s.nfs.getattr(s.special(Ftype3.NF3FIFO))
    s.nfs.write(s.file(), 0, b"data", StableHow.UNSTABLE)


@scene("nfs3/nseconds")
def attributes_of_a_directory(s: Scene) -> None:
    s.nfs.getattr(s.directory())


@scene("nfs3/type-made")
def make_a_regular_file_by_mknod(s: Scene) -> None:
    s.nfs.mknod(s.top, s.name(), Mknoddata3(Ftype3.NF3REG))


@scene("nfs3/handle-same-object")
def attributes_again(s: Scene) -> None:
    s.nfs.getattr(s.directory())
    file = s.file(b"data")
    s.nfs.commit(file)


@scene("nfs3/attributes-agree")
def size_again(s: Scene) -> None:
    file = s.file(b"xy")
    s.nfs.getattr(file)
    s.nfs.link(file, s.top, s.name())
    s.nfs.getattr(file)


@scene("nfs3/wcc-before")
def two_changes(s: Scene) -> None:
    file = s.file(b"data")
    s.rig.clock.advance(1)
    s.nfs.setattr(file, Sattr3(mode=0o600))
    s.rig.clock.advance(1)
    s.nfs.setattr(file, Sattr3(mode=0o640))
    s.nfs.commit(file)
    other: t.Any = Nfs3(s.connection())
    other.setattr(file, Sattr3(size=1))
    other.getattr(file)
    s.nfs.setattr(file, Sattr3(mode=0o600))


@scene("nfs3/wcc-before-directory")
def two_clients_change_a_directory(s: Scene) -> None:
    other: t.Any = Nfs3(s.connection())
    s.nfs.getattr(s.top)
    s.rig.clock.advance(1)
    other.mkdir(s.top, s.name())
    other.getattr(s.top)
    s.rig.clock.advance(1)
    s.nfs.mkdir(s.top, s.name())


@scene("nfs3/ctime-stands")
def write_later(s: Scene) -> None:
    file = s.file(b"data")
    s.nfs.getattr(file)
    s.rig.clock.advance(0.1)
    s.nfs.write(file, 0, b"DATA")


@scene("nfs3/ctime-backwards")
def look_at_a_fifo(s: Scene) -> None:
    s.nfs.getattr(s.special(Ftype3.NF3FIFO))


@scene("nfs3/write-size")
def write_beyond_the_end(s: Scene) -> None:
    s.nfs.write(s.file(b"data"), 4, b"more")


@scene("nfs3/setattr-size")
def truncate(s: Scene) -> None:
    s.nfs.setattr(s.file(b"data"), Sattr3(size=1))


@scene("nfs3/link-nlink")
def link(s: Scene) -> None:
    s.nfs.link(s.file(), s.top, s.name())


@scene("nfs3/guard-ignored")
def wrong_guard(s: Scene) -> None:
    handle = s.file()
    known = s.nfs.getattr(handle).resok.obj_attributes.ctime
    s.nfs.setattr(handle, Sattr3(mode=0o600), Nfstime3(known.seconds ^ 1 << 18))
    s.rig.clock.advance(1 - s.rig.clock.now_ns() % 10**9 / 1e9)
    s.nfs.setattr(handle, Sattr3(mode=0o640))
    known = s.nfs.getattr(handle).resok.obj_attributes.ctime
    s.rig.clock.advance(0.1)
    s.nfs.setattr(handle, Sattr3(mode=0o644))
    s.nfs.setattr(handle, Sattr3(mode=0o600), known)


@scene("nfs3/denied-though-granted")
def read_what_is_granted(s: Scene) -> None:
    file, directory = s.file(b"data"), s.directory()
    for handle in (file, directory):
        s.nfs.getattr(handle)
        s.nfs.access(handle, 0x3F)
    s.nfs.read(file, 0, 4)
    s.nfs.readdir(directory, 0, bytes(8), 4096)
    s.nfs.create(directory, b"plain", GUARDED)


@scene("nfs3/fsstat-order")
def free_space(s: Scene) -> None:
    s.nfs.fsstat(s.top)


@scene("nfs3/exist-of-absent")
def create_absent(s: Scene) -> None:
    s.nfs.lookup(s.top, b"absent")
    s.nfs.create(s.top, b"absent", GUARDED)


@scene("nfs3/noent-of-present")
def look_for_what_was_made(s: Scene) -> None:
    s.nfs.create(s.top, b"present", GUARDED)
    s.nfs.lookup(s.top, b"present")


@scene("nfs3/notsupp-against-fsinfo")
def link_after_fsinfo(s: Scene) -> None:
    s.nfs.fsinfo(s.top)
    s.nfs.link(s.file(), s.top, s.name())
    s.nfs.symlink(s.top, s.name(), b"text")


@scene("nfs3/write-verifier")
def two_commitments(s: Scene) -> None:
    file = s.file()
    for stable in (StableHow.UNSTABLE, StableHow.FILE_SYNC):
        s.nfs.write(file, 0, b"data", stable)


# ---------------------------------------------------------------- READ and WRITE


@scene("nfs3/write-count")
@scene("nfs3/write-committed")
@scene("nfs3/write-nothing")
def write(s: Scene) -> None:
    file = s.file()
    s.nfs.write(file, 0, b"x")
    s.nfs.write(file, 0, b"data")


@scene("nfs3/read-count")
@scene("nfs3/read-nothing")
@scene("nfs3/read-eof")
def read(s: Scene) -> None:
    file = s.file(b"a file")
    for offset, count in ((0, 1), (0, 3), (0, 6), (3, 100), (6, 1), (100, 1)):
        s.nfs.read(file, offset, count)


# ---------------------------------------------------------------- listings


@scene("nfs3/listed-attributes")
def listed_attributes(s: Scene) -> None:
    directory = s.directory()
    s.nfs.create(directory, b"file", GUARDED, Sattr3(mode=0o640))
    s.nfs.readdirplus(directory)
    file = s.nfs.lookup(directory, b"file").resok.object
    s.nfs.setattr(file, Sattr3(mode=0o600))
    s.nfs.getattr(file)
    s.nfs.readdirplus(directory)
    s.nfs.remove(directory, b"file")
    s.nfs.create(directory, b"file", GUARDED, Sattr3(mode=0o640))
    s.nfs.lookup(directory, b"file")
    s.nfs.readdirplus(directory)


@scene("nfs3/readdir-count")
@scene("nfs3/readdir-cookies")
@scene("nfs3/readdir-names")
@scene("nfs3/readdir-progress")
@scene("nfs3/readdir-too-small")
def listing(s: Scene) -> None:
    empty, full = s.directory(), s.directory()
    for number in range(40):
        s.nfs.create(full, b"entry %d" % number, GUARDED)
    s.nfs.create(full, b"twin", GUARDED)
    for directory in (empty, full):
        cookie, verf = 0, bytes(8)
        for _ in range(50):
            page = s.nfs.readdir(directory, cookie, verf, 512).resok
            if page.eof or not page.entries:
                break
            cookie, verf = page.entries[-1].cookie, page.cookieverf
        s.nfs.readdir(directory, 0, bytes(8), 8192)
        s.nfs.readdir(directory, 0, bytes(8), 16)
        s.nfs.readdirplus(directory, 0, bytes(8), 256, 1024)


# ---------------------------------------------------------------- NFSv2


class Scene2:
    """The same in version 2."""

    def __init__(self, scene: Scene) -> None:
        self.nfs: t.Any = Nfs2(scene.rpc)
        mounted: t.Any = Mount(scene.rpc, 1).mnt1(b"/export")
        made: t.Any = self.nfs.mkdir(mounted.directory, b"scene of version 2")
        self.top: bytes = made.resok.file

    def file(self, name: bytes = b"file", data: bytes = b"", mode: int = 0o644) -> bytes:
        handle: bytes = self.nfs.create(self.top, name, Sattr(mode=mode)).resok.file
        if data:
            self.nfs.write(handle, 0, data)
        return handle


def scene2(*names: str) -> Callable[[Callable[[Scene2], object]], Callable[[Scene2], object]]:
    def register(play: Callable[[Scene2], object]) -> Callable[[Scene2], object]:
        for name in names:
            SCENES[name] = lambda scene: play(Scene2(scene))
        return play

    return register


@scene2("nfs2/status-defined")
def readlink_of_a_directory(s: Scene2) -> None:
    s.nfs.readlink(s.top)


@scene2("nfs2/type-defined", "nfs2/mode-type", "nfs2/useconds")
def attributes_of_an_odd_file(s: Scene2) -> None:
    s.nfs.getattr(s.file(mode=0o642))


@scene2(
    "nfs2/read-count",
    "nfs2/write-size",
    "nfs2/setattr-size",
    "nfs2/handle-same-object",
    "nfs2/attributes-agree",
)
def read_and_write(s: Scene2) -> None:
    file = s.file(data=b"seven b")
    s.nfs.getattr(file)
    s.nfs.read(file, 0, 7)
    s.nfs.write(file, 7, b"more")
    s.nfs.setattr(file, Sattr(size=3))


@scene2("nfs2/readdir-count", "nfs2/readdir-progress", "nfs2/readdir-cookies")
def listing_2(s: Scene2) -> None:
    for number in range(30):
        s.file(b"entry %d" % number)
    s.file(b"twin")
    for count in (128, 4096):
        cookie = bytes(4)
        for _ in range(50):
            page = s.nfs.readdir(s.top, cookie, count).resok
            if page.eof or not page.entries:
                break
            cookie = page.entries[-1].cookie


@scene2("nfs2/noent-of-present")
def look_for_a_phantom(s: Scene2) -> None:
    s.file(b"phantom")
    s.nfs.lookup(s.top, b"phantom")


# ---------------------------------------------------------------- Spritely NFS


@scene("snfs/version-grows")
@scene("snfs/versions-in-order")
def open_for_writing_twice(s: Scene) -> None:
    file = Scene2(s).file()
    opener = Snfs(s.rpc)
    opener.open(file, write_mode=True)
    opener.open(file, write_mode=True)


@scene("snfs/callback-mode")
def open_what_is_written(s: Scene) -> None:
    file = Scene2(s).file()
    writer = s.connection()
    SnfsCallbacks(writer)
    Snfs(writer).open(file, write_mode=True)
    Snfs(s.rpc).open(file)


def _created(s: Scene) -> bytes:
    opener, scene = Snfs(s.rpc), Scene2(s)
    made: t.Any = opener.mkdir(scene.top, b"top", Sattr(mode=0o755))
    created: t.Any = opener.create(made.resok.file, b"file", Sattr(mode=0o644))
    return bytes(created.resok.file)


@scene("snfs/caching-granted")
def read_what_another_client_writes(s: Scene) -> None:
    file, writer, reader = _created(s), s.connection(), Snfs(s.connection())
    SnfsCallbacks(writer)
    Snfs(writer).open(file, write_mode=True)
    reader.open(file)
    Snfs(writer).write(file, 0, b"data")


@scene("snfs/callback-listed")
def write_what_is_read(s: Scene) -> None:
    file, reader, writer = _created(s), s.connection(), s.connection()
    for each in (reader, writer):
        SnfsCallbacks(each)
        Snfs(each).getattr(file)
    Snfs(reader).open(file)
    Snfs(writer).getattr(file)
    Snfs(writer).open(file, write_mode=True)
