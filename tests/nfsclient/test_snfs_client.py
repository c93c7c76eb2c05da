# SPDX-License-Identifier: MIT
"""The caching client of Spritely NFS against the embedded server: each rule of the paper, seen in the calls."""

from __future__ import annotations

import math
import typing as t
from collections.abc import Iterator
from contextlib import closing
from types import SimpleNamespace

import pytest

import nfsclient
from nfsclient.errors import NfsStatusError, NotInVersion, ProgUnavail
from nfsclient.files import NewAttributes
from nfsclient.highlevel.snfs import NfsClient, StateLost, connect
from nfsclient.nfs2 import NfsClient as NfsClient2
from nfsclient.protocol import snfs as p
from nfsclient.protocol.snfs import CbMode
from nfsclient.rpc.loop import Loop
from nfsserver import ManualClock, Server
from tests.nfsclient.snfs_stage import BLOCK, Stage, staged

if t.TYPE_CHECKING:
    from nfsclient.highlevel.snfs.callbacks import Callback

DATA = bytes(range(40))
"""Three blocks, the last one short."""


@pytest.fixture
def stage() -> Iterator[Stage]:
    yield from staged()


@pytest.fixture
def a(stage: Stage) -> NfsClient:
    return stage.client()


@pytest.fixture
def b(stage: Stage) -> NfsClient:
    return stage.client()


def put(client: NfsClient, data: bytes = DATA, name: str = "f") -> None:
    """Write a file, and leave the data in memory."""
    with client.open(name, "w") as file:
        file.write(data)


def on_server(stage: Stage, name: str = "f") -> bytes:
    """What the server has, without asking any client for more."""
    return stage.contents(name)


# ---------------------------------------------------------------- a URL


def test_a_url_leads_to_it(stage: Stage) -> None:
    made = nfsclient.connect(stage.url(), loop=stage.loop)
    assert isinstance(made, NfsClient)
    made.write_file("f", DATA)
    assert made.read_file("f") == DATA
    made.close()


def test_a_server_without_the_program_says_so() -> None:
    loop, server = Loop(), Server(clock=ManualClock(), seed=1, without=(p.PROGRAM,))
    server.listen(loop)
    with closing(loop), closing(server), pytest.raises(ProgUnavail):
        connect(f"nfs://127.0.0.1:{server.port}/export?uid=0&gid=0", loop=loop)


# ---------------------------------------------------------------- data in memory


def test_data_is_written_and_read_in_memory(stage: Stage, a: NfsClient) -> None:
    with a.open("f", "w+") as file:
        file.write(DATA)
        file.seek(0)
        assert file.read() == DATA
    assert stage.calls["WRITE"] == stage.calls["READ"] == 0
    assert on_server(stage) == b""


def test_cached_data_is_kept_across_close_and_open(stage: Stage, a: NfsClient) -> None:
    """Section 4.2.1, and 5.2: the client knows that it was the last writer."""
    put(a)
    with a.open("f") as file:
        assert file.read() == DATA
    a.sync()
    with a.open("f") as file:
        assert file.read() == DATA
    assert stage.calls["READ"] == 0


def test_what_another_client_has_written_since_is_read_again(
    stage: Stage, a: NfsClient, b: NfsClient
) -> None:
    put(a)
    a.sync()
    put(b, b"new", "f")
    assert a.read_file("f") == b"new"
    assert stage.calls["READ"] == 1


def test_reading_once_is_enough(stage: Stage, a: NfsClient, b: NfsClient) -> None:
    put(b)
    for _ in range(3):
        assert a.read_file("f") == DATA
    assert stage.calls["READ"] == 3  # three blocks


def test_memory_is_bounded(stage: Stage) -> None:
    client = stage.client(most=4 * BLOCK)
    with client.open("f", "w+") as file:
        file.write(bytes(range(200)))
        assert client.caching.cache.memory <= 5 * BLOCK
        file.seek(0)
        assert file.read() == bytes(range(200))
    assert client.caching.cache.memory <= 4 * BLOCK
    assert stage.calls["WRITE"] > 0


def test_a_block_of_which_little_is_written_is_not_read(stage: Stage, a: NfsClient, b: NfsClient) -> None:
    put(b)
    b.sync()
    with a.open("f", "r+") as file:
        file.seek(4)
        file.write(b"abc")
        file.flush()
    assert stage.calls["READ"] == 0
    assert on_server(stage) == DATA[:4] + b"abc" + DATA[7:]


# ---------------------------------------------------------------- delayed writes (section 4.2.5)


def test_data_is_written_after_thirty_seconds(stage: Stage, a: NfsClient) -> None:
    put(a)
    stage.pass_time(29)
    a.exists("f")
    assert stage.calls["WRITE"] == 0
    stage.pass_time(1)
    a.exists("f")
    assert stage.calls["WRITE"] == 3
    assert on_server(stage) == DATA


def test_the_delay_may_be_infinite(stage: Stage) -> None:
    client = stage.client(delay=math.inf)
    put(client)
    stage.pass_time(100_000)
    client.exists("f")
    assert stage.calls["WRITE"] == 0


def test_flush_and_sync_write_at_once(stage: Stage, a: NfsClient) -> None:
    with a.open("f", "w") as file:
        file.write(DATA)
        file.flush()
        assert on_server(stage) == DATA
    put(a, b"other", "g")
    a.sync()
    assert on_server(stage, "g") == b"other"


def test_what_waits_is_cancelled_by_remove(stage: Stage, a: NfsClient) -> None:
    put(a)
    a.remove("f")
    stage.pass_time(31)
    a.exists("f")
    a.sync()
    assert stage.calls["WRITE"] == 0
    assert a.caching.cache.cancelled == len(DATA)


def test_a_file_with_another_name_is_not_cancelled(stage: Stage, a: NfsClient) -> None:
    put(a)
    a.link("f", "g")
    a.remove("f")
    a.sync()
    assert on_server(stage, "g") == DATA


@pytest.mark.parametrize("name", ["f", "new"])
def test_a_name_that_another_client_adds_at_the_last_moment_keeps_what_waits(
    stage: Stage, a: NfsClient, b: NfsClient, name: str
) -> None:
    """Whether a name is the last one is known when it is gone, and not before."""
    put(a)
    put(b, b"", "new")
    b.sync()
    stage.during(p.REMOVE if name == "f" else p.RENAME, lambda: b.link("f", "g"))
    if name == "f":
        a.remove("f")
    else:
        a.rename("new", "f")
    a.sync()
    assert on_server(stage, "g") == DATA


def test_what_waits_of_a_file_that_is_replaced_is_cancelled(stage: Stage, a: NfsClient) -> None:
    put(a)
    put(a, b"new", "g")
    a.rename("g", "f")
    a.sync()
    assert stage.calls["WRITE"] == 1
    assert on_server(stage) == b"new"


def test_what_waits_beyond_a_cut_is_cancelled(stage: Stage, a: NfsClient) -> None:
    with a.open("f", "w") as file:
        file.write(DATA)
        file.truncate(5)
    a.sync()
    assert on_server(stage) == DATA[:5]
    assert stage.calls["WRITE"] == 1


def test_closing_the_client_writes_all(stage: Stage, a: NfsClient) -> None:
    put(a)
    file = a.open("g", "w")
    file.write(b"open")
    a.close()
    stage.clients.remove(a)
    assert on_server(stage) == DATA
    assert on_server(stage, "g") == b"open"
    assert stage.calls["CLOSE"] == 2


def test_a_write_that_the_server_refuses_is_reported_to_who_uses_the_file(stage: Stage, a: NfsClient) -> None:
    put(a)
    stage.server.knobs.update(max_file_size=8)
    with pytest.raises(NfsStatusError, match="FBIG"):
        a.sync()
    a.sync()  # once


# ---------------------------------------------------------------- callbacks (section 3.2)


def test_a_reader_gets_what_the_last_writer_has_not_written_yet(
    stage: Stage, a: NfsClient, b: NfsClient
) -> None:
    put(a)
    assert b.read_file("f") == DATA
    assert stage.callbacks == [CbMode.SNFS_CBWRITE]
    assert a.read_file("f") == DATA
    assert stage.calls["READ"] == 3  # of b: the blocks of a are still true


def test_a_writer_takes_the_file_from_the_last_writer(stage: Stage, a: NfsClient, b: NfsClient) -> None:
    put(a)
    with b.open("f", "r+") as file:
        assert file.is_cached
        assert file.read() == DATA
    assert stage.callbacks == [CbMode.SNFS_WRINVAL]
    assert a.caching.cache.memory == 0


def test_readers_lose_their_blocks_when_somebody_writes(stage: Stage, a: NfsClient, b: NfsClient) -> None:
    put(b)
    with a.open("f") as reading:
        assert reading.read() == DATA
        with b.open("f", "r+") as writing:
            assert stage.callbacks[-1] is CbMode.SNFS_CBINVAL
            assert not reading.is_cached
            assert not writing.is_cached
            writing.write(b"XY")
            reading.seek(0)
            assert reading.read(4) == b"XY" + DATA[2:4]


def test_a_write_shared_file_is_written_through(stage: Stage, a: NfsClient, b: NfsClient) -> None:
    put(a)
    with a.open("f", "r+") as first, b.open("f", "r+") as second:
        before = stage.calls["WRITE"]
        first.write(b"1")
        second.seek(1)
        second.write(b"2")
        assert stage.calls["WRITE"] - before == 2
        first.seek(0)
        assert first.read(3) == b"12" + DATA[2:3]


def test_a_write_shared_file_is_not_read_ahead(stage: Stage, a: NfsClient, b: NfsClient) -> None:
    put(a, DATA * 3)
    a.sync()
    with a.open("f", "r+"), b.open("f") as reading:
        assert reading.read(BLOCK) == DATA[:BLOCK]
        assert stage.calls["READ"] == 1
    assert b.caching.cache.memory == 0


def test_a_file_that_may_be_cached_is_read_ahead(stage: Stage, a: NfsClient, b: NfsClient) -> None:
    put(a, DATA * 3)
    with b.open("f") as reading:
        reading.read(BLOCK)
        assert stage.calls["READ"] == 2


def test_attributes_are_kept_while_the_file_may_be_cached_and_never_while_it_is_shared(
    stage: Stage, a: NfsClient, b: NfsClient
) -> None:
    put(a)
    with a.open("f", "r+") as file:
        assert [file.size(), file.size(), file.attributes().size] == [len(DATA)] * 3
        assert stage.calls["GETATTR"] == 0
        with b.open("f", "r+") as other:
            other.truncate(7)
            assert [file.size(), file.size()] == [7, 7]
            assert stage.calls["GETATTR"] >= 2


def test_stat_has_the_size_that_the_file_has_here(a: NfsClient) -> None:
    put(a)
    assert a.stat("f").size == len(DATA)


def test_data_goes_back_before_the_callback_is_answered(stage: Stage, a: NfsClient, b: NfsClient) -> None:
    put(a)
    seen: list[int] = []
    stage.during(p.READ, lambda: seen.append(stage.calls["WRITE"]))
    b.read_file("f")
    assert seen == [3]


def test_a_client_that_waits_for_an_open_of_the_same_file_is_called_back(
    stage: Stage, a: NfsClient, b: NfsClient
) -> None:
    """Section 4.3.4: it may open or close nothing meanwhile, and must be able to write."""
    c = stage.client()
    put(a)
    holder = a.open("f", "r+")
    holder.write(b"from a")
    with b.open("f", "r+") as first, c.open("f", "r+") as second:
        assert first.read(6) == b"from a"
        assert second.read(6) == b"from a"
        holder.close()
    assert a.read_file("f")[:6] == b"from a"


def test_a_callback_about_an_unknown_file_is_answered(stage: Stage, a: NfsClient, b: NfsClient) -> None:
    put(a)
    a.caching.cache._files.clear()
    a.caching.cache._used.clear()
    assert b.read_file("f") == b""
    assert b.caching.inconsistent == 0


def test_caching_ends_when_the_callback_comes_not_when_it_is_answered(
    stage: Stage, a: NfsClient, b: NfsClient
) -> None:
    seen: list[bool] = []
    with a.open("f", "w") as file:
        file.write(DATA)
        stage.during(p.WRITE, lambda: seen.append(file.is_cached))
        b.read_file("f")
    assert seen == [False]


def test_nothing_is_read_from_the_server_while_data_waits_that_may_not_be_cached(a: NfsClient) -> None:
    with a.open("f", "w+") as file:
        file.write(DATA)
        file._opened.file.enabled = False  # a callback whose writes were lost with the connection
        file.seek(0)
        assert file.read(len(DATA)) == DATA


def test_a_callback_that_overtakes_the_reply_to_an_open_counts(
    stage: Stage, a: NfsClient, b: NfsClient
) -> None:
    """The reply may be an old one, from the memory of the server: then nothing is cached."""
    put(b)
    node = a.find("f")
    answers: list[p.Snfsstat] = []
    callback = SimpleNamespace(
        args=SimpleNamespace(file=node.handle, cbmode=CbMode.SNFS_CBINVAL), answer=answers.append
    )
    stage.during(p.OPEN, lambda: a.caching._called(t.cast("Callback", callback)))
    with a.open("f") as file:
        assert not file.is_cached
    assert answers == [p.Snfsstat.NFS_OK]


def test_an_open_that_is_lost_is_taken_back_before_it_is_made_again(
    stage: Stage, a: NfsClient, b: NfsClient
) -> None:
    put(b)
    stage.during(p.OPEN, lambda: stage.cut(a), after=True)
    with a.open("f"):
        assert stage.calls["REOPEN"] == 1
        assert stage.calls["RECOVERED"] == 1


def test_other_versions_get_what_waits(stage: Stage, a: NfsClient) -> None:
    """Section 6.1: a call of NFSv3 counts as a client without a cache."""
    put(a)
    other = stage.other()
    assert other.read_file("f") == DATA
    other.write_file("f", b"by v3")
    assert a.read_file("f") == b"by v3"
    other.close()


# ---------------------------------------------------------------- names and attributes


def test_a_file_is_cut_after_it_is_open(stage: Stage, a: NfsClient, b: NfsClient) -> None:
    """What another client has not written yet must not come after the cut."""
    put(a)
    with b.open("f", "w"):
        pass
    a.sync()
    assert on_server(stage) == b""
    assert a.read_file("f") == b""


def test_attributes_are_set_after_what_waits_is_written(stage: Stage, a: NfsClient) -> None:
    put(a)
    a.utime("f", (5 * 10**9, 7 * 10**9))
    stage.pass_time(31)
    found = a.stat("f")
    assert found.mtime is not None
    assert found.mtime.seconds == 7
    assert on_server(stage) == DATA


def test_a_size_is_set_by_its_attribute(stage: Stage, a: NfsClient) -> None:
    put(a)
    a.setattr("f", NewAttributes(size=3))
    assert a.read_file("f") == DATA[:3]
    a.truncate("f", 6)
    assert a.read_file("f") == DATA[:3] + bytes(3)


def test_appending_goes_to_the_end_that_the_file_has_here(stage: Stage, a: NfsClient) -> None:
    put(a)
    with a.open("f", "a") as file:
        file.write(b"more")
        file.write(b"!")
    assert a.read_file("f") == DATA + b"more!"
    a.sync()
    assert on_server(stage) == DATA + b"more!"


@pytest.mark.parametrize("offset", [0xFFFF_FFFE, 0xFFFF_FFFF])
def test_offsets_beyond_32_bits_are_refused_at_once(a: NfsClient, offset: int) -> None:
    with a.open("f", "w") as file:
        file.seek(offset)
        with pytest.raises(NotInVersion):
            file.write(b"x")


def test_nfs2_reads_the_same_files(stage: Stage, a: NfsClient) -> None:
    a.write_file("f", DATA)
    other = stage.other("2")
    assert isinstance(other, NfsClient2)
    assert not isinstance(other, NfsClient)
    assert other.read_file("f") == DATA
    other.close()


# ---------------------------------------------------------------- recovery (section 2.4) and dead clients (section 3.2)


@pytest.mark.parametrize("ends", ["connection", "restart", "crash"])
def test_data_that_waits_survives(stage: Stage, a: NfsClient, b: NfsClient, ends: str) -> None:
    put(a)
    with a.open("g", "w+") as file:
        file.write(b"open")
        _end(stage, a, ends)
        file.write(b" still")
        file.seek(0)
        assert file.read() == b"open still"
        assert stage.calls["REOPEN"] == 2
    assert b.read_file("f") == DATA
    assert b.read_file("g") == b"open still"


def _end(stage: Stage, client: NfsClient, how: str) -> None:
    if how == "connection":
        stage.cut(client)
    elif how == "restart":
        stage.server.restart()
    else:
        stage.server.crash()


def test_an_open_whose_reply_is_lost_is_counted_once(stage: Stage, a: NfsClient, b: NfsClient) -> None:
    put(a)
    stage.during(p.OPEN, lambda: stage.cut(a), after=True)
    with a.open("f", "r+") as file:
        file.write(b"X")
    with b.open("f", "r+") as other:
        assert other.is_cached
        assert other.read() == b"X" + DATA[1:]


def test_a_close_whose_reply_is_lost_is_counted_once(stage: Stage, a: NfsClient, b: NfsClient) -> None:
    first, second = a.open("f", "w"), a.open("f", "r+")
    stage.during(p.CLOSE, lambda: stage.cut(a), after=True)
    first.close()
    second.write(DATA)
    with b.open("f") as other:
        assert not other.is_cached
        assert other.read() == DATA
    second.close()


def silence(client: NfsClient) -> None:
    """The client does not answer: as if its machine had stopped."""
    client.session.rpc.on_call = lambda _message: None


def test_a_client_that_does_not_answer_is_dead_for_the_file(stage: Stage, a: NfsClient, b: NfsClient) -> None:
    stage.server.knobs.update(snfs_callback_timeout=0.05)
    held = a.open("f", "w")
    held.write(DATA)
    silence(a)
    with b.open("f", "r+") as file:
        assert b.caching.inconsistent == 1
        file.write(b"b was here")
    with pytest.raises(StateLost, match="lost"):
        held.flush()
    with pytest.raises(StateLost, match="open it again"):
        held.write(b"more")
    held.close()
    assert b.read_file("f") == b"b was here"
    assert a.read_file("f") == b"b was here"  # by another handle and another OPEN


def test_data_of_a_dead_client_is_never_written(stage: Stage, a: NfsClient, b: NfsClient) -> None:
    stage.server.knobs.update(snfs_callback_timeout=0.05)
    put(a)
    silence(a)
    b.write_file("f", b"b was here")
    with pytest.raises(StateLost, match="data that waited here is lost"):
        a.sync()
    a.sync()
    assert on_server(stage) == b"b was here"


def test_a_reopen_that_comes_too_late_loses_the_data(stage: Stage, a: NfsClient, b: NfsClient) -> None:
    stage.server.knobs.update(snfs_callback_timeout=0.05)
    held = a.open("f", "w")
    held.write(DATA)
    stage.cut(a)
    b.write_file("f", b"b was here")
    with pytest.raises(StateLost):
        held.read(1) if held.readable() else held.flush()
    assert a.read_file("f") == b"b was here"


def test_waiting_serves_callbacks_and_writes_what_is_due(stage: Stage, a: NfsClient) -> None:
    put(a)
    stage.pass_time(30)
    a.wait(0.0)
    assert on_server(stage) == DATA
