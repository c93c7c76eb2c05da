# SPDX-License-Identifier: MIT
"""Attributes of many paths at once: the same values and errors as one by one, in every version."""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

import nfsclient
from nfsclient import nfs2, nfs3, nfs4
from nfsclient.clients import Nfs2, Nfs3, Patience
from nfsclient.clients.nfs4 import Nfs4
from nfsclient.errors import NfsStatusError
from nfsclient.files import Attributes, Blocking, FileType, v2, v3, v4
from nfsclient.files.late import LateAttributes
from nfsclient.highlevel.nfs4 import stats
from nfsclient.protocol import nfs3 as p3
from nfsclient.protocol import nfs4 as p4
from nfsclient.rpc.auth import AuthSys
from nfsclient.rpc.blocking import connect_tcp
from nfsclient.rpc.loop import Loop
from nfsclient.sessions.repeated import Usual
from nfsclient.sessions.reply import CompoundReply
from nfsclient.sessions.session import Request, SessionState, SessionViolation
from nfsclient.xdr import XdrError
from nfsserver import ManualClock, Server

OK = p4.Nfsstat4.NFS4_OK
FILES: t.Final = [f"f{number}" for number in range(50)]


class Scene:
    """The embedded server with a client by path of one version."""

    def __init__(self, version: int) -> None:
        self.loop = Loop()
        self.server = Server(clock=ManualClock(), seed=1)
        self.server.listen(self.loop)
        self.rpc = connect_tcp("127.0.0.1", self.server.port, loop=self.loop, credential=AuthSys(0, 0))
        self.root = self.server.backend.handle_of(self.server.fs.root)
        self.waits: list[float] = []
        patience = Patience(self.waits.append, self.loop.clock)
        self.client: nfsclient.NfsClient
        if version == 4:
            self.client = nfs4.NfsClient(self.rpc, path=b"/export", patience=patience)
        else:
            kind = nfs2.NfsClient if version == 2 else nfs3.NfsClient
            self.client = kind(self.rpc, self.root, base=b"/export", patience=patience)
        self.client.mkdir("d")
        for name in [*FILES, "d/one", "d/two"]:
            self.client.write_file(name, name.encode())
        self.client.symlink("d/one", "link")
        self.client.symlink("nowhere", "dangling")

    def close(self) -> None:
        self.client.close()
        self.server.close()
        self.loop.close()


@pytest.fixture(params=[2, 3, 4])
def scene(request: pytest.FixtureRequest) -> Iterator[Scene]:
    made = Scene(request.param)
    yield made
    made.close()


def outcome(call: Callable[[], Attributes]) -> object:
    try:
        return call()
    except NfsStatusError as error:
        return error_text(error)


def error_text(error: NfsStatusError) -> tuple[object, ...]:
    return type(error), error.status, error.procedure, error.path


PATHS: t.Final = [
    "f0", "", "d", "d/one", "missing", "d/missing", "nodir/x", "link", "dangling", "/f1", "./f2", "d/../f3", "f4/x",
    *FILES,
]  # fmt: skip


@pytest.mark.parametrize("follow", [True, False])
def test_values_and_errors_are_those_of_stat(scene: Scene, follow: bool) -> None:
    stat_of = scene.client.stat if follow else scene.client.lstat
    found = scene.client.stat_many(PATHS, follow=follow)
    assert len(found) == len(PATHS)
    for path, stat in zip(PATHS, found, strict=True):
        seen = error_text(stat) if isinstance(stat, NfsStatusError) else stat
        assert seen == outcome(lambda path=path: stat_of(path)), path  # type: ignore[misc]


def test_walk_requests_attributes_together_where_entries_have_none() -> None:
    """A server without READDIRPLUS: a window of LOOKUPs for each page, and one more for each directory."""
    scene = Scene(3)
    refusal = p3.Readdirplus3Res(p3.Nfsstat3.NFS3ERR_NOTSUPP, resfail=p3.Readdirplus3ResFail())
    expected = [(top, dirs, sorted(others)) for top, dirs, others in scene.client.walk()]
    scene.server.interpose(p3.READDIRPLUS, lambda _server, _context, _args, _proceed: refusal)
    windows: list[int] = []
    pipeline = scene.rpc.pipeline

    def counted(procedure: t.Any, arguments: t.Any, **more: t.Any) -> t.Any:
        calls = list(arguments)
        windows.append(len(calls))
        return pipeline(procedure, calls, **more)

    scene.rpc.pipeline = counted  # type: ignore[method-assign]
    assert [(top, dirs, sorted(others)) for top, dirs, others in scene.client.walk()] == expected
    assert windows == [len(FILES) + 3, 2]
    scene.close()


def test_nothing_is_nothing(scene: Scene) -> None:
    assert scene.client.stat_many([]) == []


def test_names_that_do_not_exist_end_nothing(scene: Scene) -> None:
    found = scene.client.stat_many(["gone0", "f0", "gone1", "gone2", "f1"])
    assert [isinstance(stat, FileNotFoundError) for stat in found] == [True, False, True, True, False]


def test_files_of_the_library_have_it_too(scene: Scene) -> None:
    names = [b"f0", b"missing", *(name.encode() for name in FILES)]
    over: t.Any
    files, over = v3.Files(), Nfs3(scene.rpc)
    if isinstance(scene.client, nfs4.NfsClient):
        files, over = v4.Files(), Nfs4(scene.rpc).establish()  # type: ignore[assignment]
    elif scene.client._files.name == "NFSv2":
        files, over = v2.Files(), Nfs2(scene.rpc)  # type: ignore[assignment]
    found = Blocking(over)(files.stat_many(scene.root, names))
    assert isinstance(found[1], FileNotFoundError)
    assert [found[0], *found[2:]] == [scene.client.stat(name.decode()) for name in [names[0], *names[2:]]]


# ---------------------------------------------------------------- what is under way


def test_many_names_need_few_compounds() -> None:
    scene = Scene(4)
    seen: list[int] = []

    def note(_server: object, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
        seen.append(1)
        return proceed(context, args)

    scene.server.interpose(p4.SAVEFH, note)
    assert all(isinstance(stat, LateAttributes) for stat in scene.client.stat_many(FILES))
    assert len(seen) == 3  # 20 names fit into the 64 operations that this server grants
    scene.close()


def test_delay_and_restarts_are_recovered() -> None:
    scene = Scene(4)
    answers = [p4.Lookup4Res(p4.Nfsstat4.NFS4ERR_DELAY)]

    def delayed(_server: object, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
        return answers.pop() if answers else proceed(context, args)

    scene.server.interpose(p4.LOOKUP, delayed)
    assert [stat.size for stat in scene.client.stat_many(FILES)] == [len(name) for name in FILES]  # type: ignore[union-attr]
    scene.rpc.close()
    assert [stat.size for stat in scene.client.stat_many(FILES)] == [len(name) for name in FILES]  # type: ignore[union-attr]
    scene.close()


def test_a_lost_connection_is_made_again_in_nfs3() -> None:
    scene = Scene(3)
    client = nfs3.NfsClient(
        connect_tcp("127.0.0.1", scene.server.port, loop=scene.loop, credential=AuthSys(0, 0)),
        scene.root,
        reconnect=True,
    )
    client.session.rpc.close()
    assert [stat.size for stat in client.stat_many(FILES)] == [len(name) for name in FILES]  # type: ignore[union-attr]
    client.close()
    scene.close()


def test_a_busy_server_is_called_again_in_nfs3() -> None:
    scene = Scene(3)
    answers = [p3.Lookup3Res(p3.Nfsstat3.NFS3ERR_JUKEBOX, resfail=p3.Lookup3ResFail())] * 3

    def busy(_server: object, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
        return answers.pop() if answers else proceed(context, args)

    scene.server.interpose(p3.LOOKUP, busy)
    assert [stat.size for stat in scene.client.stat_many(FILES)] == [len(name) for name in FILES]  # type: ignore[union-attr]
    assert not answers
    scene.close()


@pytest.mark.parametrize("version", [3, 4])
def test_names_that_are_put_off_wait_together(version: int) -> None:
    """A busy server puts each name off once: in NFSv3 one wait for all, in NFSv4 one that does not grow."""
    scene = Scene(version)
    operation: t.Any = p3.LOOKUP if version == 3 else p4.LOOKUP
    late: t.Any = p4.Lookup4Res(p4.Nfsstat4.NFS4ERR_DELAY)
    if version == 3:
        late = p3.Lookup3Res(p3.Nfsstat3.NFS3ERR_JUKEBOX, resfail=p3.Lookup3ResFail())
    seen: set[bytes] = set()

    def busy(_server: object, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
        name = args.to_xdr()
        if name in seen:
            return proceed(context, args)
        seen.add(name)
        return late

    scene.server.interpose(operation, busy)
    scene.waits.clear()
    assert [stat.size for stat in scene.client.stat_many(FILES)] == [len(name) for name in FILES]  # type: ignore[union-attr]
    assert len(set(scene.waits)) == 1
    assert len(scene.waits) <= (1 if version == 3 else len(FILES) // 2)  # several compounds in a round
    scene.close()


# ---------------------------------------------------------------- late attributes


def test_late_attributes_are_attributes() -> None:
    plain = Attributes(FileType.REGULAR, 0o644, size=3)
    late = LateAttributes(FileType.REGULAR, plain, lambda raw: raw)
    assert late == plain
    assert plain == LateAttributes(FileType.REGULAR, plain, lambda raw: raw)
    assert late != Attributes(FileType.REGULAR, 0o600, size=3)
    assert not LateAttributes(FileType.DIRECTORY, plain, lambda raw: raw).is_link
    assert (late.size, late.uid, repr(late).split("(")[0]) == (3, None, "LateAttributes")
    with pytest.raises(AttributeError):
        _ = late.nothing  # type: ignore[attr-defined]


# ---------------------------------------------------------------- damaged replies


NAMES: t.Final = [b"a", b"bc", b"def"]
HANDLE: t.Final = b"h" * 28


def a_session() -> SessionState:
    channel = p4.ChannelAttrs4(0, 1 << 20, 1 << 20, 8192, 64, 64, [])
    return SessionState(p4.CreateSession4ResOk(b"s" * 16, 1, 0, channel, channel), clientid=1)


def attributes(owner: bytes, size: int) -> p4.Fattr4:
    zero = p4.Nfstime4(0, 0)
    return p4.Fattr4(
        type=p4.NfsFtype4.NF4REG, change=1, size=size, fsid=p4.Fsid4(1, 2), fileid=4, mode=0o644, numlinks=1,
        owner=owner, owner_group=b"0", rawdev=p4.Specdata4(0, 0), space_used=4, time_access=zero, time_metadata=zero,
        time_modify=zero,
    )  # fmt: skip


def reply(owners: list[bytes]) -> bytes:
    done = p4.Sequence4ResOk(b"s" * 16, 1, 0, 63, 63, 0)
    results: list[t.Any] = [p4.Sequence4Res(OK, done), p4.Putfh4Res(OK), p4.Savefh4Res(OK)]
    for size, owner in enumerate(owners):
        given = p4.Getattr4ResOk(attributes(owner, size))
        results += [p4.Lookup4Res(OK), p4.Getattr4Res(OK, given), p4.Restorefh4Res(OK)]
    return p4.Compound4Res(OK, b"", results).to_xdr()


def taken(finish: Callable[[SessionState, Request], object]) -> tuple[object, ...]:
    """What comes of a reply: value or error, and what the session knows then."""
    state = a_session()
    request, _ = stats._STATS.begin(state, HANDLE, NAMES)
    try:
        found = finish(state, request)
    except (XdrError, SessionViolation) as error:
        found = type(error), str(error)
    slot = state.slots[0]
    return found, slot.sequence_id, slot.in_use, state.slots.allowed, state.status_flags


def in_the_ordinary_way(wire: bytes) -> tuple[object, ...]:
    def finish(state: SessionState, request: Request) -> object:
        names = [op for name in NAMES for op in stats._STATS._each(name)]
        request.args.argarray += [*stats._STATS._head(HANDLE), *names]
        return state.finish(request, p4.Compound4Res.from_xdr(wire)).res

    return taken(finish)


def by_outline(wire: bytes) -> tuple[object, ...]:
    def finish(state: SessionState, request: Request) -> object:
        found = stats._STATS.finish(state, request, HANDLE, NAMES, wire)
        return found.res if isinstance(found, CompoundReply) else found

    return taken(finish)


def require_same(wire: bytes) -> None:
    fast, ordinary = by_outline(wire), in_the_ordinary_way(wire)
    assert fast[1:] == ordinary[1:]
    if not isinstance(fast[0], Usual):
        assert fast[0] == ordinary[0]
        return
    whole = ordinary[0]
    assert isinstance(whole, p4.Compound4Res)
    assert not whole.status
    assert not any(map(p4.status_of, whole.resarray))
    assert [type(each) for each in whole.resarray[3:]] == [
        p4.Lookup4Res,
        p4.Getattr4Res,
        p4.Restorefh4Res,
    ] * 3
    given = [
        each.resok4.obj_attributes
        for each in whole.resarray
        if isinstance(each, p4.Getattr4Res) and each.resok4
    ]
    assert [p4.Fattr4.from_xdr(field) for field in fast[0].fields] == given


@given(st.lists(st.sampled_from([b"0", b"root", b"user@domain"]), min_size=3, max_size=3))
def test_good_replies_are_taken_by_outline(owners: list[bytes]) -> None:
    wire = reply(owners)
    state = a_session()
    request, _ = stats._STATS.begin(state, HANDLE, NAMES)
    assert isinstance(stats._STATS.finish(state, request, HANDLE, NAMES, wire), Usual)
    require_same(wire)


def test_every_byte_of_a_reply_may_be_damaged() -> None:
    wire = reply([b"0", b"root", b"0"])
    for at in range(len(wire)):
        for value in {0, 1, wire[at] ^ 1, wire[at] ^ 4}:
            require_same(wire[:at] + bytes([value]) + wire[at + 1 :])
        require_same(wire[:at])
    require_same(wire + b"\0\0\0\0")


def test_a_call_is_what_the_ordinary_encoder_makes() -> None:
    state = a_session()
    request, encoded = stats._STATS.begin(state, HANDLE, NAMES)
    each = [op for name in NAMES for op in stats._STATS._each(name)]
    request.args.argarray += [*stats._STATS._head(HANDLE), *each]
    assert encoded == request.args.to_xdr()
