# SPDX-License-Identifier: MIT
"""Reading directories page by page, for the checks of READDIR and READDIRPLUS."""

from __future__ import annotations

import itertools
import typing as t
from collections.abc import Callable, Iterator

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import (
    CREATE,
    REMOVE,
    Create3Args,
    Createhow3,
    CreateMode3,
    Diropargs3,
    Entry3,
    Entryplus3,
    Nfsstat3,
    Readdir3Res,
    Readdirplus3Res,
    Remove3Args,
    Sattr3,
)
from nfsclient.rpc.blocking import RpcClient
from nfsjudge import Requirement, expect, observe, skip
from suites.nfs3.clauses import READDIR_RETURNS_NAMES
from suites.nfs3.pipelines import pipelined

DOTS = frozenset({b".", b".."})
SMALL_PAGE = 1024
"""Bytes: a dozen entries of READDIR, so that `MANY` names take several pages."""
SMALL_PLUS_PAGE = 4096
LARGE_PAGE = 65536
MANY = 60
"""Number of files that need several small pages, whatever the size of the server's entries."""
FILL_TIMEOUT = 30.0
"""Seconds to create or remove many names; a fast server takes one for ten thousand."""
STEPS: t.Final = (300, 1000, 3000)
"""Sizes at which a directory that grows may stop."""
_WORTH = 20.0
"""Seconds that a large directory may take: to create its names, and again to list them."""
_MOST_PAGES = 1000
"""Pages in which a large directory may come."""
_GROWTH = 10
"""A step that makes a directory three times as large may take this many times as long as the step before."""
_BATCH = 256
"""Calls that are timed together: several times as many as are outstanding, so that the server's pace shows."""
_LOOKS = 3
"""How often the first page of a listing is timed."""


class Listing(t.NamedTuple):
    """The result of reading a directory page by page."""

    entries: list[Entry3 | Entryplus3]
    ended: bool
    """Whether eof was reached. Reading stops early at a page with neither entries nor eof."""

    @property
    def names(self) -> list[bytes]:
        """The names, in order, without ``.`` and ``..``."""
        return [entry.name for entry in self.entries if entry.name not in DOTS]


class PageReply(t.Protocol):
    """The common part of the replies of both procedures."""

    @property
    def resok(self) -> t.Any:
        """The page, or None if the call failed."""
        ...


def many_names(count: int = MANY) -> list[bytes]:
    """`count` names of different lengths, so that the entries differ in size."""
    return [b"entry-%03d-" % number + b"x" * (number % 17) for number in range(count)]


def page(
    nfs3: Nfs3, directory: bytes, cookie: int = 0, verf: bytes = bytes(8), count: int = LARGE_PAGE
) -> Readdir3Res:
    """One page of READDIR."""
    return nfs3.readdir(directory, cookie, verf, count)


def plus_page(
    nfs3: Nfs3, directory: bytes, cookie: int = 0, verf: bytes = bytes(8), count: int = LARGE_PAGE
) -> Readdirplus3Res:
    """One page of READDIRPLUS; `count` bounds both sizes."""
    return nfs3.readdirplus(directory, cookie, verf, count, count)


def read_all(
    read: t.Callable[..., t.Any],
    nfs3: Nfs3,
    directory: bytes,
    *,
    count: int = LARGE_PAGE,
    cookie: int = 0,
    verf: bytes = bytes(8),
    most_pages: int = 500,
) -> Listing:
    """Read from `cookie` to the end with `page` or `plus_page`. A refused page fails the check."""
    entries: list[Entry3 | Entryplus3] = []
    for _ in range(most_pages):
        resok = expect(read(nfs3, directory, cookie, verf, count)).ok()
        entries += resok.entries
        if resok.eof:
            return Listing(entries, ended=True)
        if not resok.entries:
            break
        cookie, verf = resok.entries[-1].cookie, resok.cookieverf
    return Listing(entries, ended=False)


def single_page(reply: PageReply, because: Requirement | None = None) -> t.Any:
    """The page, if it holds the whole directory. SKIP if the server returns smaller pages."""
    resok = expect(t.cast("t.Any", reply), because=because).ok()
    if not resok.eof:
        skip("the server needs more than one page for this small directory")
    return resok


PROCEDURES: t.Final[dict[str, Callable[..., t.Any]]] = {"READDIR": page, "READDIRPLUS": plus_page}
"""Checks of both procedures take one as a parameter. Cookies of one are not valid for the other (section 3.3.17)."""


def find_entry(nfs3: Nfs3, scratch: Nfs3Scratch, procedure: str, name: bytes) -> t.Any:
    """The entry of `name` in the scratch directory."""
    entries = read_all(PROCEDURES[procedure], nfs3, scratch.handle).entries
    found = next((entry for entry in entries if entry.name == name), None)
    return expect(found, f"entry {name.decode()!r}", because=READDIR_RETURNS_NAMES).is_present()


class _Bulk(t.NamedTuple):
    """What came of many calls of one procedure."""

    why: str
    """Why not all were made; empty if they were."""
    each: float
    """Seconds for a call near the end, while nothing else kept the server busy: those of the fastest batch."""


class _Share(t.NamedTuple):
    """What one name takes of the listing of a directory."""

    seconds: float
    pages: float


def _call_in_bulk(
    nfs3: Nfs3, rpc: RpcClient, procedure: t.Any, arguments: Iterator[t.Any], seconds: float
) -> _Bulk:
    """Pipeline many calls, until the first refusal or for this long."""
    began, why = rpc.loop.clock(), ""
    since, batches = began, list[float]()

    def wanted() -> Iterator[t.Any]:
        # Stop sending, but wait for the replies to calls already sent: late ones would look unsolicited.
        yield from itertools.takewhile(lambda _: not why, arguments)

    done = 0
    for done, (_, reply) in enumerate(pipelined(nfs3, rpc, procedure, wanted()), 1):
        if reply.status not in {Nfsstat3.NFS3_OK, Nfsstat3.NFS3ERR_NOENT, Nfsstat3.NFS3ERR_EXIST}:
            why = why or f"{procedure.name} answers {reply.status}"
        elif rpc.loop.clock() - began > seconds:
            why = why or f"{done} {procedure.name} calls took more than {seconds:g} s"
        if done % _BATCH == 0:
            since, took = rpc.loop.clock(), rpc.loop.clock() - since
            batches.append(took / _BATCH)
    late = batches[-max(1, len(batches) // 3) :]
    return _Bulk(why, min(late) if late else (rpc.loop.clock() - began) / max(1, done))


def _skip_if(why: str) -> None:
    if why:
        skip(f"cannot arrange a large directory: {why}")


def remove_all(
    nfs3: Nfs3, rpc: RpcClient, directory: bytes, names: list[bytes], seconds: float = FILL_TIMEOUT
) -> None:
    """Pipeline REMOVE of each name. SKIP after a refusal."""
    calls = (Remove3Args(Diropargs3(directory, name)) for name in names)
    _skip_if(_call_in_bulk(nfs3, rpc, REMOVE, calls, seconds).why)


class Fill:
    """The fixture `fill`: creates many empty files in the scratch directory."""

    def __init__(self, nfs3: Nfs3, rpc: RpcClient, directory: bytes, slowness: float) -> None:
        """`slowness` is how many times as long as usual the target takes."""
        self._nfs3 = nfs3
        self._rpc = rpc
        self._directory = directory
        self._slowness = slowness
        self._made: list[bytes] = []

    def __call__(self, names: list[bytes]) -> None:
        """Create all of them, or end the check as SKIP."""
        _skip_if(self._create(names).why)

    def _create(self, names: list[bytes]) -> _Bulk:
        self._made.extend(names)
        how = Createhow3(CreateMode3.GUARDED, obj_attributes=Sattr3(mode=0o644))
        calls = (Create3Args(Diropargs3(self._directory, name), how) for name in names)
        return _call_in_bulk(self._nfs3, self._rpc, CREATE, calls, FILL_TIMEOUT * self._slowness)

    def as_many_as_fit(
        self, names: list[bytes], list_page: Callable[[], PageReply], *, least: int = STEPS[0]
    ) -> list[bytes]:
        """Create the first of these names, as many as there is room and time for; those created.

        There are servers that look through the whole directory for each name, or for each page of a listing.
        `list_page` reads its first page. SKIP if fewer than `least` fit. Time is that of the target when nothing else
        keeps it busy: the fastest of several batches and pages, so that the size does not depend on load.
        """
        made, why, more = 0, "", names
        sizes = [*(step for step in STEPS if step < len(names)), len(names)]
        for size, bigger in itertools.zip_longest(sizes, sizes[1:]):
            more = names[made:size]
            why, each = self._create(more)
            if why:
                break
            made = size
            if bigger and made >= least and not self._may_grow(made, bigger, each * len(more), list_page):
                break
        observe("names in the large directory", made)
        if made < least:
            skip(f"cannot arrange a large directory: room or time for {made} of {least} names: {why}")
        if why:
            remove_all(self._nfs3, self._rpc, self._directory, more, FILL_TIMEOUT * self._slowness)
        return names[:made]

    def _may_grow(self, made: int, bigger: int, took: float, list_page: Callable[[], PageReply]) -> bool:
        """Whether a directory of `made` names, the last step to which took so long, may become as big as this."""
        longest = _WORTH * self._slowness / _GROWTH
        if took > longest:
            return False
        looks = [self._page_of_a_name(list_page) for _ in range(_LOOKS)]
        return min(looks).pages * bigger <= _MOST_PAGES and min(looks).seconds * made <= longest

    def _page_of_a_name(self, list_page: Callable[[], PageReply]) -> _Share:
        """What one name takes of a listing, as the first page suggests."""
        began = self._rpc.loop.clock()
        resok = list_page().resok
        entries = 0 if resok is None else len(resok.entries)
        return _Share((self._rpc.loop.clock() - began) / max(1, entries), 1 / entries if entries else 0.0)

    def empty(self) -> None:
        """Remove what was created, unless the connection is lost."""
        if self._rpc.is_usable:
            remove_all(self._nfs3, self._rpc, self._directory, self._made, FILL_TIMEOUT * self._slowness)
