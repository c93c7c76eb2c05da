# SPDX-License-Identifier: MIT
"""`eof`, times, `.` and `..`, and handles that are stale: what is red, and what a server may do."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

import pytest

from nfsclient.protocol import nfs3, nfs4
from nfsjudge.verdict import Verdict
from nfsserver.server import Server
from tests.workloads.mutants import HOW, LIKE
from tests.workloads.rig import run, run_whole
from workloads.attributes import TIMES_BACK
from workloads.policies.known import ELSEWHERE
from workloads.result import Result

FIND: dict[str, t.Any] = {"parameters": {"files": 20, "directories": 4, "levels": 3}}
STALE: t.Final = "stale handles, names looked up again"


def _around(operation: t.Any, bend: Callable[[t.Any, t.Any], object]) -> Callable[[Server], object]:
    """A server whose successful replies of an operation are changed by a function of the arguments and the reply."""

    def around(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
        result = proceed(context, args)
        done = getattr(result, "resok4", None) or getattr(result, "resok", None)
        if done is not None:
            bend(args, done)
        return result

    return lambda server: server.interpose(operation, around)


def _mutant(how: str, version: str, name: str) -> Result:
    """The result with the lint off: what the workload itself compares."""
    workload, order = HOW[how]
    more: dict[str, t.Any] = {"policy": "raw", **order, "lint": 0}
    more["policy"] = more["policy"] or LIKE[version]
    return run_whole(workload, version=version, mutants=frozenset({name}), **more)[0].result


# ---------------------------------------------------------------- the end of a file


@pytest.mark.parametrize(
    ("version", "name"), [("3", "read3-eof-only-when-short"), ("4.1", "read4-never-at-the-end")]
)
def test_eof_at_the_end_of_the_file_is_true(version: str, name: str) -> None:
    result = _mutant("names and data", version, name)
    assert result.verdict is Verdict.FAIL
    assert "READ says that the file goes on at 32768" in result.reasons[0]


def test_wrong_data_is_said_before_a_wrong_eof() -> None:
    def bend(_args: t.Any, done: t.Any) -> None:
        done.data, done.eof = bytes(len(done.data)), False

    reason = run("write10", lint=0, prepare=_around(nfs3.READ, bend)).reasons[0]
    assert "got 00 00 00" in reason


@pytest.mark.parametrize("returns", [1000, 4096])
def test_short_reads_have_no_eof_before_the_end(returns: int) -> None:
    def prepare(server: Server) -> None:
        server.knobs.update(read_returns=returns)

    assert run("connectathon-basic", policy="v3-like", prepare=prepare).verdict is Verdict.PASS


# ---------------------------------------------------------------- times


@pytest.mark.parametrize(("version", "name"), [("2", "read2-changes-mtime"), ("3", "read3-changes-mtime")])
def test_a_modification_that_nobody_made_is_red(version: str, name: str) -> None:
    result = _mutant("with caches", version, name)
    assert result.verdict is Verdict.FAIL
    assert "c0/t5: nobody has modified it since " in result.reasons[0]


def test_a_modification_that_nobody_made_is_red_in_nfs4() -> None:
    later = 0

    def bend(_args: t.Any, done: t.Any) -> None:
        nonlocal later
        time = done.obj_attributes.time_modify
        if time is not None and done.obj_attributes.type == nfs4.NfsFtype4.NF4REG:
            later += 1
            done.obj_attributes.time_modify = nfs4.Nfstime4(time.seconds + later, time.nseconds)

    result = run_whole(
        "connectathon-basic", version="4.1", policy="v4-like", lint=0, prepare=_around(nfs4.GETATTR, bend)
    )[0].result
    assert result.verdict is Verdict.FAIL
    assert "nobody has modified it since " in result.reasons[0]


def test_times_of_data_that_is_not_stable_may_move() -> None:
    """A server may set the time of the modification when the data reaches the disk."""

    def bend(_args: t.Any, done: t.Any) -> None:
        done.file_wcc.after.mtime = nfs3.Nfstime3(done.file_wcc.after.mtime.seconds - 1, 0)

    assert run("write10", lint=0, prepare=_around(nfs3.WRITE, bend)).verdict is Verdict.PASS


def test_times_that_go_back_are_counted_and_not_red() -> None:
    """A clock may be set; nobody promises that times only go on."""
    result = _mutant("listings", "2", "getattr2-keeps-old-mtime")
    assert result.verdict is Verdict.PASS
    assert result.troubles[TIMES_BACK]


# ---------------------------------------------------------------- the directory and its parent


@pytest.mark.parametrize("operation", [nfs3.READDIR, nfs3.READDIRPLUS])
def test_a_parent_with_another_fileid_is_red(operation: t.Any) -> None:
    def bend(_args: t.Any, done: t.Any) -> None:
        for entry in done.entries:
            if entry.name == b"..":
                entry.fileid += 7
                if hasattr(entry, "name_attributes"):
                    entry.name_attributes = None

    plus = operation is nfs3.READDIRPLUS
    outcome = run_whole(
        "find", policy="v3-like", plus=plus, lint=0, prepare=_around(operation, bend), **FIND
    )[0]
    assert outcome.result.verdict is Verdict.FAIL
    assert "/..: its fileid is " in outcome.result.reasons[0]


def test_a_parent_that_is_listed_twice_is_red() -> None:
    def bend(_args: t.Any, done: t.Any) -> None:
        done.entries += [entry for entry in done.entries if entry.name == b".."]

    outcome = run_whole(
        "find", policy="raw", plus=False, lint=0, prepare=_around(nfs3.READDIR, bend), **FIND
    )[0]
    assert outcome.result.verdict is Verdict.FAIL
    assert "its listing has twice .." in outcome.result.reasons[0]


def test_a_server_need_not_list_the_dots() -> None:
    def bend(_args: t.Any, done: t.Any) -> None:
        done.entries = [entry for entry in done.entries if entry.name not in {b".", b".."}]

    # Empty pages would be wrong: every directory of this tree has more.
    assert run("connectathon-basic", prepare=_around(nfs3.READDIR, bend), lint=0).verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("version", "name"), [("2", "lookup2-swaps-the-dots"), ("3", "lookup3-dotdot-is-the-directory-itself")]
)
def test_a_name_of_the_parent_that_leads_elsewhere_is_counted(version: str, name: str) -> None:
    """It is a SHOULD (RFC 1813 section 3.2, RFC 1094 section 3.2)."""
    result = _mutant("listings", version, name)
    assert result.verdict is Verdict.PASS
    assert result.troubles[ELSEWHERE]


def test_lookupp_that_stays_is_red() -> None:
    result = _mutant("listings", "4.1", "lookupp4-stays")
    assert result.verdict is Verdict.FAIL
    assert "LOOKUPP leads to fileid " in result.reasons[0]


# ---------------------------------------------------------------- handles


def test_a_handle_that_rename_makes_stale_is_looked_up_again() -> None:
    """A server may revoke handles (RFC 1813 section 2.5): the run goes on as a kernel does, and says so."""
    outcome, _ = run_whole(
        "connectathon-basic",
        policy="v3-like",
        prepare=lambda server: server.knobs.update(stale_on_rename=True),
    )
    assert outcome.result.verdict is Verdict.PASS
    assert outcome.result.troubles[STALE] == 4
    assert outcome.left == ()


def test_a_stale_persistent_handle_of_nfs4_is_red() -> None:
    """FH4_PERSISTENT: the server accepts the handle as long as the object is there (RFC 5661 section 4.2.2)."""
    renamed = set[bytes]()

    def prepare(server: Server) -> None:
        def rename(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
            renamed.add(b"yes")
            return proceed(context, args)

        def link(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
            return nfs4.Link4Res(nfs4.Nfsstat4.NFS4ERR_STALE) if renamed else proceed(context, args)

        server.interpose(nfs4.RENAME, rename)
        server.interpose(nfs4.LINK, link)

    outcome, _ = run_whole("connectathon-basic", version="4.1", policy="v4-like", lint=0, prepare=prepare)
    assert outcome.result.verdict is Verdict.FAIL
    assert "nobody has removed it: until then its handle is valid" in outcome.result.reasons[0]


def test_a_handle_that_stays_stale_ends_the_run_without_a_verdict() -> None:
    def prepare(server: Server) -> None:
        def link(_server: t.Any, _context: t.Any, _args: t.Any, _proceed: t.Any) -> t.Any:
            return nfs3.Link3Res(nfs3.Nfsstat3.NFS3ERR_STALE, resfail=nfs3.Link3ResFail(None, nfs3.WccData()))

        server.interpose(nfs3.LINK, link)

    outcome, _ = run_whole("connectathon-basic", policy="v3-like", prepare=prepare)
    assert outcome.result.verdict is Verdict.VOID
    assert outcome.result.reasons[0].startswith("stale handle: ")


@pytest.mark.parametrize("version", ["2", "3", "4.2"])
def test_a_server_without_symbolic_links_gets_no_verdict(version: str) -> None:
    outcome, _ = run_whole(
        "connectathon-basic",
        version=version,
        policy=LIKE.get(version, "v4-like"),
        prepare=lambda server: server.knobs.update(symlinks=False),
    )
    assert outcome.result.verdict is Verdict.VOID
    assert "symlink of 'c0/t8.0'" in outcome.result.reasons[0]


@pytest.mark.parametrize("version", ["2", "3"])
def test_a_kept_number_of_links_is_not_compared(version: str) -> None:
    """With a coarse clock a client does not see a change of the directory: other names of the file are old, too."""
    outcome, _ = run_whole(
        "connectathon-basic",
        version=version,
        policy=LIKE[version],
        prepare=lambda server: server.knobs.update(time_granularity=0.01),
    )
    assert (outcome.result.verdict, outcome.result.reasons) == (Verdict.PASS, ())


def test_delegations_of_a_file_with_several_handles_are_returned() -> None:
    """Otherwise nobody can remove the file, and the directory of the run stays."""
    outcome, _ = run_whole(
        "mailserver",
        version="4.1",
        policy="delegated",
        callers=2,
        parameters={"files": 8, "mean": 3000},
        duration=0.3,
        warmup=0.0,
        prepare=lambda server: server.knobs.update(several_handles=True),
    )
    assert (outcome.result.verdict, outcome.left) == (Verdict.PASS, ())
