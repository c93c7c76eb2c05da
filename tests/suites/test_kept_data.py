# SPDX-License-Identifier: MIT
"""`suites.kept_data`: with servers that lose data, that may lose it, and that keep it."""

from __future__ import annotations

import typing as t
from collections.abc import Mapping

import pytest

from nfsclient.protocol.nfs3 import Nfsstat3
from nfsjudge import Nonconformance, Skipped, Unsupported
from suites.clauses import NAMES_ARE_CURRENT
from suites.common_client import Answer, CommittingClient, Put, Seen, Sync
from suites.kept_data import (
    ATTRIBUTES,
    COMMITS,
    CREATE_AGAIN,
    EMPTIED,
    EMPTY,
    LAST_PAGE,
    NAMES,
    OVERLAP_BOTH,
    OVERLAPS,
    OVERLAPS_BY_OTHER,
    SIZES,
    WRITES,
    Change,
    Clauses,
    KeptFile,
    keeps,
)
from suites.nfs3.clauses import (
    EXTENSION_READS_AS_ZEROS,
    READ_RETURNS_CURRENT_DATA,
    VERIFIER_CHANGES_ON_LOSS,
)
from suites.nfs3.test_read import READ_MAKES_PROGRESS
from tests.suites.toy_file_system import Reply, Toy, ToyClient, ToyScratch

_CLAUSES: t.Final = Clauses(
    READ_RETURNS_CURRENT_DATA,
    VERIFIER_CHANGES_ON_LOSS,
    EXTENSION_READS_AS_ZEROS,
    NAMES_ARE_CURRENT,
    READ_MAKES_PROGRESS,
)
_ALL: t.Final[Mapping[str, Change]] = {
    **{f"names-{name}": change for name, change in NAMES.items()},
    **{f"attributes-{name}": change for name, change in ATTRIBUTES.items()},
    **{f"sizes-{name}": change for name, change in SIZES.items()},
    **{f"last-page-{name}": change for name, change in LAST_PAGE.items()},
    **{f"overlaps-{name}": change for name, change in OVERLAPS.items()},
    "overlap-both": OVERLAP_BOTH,
    **{f"writes-{name}": change for name, change in WRITES.items()},
    **{f"commits-{name}": change for name, change in COMMITS.items()},
    **{f"emptied-{name}": change for name, change in EMPTIED.items()},
    "create-again": CREATE_AGAIN,
    **{f"empty-{name}": change for name, change in EMPTY.items()},
}
_COMMIT_ANSWERS: t.Final = {
    "COMMIT reports the loss": Nfsstat3.NFS3ERR_IO,
    "COMMIT is put off": Nfsstat3.NFS3ERR_JUKEBOX,
    "COMMIT says that the file is gone": Nfsstat3.NFS3ERR_STALE,
}
"""Faults of a server that loses uncommitted data -> what its COMMIT answers."""
_SHORT: t.Final = 1_700
"""Bytes that a server with short WRITEs takes at once."""


class _Server(Toy):
    """Files with uncommitted data: what is on stable storage is remembered with each of them."""

    def __init__(self, fault: str = "") -> None:
        self.stable: dict[int, bytes] = {}
        self.boots = 1
        self.written_first: tuple[int, bytes] = (0, b"")
        """Offset and data of the first WRITE that was not committed."""
        self.lost_handle = Nfsstat3.NFS3ERR_STALE
        self.commits = 0
        self.writer: object = None
        """Who has written what is not committed."""
        super().__init__(fault)


class _Client(CommittingClient, ToyClient):
    toy: _Server
    copies = 0

    def copies_sent(self) -> int:
        return self.copies

    def put(self, handle: bytes, offset: int, data: bytes, how: Sync) -> Answer[Put]:
        if self.toy.fault == "WRITE takes nothing":
            return Answer(Reply(), Put(0, False, b"1"))
        data = data[: _SHORT if self.toy.fault == "short WRITEs" else len(data)]
        node = self.toy.handles[handle]
        is_committed = how is not Sync.UNSTABLE or self.toy.fault == "commits all data at once"
        if not is_committed:
            self.toy.stable.setdefault(node.fileid, node.data)
            self.toy.writer = self
            self.toy.written_first = self.toy.written_first if self.toy.written_first[1] else (offset, data)
        written = ToyClient.write(self, handle, offset, data)
        if is_committed and node.fileid in self.toy.stable:
            before = self.toy.stable[node.fileid].ljust(offset, b"\0")
            self.toy.stable[node.fileid] = before[:offset] + data + before[offset + len(data) :]
        done = Put(len(data), is_committed, b"%d" % self.toy.boots)
        return Answer(written.reply, done if written.succeeded else None)

    def getattr(self, handle: bytes) -> Answer[Seen]:
        answer = super().getattr(handle)
        if answer.value is None or self.toy.fault != "GETATTR returns an old size":
            return answer
        return Answer(answer.reply, answer.value._replace(size=0))

    def commit(self, handle: bytes, offset: int = 0, count: int = 0) -> Answer[bytes]:
        fault, node = self.toy.fault, self.toy.handles[handle]
        self.toy.commits += 1
        if fault in _COMMIT_ANSWERS:
            return Answer(Reply(_COMMIT_ANSWERS[fault]))
        if fault == "COMMIT drops what there is no room for" and self.toy.commits == 1:
            node.data = self.toy.stable.pop(node.fileid)
            return Answer(Reply(Nfsstat3.NFS3ERR_NOSPC))
        if fault == "COMMIT brings older data back":
            at, data = self.toy.written_first
            node.data = node.data[:at] + data + node.data[at + len(data) :]
        verifier = b"%d" % self.toy.boots
        if not offset and not count:
            old = self.toy.stable.pop(node.fileid, node.data)
            if fault == "committed data is lost with the verifier":
                node.data, self.toy.boots = old, 2
        elif fault == "a part that is committed is lost with the verifier":
            node.data, self.toy.boots = self.toy.stable.pop(node.fileid), 2
        return Answer(Reply(), verifier)

    def lookup(self, where: bytes, name: bytes) -> Answer[tuple[bytes, Seen | None]]:
        if self.toy.fault == "LOOKUP does not find links" and name == b"link":
            return Answer(Reply(Nfsstat3.NFS3ERR_NOENT))
        return super().lookup(where, name)

    def read(self, handle: bytes, offset: int, count: int) -> Answer[tuple[bytes, bool]]:
        if self.toy.fault == "READ of the end returns nothing" and offset + count > 9_000:
            return super().read(handle, offset, max(0, 9_000 - offset))
        answer = super().read(handle, offset, count)
        if self.toy.fault == "only the writer sees uncommitted data" and self is not self.toy.writer:
            node = self.toy.handles[handle]
            data = self.toy.stable.get(node.fileid, node.data)
            return Answer(Reply(), (data[offset : offset + count], offset + count >= len(data)))
        return Answer(Reply(self.toy.lost_handle)) if answer.has_lost_handle else answer

    def link(self, handle: bytes, where: bytes, name: bytes) -> Answer[None]:
        if self.toy.fault == "no LINK":
            return Answer(Reply(Nfsstat3.NFS3ERR_NOTSUPP))
        self._lose(handle)
        return super().link(handle, where, name)

    def set(
        self, handle: bytes, *, size: int | None = None, mode: int | None = None, mtime: int | None = None
    ) -> Answer[None]:
        if self.toy.fault == "SETATTR is denied":
            return Answer(Reply(Nfsstat3.NFS3ERR_PERM))
        node = self.toy.handles[handle]
        if size is not None and node.fileid in self.toy.stable:
            self.toy.stable[node.fileid] = self.toy.stable[node.fileid][:size].ljust(size, b"\0")
        return super().set(handle, size=size, mode=mode, mtime=mtime)

    def _lose(self, handle: bytes) -> None:
        """What LINK does wrong, or may do."""
        node, fault = self.toy.handles[handle], self.toy.fault
        old = self.toy.stable.get(node.fileid, node.data)
        if fault in {"uncommitted data is lost", *_COMMIT_ANSWERS}:
            node.data = old
        elif fault == "uncommitted data is lost with the verifier":
            node.data, self.toy.boots = old, 2
        elif fault == "all data is lost with the verifier":
            node.data, self.toy.boots = bytes(len(old)), 2
        elif fault == "stable data is lost":
            node.data = node.data[:-1] + b"\0"
        elif fault == "a byte too many":
            node.data += b"!"


def _file(fault: str = "") -> KeptFile:
    server = _Server(fault)
    scratch: t.Any = ToyScratch(server)
    return KeptFile(_Client(server), _Client(server), scratch, _CLAUSES)


@pytest.mark.parametrize(
    "freedom", ["", "short WRITEs", "commits all data at once", "handles become stale", "hidden files"]
)
def test_a_right_server_passes(freedom: str) -> None:
    for change in _ALL.values():
        keeps(_file(freedom), change)


def _shared(fault: str = "") -> KeptFile:
    """A file that the other client reaches as one of another version does."""
    server = _Server(fault)
    scratch: t.Any = ToyScratch(server)
    return KeptFile(_Client(server), _Client(server), scratch, _CLAUSES, scratch.handle)


def test_two_versions_may_share_a_file() -> None:
    for change in OVERLAPS_BY_OTHER.values():
        keeps(_shared(), change)
        keeps(_shared("short WRITEs"), change)
        keeps(_shared("commits all data at once"), change)


@pytest.mark.parametrize("name", OVERLAPS_BY_OTHER)
def test_what_commit_brings_back_is_a_failure(name: str) -> None:
    clause = READ_RETURNS_CURRENT_DATA if name == "stable" else VERIFIER_CHANGES_ON_LOSS
    with pytest.raises(Nonconformance, match="data after WRITE") as found:
        keeps(_shared("COMMIT brings older data back"), OVERLAPS_BY_OTHER[name])
    assert found.value.requirement is clause


def _without_handles() -> KeptFile:
    """A file on a server that answers NOENT to handles of before."""
    file = _file("handles become stale")
    server: t.Any = file.writer
    server.toy.lost_handle = Nfsstat3.NFS3ERR_NOENT
    return file


@pytest.mark.parametrize("name", ["rename", "move", "move-directory", "replace"])
def test_handles_may_be_paths(name: str) -> None:
    keeps(_without_handles(), NAMES[name])


def test_the_handle_of_a_file_that_was_not_moved_stays_valid() -> None:
    def forget(file: KeptFile) -> None:
        server: t.Any = file.writer
        server.toy.handles[b"another"] = server.toy.handles.pop(file.handle)

    with pytest.raises(Nonconformance, match="NFS3ERR_NOENT"):
        keeps(_without_handles(), Change("SETATTR", forget))


def test_a_version_without_uncommitted_data_is_judged_too() -> None:
    for change in _ALL.values():
        toy = Toy()
        scratch: t.Any = ToyScratch(toy)
        keeps(KeptFile(ToyClient(toy), ToyClient(toy), scratch, _CLAUSES), change)


@pytest.mark.parametrize(
    ("fault", "clause", "text"),
    [
        (
            "uncommitted data is lost",
            VERIFIER_CHANGES_ON_LOSS,
            "data by another client after LINK at offset 3000",
        ),
        (
            "only the writer sees uncommitted data",
            READ_RETURNS_CURRENT_DATA,
            "data by another client after LINK at offset 3000",
        ),
        ("stable data is lost", READ_RETURNS_CURRENT_DATA, "at offset 9999"),
        ("GETATTR returns an old size", READ_RETURNS_CURRENT_DATA, "size by another client after LINK"),
        ("a byte too many", READ_RETURNS_CURRENT_DATA, "10001"),
        ("all data is lost with the verifier", READ_RETURNS_CURRENT_DATA, "at offset 0"),
        (
            "committed data is lost with the verifier",
            READ_RETURNS_CURRENT_DATA,
            "data after LINK at offset 3000",
        ),
        ("COMMIT says that the file is gone", VERIFIER_CHANGES_ON_LOSS, "got NFS3ERR_STALE"),
        ("LOOKUP does not find links", NAMES_ARE_CURRENT, "got NFS3ERR_NOENT"),
        ("READ of the end returns nothing", READ_MAKES_PROGRESS, "bytes of a READ without eof"),
    ],
)
def test_a_loss_is_a_failure_of_the_clause_that_it_breaks(fault: str, clause: t.Any, text: str) -> None:
    with pytest.raises(Nonconformance, match=text) as found:
        keeps(_file(fault), NAMES["link"])
    assert found.value.requirement is clause


def test_what_was_cut_off_and_comes_back_is_no_zero() -> None:
    with pytest.raises(Nonconformance, match="then of a larger one at offset 5001") as found:
        keeps(_file("what was cut off comes back"), SIZES["shrink-grow"])
    assert found.value.requirement is EXTENSION_READS_AS_ZEROS
    with pytest.raises(Nonconformance, match="at offset 0"):
        keeps(_file("what was cut off comes back"), EMPTIED["grow"])


@pytest.mark.parametrize(
    ("freedom", "change", "text"),
    [
        ("uncommitted data is lost with the verifier", "names-link", "it has changed"),
        ("COMMIT reports the loss", "names-link", "COMMIT says so: COMMIT answers NFS3ERR_IO"),
        (
            "COMMIT drops what there is no room for",
            "names-link",
            "COMMIT says so: COMMIT answers NFS3ERR_NOSPC",
        ),
        ("COMMIT is put off", "names-link", "still not ready"),
        ("SETATTR is denied", "attributes-mode", "SETATTR answers"),
        ("WRITE takes nothing", "names-rename", "count 0"),
    ],
)
def test_what_a_server_may_do_ends_the_check(freedom: str, change: str, text: str) -> None:
    with pytest.raises(Skipped, match=text):
        keeps(_file(freedom), _ALL[change])


@pytest.mark.parametrize("fault", ["stable data is lost", "a byte too many", "GETATTR returns an old size"])
def test_a_call_that_was_sent_again_may_have_been_executed_late(fault: str) -> None:
    """A copy of a SETATTR truncates what was written after it (RFC 1813 section 4.5)."""
    file = _file(fault)
    t.cast("_Client", file.other).copies += 1
    with pytest.raises(Skipped, match="sent again"):
        keeps(file, NAMES["link"])


def test_a_server_without_hard_links_does_not_support_the_check() -> None:
    with pytest.raises(Unsupported, match="LINK answers"):
        keeps(_file("no LINK"), NAMES["link"])


def test_a_part_that_is_committed_is_on_stable_storage() -> None:
    with pytest.raises(Nonconformance, match="at offset 3000") as found:
        keeps(_file("a part that is committed is lost with the verifier"), COMMITS["begin"])
    assert found.value.requirement is READ_RETURNS_CURRENT_DATA
