# SPDX-License-Identifier: MIT
"""A referral: a directory of the server whose file system is absent (RFC 5661 sections 11.2 to 11.10).

Nobody can make one from outside. The owner of a server names it (`--referral PATH`); the embedded server has one by its
knob.
"""

from __future__ import annotations

import typing as t

from fixtures.checks.target import KnobsView, TargetView
from nfsclient.clients.nfs4 import CompoundReply, Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Fattr4, Nfsstat4
from nfsclient.xdr import XdrType
from nfsjudge import expect, skip, unsupported

LOCATIONS: t.Final = ("fs_locations", "fs_locations_info", "fs_status")
"""Attributes by which a client shows that it knows of absent file systems (section 11.3.1)."""
_OF_THE_KNOB: t.Final = "/referrals/absent"
_PAGE: t.Final = 32768
_MOST_PAGES: t.Final = 100


class Referral(t.NamedTuple):
    """Where it is, from the root of the server."""

    path: tuple[bytes, ...]

    @property
    def name(self) -> bytes:
        """Its name in the directory that it is in."""
        return self.path[-1]

    @property
    def parent(self) -> list[XdrType]:
        """Operations that make the directory with the referral the current filehandle."""
        return [op.putrootfh(), *(op.lookup(name) for name in self.path[:-1])]

    @property
    def way(self) -> list[XdrType]:
        """Operations that make the root of the absent file system the current filehandle."""
        return [*self.parent, op.lookup(self.name)]

    def attributes(self, compounds: Compounds, *names: str) -> Fattr4:
        """What GETATTR returns of the absent file system. `names` has one of `LOCATIONS`."""
        return expect(compounds.compound(*self.way, op.getattr(*names))).ok().attributes


def find_referral(target: TargetView, knobs: KnobsView, compounds: Compounds) -> Referral:
    """The referral of the target. SKIP where what the user named is none."""
    path = target.referral
    if not path:
        if not knobs.stand_in("referral", referral=True):
            unsupported("no referral of the server is known: --referral PATH names one")
        path = _OF_THE_KNOB
    found = Referral(tuple(name.encode("utf-8", "surrogateescape") for name in path.split("/") if name))
    if not found.path:
        skip("--referral / is no referral: the root of a server is present")
    above = compounds.compound(*found.parent, op.getattr("type"))
    if above.status == Nfsstat4.NFS4ERR_MOVED:
        skip(f"{path} is no referral: the directory that it is in is absent, too")
    asking = ([op.getfh()], [op.getattr("type")], [op.readdir(maxcount=_PAGE, dircount=_PAGE)])
    replies = [compounds.compound(*found.way, *operations) for operations in asking]
    moved = [reply for reply in replies if reply.status == Nfsstat4.NFS4ERR_MOVED]
    if not moved:
        seen = ", ".join(sorted({reply.status.name for reply in replies}))
        skip(f"{path} is no referral: GETFH, GETATTR and READDIR answer {seen}")
    return found


class Listing(t.NamedTuple):
    """What READDIR said of a whole directory, up to the first page that fails."""

    entries: list[p.Entry4]
    last: CompoundReply

    def entry(self, name: bytes) -> p.Entry4 | None:
        """That of a name."""
        return next((entry for entry in self.entries if bytes(entry.name) == name), None)


def listed(compounds: Compounds, directory: list[XdrType], *names: str) -> Listing:
    """The entries of a directory with attributes. SKIP where it has too many pages."""
    entries: list[p.Entry4] = []
    cookie, verifier = 0, bytes(p.NFS4_VERIFIER_SIZE)
    for _ in range(_MOST_PAGES):
        reading = op.readdir(cookie, verifier, maxcount=_PAGE, dircount=_PAGE, attributes=names)
        reply = compounds.compound(*directory, reading)
        page = reply.of(p.READDIR).resok4 if reply.status == Nfsstat4.NFS4_OK else None
        entries += page.reply.entries if page is not None else []
        if page is None or page.reply.eof or not page.reply.entries:
            break
        cookie, verifier = page.reply.entries[-1].cookie, page.cookieverf
    else:
        skip(f"the directory of the referral has more than {_MOST_PAGES} pages")
    return Listing(entries, reply)
