# SPDX-License-Identifier: MIT
"""READDIR (RFC 5661 section 18.23): no two entries have the same cookie."""

from __future__ import annotations

from collections import Counter

from fixtures.checks.dialects.nfs4 import Nfs4Scratch
from nfsclient.clients.nfs4 import Session4
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsjudge import Harm, Requirement, expect, proves

COOKIES_ARE_OF_ENTRIES = Requirement(
    rfc="RFC 5661",
    section="18.23.3",
    gist="an entry has a cookie value for that entry, with which a later READDIR continues after it",
    harm=Harm.DATA,
)
ENTRIES = 40
PAGES = 100


@proves(COOKIES_ARE_OF_ENTRIES, killed_by="readdir4-repeats-a-cookie")
def test_unique_cookies(session: Session4, scratch: Nfs4Scratch) -> None:
    """No two entries of a directory have the same cookie."""
    for number in range(ENTRIES):
        scratch.symlink(f"entry-{number}", b"t")
    found, cookie, verifier = list[p.Entry4](), 0, bytes(p.NFS4_VERIFIER_SIZE)
    for _ in range(PAGES):
        reading = op.readdir(cookie, verifier, maxcount=8192, dircount=8192)
        page = expect(session.compound(op.putfh(scratch.handle), reading)).of(p.READDIR).ok()
        found += page.reply.entries
        if page.reply.eof or not page.reply.entries:
            break
        cookie, verifier = found[-1].cookie, page.cookieverf
    again = [number for number, times in Counter(entry.cookie for entry in found).items() if times > 1]
    expect(again, "cookies that several entries have").equals([])
