# SPDX-License-Identifier: MIT
"""READDIR (RFC 5661 section 18.23): no two entries have the same cookie."""

from __future__ import annotations

from collections import Counter

from fixtures.checks.dialects.nfs4 import Nfs4Scratch
from nfsclient.clients.nfs4 import Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsjudge import expect, proves, should

COOKIES_ARE_OF_ENTRIES = should(
    # the text does not say that two cookies differ, and no listing has gone on from them
    "RFC 5661",
    "18.23.3",
    "an entry has a cookie value for that entry, with which a later READDIR continues after it",
    also={"4.0": ("RFC 7530", "16.24.4")},
)
ENTRIES = 40
PAGES = 100


@proves(COOKIES_ARE_OF_ENTRIES, killed_by="readdir4-repeats-a-cookie")
def test_unique_cookies(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """No two entries of a directory have the same cookie."""
    for number in range(ENTRIES):
        scratch.symlink(f"entry-{number}", b"t")
    # A position is a cookie with the verifier of its page.
    found, cookie, verifier = list[tuple[bytes, int]](), 0, bytes(p.NFS4_VERIFIER_SIZE)
    for _ in range(PAGES):
        reading = op.readdir(cookie, verifier, maxcount=8192, dircount=8192)
        page = expect(compounds.compound(op.putfh(scratch.handle), reading)).of(p.READDIR).ok()
        found += [(bytes(page.cookieverf), entry.cookie) for entry in page.reply.entries]
        if page.reply.eof or not page.reply.entries:
            break
        verifier, cookie = found[-1]
    again = [number for (_, number), times in Counter(found).items() if times > 1]
    expect(again, "cookies that several entries have").equals([])
