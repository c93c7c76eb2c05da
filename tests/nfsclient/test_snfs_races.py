# SPDX-License-Identifier: MIT
"""What happens within a call of a client of Spritely NFS: callbacks, other writers and lost connections come then."""

from __future__ import annotations

import typing as t
from collections.abc import Iterator

import pytest

from nfsclient.errors import NfsStatusError
from nfsclient.highlevel.snfs import NfsClient
from nfsclient.protocol import nfs2
from nfsclient.protocol import snfs as p
from nfsclient.rpc.blocking import RpcClient
from nfsclient.rpc.core import Pending
from tests.nfsclient.snfs_stage import BLOCK, Stage, put, staged

if t.TYPE_CHECKING:
    from nfsclient.highlevel.snfs.callbacks import Callback


class Called:
    """A callback from nowhere."""

    def __init__(self, handle: bytes, mode: p.CbMode = p.CbMode.SNFS_WRINVAL) -> None:
        attributes: t.Any = None
        self.args = p.Callbackargs(handle, mode, 0, attributes)
        self.answers: list[p.Snfsstat] = []

    def answer(self, status: p.Snfsstat = p.Snfsstat.NFS_OK) -> None:
        self.answers.append(status)

    def come(self, client: NfsClient) -> None:
        client.caching._called(t.cast("Callback", self))


MANY: t.Final = bytes(800 * BLOCK)
"""More blocks than WRITEs are under way at a time."""


@pytest.fixture
def stage() -> Iterator[Stage]:
    yield from staged()


@pytest.fixture
def a(stage: Stage) -> NfsClient:
    return stage.client()


@pytest.fixture
def b(stage: Stage) -> NfsClient:
    return stage.client()


def start(rpc: RpcClient, handle: bytes, then: t.Callable[[], t.Any], *, writes: bool = True) -> None:
    """OPEN, and when it is answered something else; nobody waits."""

    def go_on(pending: Pending[t.Any]) -> None:
        assert pending.result is not None
        assert pending.result.status == p.Snfsstat.NFS_OK
        then()

    rpc.submit(p.OPEN, p.Openargs(handle, 0, writes)).then = go_on


def write(rpc: RpcClient, handle: bytes, data: bytes) -> Pending[t.Any]:
    return rpc.submit(p.WRITE, nfs2.Writeargs(handle, 0, 0, 0, data))


# ---------------------------------------------------------------- WRITEs that go on after a callback


def test_what_a_callback_has_written_back_is_not_written_once_more(stage: Stage, a: NfsClient) -> None:
    """Many blocks are due, and while the first are under way somebody else opens the file of the last one."""
    put(a, "g", MANY)
    file = a.open("f", "w")
    file.write(b"from a")
    other, handle = stage.raw(), a.find("f").handle
    stage.pass_time(31)
    stage.during(p.WRITE, lambda: start(other, handle, lambda: write(other, handle, b"from b")))
    a.exists("f")
    stage.loop.catch_up()
    assert stage.contents("f") == b"from b"
    assert stage.contents("g") == MANY


def test_a_write_whose_connection_is_lost_is_not_repeated_if_a_callback_has_written_it(
    stage: Stage, a: NfsClient
) -> None:
    """The client comes back, is called, and then has nothing to write any more."""
    file = a.open("f", "w")
    file.write(b"from a")
    other, handle = stage.raw(), a.find("f").handle

    def act() -> None:
        stage.cut(a)
        start(other, handle, lambda: write(other, handle, b"from b"))

    stage.during(p.WRITE, act)
    file.flush()
    stage.loop.catch_up()
    assert stage.contents("f") == b"from b"


def test_a_callback_that_is_repeated_writes_nothing_twice(stage: Stage, a: NfsClient) -> None:
    """The server makes it again while the client writes."""
    file = a.open("f", "w")
    file.write(MANY)
    first, second = Called(a.find("f").handle), Called(a.find("f").handle)
    stage.during(p.WRITE, lambda: second.come(a))
    first.come(a)
    stage.loop.run_until(lambda: bool(first.answers and second.answers), stage.loop.clock() + 5)
    assert first.answers == second.answers == [p.Snfsstat.NFS_OK]
    assert stage.calls["WRITE"] == 800
    assert stage.contents("f") == MANY


# ---------------------------------------------------------------- connections that end within a call


@pytest.mark.parametrize("mode", ["r", "r+"])
def test_blocks_of_a_closed_file_keep_their_version_when_an_open_is_lost(
    stage: Stage, a: NfsClient, b: NfsClient, mode: str
) -> None:
    """REOPEN tells the newest version, of which the blocks need not be: others have written since, and closed it."""
    put(b, "f", b"old")
    assert a.read_file("f") == b"old"
    put(b, "f", b"new")
    stage.client().read_file("f")
    stage.during(p.OPEN, lambda: stage.cut(a), after=True)
    with a.open("f", mode) as file:
        assert file.readall() == b"new"


def test_a_callback_that_overtakes_the_reply_to_reopen_counts(stage: Stage, a: NfsClient) -> None:
    put(a, "f", b"data")
    a.sync()
    called = Called(a.find("f").handle, p.CbMode.SNFS_CBINVAL)
    with a.open("f") as file:
        assert file.readall() == b"data"
        stage.during(p.REOPEN, lambda: called.come(a))
        stage.cut(a)
        a.caching.tick()
        assert called.answers == [p.Snfsstat.NFS_OK]
        assert not file.is_cached
        assert a.caching.cache.memory == 0
    with a.open("f") as file:
        assert file.is_cached


# ---------------------------------------------------------------- a cut


def test_who_opens_a_file_that_is_being_cut_gets_it_whole_or_cut(
    stage: Stage, a: NfsClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not the new data up to the cut, and the old data after it."""
    a.write_file("f", b"old " * 10)
    file = a.open("f", "r+")
    file.write(b"new " * 10)
    other, handle = stage.raw(), a.find("f").handle
    replies: list[Pending[t.Any]] = []

    def read() -> None:
        replies.append(other.submit(p.READ, nfs2.Readargs(handle, 0, 100)))

    settle = a.caching.settle

    def settle_and_begin(cached: t.Any) -> None:
        settle(cached)
        start(other, handle, read, writes=False)

    monkeypatch.setattr(a.caching, "settle", settle_and_begin)

    def serve() -> None:
        stage.loop.run_until(lambda: bool(replies), stage.loop.clock() + 0.5)

    a.session.before = serve
    file.truncate(5)
    stage.loop.run_until(lambda: bool(replies), stage.loop.clock() + 5)
    assert bytes(t.cast("t.Any", other.wait(replies[0])).resok.data) == b"new n"


def test_a_cut_that_is_refused_cancels_nothing(stage: Stage, a: NfsClient) -> None:
    """A callback comes in between: all is written back."""
    refusals = [nfs2.Attrstat(nfs2.Nfsstat2.NFSERR_IO)]

    def refuse(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
        return refusals.pop() if refusals else proceed(context, args)

    file = a.open("f", "w")
    file.write(b"all of it")
    called = Called(a.find("f").handle)
    stage.server.interpose(p.SETATTR, refuse)
    stage.during(p.SETATTR, lambda: called.come(a))
    with pytest.raises(NfsStatusError, match="IO"):
        file.truncate(3)
    stage.loop.run_until(lambda: bool(called.answers), stage.loop.clock() + 5)
    assert stage.contents("f") == b"all of it"


def test_a_cut_whose_reply_is_lost_is_made_after_what_a_callback_has_written(
    stage: Stage, a: NfsClient
) -> None:
    """REOPEN waits for that callback, so the callback cannot wait for the cut."""
    file = a.open("f", "w")
    file.write(b"all of it")
    other, handle = stage.raw(), a.find("f").handle

    def act() -> None:
        stage.cut(a)
        start(other, handle, lambda: None, writes=False)

    stage.during(p.SETATTR, act, after=True)
    file.truncate(3)
    assert file.size() == 3
    a.sync()
    assert stage.contents("f") == b"all"
