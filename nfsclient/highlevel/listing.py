# SPDX-License-Identifier: MIT
"""Listing a directory fast: the next page is on its way while this one is decoded (RFC 1813 3.3.16, 3.3.17).

A reply is first only skimmed for what the next call needs: the last cookie, and the verifier. Then that call
is sent, and the page is decoded strictly while the server works. What the skimming cannot make sense of is
left to the decoder, so that the error is the decoder's.
"""

from __future__ import annotations

import abc
import contextlib
import struct
import typing as t
from dataclasses import dataclass

from nfsclient.clients.nfs3 import is_jukebox
from nfsclient.errors import NfsStatusError
from nfsclient.files import Entry, Position
from nfsclient.files.v3 import entry_of
from nfsclient.highlevel.errors import NoProgress
from nfsclient.highlevel.session import Calls, Session
from nfsclient.listings import USUAL_BOUNDS, ListingBounds, ListingProgress, require_names
from nfsclient.paths import shown
from nfsclient.protocol import nfs3 as p
from nfsclient.rpc.core import Pending
from nfsclient.rpc.program import Procedure
from nfsclient.xdr import Buffer, Opaque, Struct

E = t.TypeVar("E", bound="HasName")
Res = t.TypeVar("Res", p.Readdir3Res, p.Readdirplus3Res)

_MOST_RESTARTS = 4
_DOTS = frozenset({b".", b".."})
_EXPIRED: t.Final = frozenset({p.Nfsstat3.NFS3ERR_BAD_COOKIE})
_WITH_ATTRIBUTES = 4 + 84
"""Size of a post_op_attr that has attributes."""

_word = struct.Struct(">I").unpack_from
_two_words = struct.Struct(">II").unpack_from
_head_of_entry = struct.Struct(">I8xI").unpack_from
"""Whether an entry follows, and the length of its name (its fileid skipped)."""
_cookie = struct.Struct(">Q").unpack_from


class RawReply(Struct):
    """The results of a reply, not decoded: as many bytes as there are."""

    results: t.Annotated[bytes, Opaque()]

    @classmethod
    def unpack_from(cls, buf: Buffer, pos: int = 0) -> tuple[RawReply, int]:
        """All bytes from `pos` on."""
        return cls(bytes(memoryview(buf)[pos:])), len(buf)


class HasName(t.Protocol):
    """An entry of a directory."""

    @property
    def name(self) -> bytes: ...


@dataclass(frozen=True, slots=True)
class Ahead:
    """Where a page says to go on, and whether it is the last one."""

    at: Position
    eof: bool = False


def _start_of_entries(results: bytes) -> int:
    """Where the first entry is; 0 when the reply has none because it is an error."""
    status, follows = _two_words(results, 0)
    if status:
        return 0
    return 4 + (_WITH_ATTRIBUTES if follows else 4) + 8


def skim_readdir(results: bytes) -> Ahead | None:
    """Where a READDIR3res says to go on; None for an error, an empty page, or bytes that make no sense."""
    padded = results + bytes(8)
    try:
        start = pos = _start_of_entries(padded)
        follows, length = _head_of_entry(padded, pos)
        while follows:
            pos += 24 + (length + 3 & ~3)
            follows, length = _head_of_entry(padded, pos)
    except struct.error:
        return None
    return _position(results, start, pos, pos - 8)


def skim_readdirplus(results: bytes) -> Ahead | None:
    """Where a READDIRPLUS3res says to go on; None as for `skim_readdir`."""
    padded = results + bytes(8)
    at_cookie = 0
    try:
        start = pos = _start_of_entries(padded)
        follows, length = _head_of_entry(padded, pos)
        while follows:
            at_cookie = pos + 16 + (length + 3 & ~3)
            pos = at_cookie + 8 + (_WITH_ATTRIBUTES if _word(padded, at_cookie + 8)[0] else 4)
            has_handle, length = _two_words(padded, pos)
            pos += 8 + (length + 3 & ~3) if has_handle else 4
            follows, length = _head_of_entry(padded, pos)
    except struct.error:
        return None
    return _position(results, start, pos, at_cookie)


def _position(results: bytes, start: int, end: int, at_cookie: int) -> Ahead | None:
    if not start or start == end or end + 8 != len(results):
        return None
    verf, (eof,) = results[start - 8 : start], _word(results, end + 4)
    return Ahead(Position(_cookie(results, at_cookie)[0], verf), eof != 0)


@dataclass(frozen=True)
class _Kind(t.Generic[Res]):
    """What READDIR and READDIRPLUS do differently."""

    procedure: Procedure[t.Any, Res]
    raw: Procedure[t.Any, RawReply]
    args: t.Callable[[bytes, Position, int], t.Any]
    skim: t.Callable[[bytes], Ahead | None]


def _raw(procedure: Procedure[t.Any, t.Any]) -> Procedure[t.Any, RawReply]:
    """The same procedure with its results left alone."""
    return Procedure(
        procedure.program, procedure.version, procedure.number, procedure.name, procedure.args, RawReply
    )


_PLAIN: t.Final = _Kind(
    p.READDIR,
    _raw(p.READDIR),
    lambda handle, at, size: p.Readdir3Args(handle, at.cookie, at.verifier, size),
    skim_readdir,
)
_PLUS: t.Final = _Kind(
    p.READDIRPLUS,
    _raw(p.READDIRPLUS),
    lambda handle, at, size: p.Readdirplus3Args(handle, at.cookie, at.verifier, size, size),
    skim_readdirplus,
)


class Lists(abc.ABC):
    """Lists one directory, without "." and ".."; a name that a restart brings again is given once.

    All of its methods raise `EndlessListing` for pages that do not get on, and beyond `bounds`; `ServerViolation` for
    names that cannot be any.
    """

    def __init__(
        self, calls: Calls, handle: bytes, path: bytes, *, bounds: ListingBounds = USUAL_BOUNDS
    ) -> None:
        self._calls = calls
        self._bounds = bounds
        self._handle = handle
        self._path = path
        self.is_caller_ours = False
        """Whether what is done with the entries between two pages is part of the listing, and takes its time."""

    @abc.abstractmethod
    def names(self) -> t.Iterator[list[bytes]]:
        """The names, page by page. Raises `NfsStatusError`, `RetriesExhausted`, `NoProgress`."""

    @abc.abstractmethod
    def entries(self) -> t.Iterator[list[Entry]]:
        """The entries, page by page, with attributes and handles where the server gives them. Raises like `names`."""

    def _progress(self, name: str) -> ListingProgress:
        return ListingProgress(f"{name} of {shown(self._path)}", self._bounds, self._calls.patience.clock)

    def _between(self, progress: ListingProgress) -> t.ContextManager[None]:
        """What the caller does with a page."""
        return progress.waiting() if self.is_caller_ours else contextlib.nullcontext()

    def _without_repeats(
        self, start: t.Callable[[], t.Iterator[list[E]]], expired: t.Collection[int]
    ) -> t.Iterator[list[E]]:
        """The pages of `start`; restarted if a position is no longer valid because the directory was changed.

        `expired` are the statuses that say so.
        """
        seen = set(_DOTS)
        for restarts in range(_MOST_RESTARTS + 1):
            try:
                for page in start():
                    known = seen if restarts else _DOTS
                    fresh = [entry for entry in page if entry.name not in known]
                    seen.update([entry.name for entry in fresh])
                    yield fresh
            except NfsStatusError as error:
                if error.status not in expired or restarts == _MOST_RESTARTS:
                    raise
            else:
                return


class PlainLister(Lists):
    """Page after page, as in NFSv2: names only."""

    def names(self) -> t.Iterator[list[bytes]]:
        """The names, page by page. Raises `NfsStatusError`, `NoProgress`."""
        for page in self.entries():
            yield [entry.name for entry in page]

    def entries(self) -> t.Iterator[list[Entry]]:
        """The entries, page by page. Raises like `names`."""
        return self._without_repeats(self._pages, ())

    def _pages(self) -> t.Iterator[list[Entry]]:
        at, progress = Position(), self._progress("READDIR")
        while True:
            with progress.waiting():
                reading = self._calls.files.readdir(self._handle, at, self._calls.limits.page)
                page = self._calls.do(reading, self._path)
            names = [entry.name for entry in page.entries]
            require_names(names, f"READDIR of {shown(self._path)}")
            with self._between(progress):
                yield page.entries
            if page.eof:
                return
            at = page.next
            progress.note(len(names), at, names)


class Lister(Lists):
    """Lists by NFSv3: the next page is on its way."""

    def __init__(
        self, session: Session, handle: bytes, path: bytes, *, bounds: ListingBounds = USUAL_BOUNDS
    ) -> None:
        super().__init__(session, handle, path, bounds=bounds)
        self._session = session

    def names(self) -> t.Iterator[list[bytes]]:
        """The names, page by page, by READDIR. Raises `NfsStatusError`, `RetriesExhausted`, `NoProgress`."""
        for entries in self._without_repeats(lambda: self._pages(_PLAIN), _EXPIRED):
            yield [entry.name for entry in entries]

    def entries(self) -> t.Iterator[list[Entry]]:
        """The entries, page by page, by READDIRPLUS, with attributes and handles where the server gives them.

        By READDIR, and so without them, where the server has no READDIRPLUS. Raises like `names`.
        """
        for page in self._without_repeats(self._plus_or_plain, _EXPIRED):
            yield [entry_of(raw) for raw in page]

    def _plus_or_plain(self) -> t.Iterator[list[p.Entry3 | p.Entryplus3]]:
        pages = self._pages(_PLUS)
        try:
            first = next(pages)
        except StopIteration:
            return
        except NfsStatusError as error:
            if error.status != p.Nfsstat3.NFS3ERR_NOTSUPP:
                raise
            yield from self._pages(_PLAIN)
            return
        yield first
        yield from pages

    def _pages(self, kind: _Kind[t.Any]) -> t.Iterator[list[t.Any]]:
        at = Position()
        pending = self._ask(kind, at)
        following: Pending[t.Any] | None = None
        what = f"{kind.procedure.name} of {shown(self._path)}"
        progress = self._progress(kind.procedure.name)
        try:
            while True:
                with progress.waiting():
                    reply = self._session.caller.wait(pending)
                if isinstance(reply, RawReply):
                    ahead = kind.skim(reply.results)
                    if ahead is not None and not ahead.eof:
                        following = self._ask(kind, ahead.at)
                    reply = kind.procedure.res.from_xdr(reply.results)
                with progress.waiting():
                    result = self._result(kind, reply, at)
                entries = result.entries
                names = [entry.name for entry in entries]
                require_names(names, what)
                with self._between(progress):
                    yield entries
                if result.eof:
                    return
                at = Position(entries[-1].cookie, result.cookieverf) if entries else at
                progress.note(len(entries), at, names)
                pending, following = following or self._ask(kind, at), None
        finally:
            for each in (pending, following):
                if each is not None and not each.done:
                    self._session.rpc.core.cancel(each, NoProgress("the listing was given up"))

    def _ask(self, kind: _Kind[t.Any], at: Position) -> Pending[t.Any]:
        # A recorder is to see what it knows: then pages are decoded where they arrive, and nothing overlaps.
        procedure = kind.raw if self._session.rpc.on_exchange is None else kind.procedure
        return self._session.caller.submit(procedure, kind.args(self._handle, at, self._session.limits.page))

    def _result(self, kind: _Kind[t.Any], reply: t.Any, at: Position) -> t.Any:
        """The result of a page; after JUKEBOX it is requested again."""
        if is_jukebox(reply):
            args = kind.args(self._handle, at, self._session.limits.page)
            reply = self._session.patience.retry(
                lambda: self._session.caller.call(kind.procedure, args), is_jukebox, reply
            )
        return self._session.ok(reply, self._path)
