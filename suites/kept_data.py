# SPDX-License-Identifier: MIT
"""A file of several pages, a part of it uncommitted, and calls that must not change what it contains.

Servers keep data in pages, and uncommitted data in pages that differ from the disk. What goes wrong with them shows in
no file of a few bytes: a page is dropped when the file gets another name, a COMMIT of one page forgets the others, a
page that was cut off comes back when the file grows.

Most of the file is on stable storage, `UNCOMMITTED` is not: it begins in the first page and ends in the third one,
whether pages have 4 KiB or 2. After the change another client reads all of the file by its name. Then the file is
committed, and read again by the handle that the first client has.

Uncommitted data may be lost if the write verifier changes with it (RFC 1813 section 3.3.7, RFC 5661 section 18.32.3),
or if a COMMIT says so: then the check is SKIP, unless something else is wrong, too. What a COMMIT with the verifier of
the WRITEs has committed is on stable storage. NFSv2 has no uncommitted data: the same changes are made of
a file that is all on stable storage. A change that the server refuses ends the check as SKIP; other checks judge that.
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable
from dataclasses import dataclass

from fixtures.checks.scratch import Scratch
from nfsjudge import Requirement, expect, expect_data, observe, skip, unsupported
from suites.common_client import Answer, CommittingClient, CommonClient, Put, Sync
from suites.nfs3.contents import pattern

SIZE: t.Final = 10_000
UNCOMMITTED: t.Final = (3_000, 8_500)
"""Where the uncommitted data of the file begins and ends."""
_TARGET: t.Final = 12_000
"""Bytes in a file that the file replaces."""
_CUT: t.Final = 5_001
"""A smaller size, in the middle of uncommitted data."""
_CUT_IN_PAGE: t.Final = 9_000
"""A smaller size in the page that the file ends in, which is not its first one."""
_SURPLUS: t.Final = 1_000
"""How many more bytes READ requests than the file should have."""
_ENDLESS: t.Final = 1 << 64
_PAST: t.Final = 1_000_000_000
_NOENT: t.Final = 2
_NOTSUPP: t.Final = 10004
_REPORTS_LOSS: t.Final = frozenset({5, 28, 69, 10006})
"""IO, NOSPC, DQUOT and SERVERFAULT, by which COMMIT says that data did not get to stable storage. It says so once."""
HOME: t.Final = b"home"
FILE: t.Final = b"file"
_LINK: t.Final = b"link"
_TAKEN: t.Final = b"taken"


@dataclass(frozen=True)
class Clauses:
    """What each kind of deviation breaks in one version of NFS."""

    current: Requirement
    """Data on stable storage is not what was written."""
    uncommitted: Requirement
    """The same of uncommitted data, and the write verifier is as it was."""
    zeros: Requirement
    """Bytes that a larger size or a gap adds are not zero."""
    finds: Requirement
    """LOOKUP does not find a name that a change has made."""
    progress: Requirement
    """READ returns no data where there is more, and no error."""


class KeptFile:
    """The file, what it must contain, and two clients that look at it."""

    def __init__(
        self,
        common_client: CommonClient,
        other: CommonClient,
        scratch: Scratch[t.Any, t.Any],
        clauses: Clauses,
        other_top: bytes | None = None,
    ) -> None:
        self.writer = common_client
        """Makes the changes. The scratch directory is of its version."""
        self.other = other
        self._other_top = other_top
        """The scratch directory as the other client has it, if that speaks another version."""
        self.scratch = scratch
        self.clauses = clauses
        self.top = scratch.handle
        self.home = scratch.directory(HOME)
        self.away = b""
        """Another directory, for changes that need one."""
        self.path = [HOME, FILE]
        self.was_moved = False
        """Whether RENAME has changed its path: a server whose handles are paths says NOENT to the handle of before."""
        self.data = pattern(SIZE)
        self.handle = scratch.file(FILE, self.data, directory=self.home)
        self._uncommitted: list[tuple[int, int, CommonClient]] = []
        """Ranges, with the client that wrote them."""
        self._verifiers: dict[CommonClient, set[bytes]] = {}
        """Those of uncommitted data, by the client that wrote it: versions may have different ones."""
        self._reported_loss = ""
        """How a COMMIT has said that uncommitted data is lost."""
        self._copies = self._copies_sent()

    # ------------------------------------------------------------ changes

    def done(self, answer: Answer[t.Any], what: str) -> None:
        """A change has succeeded, else it ends the check."""
        if answer.succeeded:
            return
        text = f"{what} answers {answer.reply.status}"
        if int(answer.reply.status) == _NOTSUPP:
            unsupported(text)
        skip(text)

    def put(
        self,
        offset: int,
        data: bytes,
        how: Sync = Sync.UNSTABLE,
        *,
        client: CommonClient | None = None,
        in_one_call: bool = False,
    ) -> None:
        """Write data, in as many WRITEs as the server wants or in one. It is what the file must contain."""
        at, writer = 0, client or self.writer
        handle = self._find() if writer is self.other and self._other_top else self.handle
        while at < len(data):
            done = self._write(writer, handle, offset + at, data[at:], how)
            self._note(writer, offset + at, done)
            at += done.taken
            if in_one_call:
                break
        end = offset + at
        grown = self.data.ljust(offset, b"\0")
        self.data = grown[:offset] + data[:at] + grown[end:]

    def _write(self, client: CommonClient, handle: bytes, offset: int, data: bytes, how: Sync) -> Put:
        if isinstance(client, CommittingClient):
            answer = client.put(handle, offset, data, how)
        else:
            written = client.write(handle, offset, data)
            taken = None if written.value is None else Put(written.value, True, b"")
            answer = Answer(written.reply, taken)
        self.done(answer, "WRITE")
        assert answer.value is not None
        done = answer.value
        if not done.taken:
            skip("WRITE takes no data: it answers OK with count 0")
        return done

    def _note(self, writer: CommonClient, begin: int, done: Put) -> None:
        """A WRITE of the file has succeeded."""
        end = begin + done.taken
        self._settle(begin, end)
        if not done.is_committed:
            # If it is lost, the file may end where it did before.
            self._uncommitted.append((min(begin, len(self.data)), end, writer))
            self._verifiers.setdefault(writer, set()).add(done.verifier)

    def _settle(self, begin: int, end: int, of: CommonClient | None = None) -> None:
        """What was uncommitted in this range is no more: all of it, or what one client wrote."""
        pieces = [
            (first, last, writer)
            for a, b, writer in self._uncommitted
            for first, last in (
                ((a, min(b, begin)), (max(a, end), b)) if of is None or of is writer else ((a, b),)
            )
        ]
        self._uncommitted = [piece for piece in pieces if piece[0] < piece[1]]

    def commit(
        self, handle: bytes, offset: int = 0, count: int = 0, *, client: CommonClient | None = None
    ) -> Answer[bytes]:
        """COMMIT, with what it says of the data; a count of 0 is up to the end of the file."""
        writer = client or self.writer
        assert isinstance(writer, CommittingClient)
        answer = writer.commit(handle, offset, count)
        if answer.value is not None and self._verifiers.get(writer) == {answer.value}:
            self._settle(offset, offset + count if count else _ENDLESS, writer)
        if int(answer.reply.status) in _REPORTS_LOSS:
            self._reported_loss = f"COMMIT answers {answer.reply.status}"
        return answer

    def dirty(self) -> None:
        """Write what the server need not commit; what it says about that is noted."""
        begin, end = UNCOMMITTED
        self.put(begin, pattern(end - begin, salt=1))
        if isinstance(self.writer, CommittingClient):
            observe("the server commits all data at once", "no" if self._uncommitted else "yes")

    def has_size(self, size: int) -> None:
        """A SETATTR or a CREATE has set the size."""
        self.data = self.data[:size].ljust(size, b"\0")
        self._uncommitted = [
            (begin, min(end, size), writer) for begin, end, writer in self._uncommitted if begin < size
        ]

    def make_away(self) -> None:
        self.away = self.scratch.directory("away")

    def make_target(self) -> None:
        """A file that is to be replaced, longer than the file, with uncommitted data as well."""
        stale = self.scratch.file(_TAKEN, pattern(_TARGET, salt=2), directory=self.home)
        self._write(self.writer, stale, UNCOMMITTED[0], pattern(_TARGET // 2, salt=3), Sync.UNSTABLE)

    def make_link(self) -> None:
        self.scratch.link(self.handle, _LINK)

    # ------------------------------------------------------------ looking

    def expect_kept(self, after: str) -> None:
        """All data is as it must be: for another client by the name, and after COMMIT by the handle."""
        __tracebackhide__ = True
        found = self._find()
        self._judge(lambda: self._read(self.other, found), f"data by another client after {after}", found)
        seen = self.other.getattr(found)
        if seen.value is not None and seen.value.size != len(self.data):
            self._skip_if_sent_again()
            size, what = seen.value.size, f"size by another client after {after}"
            expect(size, what, field="size", because=self.clauses.current).equals(len(self.data))
        mine = self.handle if self._other_top else found
        if self._verifiers and isinstance(self.writer, CommittingClient):
            observe("COMMIT", self.commit(mine).reply.status)
        self._judge(lambda: self._read(self.writer, self.handle, mine), f"data after {after}", found)
        if self._other_top and isinstance(self.other, CommittingClient):
            observe("COMMIT by the other client", self.commit(found, client=self.other).reply.status)
            what = f"data after {after} and both COMMITs"
            self._judge(lambda: self._read(self.writer, self.handle), what, found)

    def _find(self) -> bytes:
        """The handle that another client finds by the name."""
        where = self._other_top or self.top
        for name in self.path:
            answer = self.other.lookup(where, name)
            expect(answer.reply, because=self.clauses.finds).ok()
            assert answer.value is not None
            where = answer.value[0]
        return where

    def _read(self, client: CommonClient, handle: bytes, found: bytes = b"") -> bytes:
        """All of the file, and what is beyond its end; by the handle `found` if the server has forgotten the other."""
        seen, most = b"", len(self.data) + _SURPLUS
        while len(seen) < most:
            answer = client.read(handle, len(seen), most - len(seen))
            is_lost = self.was_moved and int(answer.reply.status) == _NOENT
            if found and (answer.has_lost_handle or is_lost):
                observe("the handle of before", answer.reply.status)
                handle, found = found, b""
                continue
            expect(answer.reply, because=self.clauses.current).ok()
            piece, at_end = answer.value or (b"", True)
            seen += piece
            if at_end or (
                not piece and len(seen) >= len(self.data)
            ):  # that eof is missing is for other checks
                break
            expect(len(piece), "bytes of a READ without eof", because=self.clauses.progress).at_least(1)
        return seen

    def _judge(self, read: Callable[[], bytes], what: str, handle: bytes) -> None:
        """The data is what it must be. What is uncommitted is lost only if it does not come back with a COMMIT."""
        __tracebackhide__ = True
        seen = read()
        if seen == self.data:
            return
        self._skip_if_sent_again()
        wrong, broken = _differing(seen, self.data), self.clauses.current
        if all(self._is_uncommitted(at) for at in wrong):
            for writer in self._verifiers:
                self._skip_if_reported(
                    writer, self.handle if writer is self.writer and self._other_top else handle
                )
            if read() != self.data:
                broken = self.clauses.uncommitted
        is_gap = wrong[0] < len(self.data) and not self.data[wrong[0]]
        expect_data(seen, self.data, what, because=self.clauses.zeros if is_gap else broken)

    def _copies_sent(self) -> int:
        return self.writer.copies_sent() + self.other.copies_sent()

    def _skip_if_sent_again(self) -> None:
        """A copy of a SETATTR may truncate what a later WRITE has written (RFC 1813 section 4.5)."""
        if self._copies_sent() != self._copies:
            skip("a call was sent again, and may have been executed after later ones")

    def _skip_if_reported(self, writer: CommonClient, handle: bytes) -> None:
        """SKIP if a COMMIT has said that uncommitted data is lost, or says so now. It does not repeat an error."""
        now = None if self._reported_loss else self.commit(handle, client=writer)
        if self._reported_loss:
            skip(f"uncommitted data is lost, and COMMIT says so: {self._reported_loss}")
        assert now is not None
        expect(now.reply, because=self.clauses.uncommitted).ok()
        if self._verifiers[writer] != {now.value}:
            skip("uncommitted data is lost, and the write verifier says so: it has changed")

    def _is_uncommitted(self, at: int) -> bool:
        return any(begin <= at < end for begin, end, _ in self._uncommitted)


def _differing(seen: bytes, wanted: bytes) -> list[int]:
    """The offsets at which two contents differ; where one has ended, all of the other."""
    shorter, longer = sorted((len(seen), len(wanted)))
    return [at for at in range(shorter) if seen[at] != wanted[at]] + list(range(shorter, longer))


# ---------------------------------------------------------------- changes


@dataclass(frozen=True)
class Change:
    """`make` makes the change. `arrange` is called before data is written that need not be committed."""

    title: str
    make: Callable[[KeptFile], None]
    arrange: Callable[[KeptFile], None] = lambda _file: None


def need_reader(file: KeptFile) -> None:
    """SKIP unless the other client, who may be another user, can read the file; then it has read it."""
    answer = file.other.read(file.handle, 0, SIZE)
    if not answer.succeeded:
        skip(f"another user cannot read a file of mode 0644: READ answers {answer.reply.status}")


def keeps(file: KeptFile, change: Change) -> None:
    """Make a change of the file, and look at all of its data."""
    __tracebackhide__ = True
    change.arrange(file)
    file.dirty()
    change.make(file)
    file.expect_kept(change.title)


def _link(file: KeptFile) -> None:
    file.done(file.writer.link(file.handle, file.top, _LINK), "LINK")
    file.path = [_LINK]


def _unlink(file: KeptFile) -> None:
    file.done(file.writer.remove(file.top, _LINK), "REMOVE")


def _rename(file: KeptFile) -> None:
    file.done(file.writer.rename(file.home, FILE, b"new"), "RENAME")
    file.path, file.was_moved = [HOME, b"new"], True


def _move(file: KeptFile) -> None:
    file.done(file.writer.move(file.home, FILE, file.away, b"new"), "RENAME")
    file.path, file.was_moved = [b"away", b"new"], True


def _move_directory(file: KeptFile) -> None:
    file.done(file.writer.move(file.top, HOME, file.away, b"moved"), "RENAME")
    file.path, file.was_moved = [b"away", b"moved", FILE], True


def _replace(file: KeptFile) -> None:
    file.done(file.writer.rename(file.home, FILE, _TAKEN), "RENAME")
    file.path, file.was_moved = [HOME, _TAKEN], True


def _arrange_other(file: KeptFile) -> None:
    file.make_link()
    file.scratch.file("other", b"other")


def _replace_link(file: KeptFile) -> None:
    file.done(file.writer.rename(file.top, b"other", _LINK), "RENAME")


NAMES: t.Final[dict[str, Change]] = {
    "link": Change("LINK", _link),
    "unlink": Change("REMOVE of another link", _unlink, KeptFile.make_link),
    "rename": Change("RENAME", _rename),
    "move": Change("RENAME to another directory", _move, KeptFile.make_away),
    "move-directory": Change("RENAME of its directory", _move_directory, KeptFile.make_away),
    "replace": Change("RENAME over another file", _replace, KeptFile.make_target),
    "replace-link": Change("RENAME of another file over another link", _replace_link, _arrange_other),
}
"""Changes of names."""


def _set_mode(file: KeptFile) -> None:
    file.done(file.writer.set(file.handle, mode=0o600), "SETATTR")


def _set_group(file: KeptFile) -> None:
    file.done(file.writer.set_group(file.handle), "SETATTR")


def _set_mtime(file: KeptFile) -> None:
    file.done(file.writer.set(file.handle, mtime=_PAST), "SETATTR")


def _set_same_size(file: KeptFile) -> None:
    file.done(file.writer.set(file.handle, size=len(file.data)), "SETATTR")


ATTRIBUTES: t.Final[dict[str, Change]] = {
    "mode": Change("SETATTR of the mode", _set_mode),
    "group": Change("SETATTR of the group", _set_group),
    "mtime": Change("SETATTR of mtime", _set_mtime),
    "same-size": Change("SETATTR of the size that it has", _set_same_size),
}
"""Changes of attributes that change no data."""


def _resize(file: KeptFile, size: int) -> None:
    file.done(file.writer.set(file.handle, size=size), "SETATTR")
    file.has_size(size)


def _grow(file: KeptFile) -> None:
    _resize(file, SIZE + 4_000)


def _shrink_and_grow(file: KeptFile) -> None:
    _resize(file, _CUT)
    _resize(file, SIZE)


def _shrink_and_grow_in_page(file: KeptFile) -> None:
    _resize(file, _CUT_IN_PAGE)
    _resize(file, SIZE)


def _shrink_and_write_in_page(file: KeptFile) -> None:
    _resize(file, _CUT_IN_PAGE)
    file.put(_CUT_IN_PAGE + 600, pattern(500, salt=4))


def _shrink_and_write(file: KeptFile) -> None:
    _resize(file, _CUT)
    write_beyond(file)


def write_beyond(file: KeptFile) -> None:
    """Write 500 bytes after a gap."""
    file.put(max(len(file.data) + 2_000, 7_000), pattern(500, salt=4))


SIZES: t.Final[dict[str, Change]] = {
    "grow": Change("SETATTR of a larger size", _grow),
    "shrink-grow": Change("SETATTR of a smaller size, then of a larger one", _shrink_and_grow),
    "shrink-write": Change("SETATTR of a smaller size, then WRITE beyond it", _shrink_and_write),
}
"""Changes of the size: what is below both sizes stays, what is added is zero."""
LAST_PAGE: t.Final[dict[str, Change]] = {
    "grow": Change(
        "SETATTR of a smaller size in its last page, then of a larger one", _shrink_and_grow_in_page
    ),
    "write": Change(
        "SETATTR of a smaller size in its last page, then WRITE beyond it", _shrink_and_write_in_page
    ),
}
"""The same where both sizes are in the last page, which stays: what was cut off is zero when the file grows."""


def _create_again(file: KeptFile) -> None:
    file.done(file.writer.take(file.home, FILE), "CREATE")


CREATE_AGAIN: t.Final = Change("a CREATE of its name that is not exclusive", _create_again)


def _empty(file: KeptFile) -> None:
    file.done(file.writer.take(file.home, FILE, size=0), "CREATE")
    file.has_size(0)


def _need_small_is_emptied(file: KeptFile) -> None:
    """UNSUPPORTED where CREATE does not truncate a small file either: then other checks judge that, if it is wrong."""
    small = file.scratch.file(b"small", b"data", directory=file.home)
    file.done(file.writer.take(file.home, b"small", size=0), "CREATE")
    seen = file.writer.getattr(small)
    file.done(seen, "GETATTR")
    if seen.value is None or seen.value.size:
        unsupported("a CREATE with a size of 0 does not truncate a file that exists")


def _arrange_empty_by_link(file: KeptFile) -> None:
    _need_small_is_emptied(file)
    file.make_link()


def _empty_by_link(file: KeptFile) -> None:
    file.done(file.writer.take(file.top, _LINK, size=0), "CREATE")
    file.has_size(0)


EMPTY: t.Final[dict[str, Change]] = {
    "name": Change("a CREATE of its name with a size of 0", _empty, _need_small_is_emptied),
    "link": Change("a CREATE of its other link with a size of 0", _empty_by_link, _arrange_empty_by_link),
}
"""A CREATE that is not exclusive truncates the file."""


def _need_empty(file: KeptFile) -> None:
    _empty(file)
    seen = file.writer.getattr(file.handle)
    file.done(seen, "GETATTR")
    if seen.value is None or seen.value.size:
        skip("a CREATE with a size of 0 does not truncate the file")


def _empty_and_grow(file: KeptFile) -> None:
    _need_empty(file)
    _resize(file, SIZE)


def _empty_and_write(file: KeptFile) -> None:
    _need_empty(file)
    write_beyond(file)


EMPTIED: t.Final[dict[str, Change]] = {
    "grow": Change("CREATE with a size of 0, then SETATTR of a larger size", _empty_and_grow),
    "write": Change("CREATE with a size of 0, then WRITE beyond it", _empty_and_write),
}
"""What was truncated by CREATE does not come back."""


def _write_stable(file: KeptFile) -> None:
    file.put(4_000, pattern(100, salt=4), Sync.FILE_SYNC)


def _other_over_end(file: KeptFile) -> None:
    file.put(UNCOMMITTED[1] - 1_000, pattern(2_000, salt=4), client=file.other)


def _other_over_begin(file: KeptFile) -> None:
    file.put(UNCOMMITTED[0] - 1_000, pattern(2_000, salt=4), client=file.other)


def _other_stable(file: KeptFile) -> None:
    file.put(4_000, pattern(2_000, salt=4), Sync.FILE_SYNC, client=file.other)


def _write_by_other(file: KeptFile) -> None:
    file.put(8_400, pattern(900, salt=4), client=file.other)


def _write_over_end(file: KeptFile) -> None:
    file.put(UNCOMMITTED[1] - 1_000, pattern(2_000, salt=4))


def _write_over_begin(file: KeptFile) -> None:
    file.put(UNCOMMITTED[0] - 1_000, pattern(2_000, salt=4))


def _write_over_both(file: KeptFile) -> None:
    _write_over_begin(file)
    _write_over_end(file)


def _write_within(file: KeptFile) -> None:
    file.put(5_000, pattern(500, salt=4))


OVERLAPS: t.Final[dict[str, Change]] = {
    "end": Change("WRITE over the end of uncommitted data", _write_over_end),
    "begin": Change("WRITE over the beginning of uncommitted data", _write_over_begin),
    "within": Change("WRITE within uncommitted data", _write_within),
}
"""WRITEs, uncommitted too, of which a part was written before: what came last is the data."""
OVERLAP_BOTH: t.Final = Change("WRITEs over the beginning and the end of uncommitted data", _write_over_both)
"""No order of offsets has both after what they are written over."""
OVERLAPS_BY_OTHER: t.Final[dict[str, Change]] = {
    "end": Change("WRITE over the end of uncommitted data by another client", _other_over_end),
    "begin": Change("WRITE over the beginning of uncommitted data by another client", _other_over_begin),
    "stable": Change("WRITE of a part with FILE_SYNC by another client", _other_stable),
}
"""Such WRITEs by another client: COMMIT of what the first one wrote before brings nothing of that back."""
WRITES: t.Final[dict[str, Change]] = {
    "file_sync": Change("WRITE of a part with FILE_SYNC", _write_stable),
    "other-client": Change("WRITE of the range next to it by another client", _write_by_other),
    "beyond": Change("WRITE beyond the end", write_beyond),
}
"""Further WRITEs: what they do not write stays."""


def _commit(offset: int, count: int) -> Callable[[KeptFile], None]:
    def make(file: KeptFile) -> None:
        if isinstance(file.writer, CommittingClient):
            file.done(file.commit(file.handle, offset, count), "COMMIT")

    return make


COMMITS: t.Final[dict[str, Change]] = {
    "begin": Change("COMMIT of its beginning", _commit(0, 3_500)),
    "part": Change("COMMIT of a part", _commit(4_096, 1_000)),
    "rest": Change("COMMIT of its end", _commit(7_000, 0)),
}
"""COMMITs of a part: what they do not commit stays, too."""
