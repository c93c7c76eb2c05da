# SPDX-License-Identifier: MIT
"""A server that is wrong ends a run red, with what was expected, seen, and who wrote it. What is no lie stays green."""

from __future__ import annotations

import typing as t
from collections.abc import Callable
from pathlib import Path

import pytest

from nfsclient.protocol import nfs2, nfs3, nfs4
from nfsjudge.verdict import Verdict
from nfsserver.server import Server
from tests.workloads.rig import run, run_whole
from workloads.contents import Contents, FileState, check
from workloads.result import Result
from workloads.running import _SHOWN
from workloads.trouble import WrongData

Around = Callable[[t.Any, t.Any, t.Any, t.Any], t.Any]


def _ok(result: t.Any) -> t.Any:
    """The part of a result that READ and WRITE have on success, in each version."""
    return getattr(result, "resok4", None) or getattr(result, "resok", None)


def _flips_a_byte(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
    result = proceed(context, args)
    done = _ok(result)
    if done is not None and len(done.data) > 5000:
        data = bytearray(done.data)
        data[5000] ^= 0xFF
        done.data = bytes(data)
    return result


def _tears(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
    """The second half of each READ is zeros."""
    result = proceed(context, args)
    done = _ok(result)
    if done is not None and done.data:
        half = len(done.data) // 2
        done.data = bytes(done.data[:half]) + bytes(len(done.data) - half)
    return result


def _gives_other_offset(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
    if args.offset >= 8192:
        args.offset -= 4096
    return proceed(context, args)


class _Stale:
    """READ gives what it gave the first time, for ever."""

    def __init__(self) -> None:
        self.known: dict[tuple[bytes, int], bytes] = {}

    def __call__(self, _server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
        result = proceed(context, args)
        done = _ok(result)
        if done is not None and hasattr(args, "file"):
            done.data = self.known.setdefault((bytes(args.file), args.offset), bytes(done.data))
        return result


def _loses_the_third_block(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
    """WRITE says that it has written, and has not."""
    if args.offset == 16384:
        args.data = bytes(len(args.data))
    return proceed(context, args)


OPERATIONS = {"2": nfs2.READ, "3": nfs3.READ, "4.1": nfs4.READ}
WRITES = {"2": nfs2.WRITE, "3": nfs3.WRITE, "4.1": nfs4.WRITE}


def _wrong(result: Result) -> t.Any:
    assert result.verdict is Verdict.FAIL
    assert result.checks.failed == 1
    return result.checks.first[0]


@pytest.mark.parametrize("version", ["3", "4.1"])
@pytest.mark.parametrize(
    ("lie", "offset"), [(_flips_a_byte, 5000), (_tears, 4096), (_gives_other_offset, 8192 + 19)]
)
def test_a_lie_in_read_is_red(version: str, lie: Around, offset: int) -> None:
    result = run(
        "write10", version=version, prepare=lambda server: server.interpose(OPERATIONS[version], lie)
    )
    wrong = _wrong(result)
    assert (wrong.path, wrong.offset) == ("file0", offset)
    assert wrong.expected != wrong.seen
    assert "file0" in result.reasons[0]


@pytest.mark.parametrize("version", ["2", "3", "4.1"])
def test_a_lost_write_is_red_and_says_who_wrote(version: str) -> None:
    result = run(
        "write10",
        version=version,
        prepare=lambda server: server.interpose(WRITES[version], _loses_the_third_block),
    )
    wrong = _wrong(result)
    assert wrong.offset == 16384
    assert wrong.seen.startswith("00 00 00")
    assert wrong.writer.startswith("0 (version 3")
    assert wrong.reader == "0"


@pytest.mark.parametrize("policy", ["raw", "v3-like"])
def test_stale_data_is_red(policy: str) -> None:
    stale = _Stale()
    result = run(
        "connectathon-basic", policy=policy, prepare=lambda server: server.interpose(nfs3.READ, stale),
        parameters={"rounds": 2},
    )  # fmt: skip
    assert result.verdict is Verdict.PASS  # nothing is written between the reads: it is no lie

    def swap(server: Server) -> None:
        first: dict[int, bytes] = {}

        def older(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
            """Only the first version of each block is kept."""
            args.data = first.setdefault(args.offset, bytes(args.data))
            return proceed(context, args)

        server.interpose(nfs3.WRITE, older)

    wrong = _wrong(run("connectathon-basic", policy=policy, prepare=swap))
    assert wrong.path == "c0/t5"
    assert "version 1," in _seen_stamp(run("connectathon-basic", policy=policy, prepare=swap))


def _seen_stamp(result: Result) -> str:
    return result.reasons[0]


def test_a_wrong_read_leaves_a_capture(tmp_path: Path) -> None:
    result = run("write10", evidence=tmp_path, prepare=lambda server: server.interpose(nfs3.READ, _tears))
    capture = tmp_path / _wrong(result).capture
    assert capture.read_bytes()[:4] == b"\x0a\x0d\x0d\x0a"  # a section of pcapng


@pytest.mark.parametrize(
    ("name", "stable"),
    [
        ("read3-rotates-large-reads", "unstable"),
        ("read3-eof-before-the-end", "unstable"),
        ("write3-reports-more-than-sent", "unstable"),
        ("write3-file-sync-is-unstable", "file-sync"),
    ],
)
def test_mutants_of_the_suites_are_red(name: str, stable: str) -> None:
    """Some of them show in data, some in results that cannot be."""
    sizes: dict[str, t.Any] = {"rsize": 131072, "wsize": 131072, "stable": stable}
    result = run(
        "write10",
        mutants=frozenset({name}),
        parameters={"size": 256 << 10, "write": 131072},
        **sizes,
    )
    assert result.verdict is Verdict.FAIL


def test_a_wrong_size_has_its_place_and_the_capture_is_named(tmp_path: Path) -> None:
    def prepare(server: Server) -> None:
        def ends(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
            result = proceed(context, args)
            if result.resok is not None and args.offset == 8192:
                result.resok.eof = True
            return result

        server.interpose(nfs3.READ, ends)

    result = run("write10", evidence=tmp_path, prepare=prepare)
    wrong = _wrong(result)
    assert wrong.path == "file0"
    assert wrong.expected == "a size of 65536 bytes"
    assert wrong.seen == f"READ says that the file ends at {wrong.offset}"
    assert wrong.writer.endswith(" more")
    assert result.reasons[0].endswith("; capture wrong-0.pcapng")
    assert (tmp_path / "wrong-0.pcapng").exists()


def test_whose_the_data_is_that_was_seen_is_never_cut() -> None:
    """A stamp with the largest numbers."""
    far: dict[str, t.Any] = {"file": (1 << 64) - 1, "offset": 1 << 62, "writer": (1 << 32) - 1}
    made = Contents(1).make(far["file"], (1 << 32) - 1, far["writer"], far["offset"], 4096)
    state = FileState("f", 1)
    state.assume(1 << 63)
    reading = state.begin_read(far["offset"], 4096)
    with pytest.raises(WrongData) as caught:
        check(Contents(1), state, reading, made, 0)
    assert caught.value.seen.endswith(f"offset {1 << 62}")
    assert len(caught.value.seen) <= _SHOWN


def test_a_breach_that_only_the_lint_sees_is_red() -> None:
    """`wcc_data` whose values before are those after: all data is right."""
    result = run("connectathon-basic", window=1, mutants=frozenset({"write3-before-is-after"}))
    assert result.verdict is Verdict.FAIL
    assert result.checks.failed == 0
    assert [finding.verdict for finding in result.findings] == [Verdict.FAIL]


def test_short_writes_and_reads_are_continued_and_counted() -> None:
    """They are legal: the run is green, and says so."""

    def short(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
        args.data = args.data[: max(1, len(args.data) // 2)]
        args.count = len(args.data)
        return proceed(context, args)

    def short_read(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
        args.count = max(1, args.count // 3)
        return proceed(context, args)

    def prepare(server: Server) -> None:
        server.interpose(nfs3.WRITE, short)
        server.interpose(nfs3.READ, short_read)

    result = run("write10", prepare=prepare, parameters={"size": 16384})
    assert result.verdict is Verdict.PASS
    assert result.troubles["short writes, continued"] > 2
    assert result.troubles["short reads, continued"] > 2


def test_a_restart_before_the_commit_is_written_again() -> None:
    """The server may lose what is not stable: another verifier at COMMIT, and the data is written once more."""

    def prepare(server: Server) -> None:
        crashed: list[bool] = []

        def crash(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
            if not crashed:
                crashed.append(True)
                server.backend.begin_instance(clean=False)
            return proceed(context, args)

        server.interpose(nfs3.COMMIT, crash)

    result = run("write10", prepare=prepare)
    assert result.verdict is Verdict.PASS
    assert result.troubles["ranges written again: another verifier"] == 8
    assert result.calls["WRITE"] == 16


@pytest.mark.parametrize("mutant", ["commit3-changes-verifier", "commit3-has-its-own-verifier"])
def test_a_verifier_that_never_stays_the_same_ends_the_run(mutant: str) -> None:
    """Each COMMIT says that all is lost. A server with a full disk looks the same: no verdict on the server."""
    outcome, _ = run_whole("write10", mutants=frozenset({mutant}))
    assert outcome.result.verdict is Verdict.VOID
    assert "the verifier never stays the same" in outcome.result.reasons[0]
    assert outcome.result.troubles["ranges written again: another verifier"] == 16 * 8


def test_a_full_disk_is_no_verdict_on_the_server() -> None:
    def prepare(server: Server) -> None:
        def full(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
            if args.offset < 32768:
                return proceed(context, args)
            return nfs3.Write3Res(nfs3.Nfsstat3.NFS3ERR_NOSPC, resfail=nfs3.Write3ResFail(nfs3.WccData()))

        server.interpose(nfs3.WRITE, full)

    outcome, _ = run_whole("write10", prepare=prepare)
    assert outcome.result.verdict is Verdict.VOID
    assert outcome.result.reasons[0].startswith("full disk: ")
    assert outcome.left == ()


def test_jukebox_is_waited_for_and_reported() -> None:
    def prepare(server: Server) -> None:
        put_off: list[int] = []

        def busy(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
            put_off.append(1)
            if len(put_off) == 3:
                return nfs3.Write3Res(
                    nfs3.Nfsstat3.NFS3ERR_JUKEBOX, resfail=nfs3.Write3ResFail(nfs3.WccData())
                )
            return proceed(context, args)

        server.interpose(nfs3.WRITE, busy)

    result = run("write10", prepare=prepare)
    assert result.verdict is Verdict.PASS
    assert result.troubles["JUKEBOX"] == 1
    assert any("asked to wait" in warning for warning in result.warnings)
    assert result.phases[0].operations == 10


def test_a_name_that_is_missing_from_a_listing_is_red() -> None:
    def prepare(server: Server) -> None:
        def hides(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
            result = proceed(context, args)
            if result.resok is not None and len(result.resok.entries) > 4:
                result.resok.entries = [*result.resok.entries[:3], *result.resok.entries[4:]]
            return result

        server.interpose(nfs3.READDIR, hides)

    outcome, _ = run_whole("connectathon-basic", prepare=prepare)
    assert outcome.result.verdict is Verdict.FAIL
    assert "its listing lacks file.1" in outcome.result.reasons[0]


@pytest.mark.parametrize(
    ("workload", "version", "policy", "knobs"),
    [
        ("find", "4.1", "v4-like", {"reversed_replies": True, "session_slots": 2}),
        (
            "find",
            "3",
            "v3-like",
            {"reversed_replies": True, "withhold_post_op": True, "withhold_handles": True},
        ),
        ("find", "3", "v3-like", {"readdirplus": False}),
        ("lockedreads", "4.1", "delegated", {"reversed_replies": True, "delegations": "none"}),
        ("connectathon-basic", "3", "v3-like", {"withhold_pre_op": True, "withhold_post_op": True}),
        ("connectathon-basic", "4.2", "v4-like", {"write_accepts": 3000, "read_returns": 2000}),
        ("connectathon-basic", "3", "raw", {"idle_close": 0.2, "readdir_page": 2}),
        (
            "write10",
            "4.1",
            "raw",
            {"jukebox_names": "f*", "jukebox_tries_random": 3, "jukebox_seconds": 0.001},
        ),
    ],
)
def test_a_right_server_is_never_red(
    workload: str, version: str, policy: str, knobs: dict[str, t.Any]
) -> None:
    """Legal choices, among them those that leave a client without attributes and handles, or change the order."""
    parameters = {"lockedreads": {"files": 2, "rounds": 2}}.get(workload)
    outcome, _ = run_whole(
        workload,
        version=version,
        policy=policy,
        prepare=lambda server: server.knobs.update(**knobs),
        parameters=parameters,
    )
    assert (outcome.result.verdict, outcome.result.reasons) == (Verdict.PASS, ())
    assert outcome.left == ()
