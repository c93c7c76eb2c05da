# SPDX-License-Identifier: MIT
"""SYMLINK (RFC 1094 section 2.2.14) makes a symbolic link with the given text."""

from __future__ import annotations

from fixtures.checks.dialects.nfs2 import Nfs2Scratch
from nfsclient.clients import Nfs2
from nfsclient.protocol.nfs2 import MAXPATHLEN, FhandleArgs, Ftype, Nfsstat2, Sattr
from nfsjudge import Harm, expect, expect_data, expect_that, observe, proves, stated
from suites.nfs2 import oversized
from suites.nfs2.clauses import SYMLINK_TEXT_IS_KEPT

SYMLINK_MAKES_LINK = stated(
    "RFC 1094", "2.2.14", "SYMLINK creates a file of type NFLNK under the given name", harm=Harm.SUCCESS
)


@proves(SYMLINK_MAKES_LINK, killed_by="symlink2-makes-a-file", needs="nfs2_symlink")
def test_makes_symlink(nfs2: Nfs2, scratch: Nfs2Scratch) -> None:
    """SYMLINK makes a symbolic link."""
    expect(nfs2.symlink(scratch.handle, b"l", b"target", Sattr(mode=0o777))).ok()
    found = expect(nfs2.lookup(scratch.handle, b"l")).ok()
    expect(found.attributes).field("type").equals(Ftype.NFLNK)


@proves(SYMLINK_TEXT_IS_KEPT, killed_by="readlink2-drops-the-last-byte", needs="nfs2_symlink")
def test_longest_text(nfs2: Nfs2, scratch: Nfs2Scratch) -> None:
    """SYMLINK stores a text of 1024 bytes completely or refuses it."""
    # Section 3.5 limits what a call can carry, not what a server must store.
    text = b"x" * MAXPATHLEN
    reply = nfs2.symlink(scratch.handle, b"l", text, Sattr(mode=0o777))
    observe("answer", reply.status)
    if reply.status != Nfsstat2.NFS_OK:
        expect(scratch.names(), "names after a refused SYMLINK", field="entries").lacks(b"l")
        return
    link = expect(nfs2.lookup(scratch.handle, b"l")).ok().file
    expect(expect(nfs2.readlink(link)).ok(), "text of the link").equals(text)


@proves(SYMLINK_TEXT_IS_KEPT, killed_by="symlink2-cuts-long-texts", needs="nfs2_symlink")
def test_too_long_text(nfs2: Nfs2, second_client: Nfs2, scratch: Nfs2Scratch) -> None:
    """SYMLINK stores a text of more than 1024 bytes completely or refuses it."""
    text = b"y" * (MAXPATHLEN + 4)
    where = oversized.WideDiropargs(scratch.handle, b"l")
    made = oversized.attempt(
        second_client, oversized.SYMLINK, oversized.WideSymlinkargs(where, text, Sattr(mode=0o777))
    )
    if made is None or made.status != Nfsstat2.NFS_OK:
        expect(scratch.names(), "names after a refused SYMLINK", field="entries").lacks(b"l")
        return
    link = expect(nfs2.lookup(scratch.handle, b"l")).ok().file
    reply = oversized.attempt(second_client, oversized.READLINK, FhandleArgs(link))
    stored = None if reply is None else reply.data
    expect_that(stored is not None, f"{len(text)} bytes", "an error", "text of the link", reply=reply)
    expect_data(stored or b"", text, "text of the link")
