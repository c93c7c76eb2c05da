# SPDX-License-Identifier: MIT
"""READLINK (RFC 1094 section 2.2.6) returns the text of a symbolic link as SYMLINK stored it."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs2 import Nfs2Scratch
from nfsclient.clients import Nfs2
from nfsclient.protocol.nfs2 import Nfsstat2, Sattr
from nfsjudge import Harm, expect, proves, skip, stated
from suites.nfs2 import oversized
from suites.nfs2.clauses import SYMLINK_TEXT_IS_KEPT
from suites.nfs2.objects import make

READLINK_NEEDS_SYMLINK = stated(
    "RFC 1094",
    "2.2.6",
    "READLINK returns the data of a symbolic link: no other object has such data",
    harm=Harm.DATA,
)


@pytest.mark.parametrize(
    "text",
    [b"name", b"../up", b"/abs/olute", b"a//b/./c/", b"\xff\xfe", b"sp ace", b".", b"x" * 1023],
    ids=["name", "up", "absolute", "not-normal", "not-utf8", "space", "dot", "long"],
)
@proves(SYMLINK_TEXT_IS_KEPT, killed_by="readlink2-drops-the-last-byte", needs="nfs2_symlink")
def test_text_unchanged(nfs2: Nfs2, second_client: Nfs2, scratch: Nfs2Scratch, text: bytes) -> None:
    """READLINK returns the text exactly as SYMLINK got it."""
    # An XDR string is ASCII: the server may refuse other bytes as garbage.
    reply = oversized.tolerate(lambda: second_client.symlink(scratch.handle, b"l", text, Sattr(mode=0o777)))
    if reply is None or (reply.status != Nfsstat2.NFS_OK and text != b"name"):
        skip("SYMLINK of this text is refused")
    expect(reply).ok()
    link = expect(nfs2.lookup(scratch.handle, b"l")).ok().file
    expect(expect(nfs2.readlink(link)).ok(), "text of the link").equals(text)


@pytest.mark.parametrize("kind", ["file", "directory"])
@proves(READLINK_NEEDS_SYMLINK, killed_by="readlink2-reads-non-links")
def test_not_a_symlink(nfs2: Nfs2, scratch: Nfs2Scratch, kind: str) -> None:
    """READLINK refuses an object that is not a symbolic link."""
    # RFC 1094 does not name the error; XNFS has NXIO, others have EINVAL.
    expect(nfs2.readlink(make(scratch, kind))).refused()
