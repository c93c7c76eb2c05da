# SPDX-License-Identifier: MIT
"""Listing a directory fast: the next page is on its way while this one is decoded (RFC 1813 3.3.16, 3.3.17).

A reply is first only skimmed for what the next call needs: the last cookie, and the verifier. Then that call
is sent, and the page is decoded strictly while the server works. What the skimming cannot make sense of is
left to the decoder, so that the error is the decoder's.
"""

from __future__ import annotations

import contextlib
import struct
import typing as t
from dataclasses import dataclass

from nfsclient.clients.nfs3 import is_jukebox
from nfsclient.highlevel.errors import NoProgress
from nfsclient.highlevel.session import Session
from nfsclient.listings import USUAL_BOUNDS, ListingBounds, ListingProgress, require_names
from nfsclient.paths import shown
from nfsclient.protocol import nfs3 as p
from nfsclient.replies import status_error
from nfsclient.rpc.core import Pending
from nfsclient.rpc.program import Procedure
from nfsclient.xdr import Buffer, Opaque, Struct

E = t.TypeVar("E", p.Entry3, p.Entryplus3)
Res = t.TypeVar("Res", p.Readdir3Res, p.Readdirplus3Res)

_MOST_RESTARTS = 4
_DOTS = frozenset({b".", b".."})
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


@dataclass(frozen=True, slots=True)
class Position:
    """Where to go on in a directory."""

    cookie: int = 0
    verf: bytes = bytes(8)
    eof: bool = False


def _start_of_entries(results: bytes) -> int:
    """Where the first entry is; 0 when the reply has none because it is an error."""
    status, follows = _two_words(results, 0)
    if status:
        return 0
    return 4 + (_WITH_ATTRIBUTES if follows else 4) + 8


def skim_readdir(results: bytes) -> Position | None:
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


def skim_readdirplus(results: bytes) -> Position | None:
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


def _position(results: bytes, start: int, end: int, at_cookie: int) -> Position | None:
    if not start or start == end or end + 8 != len(results):
        return None
    verf, (eof,) = results[start - 8 : start], _word(results, end + 4)
    return Position(_cookie(results, at_cookie)[0], verf, eof != 0)


@dataclass(frozen=True)
class _Kind(t.Generic[Res]):
    """What READDIR and READDIRPLUS do differently."""

    procedure: Procedure[t.Any, Res]
    raw: Procedure[t.Any, RawReply]
    args: t.Callable[[bytes, Position, int], t.Any]
    skim: t.Callable[[bytes], Position | None]


def _raw(procedure: Procedure[t.Any, t.Any]) -> Procedure[t.Any, RawReply]:
    """The same procedure with its results left alone."""
    return Procedure(
        procedure.program, procedure.version, procedure.number, procedure.name, procedure.args, RawReply
    )


_PLAIN: t.Final = _Kind(
    p.READDIR,
    _raw(p.READDIR),
    lambda handle, at, size: p.Readdir3Args(handle, at.cookie, at.verf, size),
    skim_readdir,
)
_PLUS: t.Final = _Kind(
    p.READDIRPLUS,
    _raw(p.READDIRPLUS),
    lambda handle, at, size: p.Readdirplus3Args(handle, at.cookie, at.verf, size, size),
    skim_readdirplus,
)


class Lister:
    """Lists one directory, without "." and ".."; a name that a restart brings again is given once.

    All of its methods raise `EndlessListing` for pages that do not get on, and beyond `bounds`; `ServerViolation` for
    names that cannot be any.
    """

    def __init__(
        self, session: Session, handle: bytes, path: bytes, *, bounds: ListingBounds = USUAL_BOUNDS
    ) -> None:
        self._session = session
        self._bounds = bounds
        self._handle = handle
        self._path = path
        self.is_caller_ours = False
        """Whether what is done with the entries between two pages is part of the listing, and takes its time."""

    def names(self) -> t.Iterator[list[bytes]]:
        """The names, page by page, by READDIR. Raises `NfsStatusError`, `RetriesExhausted`, `NoProgress`."""
        for entries in self._without_repeats(lambda: self._pages(_PLAIN)):
            yield [entry.name for entry in entries]

    def entries(self) -> t.Iterator[list[p.Entryplus3]]:
        """The entries, page by page, by READDIRPLUS, with attributes and handles where the server gives them.

        By READDIR, and so without them, where the server has no READDIRPLUS. Raises like `names`.
        """
        return self._without_repeats(self._plus_or_plain)

    def _plus_or_plain(self) -> t.Iterator[list[p.Entryplus3]]:
        pages = self._pages(_PLUS)
        try:
            first = next(pages)
        except StopIteration:
            return
        except _NotSupported:
            for entries in self._pages(_PLAIN):
                yield [p.Entryplus3(each.fileid, each.name, each.cookie) for each in entries]
            return
        yield first
        yield from pages

    def _without_repeats(self, start: t.Callable[[], t.Iterator[list[E]]]) -> t.Iterator[list[E]]:
        """The pages of `start`; restarted if a cookie is no longer valid because the directory was changed."""
        seen = set(_DOTS)
        for restarts in range(_MOST_RESTARTS + 1):
            try:
                for page in start():
                    known = seen if restarts else _DOTS
                    fresh = [entry for entry in page if entry.name not in known]
                    seen.update([entry.name for entry in fresh])
                    yield fresh
            except _BadCookie as bad:
                if restarts == _MOST_RESTARTS:
                    raise status_error(p.Nfsstat3.NFS3ERR_BAD_COOKIE, bad.name, shown(self._path)) from None
            else:
                return

    def _pages(self, kind: _Kind[t.Any]) -> t.Iterator[list[t.Any]]:
        at = Position()
        pending = self._ask(kind, at)
        following: Pending[t.Any] | None = None
        clock = self._session.patience.clock
        what = f"{kind.procedure.name} of {shown(self._path)}"
        progress = ListingProgress(what, self._bounds, clock)
        try:
            while True:
                with progress.waiting():
                    reply = self._session.caller.wait(pending)
                if isinstance(reply, RawReply):
                    ahead = kind.skim(reply.results)
                    if ahead is not None and not ahead.eof:
                        following = self._ask(kind, ahead)
                    reply = kind.procedure.res.from_xdr(reply.results)
                with progress.waiting():
                    result = self._result(kind, reply, at)
                entries = result.entries
                names = [entry.name for entry in entries]
                require_names(names, what)
                with progress.waiting() if self.is_caller_ours else contextlib.nullcontext():
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
        if reply.status == p.Nfsstat3.NFS3ERR_BAD_COOKIE and at.cookie:
            raise _BadCookie(kind.procedure.name)
        if reply.status == p.Nfsstat3.NFS3ERR_NOTSUPP and not at.cookie:
            raise _NotSupported
        return self._session.ok(reply, self._path)


class _BadCookie(Exception):
    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class _NotSupported(Exception):
    pass
