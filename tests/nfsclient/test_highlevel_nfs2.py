# SPDX-License-Identifier: MIT
"""Files by path over NFSv2: against the embedded server, and against servers that lie."""

from __future__ import annotations

import typing as t
from collections.abc import Iterator

import pytest

import nfsclient
from nfsclient.errors import NfsStatusError, NotInVersion, ServerViolation
from nfsclient.files import FileType, NewAttributes, Time
from nfsclient.highlevel import EndlessListing
from nfsclient.listings import ListingBounds
from nfsclient.nfs2 import NfsClient
from nfsclient.protocol import mount, nfs2
from nfsclient.rpc.loop import Loop
from nfsclient.rpc.program import Procedure
from nfsclient.rpc.service import CallContext
from nfsserver import ManualClock, Server
from nfsserver.handlers import ServerApi

DATA = bytes(range(256)) * 100
"""Four WRITEs."""
Bend: t.TypeAlias = t.Callable[[t.Any, t.Any], None]
"""Changes the successful result of a call: (arguments, result)."""


class Stage:
    """A server and a client of NFSv2 in one loop, as a URL gives it."""

    def __init__(self, proto: str = "tcp") -> None:
        self.loop = Loop()
        self.server = Server(clock=ManualClock(), seed=1)
        self.server.listen(self.loop)
        self.called: list[tuple[str, t.Any]] = []
        url = f"nfs://127.0.0.1:{self.server.port}/export?version=2&uid=0&gid=0&proto={proto}"
        made = nfsclient.connect(url, loop=self.loop)
        assert isinstance(made, NfsClient)
        self.client = made

    def watch(self, *procedures: Procedure[t.Any, t.Any], bend: Bend = lambda *_: None) -> None:
        """Note calls, and change their results."""

        def middleware(_server: ServerApi, context: CallContext, args: t.Any, proceed: t.Any) -> t.Any:
            self.called.append((context.operation.name, args))
            reply = proceed(context, args)
            if reply.resok is not None:
                bend(args, reply.resok)
            return reply

        for procedure in procedures:
            self.server.interpose(procedure, middleware)

    def close(self) -> None:
        self.client.close()
        self.server.close()
        self.loop.close()


@pytest.fixture(params=["tcp", "udp"])
def stage(request: pytest.FixtureRequest) -> Iterator[Stage]:
    made = Stage(request.param)
    yield made
    made.close()
    assert [str(error) for _, error in made.server.messages.faults] == []


def test_the_root_is_mounted_by_the_version_that_goes_with_it() -> None:
    """MOUNT version 1 (RFC 1094 appendix A)."""
    loop, mounted = Loop(), list[Procedure[t.Any, t.Any]]()
    server = Server(clock=ManualClock(), seed=1)
    server.listen(loop)

    def note(_server: ServerApi, context: CallContext, args: t.Any, proceed: t.Any) -> t.Any:
        mounted.append(t.cast("Procedure[t.Any, t.Any]", context.operation))
        return proceed(context, args)

    for procedure in (mount.MNT1, mount.MNT3):
        server.interpose(procedure, note)
    with nfsclient.connect(f"nfs://127.0.0.1:{server.port}/export?version=2", loop=loop) as nfs:
        assert nfs.stat().is_directory
    server.close()
    loop.close()
    assert mounted == [mount.MNT1]


def test_data(stage: Stage) -> None:
    stage.watch(nfs2.READ, nfs2.WRITE)
    stage.client.write_file("f", DATA)
    assert stage.client.read_file("f") == DATA
    sizes = {len(args.data) if name == "WRITE" else args.count for name, args in stage.called}
    assert max(sizes) == nfs2.MAXDATA
    stage.client.write_file("f", b"short")
    assert stage.client.read_file("f") == b"short"
    stage.client.truncate("f", 3)
    assert (stage.client.read_file("f"), stage.client.stat("f").size) == (b"sho", 3)


def test_open_files(stage: Stage) -> None:
    with stage.client.open("f", "w+") as file:
        assert file.write(DATA) == len(DATA)
        file.seek(100)
        assert file.read(9000) == DATA[100:9100]
        assert file.truncate(50) == 50
    with stage.client.open("f", "a") as file:
        file.write(b"end")
    assert stage.client.read_file("f") == DATA[:50] + b"end"
    with pytest.raises(IsADirectoryError):
        stage.client.open("")


def test_a_new_file_is_looked_up_first(stage: Stage) -> None:
    """NFSv2 has no exclusive CREATE."""
    stage.client.open("f", "x").close()
    with pytest.raises(FileExistsError):
        stage.client.open("f", "x")


def test_names(stage: Stage) -> None:
    client = stage.client
    client.mkdir("a/b", parents=True)
    client.mkdir("a/b", exist_ok=True)
    client.write_file("a/f", b"data")
    client.symlink("a/f", "l")
    client.symlink("/export/a", "absolute")
    client.link("a/f", "a/g")
    assert (client.readlink("l"), client.read_file("l"), client.read_file("absolute/g")) == (
        "a/f",
        b"data",
        b"data",
    )
    assert (client.lstat("l").type, client.stat("l").nlink) == (FileType.LINK, 2)
    client.rename("a/g", "h")
    assert [(top, sorted(directories), sorted(others)) for top, directories, others in client.walk()] == [
        ("", ["a"], ["absolute", "h", "l"]),
        ("a", ["b"], ["f"]),
        ("a/b", [], []),
    ]
    with pytest.raises(NfsStatusError, match="RMDIR on a answered NFSERR_NOTEMPTY"):
        client.rmdir("a")
    client.remove("a/f")
    client.rmdir("a/b")
    client.rmdir("a")
    assert not client.exists("a")
    with pytest.raises(FileNotFoundError, match="ends in no name"):
        client.rmdir("/")
    with pytest.raises(FileNotFoundError, match="LOOKUP on none answered NFSERR_NOENT"):
        client.stat("none")


def test_a_large_directory(stage: Stage) -> None:
    names = sorted(f"a name of some length {number:03}" for number in range(400))
    stage.client.mkdir("d")
    for name in names:
        stage.client.symlink("x", f"d/{name}")
    stage.watch(nfs2.READDIR)
    assert sorted(stage.client.listdir("d")) == names
    assert len(stage.called) > 1
    entries = {entry.name.decode(): entry for entry in stage.client.scan("d")}
    assert sorted(entries) == names
    assert {(entry.handle, entry.attributes) for entry in entries.values()} == {(None, None)}
    assert entries[names[0]].fileid == stage.client.lstat(f"d/{names[0]}").fileid


def test_attributes(stage: Stage) -> None:
    client = stage.client
    client.write_file("f", b"12345", mode=0o640)
    client.chown("f", 5, 6)
    client.utime("f", (7_000_008_000, 9_000_010_000))
    seen = client.stat("f")
    assert (seen.type, seen.mode, seen.uid, seen.gid, seen.size) == (FileType.REGULAR, 0o640, 5, 6, 5)
    assert (seen.atime, seen.mtime) == (Time(7, 8000), Time(9, 10_000))
    client.setattr("f", NewAttributes(mode=0o600, size=2))
    client.chmod("f", 0o604)
    assert (client.stat("f").mode, client.stat("f").size) == (0o604, 2)
    room = client.fsstat()
    assert room.tbytes is not None
    assert room.tbytes > 0


def test_what_nfs2_cannot_do(stage: Stage) -> None:
    stage.client.write_file("f", b"")
    with pytest.raises(NotInVersion, match="server's clock"):
        stage.client.utime("f")
    with pytest.raises(NotInVersion, match="owners by name"):
        stage.client.chown("f", "somebody@example.org")
    with pytest.raises(NotInVersion, match="32 bits"):
        stage.client.truncate("f", 1 << 32)
    with stage.client.open("f", "r+") as file:
        file.seek((1 << 32) - 10)
        with pytest.raises(NotInVersion, match="32 bits"):
            file.write(b"beyond the end")
    assert stage.client.read_file("f") == b""


# ---------------------------------------------------------------- servers that lie


def test_data_beyond_the_size_is_never_given(stage: Stage) -> None:
    stage.client.write_file("f", b"data")

    def more(args: t.Any, result: t.Any) -> None:
        result.data = bytes(min(args.count, 5000))

    stage.watch(nfs2.READ, bend=more)
    with pytest.raises(ServerViolation, match=r"READ of /f: the server sent data up to byte"):
        stage.client.read_file("f")


def test_names_that_can_be_none_and_listings_without_end(stage: Stage) -> None:
    stage.client.mkdir("d")
    stage.client.write_file("d/f", b"")
    lies: list[bytes] = [b"../../etc"]

    def rename(_args: t.Any, result: t.Any) -> None:
        for entry in result.entries:
            entry.name = lies[0]
        result.eof = False

    stage.watch(nfs2.READDIR, bend=rename)
    with pytest.raises(ServerViolation, match="expected the name of an entry"):
        stage.client.listdir("d")
    lies[0] = b"f"
    stage.client.listing_bounds = ListingBounds(1000)
    with pytest.raises(EndlessListing):
        stage.client.listdir("d")


def test_a_type_that_there_is_not_is_a_violation(stage: Stage) -> None:
    stage.client.write_file("f", b"")

    def unknown(_args: t.Any, result: t.Any) -> None:
        result.attributes.type = nfs2.Ftype(77)
        result.attributes.mode = 0o644

    stage.watch(nfs2.LOOKUP, bend=unknown)
    with pytest.raises(ServerViolation, match="f: expected an ftype in the attributes"):
        stage.client.stat("f")


def test_calls_survive_a_lost_connection(stage: Stage) -> None:
    stage.client.write_file("f", DATA)
    stage.client.session.rpc.lose("of a test")
    assert stage.client.read_file("f") == DATA
