# SPDX-License-Identifier: MIT
"""Reading directories page by page, for the checks of READDIR and READDIRPLUS."""

from __future__ import annotations

import typing as t

from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Entry3, Entryplus3, Readdir3Res, Readdirplus3Res
from nfsjudge import Requirement, expect, skip

DOTS = frozenset({b".", b".."})
SMALL_PAGE = 1024
"""Room for a dozen entries of READDIR: several pages for `MANY` names."""
SMALL_PLUS_PAGE = 4096
LARGE_PAGE = 65536
MANY = 60
"""Files that take several small pages, whatever the server's entries cost."""


class Listing(t.NamedTuple):
    """What paging through a directory gave."""

    entries: list[Entry3 | Entryplus3]
    ended: bool
    """Whether eof was reached; paging stops when a page brings neither entries nor eof."""

    @property
    def names(self) -> list[bytes]:
        """The names, in order, without ``.`` and ``..``."""
        return [entry.name for entry in self.entries if entry.name not in DOTS]


def only(listed: t.Iterable[bytes], names: t.Iterable[bytes]) -> list[bytes]:
    """What was listed of `names`, sorted, as often as it came: a server may have entries of its own beside them."""
    known = set(names)
    return sorted(name for name in listed if name in known)


class PageReply(t.Protocol):
    """What pages of both procedures have."""

    @property
    def resok(self) -> t.Any:
        """The page."""
        ...


def many_names(count: int = MANY) -> list[bytes]:
    """Names of different lengths, so that entries differ in size."""
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
    """Page from `cookie` to the end with `page` or `plus_page`. A refused page fails the check."""
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
    """The page, when it holds the whole directory; SKIP when the server makes smaller pages."""
    resok = expect(t.cast("t.Any", reply), because=because).ok()
    if not resok.eof:
        skip("the server does not put this directory into one page")
    return resok


FORMS: t.Final[dict[str, t.Callable[..., t.Any]]] = {"READDIR": page, "READDIRPLUS": plus_page}
"""Both procedures, for checks that hold for either. A cookie of one is nothing to the other (section 3.3.17)."""
