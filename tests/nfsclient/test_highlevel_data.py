# SPDX-License-Identifier: MIT
"""Reading and writing by path: what a server may do on the way, and what it may not."""

from __future__ import annotations

import dataclasses
import typing as t

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nfsclient.errors import NfsStatusError, RetriesExhausted
from nfsclient.files import Info, Stable
from nfsclient.highlevel import NoProgress, ServerViolation
from nfsclient.highlevel.session import Limits
from nfsclient.highlevel.transfer import Reader, Writer
from nfsclient.protocol import nfs3 as p
from nfsclient.xdr import replace
from tests.nfsclient.conftest import Stage

PATTERN = bytes(range(256)) * 40
JUKEBOX = p.Nfsstat3.NFS3ERR_JUKEBOX


def short_read(args: p.Read3Args, proceed: t.Any) -> p.Read3Res:
    return t.cast("p.Read3Res", proceed(replace(args, count=max(1, args.count // 3))))


def short_write(args: p.Write3Args, proceed: t.Any) -> p.Write3Res:
    half = max(1, args.count // 2)
    return t.cast("p.Write3Res", proceed(replace(args, count=half, data=args.data[:half])))


def content(stage: Stage, path: str = "f") -> bytes:
    """What the server has, read without the code under test."""
    found = stage.client.session.nfs.lookup(stage.root, path.encode()).resok
    assert found is not None
    result = stage.client.session.nfs.read(found.object, 0, 1 << 20).resok
    assert result is not None
    return bytes(result.data)


class TestReading:
    def test_a_file_comes_back_whole_in_pieces(self, stage: Stage) -> None:
        stage.client.write_file("f", PATTERN)
        stage.limit(read=1000)
        stage.watch(p.READ)
        assert stage.client.read_file("f") == PATTERN
        assert {args.count for args in stage.called("READ")} == {1000, 240}

    def test_an_empty_file_is_empty(self, stage: Stage) -> None:
        stage.client.write_file("f", b"")
        assert stage.client.read_file("f") == b""

    def test_short_reads_are_continued(self, stage: Stage) -> None:
        stage.client.write_file("f", PATTERN)
        stage.limit(read=1000)
        stage.script(p.READ, *[short_read] * 30)
        assert stage.client.read_file("f") == PATTERN

    def test_a_file_that_has_grown_since_its_attributes_is_read_to_its_end(self, stage: Stage) -> None:
        stage.client.write_file("f", PATTERN)
        stage.limit(read=1000)
        stage.bend(p.LOOKUP, lambda resok: setattr(resok, "obj_attributes", small(resok.obj_attributes)))
        assert stage.client.read_file("f") == PATTERN

    def test_a_file_that_has_shrunk_since_its_attributes_ends_where_it_ends(self, stage: Stage) -> None:
        stage.client.write_file("f", PATTERN)
        stage.limit(read=1000)
        stage.bend(p.LOOKUP, lambda resok: setattr(resok, "obj_attributes", large(resok.obj_attributes)))
        assert stage.client.read_file("f") == PATTERN

    def test_jukebox_is_waited_for_and_asked_again_in_new_calls(self, stage: Stage) -> None:
        stage.client.write_file("f", PATTERN)
        stage.limit(read=6000)
        stage.watch(p.READ)
        refusal = p.Read3Res(JUKEBOX, resfail=p.Read3ResFail())
        stage.script(p.READ, *[refusal] * 5)
        assert stage.client.read_file("f") == PATTERN
        assert stage.pauses.waited == [0.05, 0.1, 0.05]
        assert len({xid for *_, xid in stage.calls}) == len(stage.calls)

    def test_no_data_and_no_end_is_given_up(self, stage: Stage) -> None:
        stage.client.write_file("f", PATTERN)
        nothing = p.Read3Res(p.Nfsstat3.NFS3_OK, p.Read3ResOk(None, 0, False, b""))
        stage.script(p.READ, *[nothing] * 100)
        with pytest.raises(NoProgress, match="no end of file"):
            stage.client.read_file("f")

    def test_more_data_than_asked_for_is_refused(self, stage: Stage) -> None:
        stage.client.write_file("f", PATTERN)
        stage.limit(read=100)
        stage.script(p.READ, lambda args, proceed: proceed(replace(args, count=101)))
        with pytest.raises(ServerViolation, match="100 bytes requested, 101 came"):
            stage.client.read_file("f")

    def test_an_error_in_the_middle_leaves_nothing_under_way(self, stage: Stage) -> None:
        stage.client.write_file("f", PATTERN)
        stage.limit(read=100)
        bad = p.Read3Res(p.Nfsstat3.NFS3ERR_IO, resfail=p.Read3ResFail())
        stage.script(p.READ, short_read, bad)
        with pytest.raises(NfsStatusError) as caught:
            stage.client.read_file("f")
        assert (caught.value.status, caught.value.procedure) == (p.Nfsstat3.NFS3ERR_IO, "READ")
        assert not stage.client.session.rpc.core.pending
        assert stage.client.read_file("f") == PATTERN

    @pytest.mark.parametrize("size", [1000, 50_000])
    def test_a_range_can_be_received_in_place(self, stage: Stage, size: int) -> None:
        stage.client.write_file("f", PATTERN * 10)
        stage.limit(read=size)
        node = stage.client.find("f")
        into = bytearray(60_000)
        got = Reader(stage.client.session, node.handle, b"f").read_into(100, memoryview(into))
        assert (got, bytes(into)) == (60_000, (PATTERN * 10)[100:60_100])


def small(attributes: p.Fattr3) -> p.Fattr3:
    return replace(attributes, size=1500)


def large(attributes: p.Fattr3) -> p.Fattr3:
    return replace(attributes, size=20_500)


class TestWriting:
    def test_what_fits_one_call_is_one_stable_write(self, stage: Stage) -> None:
        stage.watch(p.WRITE, p.COMMIT)
        stage.client.write_file("f", b"data")
        assert [(name, args.stable) for name, args, _ in stage.calls] == [("WRITE", p.StableHow.FILE_SYNC)]
        assert content(stage) == b"data"

    def test_what_does_not_is_unstable_and_committed_once(self, stage: Stage) -> None:
        stage.limit(write=1000)
        stage.watch(p.WRITE, p.COMMIT)
        stage.client.write_file("f", PATTERN)
        assert {args.stable for args in stage.called("WRITE")} == {p.StableHow.UNSTABLE}
        assert [(args.offset, args.count) for args in stage.called("COMMIT")] == [(0, 0)]
        assert content(stage) == PATTERN

    def test_a_file_is_replaced_whole(self, stage: Stage) -> None:
        stage.client.write_file("f", PATTERN)
        stage.client.write_file("f", b"short")
        assert content(stage) == b"short"

    def test_the_rest_of_a_short_write_is_sent(self, stage: Stage) -> None:
        stage.limit(write=1000)
        stage.script(p.WRITE, *[short_write] * 40)
        stage.client.write_file("f", PATTERN)
        assert content(stage) == PATTERN

    def test_jukebox_is_waited_for_and_asked_again_in_new_calls(self, stage: Stage) -> None:
        stage.limit(write=5120)
        stage.watch(p.WRITE)
        refusal = p.Write3Res(JUKEBOX, resfail=p.Write3ResFail(p.WccData()))
        stage.script(p.WRITE, *[refusal] * 7)
        stage.client.write_file("f", PATTERN)
        assert stage.pauses.waited == [0.05, 0.1, 0.2, 0.05]
        assert len({xid for *_, xid in stage.calls}) == len(stage.calls) == 9
        assert content(stage) == PATTERN

    def test_endless_jukebox_is_given_up_in_time(self, stage: Stage) -> None:
        refusal = p.Write3Res(JUKEBOX, resfail=p.Write3ResFail(p.WccData()))
        stage.script(p.WRITE, *[refusal] * 1000)
        with pytest.raises(RetriesExhausted) as caught:
            stage.client.write_file("f", PATTERN)
        assert (caught.value.status, caught.value.procedure, caught.value.path) == (JUKEBOX, "WRITE", "/f")
        assert sum(stage.pauses.waited) == pytest.approx(30.0)

    def test_data_lost_before_commit_is_written_again(self, stage: Stage) -> None:
        stage.limit(write=1000)

        def crash_first(args: t.Any, proceed: t.Any) -> t.Any:
            stage.lose_uncommitted_data()
            return proceed(args)

        stage.script(p.COMMIT, crash_first)
        stage.client.write_file("f", PATTERN)
        assert content(stage) == PATTERN

    def test_data_lost_between_writes_is_written_again(self, stage: Stage) -> None:
        stage.limit(write=1000)

        def crash_first(args: t.Any, proceed: t.Any) -> t.Any:
            stage.lose_uncommitted_data()
            return proceed(args)

        def plainly(args: t.Any, proceed: t.Any) -> t.Any:
            return proceed(args)

        stage.watch(p.WRITE)
        stage.script(p.WRITE, plainly, plainly, plainly, crash_first)
        stage.client.write_file("f", PATTERN)
        assert content(stage) == PATTERN
        assert [args.offset for args in stage.called("WRITE")[11:]] == [0, 1000, 2000]

    def test_a_verifier_that_never_stays_is_answered_by_stable_writes(self, stage: Stage) -> None:
        stage.limit(write=1000)

        def crash_first(args: t.Any, proceed: t.Any) -> t.Any:
            stage.lose_uncommitted_data()
            return proceed(args)

        stage.watch(p.WRITE)
        stage.script(p.COMMIT, *[crash_first] * 100)
        stage.client.write_file("f", PATTERN)
        assert stage.called("WRITE")[-1].stable == p.StableHow.FILE_SYNC
        assert content(stage) == PATTERN

    def test_data_sync_needs_a_commit_but_is_never_written_again(self, stage: Stage) -> None:
        stage.limit(write=1000)

        def as_data_sync(args: p.Write3Args, proceed: t.Any) -> p.Write3Res:
            reply = proceed(replace(args, stable=p.StableHow.DATA_SYNC))
            assert reply.resok is not None
            reply.resok.committed = p.StableHow.DATA_SYNC
            return t.cast("p.Write3Res", reply)

        def crash_first(args: t.Any, proceed: t.Any) -> t.Any:
            stage.lose_uncommitted_data()
            return proceed(args)

        stage.watch(p.WRITE, p.COMMIT)
        stage.script(p.WRITE, *[as_data_sync] * 20)
        stage.script(p.COMMIT, crash_first)
        stage.client.write_file("f", PATTERN)
        assert (len(stage.called("WRITE")), len(stage.called("COMMIT"))) == (11, 1)
        assert content(stage) == PATTERN

    def test_a_server_that_is_firmer_than_asked_needs_no_commit(self, stage: Stage) -> None:
        stage.limit(write=1000)
        stage.watch(p.COMMIT)
        stage.script(
            p.WRITE, *[lambda args, proceed: proceed(replace(args, stable=p.StableHow.FILE_SYNC))] * 11
        )
        stage.client.write_file("f", PATTERN)
        assert not stage.called("COMMIT")

    def test_data_is_kept_when_commit_fails(self, stage: Stage) -> None:
        stage.limit(write=1000)
        failure = p.Commit3Res(p.Nfsstat3.NFS3ERR_IO, resfail=p.Commit3ResFail(p.WccData()))
        stage.script(p.COMMIT, failure)
        stage.client.write_file("f", b"")
        node = stage.client.find("f")
        writer = Writer(stage.client.session, node.handle, b"f")
        writer.write(0, PATTERN)
        with pytest.raises(NfsStatusError):
            writer.commit()
        stage.lose_uncommitted_data()
        assert writer.unstable == len(PATTERN)
        writer.commit()
        assert (writer.unstable, content(stage)) == (0, PATTERN)

    def test_more_written_than_sent_is_refused(self, stage: Stage) -> None:
        stage.bend(p.WRITE, lambda resok: setattr(resok, "count", resok.count + 1))
        with pytest.raises(ServerViolation, match="4 bytes sent, 5 written"):
            stage.client.write_file("f", b"data")

    def test_less_firmly_than_asked_is_refused(self, stage: Stage) -> None:
        stage.bend(p.WRITE, lambda resok: setattr(resok, "committed", p.StableHow.UNSTABLE))
        with pytest.raises(ServerViolation, match="FILE_SYNC requested, only UNSTABLE done"):
            stage.client.write_file("f", b"data")

    def test_writing_nothing_over_and_over_is_given_up(self, stage: Stage) -> None:
        stage.bend(p.WRITE, lambda resok: setattr(resok, "count", 0))
        with pytest.raises(NoProgress, match="nothing of 4 bytes"):
            stage.client.write_file("f", b"data")

    def test_a_full_server_is_a_typed_error(self, stage: Stage) -> None:
        full = p.Write3Res(p.Nfsstat3.NFS3ERR_NOSPC, resfail=p.Write3ResFail(p.WccData()))
        stage.script(p.WRITE, full)
        with pytest.raises(NfsStatusError) as caught:
            stage.client.write_file("f", b"data")
        assert (caught.value.status, caught.value.procedure, caught.value.path) == (28, "WRITE", "/f")


WRITES = st.lists(
    st.tuples(
        st.integers(0, 60),
        st.binary(min_size=1, max_size=40),
        st.sampled_from(list(Stable)),
        st.sampled_from(["", "", "crash", "commit"]),
    ),
    max_size=12,
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(WRITES)
def test_overlapping_writes_survive_crashes_in_their_order(stage: Stage, writes: t.Any) -> None:
    stage.client.write_file("f", b"")
    stage.limit(write=7)
    node = stage.client.find("f")
    writer = Writer(stage.client.session, node.handle, b"f")
    model = bytearray()
    for offset, data, stable, then in writes:
        writer.write(offset, data, stable)
        model[len(model) :] = bytes(max(0, offset - len(model)))
        model[offset : offset + len(data)] = data
        if then == "crash":
            stage.lose_uncommitted_data()
        elif then == "commit":
            writer.commit()
    writer.commit()
    stage.lose_uncommitted_data()
    assert content(stage) == bytes(model)


class TestFiles:
    def test_positions_ends_and_pieces(self, stage: Stage) -> None:
        with stage.client.open("f", "xb") as file:
            assert file.write(b"hello world") == 11
            assert file.seek(-5, 2) == 6
            file.write(b"there")
        with stage.client.open("f", "r+") as file:
            assert (file.read(5), file.tell(), file.readall()) == (b"hello", 5, b" there")
            assert file.read(5) == b""
            assert file.truncate(4) == 4
        assert content(stage) == b"hell"

    def test_appending_writes_at_the_end(self, stage: Stage) -> None:
        stage.client.write_file("f", b"one")
        with stage.client.open("f", "a") as file:
            file.write(b" two")
            stage.client.truncate("f", 1)
            file.write(b" three")
        assert content(stage) == b"o three"

    def test_opening_to_write_empties(self, stage: Stage) -> None:
        stage.client.write_file("f", b"one")
        stage.client.open("f", "w").close()
        assert content(stage) == b""

    def test_the_callers_buffer_is_its_own_again_after_write(self, stage: Stage) -> None:
        buffer = bytearray(b"first")
        with stage.client.open("f", "w") as file:
            file.write(buffer)
            buffer[:] = b"xxxxx"
            stage.lose_uncommitted_data()
            file.flush()
        assert content(stage) == b"first"

    def test_closing_commits_and_says_what_went_wrong(self, stage: Stage) -> None:
        failure = p.Commit3Res(p.Nfsstat3.NFS3ERR_NOSPC, resfail=p.Commit3ResFail(p.WccData()))
        file = stage.client.open("f", "w")
        file.write(b"data")
        stage.script(p.COMMIT, failure)
        with pytest.raises(NfsStatusError, match="COMMIT"):
            file.close()

    def test_wrong_modes_are_refused(self, stage: Stage) -> None:
        stage.client.write_file("f", b"")
        with pytest.raises(ValueError, match="mode"):
            stage.client.open("f", "rt")
        with stage.client.open("f", "r") as file, pytest.raises(OSError, match="writing"):
            file.write(b"x")
        with stage.client.open("f", "w") as file, pytest.raises(OSError, match="reading"):
            file.read(1)
        with pytest.raises(IsADirectoryError):
            stage.client.open("", "r")
        with pytest.raises(FileExistsError):
            stage.client.open("f", "x")
        with pytest.raises(FileNotFoundError):
            stage.client.open("none", "r")


@pytest.mark.parametrize(
    ("fields", "limits", "expected"),
    [
        ({}, {}, Limits(read=8192, write=4096, page=65536)),
        ({"rtpref": 1 << 30, "rtmax": 1 << 30}, {}, Limits(read=1 << 20, write=4096, page=65536)),
        ({"rtpref": 0, "wtpref": 0}, {}, Limits(read=16384, write=16384, page=65536)),
        ({"rtpref": 0, "rtmax": 0}, {}, Limits(read=32768, write=4096, page=65536)),
        ({"rtpref": 10_000}, {}, Limits(read=9728, write=4096, page=65536)),
        ({"rtmult": 0, "rtpref": 999}, {}, Limits(read=999, write=4096, page=65536)),
        ({"dtpref": 100_000}, {}, Limits(read=8192, write=4096, page=100_000)),
        ({}, {"rsize": 512, "wsize": 1 << 20}, Limits(read=512, write=4096, page=65536)),
        ({"rtpref": 1 << 17, "rtmax": 1 << 17}, {"datagrams": True}, Limits(32768, 4096, 32768)),
    ],
    ids=range(9),
)
def test_sizes_follow_fsinfo(fields: dict[str, int], limits: dict[str, t.Any], expected: Limits) -> None:
    info = Info(16384, 8192, 512, 16384, 4096, 512, 4096, 2**40)
    assert Limits.of(dataclasses.replace(info, **fields), **limits) == expected


def test_sizes_are_modest_without_fsinfo() -> None:
    assert Limits.of(None) == Limits(32768, 32768, 65536)
    assert Limits.of(None, datagrams=True, rsize=100) == Limits(100, 32768, 32768)
