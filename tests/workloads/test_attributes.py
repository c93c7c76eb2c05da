# SPDX-License-Identifier: MIT
"""Attributes in all replies are compared with what the programs have made; what a server may choose is never red."""

from __future__ import annotations

import typing as t
from collections import Counter
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from nfsclient.protocol import nfs2, nfs3, nfs4
from nfsjudge.verdict import Verdict
from nfsserver.server import Server
from nfstargets.embedded import EmbeddedTarget
from tests.workloads.rig import run, run_whole
from workloads.contents import FileState, Ticks
from workloads.policies import names
from workloads.running import Here
from workloads.trouble import WrongAnswer
from workloads.worker import Worker

FIND: dict[str, t.Any] = {"policy": "v3-like", "parameters": {"files": 12, "directories": 3, "levels": 2}}
DIRLIST: dict[str, t.Any] = {"parameters": {"files": 12, "width": 20}, "duration": 0.1, "warmup": 0.0}


def _bent(operation: t.Any, bend: Callable[[t.Any], object]) -> Callable[[Server], object]:
    """A server whose successful replies of an operation are changed by a function."""

    def around(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
        result = proceed(context, args)
        done = getattr(result, "resok4", None) or getattr(result, "resok", None)
        if done is not None:
            bend(done)
        return result

    return lambda server: server.interpose(operation, around)


def _longer(raw: t.Any) -> None:
    if raw is not None and raw.size:
        raw.size += 1


@pytest.mark.parametrize(
    ("version", "policy", "operation", "bend"),
    [
        ("2", "v2-like", nfs2.LOOKUP, lambda done: _longer(done.attributes)),
        ("2", "raw", nfs2.WRITE, _longer),
        ("3", "v3-like", nfs3.READ, lambda done: _longer(done.file_attributes)),
        ("3", "raw", nfs3.COMMIT, lambda done: _longer(done.file_wcc.after)),
        ("3", "raw", nfs3.LOOKUP, lambda done: _longer(done.obj_attributes)),
        ("4.1", "v4-like", nfs4.GETATTR, lambda done: _longer(done.obj_attributes)),
    ],
)
def test_a_wrong_size_is_red_in_any_reply(
    version: str, policy: str, operation: t.Any, bend: Callable[[t.Any], object]
) -> None:
    result = run(
        "mailserver",
        version=version,
        policy=policy,
        parameters={"files": 5, "mean": 3000},
        callers=2,
        duration=0.4,
        warmup=0.0,
        prepare=_bent(operation, bend),
    )
    assert result.verdict is Verdict.FAIL
    assert "expected a size of " in result.reasons[0]


def _older_size(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
    result = proceed(context, args)
    if result.resok is not None and result.resok.file_wcc.after is not None:
        result.resok.file_wcc.after.size = args.offset
    return result


def test_a_write_that_is_not_in_its_own_attributes_is_red() -> None:
    """Seven are under way, so the size may be many; it is at least the end of what was written."""
    result = run("write10", prepare=lambda server: server.interpose(nfs3.WRITE, _older_size))
    assert result.verdict is Verdict.FAIL
    assert "in WRITE" in result.reasons[0]


@pytest.mark.parametrize("field", ["type", "nlink"])
def test_a_wrong_type_and_a_wrong_number_of_links_are_red(field: str) -> None:
    def bend(done: t.Any) -> None:
        raw = done.obj_attributes
        if raw.type == nfs3.Ftype3.NF3REG:
            setattr(raw, field, nfs3.Ftype3.NF3CHR if field == "type" else raw.nlink + 1)

    outcome, _ = run_whole("connectathon-basic", prepare=_bent(nfs3.GETATTR, bend))
    assert outcome.result.verdict is Verdict.FAIL


def test_a_mode_that_changes_by_itself_is_red() -> None:
    def bend(done: t.Any) -> None:
        if done.file_attributes is not None:
            done.file_attributes.mode ^= 0o004

    outcome, _ = run_whole("connectathon-basic", prepare=_bent(nfs3.READ, bend))
    assert outcome.result.verdict is Verdict.FAIL
    assert "READ says mode 0640" in outcome.result.reasons[0]


def test_two_objects_with_one_handle_are_red() -> None:
    outcome, _ = run_whole(
        "smallread",
        mutants=frozenset({"create3-reuses-a-handle"}),
        parameters={"files": 20, "size": 0},
        duration=0.1,
        warmup=0.0,
    )
    assert outcome.result.verdict is Verdict.FAIL
    assert "the server gives it the handle of shared/f" in outcome.result.reasons[0]


# ---------------------------------------------------------------- what a server may do


def test_access_control_lists_may_give_new_objects_more() -> None:
    """Directories, too: then nobody can say that the mode of a file is wrong."""

    def more(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
        attributes = args.attributes if hasattr(args, "attributes") else args.how.obj_attributes
        attributes.mode = 0o777
        return proceed(context, args)

    def prepare(server: Server) -> None:
        server.interpose(nfs3.CREATE, more)
        server.interpose(nfs3.MKDIR, more)

    assert run("connectathon-basic", prepare=prepare).verdict is Verdict.PASS


def test_a_fileid_may_change_between_two_calls() -> None:
    """It is unique; that it stays is not promised (RFC 1813 section 2.5). The lint is stricter."""
    shift = 0

    def listed(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
        nonlocal shift
        shift = 1000
        result = proceed(context, args)
        for entry in result.resok.entries:
            entry.fileid += shift
        return result

    def found(done: t.Any) -> None:
        done.obj_attributes.fileid += shift

    def prepare(server: Server) -> None:
        server.interpose(nfs3.READDIR, listed)
        _bent(nfs3.LOOKUP, found)(server)

    assert run("dirlist", prepare=prepare, lint=0, **DIRLIST).verdict is Verdict.PASS


@pytest.mark.parametrize("plus", [False, True])
def test_fileids_of_entries_may_be_zero(plus: bool) -> None:
    def bend(done: t.Any) -> None:
        for entry in done.entries:
            entry.fileid = 0

    operation = nfs3.READDIRPLUS if plus else nfs3.READDIR
    assert run("find", plus=plus, prepare=_bent(operation, bend), **FIND).verdict is Verdict.PASS


def test_sizes_between_a_call_and_its_reply() -> None:
    ticks = Ticks()
    state = FileState("f", ticks=ticks)
    begun = ticks.now
    first, second = state.begin_write(0, 100, 1), state.begin_write(100, 50, 1)
    assert state.sizes_since(ticks.now) == (0, 150)
    state.end_write(first)
    assert state.sizes_since(ticks.now) == (100, 150)
    state.end_write(second)
    assert state.sizes_since(ticks.now) == (150, 150)
    assert state.sizes_since(begun) == (0, 150)
    state.begin_cut(10)
    assert state.sizes_since(ticks.now) == (10, 150)
    state.truncate(10)
    assert state.sizes_since(ticks.now) == (10, 10)
    for _ in range(1000):
        state.end_write(state.begin_write(state.size, 1, 1))
    assert state.sizes_since(begun) is None  # what is so long ago is not known any more
    assert state.sizes_since(ticks.now) == (1010, 1010)


# ---------------------------------------------------------------- listings


class _OldCookies:
    """READDIR says of the first cookies that they are not valid any more."""

    def __init__(self, times: int) -> None:
        self.left = times

    def __call__(self, _server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
        if args.cookie and self.left:
            self.left -= 1
            return nfs3.Readdir3Res(nfs3.Nfsstat3.NFS3ERR_BAD_COOKIE, resfail=nfs3.Readdir3ResFail())
        return proceed(context, args)


def _pages(server: Server) -> None:
    server.knobs.update(readdir_page=3)


def test_a_listing_begins_again_where_cookies_become_invalid() -> None:
    def prepare(server: Server) -> None:
        _pages(server)
        server.interpose(nfs3.READDIR, _OldCookies(3))

    result = run("dirlist", prepare=prepare, **DIRLIST)
    assert (result.verdict, result.reasons) == (Verdict.PASS, ())
    assert result.troubles["listings begun again: their cookies were not valid any more"] == 3


def test_a_directory_that_nobody_changes_and_that_cannot_be_listed_is_red() -> None:
    def prepare(server: Server) -> None:
        _pages(server)
        server.interpose(nfs3.READDIR, _OldCookies(10**9))

    result = run_whole("dirlist", prepare=prepare, **DIRLIST)[0].result
    assert result.verdict is Verdict.FAIL
    assert f"{names._MOST_LISTINGS} times from the beginning" in result.reasons[0]


def test_a_directory_that_was_changed_in_some_of_the_listings_is_not_red(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Cookies may become invalid by a change: only if none has one, each time, does the server have no excuse."""
    listings = 0
    begin = names.Listing.__init__

    def count(self: names.Listing) -> None:
        nonlocal listings
        listings += 1
        begin(self)

    monkeypatch.setattr(names.Listing, "__init__", count)

    def during(carrier: Here, target: EmbeddedTarget) -> None:
        assert isinstance(carrier.worker, Worker)
        ledger, old = carrier.worker.ledger, _OldCookies(10**9)

        def change(server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
            if listings == 3:
                ledger.changes.update(list(ledger.items))
            return old(server, context, args, proceed)

        target.running().knobs.update(readdir_page=3)
        target.running().interpose(nfs3.READDIR, change)

    result = run_whole("dirlist", during=during, **DIRLIST)[0].result
    assert listings == names._MOST_LISTINGS
    assert result.verdict is Verdict.VOID
    assert "changed while listed" in result.reasons[0]


@pytest.mark.parametrize("is_changed", [False, True])
def test_a_name_that_has_another_object_by_now_has_another_fileid(is_changed: bool) -> None:
    """Its entry is compared with what LOOKUP gives after the listing: somebody may have come between them."""
    changes = Counter({"d": 4})

    def lookup(_directory: bytes, _name: bytes) -> t.Any:
        yield from ()
        changes["d"] += is_changed
        return SimpleNamespace(attributes=SimpleNamespace(fileid=8), handle=b"h")

    client: t.Any = SimpleNamespace(
        files=SimpleNamespace(lookup=lookup),
        ledger=SimpleNamespace(changes=changes),
        _wrong_fileid=names.NameSteps._wrong_fileid,
        _fileids_change=False,
    )
    act: t.Any = SimpleNamespace(path="d")
    node: t.Any = SimpleNamespace(handle=b"d")
    looking = names.NameSteps._look_at(client, act, node, b"f", 7, 4)
    if is_changed:
        assert list(looking) == []
        assert not client._fileids_change
    else:
        with pytest.raises(WrongAnswer, match="its fileid is 8"):
            list(looking)


def test_a_listing_that_goes_in_circles_is_red() -> None:
    def again(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
        result = proceed(context, args)
        if args.cookie and not result.resok.eof:
            result.resok.entries[-1].cookie = args.cookie
        return result

    def prepare(server: Server) -> None:
        _pages(server)
        server.interpose(nfs3.READDIR, again)

    result = run("dirlist", prepare=prepare, **DIRLIST)
    assert result.verdict is Verdict.FAIL
    assert "goes in circles" in result.reasons[0]
