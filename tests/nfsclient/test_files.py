# SPDX-License-Identifier: MIT
"""Files by handle: the same program in each version of NFS, by both drivers, against the embedded server."""

from __future__ import annotations

import asyncio
import errno
import subprocess
import sys
import threading
import typing as t
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from nfsclient.clients import Nfs2, Nfs3
from nfsclient.clients.nfs4 import Nfs4
from nfsclient.clients.nfs4.aio import AsyncNfs4
from nfsclient.errors import NfsStatusError, ServerViolation
from nfsclient.files import (
    SERVER_TIME,
    Access,
    Attributes,
    Blocking,
    Call,
    Create,
    Data,
    Files,
    FileType,
    NewAttributes,
    NotInVersion,
    OnAsyncio,
    Position,
    Stable,
    Steps,
    Time,
    Written,
    perform,
    result_of,
    v2,
    v3,
    v4,
)
from nfsclient.files import v2 as files2
from nfsclient.files import v4 as files4
from nfsclient.protocol import nfs2 as p2
from nfsclient.protocol import nfs3 as p3
from nfsclient.protocol import nfs4 as p4
from nfsclient.rpc import aio
from nfsclient.rpc.auth import AuthSys
from nfsclient.rpc.blocking import connect_tcp
from nfsclient.rpc.loop import Loop
from nfsserver import ManualClock, Server

T = t.TypeVar("T")
ROOT = AuthSys(0, 0)
STALE = {"2": p2.Nfsstat2.NFSERR_STALE, "3": p3.Nfsstat3.NFS3ERR_STALE, "4": p4.Nfsstat4.NFS4ERR_STALE}
NOENT = {"2": p2.Nfsstat2.NFSERR_NOENT, "3": p3.Nfsstat3.NFS3ERR_NOENT, "4": p4.Nfsstat4.NFS4ERR_NOENT}


class Do(t.Protocol):
    def __call__(self, steps: Steps[T], /) -> T: ...


class Rig:
    """A server in another thread, operations of one version, and a driver."""

    def __init__(self, version: str, driver: str) -> None:
        self.version = version
        self._closing = ExitStack()
        self._serve()
        self.files: Files = {"2": v2.Files, "3": v3.Files, "4": v4.Files}[version[0]]()
        self.do: Do = self._blocking() if driver == "blocking" else self._on_asyncio()

    def _serve(self) -> None:
        loop, over = Loop(), threading.Event()
        self.server = Server(clock=ManualClock(), seed=1)
        self.server.listen(loop)
        self.root = self.server.backend.handle_of(self.server.fs.root)

        def serve() -> None:
            while not over.is_set():
                loop.run_once(loop.clock() + 0.05)

        thread = threading.Thread(target=serve)
        thread.start()
        for step in (loop.close, self.server.close, thread.join, over.set):
            self._closing.callback(step)  # the last one first

    def _blocking(self) -> Do:
        rpc = connect_tcp("127.0.0.1", self.server.port, credential=ROOT)
        self._closing.callback(rpc.close)
        if self.version in "23":
            return Blocking((Nfs2 if self.version == "2" else Nfs3)(rpc))
        session = Nfs4(rpc, minor=int(self.version[-1])).establish()
        self._closing.callback(session.close)
        return Blocking(session)

    def _on_asyncio(self) -> Do:
        runner = self._closing.enter_context(asyncio.Runner())
        rpc = runner.run(aio.connect_tcp("127.0.0.1", self.server.port, credential=ROOT))
        self._closing.callback(lambda: runner.run(rpc.close()))
        if self.version in "23":
            driver = OnAsyncio(rpc)
        else:
            session = runner.run(AsyncNfs4(rpc, minor=int(self.version[-1])).establish())
            self._closing.callback(lambda: runner.run(session.close()))
            driver = OnAsyncio(session)
        return lambda steps: runner.run(driver(steps))

    @property
    def name(self) -> str:
        return self.version[0]

    def make(self, name: bytes, data: bytes = b"") -> bytes:
        """A file with data; its handle."""
        handle = self.do(self.files.create(self.root, name, attributes=NewAttributes(mode=0o644))).handle
        done = self.do(self.files.write(handle, 0, data)) if data else None
        assert done is None or done.count == len(data)
        return handle

    def names(self, directory: bytes) -> list[bytes]:
        """All names, page by page."""
        names: list[bytes] = []
        at, eof = Position(), False
        while not eof:
            page = self.do(self.files.readdir(directory, at, 512))
            names += [entry.name for entry in page.entries]
            at, eof = page.next, page.eof
        return sorted(set(names) - {b".", b".."})

    def close(self) -> None:
        self._closing.close()
        assert [str(error) for _, error in self.server.messages.faults] == []


@pytest.fixture(
    params=[(v, d) for v in ("2", "3", "4.1", "4.2") for d in ("blocking", "asyncio")], ids="-".join
)
def rig(request: pytest.FixtureRequest) -> Iterator[Rig]:
    made = Rig(*request.param)
    yield made
    made.close()


def test_attributes(rig: Rig) -> None:
    handle = rig.make(b"f", b"12345")
    seen = rig.do(rig.files.getattr(handle))
    assert (seen.type, seen.mode, seen.nlink, seen.size) == (FileType.REGULAR, 0o644, 1, 5)
    assert (seen.uid, seen.gid, seen.is_directory, seen.is_link) == (0, 0, False, False)
    assert (seen.owner is None, seen.change is None) == (rig.name != "4",) * 2
    assert (seen.used is None, seen.rdev is None) == (rig.name == "2",) * 2
    assert seen.fileid == rig.do(rig.files.lookup(rig.root, b"f")).attributes.fileid  # type: ignore[union-attr]
    assert rig.do(rig.files.getattr(rig.root)).is_directory
    change = NewAttributes(mode=0o600, uid=7, gid=8, size=2, atime=Time(5, 6000), mtime=Time(9, 10_000))
    rig.do(rig.files.setattr(handle, change))
    seen = rig.do(rig.files.getattr(handle))
    assert (seen.mode, seen.uid, seen.gid, seen.size) == (0o600, 7, 8, 2)
    assert (seen.atime, seen.mtime) == (Time(5, 6000), Time(9, 10_000))
    assert seen.mtime is not None
    assert (seen.mtime.ns, Time.of_ns(seen.mtime.ns)) == (9_000_010_000, seen.mtime)


def test_server_time(rig: Rig) -> None:
    handle = rig.make(b"f")
    setting = rig.files.setattr(handle, NewAttributes(atime=SERVER_TIME, mtime=SERVER_TIME))
    if rig.name == "2":
        with pytest.raises(NotInVersion, match="server's clock"):
            rig.do(setting)
        return
    rig.do(rig.files.setattr(handle, NewAttributes(mtime=Time(1))))
    rig.do(setting)
    assert rig.do(rig.files.getattr(handle)).mtime != Time(1)


def test_data(rig: Rig) -> None:
    handle = rig.make(b"f")
    done = rig.do(rig.files.write(handle, 3, b"data", Stable.UNSTABLE))
    verifier = rig.do(rig.files.commit(handle))
    assert (done.count, done.verifier) == (4, verifier)
    assert (verifier is None) == (rig.name == "2")
    part = rig.do(rig.files.read(handle, 0, 5))
    assert (bytes(part.data), part.eof) == (b"\0\0\0da", False)
    room = memoryview(bytearray(10))
    rest = rig.do(rig.files.read(handle, 5, 10, into=room))
    assert (bytes(rest.data), rest.eof) == (b"ta", True)
    assert rig.do(rig.files.read(handle, 100, 10)).eof


def test_short_transfers_are_visible(rig: Rig) -> None:
    handle = rig.make(b"f")
    data = bytes(9000)
    done = rig.do(rig.files.write(handle, 0, data))
    if rig.name != "2":
        assert done.count == 9000
        return
    assert (done.count, done.committed) == (8192, Stable.FILE_SYNC)
    rig.do(rig.files.write(handle, done.count, data[done.count :]))
    first = rig.do(rig.files.read(handle, 0, 9000))
    assert (len(first.data), first.eof) == (8192, False)
    assert rig.do(rig.files.read(handle, 8192, 9000)).eof


def test_create(rig: Rig) -> None:
    made = rig.do(rig.files.create(rig.root, b"f", Create.GUARDED, NewAttributes(mode=0o640)))
    assert rig.do(rig.files.getattr(made.handle)).mode == 0o640
    with pytest.raises(FileExistsError) as caught:
        rig.do(rig.files.create(rig.root, b"f", Create.GUARDED))
    assert isinstance(caught.value, NfsStatusError)
    rig.do(rig.files.write(made.handle, 0, b"kept"))
    again = rig.do(rig.files.create(rig.root, b"f", Create.UNCHECKED))
    assert (again.handle, bytes(rig.do(rig.files.read(made.handle, 0, 9)).data)) == (made.handle, b"kept")


def test_exclusive_create(rig: Rig) -> None:
    mode = NewAttributes(mode=0o604)

    def create(verifier: bytes) -> bytes:
        return rig.do(rig.files.create(rig.root, b"x", Create.EXCLUSIVE, mode, verifier=verifier)).handle

    if rig.name == "2":
        with pytest.raises(NotInVersion, match="exclusive"):
            create(b"verifier")
        assert rig.names(rig.root) == []
        return
    handle = create(b"verifier")
    assert rig.do(rig.files.getattr(handle)).mode == 0o604
    with pytest.raises(FileExistsError):
        create(b"another.")


def test_names(rig: Rig) -> None:
    files, do, root = rig.files, rig.do, rig.root
    directory = do(files.mkdir(root, b"d", NewAttributes(mode=0o700))).handle
    link = do(files.symlink(root, b"l", b"some where")).handle
    file = rig.make(b"f", b"data")
    assert do(files.getattr(directory)).is_directory
    assert do(files.getattr(link)).is_link
    assert do(files.readlink(link)) == b"some where"
    do(files.link(file, directory, b"again"))
    assert do(files.lookup(directory, b"again")).handle == file
    assert do(files.getattr(file)).nlink == 2
    do(files.rename(root, b"f", directory, b"moved"))
    assert (rig.names(root), rig.names(directory)) == ([b"d", b"l"], [b"again", b"moved"])
    with pytest.raises(NfsStatusError, match="NOTEMPTY"):
        do(files.rmdir(root, b"d"))
    for name in (b"again", b"moved"):
        do(files.remove(directory, name))
    do(files.rmdir(root, b"d"))
    do(files.remove(root, b"l"))
    assert rig.names(root) == []


def test_pages_of_a_directory(rig: Rig) -> None:
    directory = rig.do(rig.files.mkdir(rig.root, b"d")).handle
    names = sorted(b"name %03d" % number for number in range(60))
    for name in names:
        rig.do(rig.files.create(directory, name))
    assert rig.names(directory) == names
    page = rig.do(rig.files.readdir(directory, size=4096, attributes=True))
    entry = next(each for each in page.entries if each.name in names)
    assert entry.raw.name == entry.name
    if rig.name == "2":
        assert (entry.handle, entry.attributes) == (None, None)
        return
    assert entry.handle == rig.do(rig.files.lookup(directory, entry.name)).handle
    assert entry.attributes is not None
    assert (entry.attributes.type, entry.fileid) == (FileType.REGULAR, entry.attributes.fileid)


def test_access(rig: Rig) -> None:
    if rig.name == "2":
        with pytest.raises(NotInVersion, match="NFSv2 has no ACCESS"):
            rig.do(rig.files.access(rig.root))
        return
    wanted = Access.READ | Access.LOOKUP
    assert rig.do(rig.files.access(rig.root, wanted)) == wanted


def test_file_system(rig: Rig) -> None:
    info = rig.do(rig.files.fsinfo(rig.root))
    assert info.rtmax is not None
    assert info.wtmax is not None
    assert min(info.rtmax, info.wtmax) >= 8192
    room = rig.do(rig.files.statfs(rig.root))
    assert room.tbytes is not None
    assert room.fbytes is not None
    assert 0 < room.fbytes <= room.tbytes
    assert (room.tfiles is None) == (rig.name == "2")


def test_errors_carry_the_status_of_the_protocol(rig: Rig) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        rig.do(rig.files.lookup(rig.root, b"nothing"))
    error = t.cast("NfsStatusError", caught.value)
    assert (error.status, type(error.status)) == (NOENT[rig.name], type(NOENT[rig.name]))
    assert (error.procedure, error.reply.status) == ("LOOKUP", error.status)
    assert (caught.value.errno, str(error)) == (errno.ENOENT, f"LOOKUP answered {error.status}")
    handle = rig.make(b"f")
    rig.do(rig.files.remove(rig.root, b"f"))
    with pytest.raises(NfsStatusError) as stale:
        rig.do(rig.files.getattr(handle))
    assert stale.value.status is STALE[rig.name]
    with pytest.raises(NotADirectoryError):
        rig.do(rig.files.lookup(rig.make(b"g"), b"name"))


# ---------------------------------------------------------------- without a server


def answers(*replies: object) -> Callable[[t.Any], t.Any]:
    """Gives these replies, one for each call."""
    left = list(replies)
    return lambda _: left.pop(0)


FATTR3 = p3.Fattr3(
    *(p3.Ftype3.NF3REG, 0o644, 1, 0, 0, 5, 5),
    *(p3.Specdata3(), 1, 2, p3.Nfstime3(1), p3.Nfstime3(2), p3.Nfstime3(3)),
)


@pytest.mark.parametrize(
    ("data", "count", "text"),
    [(bytes(101), 101, "100 bytes requested, 101 came"), (bytes(9), 10, "9 bytes came, and count says 10")],
)
def test_more_data_than_requested_is_a_violation(data: bytes, count: int, text: str) -> None:
    reply = p3.Read3Res(p3.Nfsstat3.NFS3_OK, resok=p3.Read3ResOk(None, count, False, data))
    with pytest.raises(ServerViolation, match=text):
        perform(v3.Files().read(b"f", 0, 100), answers(reply))


@pytest.mark.parametrize(
    ("count", "committed", "text"),
    [
        (5, p3.StableHow.FILE_SYNC, "4 bytes sent, 5 written"),
        (4, p3.StableHow.UNSTABLE, "FILE_SYNC requested, only UNSTABLE done"),
        (4, p3.StableHow(9), "expected a stable_how"),
    ],
)
def test_a_write_that_cannot_be_true_is_a_violation(count: int, committed: p3.StableHow, text: str) -> None:
    done = p3.Write3ResOk(p3.WccData(), count, committed, bytes(8))
    with pytest.raises(ServerViolation, match=text):
        perform(v3.Files().write(b"f", 0, b"data"), answers(p3.Write3Res(p3.Nfsstat3.NFS3_OK, resok=done)))


def test_results_are_given_as_they_came_to_whom_judges_them() -> None:
    files = v3.Files(checked=False)
    read = p3.Read3Res(p3.Nfsstat3.NFS3_OK, resok=p3.Read3ResOk(None, 7, False, bytes(9)))
    assert perform(files.read(b"f", 0, 5), answers(read)) == Data(bytes(9), eof=False)
    for committed, seen in ((p3.StableHow.UNSTABLE, Stable.UNSTABLE), (p3.StableHow(9), Stable.FILE_SYNC)):
        done = p3.Write3ResOk(p3.WccData(), 5, committed, bytes(8))
        reply = p3.Write3Res(p3.Nfsstat3.NFS3_OK, resok=done)
        assert perform(files.write(b"f", 0, b"data"), answers(reply)) == Written(5, seen, bytes(8))


def test_a_type_that_there_is_not_is_a_violation() -> None:
    FATTR3.type = p3.Ftype3(77)
    reply = p3.Getattr3Res(p3.Nfsstat3.NFS3_OK, resok=p3.Getattr3ResOk(FATTR3))
    with pytest.raises(ServerViolation, match="ftype3 in the attributes, saw UNKNOWN_77"):
        perform(v3.Files().getattr(b"f"), answers(reply))
    FATTR3.type = p3.Ftype3.NF3REG


def test_a_withheld_handle_is_looked_up() -> None:
    made = p3.Create3ResOk(None, None, p3.WccData())
    found = p3.Lookup3ResOk(b"handle", None, None)
    replies = (
        p3.Create3Res(p3.Nfsstat3.NFS3_OK, resok=made),
        p3.Lookup3Res(p3.Nfsstat3.NFS3_OK, resok=found),
    )
    assert perform(v3.Files().create(b"d", b"f"), answers(*replies)).handle == b"handle"


@pytest.mark.parametrize(
    ("mode", "kind", "expected"),
    [
        (0o140755, p2.Ftype.NFNON, FileType.SOCKET),
        (0o010644, p2.Ftype.NFCHR, FileType.FIFO),
        (0o644, p2.Ftype.NFNON, None),
        (0o040755, p2.Ftype.NFDIR, FileType.DIRECTORY),
    ],
)
def test_types_that_nfs2_has_in_the_mode_only(mode: int, kind: p2.Ftype, expected: FileType | None) -> None:
    time = p2.Timeval(1, 2)
    given = p2.Fattr(kind, mode, 1, 0, 0, 0, 512, 0, 0, 1, 2, time, time, time)
    seen = files2.attributes_of(given)
    assert (seen.type, seen.mode, seen.mtime) == (expected, mode & 0o7777, Time(1, 2000))


@pytest.mark.parametrize(
    "attributes",
    [
        NewAttributes(size=0xFFFF_FFFF),
        NewAttributes(uid=0xFFFF_FFFF),
        NewAttributes(mtime=Time(-1)),
        NewAttributes(owner=b"a@b"),
    ],
)
def test_what_nfs2_cannot_express_is_not_sent(attributes: NewAttributes) -> None:
    """All ones would leave the attribute alone."""
    with pytest.raises(NotInVersion):
        next(v2.Files().setattr(bytes(32), attributes))


def test_nfs2_has_no_offsets_above_32_bits() -> None:
    with pytest.raises(NotInVersion, match="32 bits"):
        next(v2.Files().read(bytes(32), 1 << 32, 1))
    with pytest.raises(NotInVersion, match="32 bits"):
        next(v2.Files().write(bytes(32), (1 << 32) - 2, b"data"))


@pytest.mark.parametrize(
    ("owner", "uid"),
    [(b"17", 17), (b"a@b", None), (b"", None), (b"9" * 40, None), (b"-1", None), (None, None)],
)
def test_owners_that_are_numbers(owner: bytes | None, uid: int | None) -> None:
    seen = files4.attributes_of(p4.Fattr4(owner=owner))
    assert seen == Attributes(owner=owner, uid=uid)


def test_a_separate_call_is_sent_by_anybody() -> None:
    """As path clients do that keep many under way."""
    steps = v3.Files().read(b"f", 10, 20)
    call = next(steps)
    assert isinstance(call, Call)
    assert (call.procedure, call.args) == (p3.READ, p3.Read3Args(b"f", 10, 20))
    reply = p3.Read3Res(p3.Nfsstat3.NFS3_OK, resok=p3.Read3ResOk(None, 2, True, b"ab"))
    assert result_of(steps, reply).data == b"ab"


def test_an_error_of_a_call_reaches_the_operation() -> None:
    def answer(_: object) -> t.NoReturn:
        raise NfsStatusError(p2.Nfsstat2.NFSERR_IO, "LOOKUP")

    with pytest.raises(NfsStatusError, match="NFSERR_IO"):
        perform(v2.Files().create(bytes(32), b"f", Create.GUARDED), answer)


def test_programs_load_what_they_use() -> None:
    program = (
        "import nfsclient.files, sys; print({'asyncio', 'nfsclient.protocol.nfs4'} & sys.modules.keys())"
    )
    seen = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert seen.stdout == "set()\n"


def test_asyncio_waits_for_a_busy_server() -> None:
    """With pauses that double, until patience has ended."""
    waited: list[float] = []
    refusal = p3.Getattr3Res(p3.Nfsstat3.NFS3ERR_JUKEBOX)

    class Busy:
        calls = 0

        async def call(self, *_: object, **_options: object) -> p3.Getattr3Res:
            self.calls += 1
            return refusal

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    busy = Busy()
    driver = OnAsyncio(t.cast("t.Any", busy), patience=0.2, sleep=sleep)
    with pytest.raises(NfsStatusError, match="JUKEBOX"):
        asyncio.run(driver(v3.Files().getattr(b"f")))
    assert (waited, busy.calls) == ([0.05, 0.1, pytest.approx(0.05)], 4)
