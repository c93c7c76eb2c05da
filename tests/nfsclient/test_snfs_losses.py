# SPDX-License-Identifier: MIT
"""What a program gets when the server has given its files to others, or when calls fail; and what is left then."""

from __future__ import annotations

import typing as t
from collections.abc import Iterator

import pytest

from nfsclient.clients import Nfs3
from nfsclient.clients.patience import Patience
from nfsclient.errors import NfsStatusError, NoProgress, ServerDown
from nfsclient.highlevel.snfs import NfsClient, NfsFile, StateLost
from nfsclient.nfs3 import NfsClient as NfsClient3
from nfsclient.protocol import nfs3
from nfsclient.protocol import snfs as p
from tests.nfsclient.snfs_stage import BLOCK, Stage, put, staged


def write(file: NfsFile) -> None:
    file.write(b"x")
    file.flush()


USES: t.Final[dict[str, t.Callable[[NfsFile], object]]] = {
    "read": lambda file: file.read(1),
    "readall": lambda file: file.readall(),
    "write": write,
    "truncate": lambda file: file.truncate(1),
}
PROCEDURES: t.Final[dict[str, t.Any]] = {
    "read": p.READ,
    "readall": p.READ,
    "write": p.WRITE,
    "truncate": p.SETATTR,
}


@pytest.fixture
def stage() -> Iterator[Stage]:
    yield from staged(snfs_callback_timeout=0.05)


@pytest.fixture
def a(stage: Stage) -> NfsClient:
    return stage.client()


@pytest.fixture
def b(stage: Stage) -> NfsClient:
    return stage.client()


def test_a_client_that_was_given_up_and_opens_again_is_called_while_any_open_is_left(
    stage: Stage, a: NfsClient, b: NfsClient
) -> None:
    """The server knows of one OPEN, the client of two: the first CLOSE must not end both."""
    put(b, "f", b"old")
    b.sync()
    first = a.open("f")
    assert first.read() == b"old"
    assert stage.give_up(a, "f")
    put(b, "f", b"new")
    b.sync()
    second = a.open("f")
    assert second.read() == b"new"
    first.close()
    put(b, "f", b"newest")
    b.sync()
    second.seek(0)
    assert second.read() == b"newest"


def test_data_that_a_crash_has_taken_from_the_server_is_not_kept(stage: Stage, a: NfsClient) -> None:
    """An NFSv3 client had written it, and not committed."""
    put(a, "f", b"old")
    a.sync()
    other = stage.other("3")
    assert other.read_file("f") == b"old"  # by now nobody has anything of it
    assert isinstance(other, NfsClient3)
    handle = other._resolver.find(b"/f").handle
    assert Nfs3(other.session.rpc).write(handle, 0, b"new", stable=nfs3.StableHow.UNSTABLE).resok is not None
    stage.clock.advance(stage.server.knobs.now.snfs_nfs_interval + 1)
    file = a.open("f")
    assert file.read() == b"new"
    stage.server.crash()
    file.seek(0)
    assert file.read() == stage.contents("f") == b"old"
    other.close()


# ---------------------------------------------------------------- STALE


@pytest.mark.parametrize("use", list(USES))
@pytest.mark.parametrize("is_shared", [False, True])
def test_a_client_that_was_given_up_gets_state_lost(
    stage: Stage, a: NfsClient, b: NfsClient, use: str, is_shared: bool
) -> None:
    """STALE is what the server says; what it means is for the client to find out."""
    put(b, "f", bytes(4 * BLOCK))
    b.sync()
    file = a.open("f", "r+")
    other = b.open("f", "r+") if is_shared else None
    if use == "write" and not is_shared:
        file.write(b"waits")
    assert stage.give_up(a, "f")
    with pytest.raises(StateLost):
        USES[use](file)
    with pytest.raises(StateLost):
        file.size()
    file.close()
    if other is not None:
        other.close()
    with a.open("f", "r+") as again:
        assert len(again.readall()) >= 1


@pytest.mark.parametrize("use", list(USES))
def test_a_client_that_is_given_up_within_a_call_gets_state_lost(
    stage: Stage, a: NfsClient, b: NfsClient, use: str
) -> None:
    """The connection is lost, REOPEN is refused, and the call is sent again."""
    put(b, "f", bytes(4 * BLOCK))
    b.sync()
    file, other = a.open("f", "r+"), b.open("f", "r+")

    def act() -> None:
        assert stage.give_up(a, "f")
        stage.cut(a)

    stage.during(PROCEDURES[use], act)
    with pytest.raises(StateLost):
        USES[use](file)
    other.close()


@pytest.mark.parametrize("use", list(USES))
def test_a_file_that_was_removed_is_stale(stage: Stage, a: NfsClient, b: NfsClient, use: str) -> None:
    put(b, "f", bytes(4 * BLOCK))
    b.sync()
    file, other = a.open("f", "r+"), b.open("f", "r+")
    b.remove("f")
    with pytest.raises(NfsStatusError, match="STALE"):
        USES[use](file)
    with pytest.raises(NfsStatusError, match="STALE"):
        file.size()
    file.close()
    other.close()


# ---------------------------------------------------------------- what is left after an error


def fail_once(
    monkeypatch: pytest.MonkeyPatch, owner: object, name: str, error: Exception | None = None
) -> None:
    """The next call of a method raises."""
    original = getattr(owner, name)

    def fail(*_args: object, **_more: object) -> t.NoReturn:
        monkeypatch.setattr(owner, name, original)
        raise error or NoProgress(name)

    monkeypatch.setattr(owner, name, fail)


def is_free(client: NfsClient, name: str) -> bool:
    """Whether nobody has a file open, as far as the server knows: who opens it for writing may cache."""
    with client.open(name, "r+") as file:
        return file.is_cached


def test_a_file_is_closed_although_something_else_cannot_be_written(
    a: NfsClient, b: NfsClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = a.open("f", "w")
    fail_once(monkeypatch, a.caching, "tick")
    with pytest.raises(NoProgress):
        file.close()
    assert is_free(b, "f")


def test_a_file_whose_open_fails_in_the_end_is_closed(
    a: NfsClient, b: NfsClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(a, "f", b"data")
    fail_once(monkeypatch, a.caching, "settle")
    with pytest.raises(NoProgress):
        a.open("f")
    assert is_free(b, "f")


def test_one_close_that_fails_does_not_keep_the_end_of_a_client_from_the_others(
    stage: Stage, a: NfsClient
) -> None:
    files = [a.open(name, "w") for name in ("f", "g", "h")]
    refusals, closed = [p.Snfsstat.NFSERR_IO], list[bytes]()

    def middleware(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
        if refusals:
            return p.Closeopres(refusals.pop())
        closed.append(args.file)
        return proceed(context, args)

    stage.server.interpose(p.CLOSE, middleware)
    a.close()
    stage.clients.remove(a)
    assert len(closed) == len(files) - 1


def test_a_loss_that_could_not_be_reported_is_reported_the_next_time(
    stage: Stage, a: NfsClient, b: NfsClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(a, "f", b"data")
    assert stage.give_up(a, "f")
    fail_once(monkeypatch, a.caching, "_is_gone")
    with pytest.raises(NoProgress):
        a.sync()
    with pytest.raises(StateLost):
        a.sync()
    a.sync()


def test_an_open_that_was_given_up_is_taken_back_by_the_next_connection(
    stage: Stage, a: NfsClient, b: NfsClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has been carried out, the reply was lost, and the server could not be reached for long."""
    put(b, "f", b"data")
    a.read_file("f")
    stage.during(p.OPEN, lambda: stage.cut(a), after=True)
    fail_once(monkeypatch, a.session.caller, "recover", ServerDown("OPEN", "server", 1.0, 1, "it is down"))
    with pytest.raises(ServerDown):
        a.open("f", "r+")
    a.exists("f")
    assert is_free(b, "f")


def test_a_close_whose_reply_is_lost_loses_nothing(stage: Stage, a: NfsClient, b: NfsClient) -> None:
    """With versions from a counter, the server knows nothing any more of the file that REOPEN is about."""
    stage.server.knobs.update(snfs_versions="counter")
    b.write_file("f", b"data")
    with a.open("f") as file:
        assert file.readall() == b"data"
        stage.during(p.CLOSE, lambda: stage.cut(a), after=True)
    assert a.read_file("f") == b"data"


def test_a_server_that_has_no_room_at_first_loses_nothing(stage: Stage, a: NfsClient, b: NfsClient) -> None:
    """After a restart its table is full; later it is not."""
    put(a, "f", b"data")
    refusals = [p.Snfsstat.NFSERR_NOSPC, p.Snfsstat.SNFS_RECOVERING]

    def refuse(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
        return p.Openopres(refusals.pop()) if refusals else proceed(context, args)

    stage.server.interpose(p.REOPEN, refuse)
    stage.cut(a)
    a.sync()
    assert stage.contents("f") == b"data"
    assert not refusals


def test_who_cannot_reopen_makes_no_other_calls(
    stage: Stage,
) -> None:
    """Else it would read from memory what the server lets others write."""
    a = stage.client(patience=Patience.of(stage.loop, total=0.0))
    file = a.open("f", "w+")
    file.write(b"data")
    stage.server.interpose(p.REOPEN, lambda *_: p.Openopres(p.Snfsstat.NFSERR_NOSPC))
    stage.cut(a)
    file.seek(0)
    for _ in range(2):
        with pytest.raises(ServerDown):
            file.read()
    assert not a.session.rpc.is_open


def test_each_file_object_gets_its_own_loss(stage: Stage, a: NfsClient) -> None:
    old = a.open("f", "w")
    assert stage.give_up(a, "f")
    old.write(b"lost")
    with pytest.raises(StateLost, match="data that waited here is lost"):
        old.flush()
    new = a.open("f", "r+")
    new.write(b"lost, too")
    assert stage.give_up(a, "f")
    a.caching.write_back(new._opened.file)
    with pytest.raises(StateLost, match="open it again"):
        old.size()
    with pytest.raises(StateLost, match="data that waited here is lost"):
        new.size()


# ---------------------------------------------------------------- attributes after changes of this client


def test_attributes_of_an_open_file_follow_what_this_client_does(stage: Stage, a: NfsClient) -> None:
    with a.open("f", "w") as file:
        before = file.attributes()
        stage.clock.advance(100)
        file.write(b"data")
        file.flush()
        after = file.attributes()
        assert before.mtime is not None
        assert after.mtime is not None
        assert after.mtime.seconds >= before.mtime.seconds + 100
        links = [file.attributes().nlink]
        a.link("f", "g")
        links.append(file.attributes().nlink)
        a.rename("g", "h")
        a.remove("h")
        links.append(file.attributes().nlink)
        assert links == [1, 2, 1]


def test_a_block_that_is_there_again_is_not_cleaned_by_an_old_reply(a: NfsClient) -> None:
    with a.open("f", "w") as file:
        cache, cached = a.caching.cache, file._opened.file
        file.write(b"old")
        (extent,) = cache.extents(cached)
        file.truncate(0)
        file.seek(0)
        file.write(b"new")
        cache.written(extent)
        assert [each.data for each in cache.extents(cached)] == [b"new"]
