# SPDX-License-Identifier: MIT
"""SYMLINK and READLINK (RFC 1094 sections 2.2.14 and 2.2.6) store and return the text of a link."""

from __future__ import annotations

import pytest

from fixtures.scratch2 import Scratch2
from nfsclient.clients import Nfs2
from nfsclient.protocol.nfs2 import MAXPATHLEN, FhandleArgs, Ftype, Nfsstat2, Sattr
from nfsjudge import Requirement, expect, observe, proves, skip
from suites.nfs2 import wide
from suites.nfs2.objects import make

SYMLINK_MAKES_LINK = Requirement(
    rfc="RFC 1094", section="2.2.14", gist="SYMLINK creates a file of type NFLNK under the given name"
)
SYMLINK_TEXT_IS_KEPT = Requirement(
    rfc="RFC 1094",
    section="2.2.14",
    gist="the server stores the text of a symbolic link uninterpreted, and READLINK returns it",
)
READLINK_NEEDS_SYMLINK = Requirement(
    rfc="RFC 1094",
    section="2.2.6",
    gist="READLINK returns the data of a symbolic link: no other object has such data",
)


@proves(SYMLINK_MAKES_LINK, killed_by="symlink2-makes-a-file", needs="symlink2")
def test_makes_a_link(nfs2: Nfs2, scratch2: Scratch2) -> None:
    """SYMLINK makes a symbolic link."""
    expect(nfs2.symlink(scratch2.handle, b"l", b"target", Sattr(mode=0o777))).ok()
    found = expect(nfs2.lookup(scratch2.handle, b"l")).ok()
    expect(found.attributes.type, "type").equals(Ftype.NFLNK)


@pytest.mark.parametrize(
    "text",
    [b"name", b"../up", b"/abs/olute", b"a//b/./c/", b"\xff\xfe", b"sp ace", b".", b"x" * 1023],
    ids=["name", "up", "absolute", "not-normal", "not-utf8", "space", "dot", "long"],
)
@proves(SYMLINK_TEXT_IS_KEPT, killed_by="readlink2-cleans-the-text", needs="symlink2")
def test_gives_the_text_as_it_was(nfs2: Nfs2, second_nfs2: Nfs2, scratch2: Scratch2, text: bytes) -> None:
    """READLINK returns the text exactly as SYMLINK got it."""
    # An XDR string is ASCII: the server may refuse other bytes as garbage.
    reply = wide.tolerate(lambda: second_nfs2.symlink(scratch2.handle, b"l", text, Sattr(mode=0o777)))
    if reply is None or (reply.status != Nfsstat2.NFS_OK and text != b"name"):
        skip("the server does not store this text")
    expect(reply).ok()
    link = expect(nfs2.lookup(scratch2.handle, b"l")).ok().file
    expect(expect(nfs2.readlink(link)).ok(), "the text of the link").equals(text)


@proves(SYMLINK_TEXT_IS_KEPT, killed_by="readlink2-cleans-the-text", needs="symlink2")
def test_the_longest_text_is_kept_whole_or_refused(nfs2: Nfs2, scratch2: Scratch2) -> None:
    """SYMLINK stores a text of 1024 bytes completely or refuses it."""
    # Section 3.5 limits what a call can carry, not what a server must store.
    text = b"x" * MAXPATHLEN
    reply = nfs2.symlink(scratch2.handle, b"l", text, Sattr(mode=0o777))
    observe("answer", reply.status)
    if reply.status != Nfsstat2.NFS_OK:
        expect(scratch2.names(), "the names after a link was refused").lacks(b"l")
        return
    link = expect(nfs2.lookup(scratch2.handle, b"l")).ok().file
    expect(expect(nfs2.readlink(link)).ok(), "the text of the link").equals(text)


@proves(SYMLINK_TEXT_IS_KEPT, killed_by="symlink2-cuts-long-texts", needs="symlink2")
def test_a_text_beyond_the_limit_is_kept_whole_or_refused(
    nfs2: Nfs2, second_nfs2: Nfs2, scratch2: Scratch2
) -> None:
    """SYMLINK stores a text of more than 1024 bytes completely or refuses it."""
    text = b"y" * (MAXPATHLEN + 4)
    where = wide.WideDiropargs(scratch2.handle, b"l")
    made = wide.attempt(second_nfs2, wide.SYMLINK, wide.WideSymlinkargs(where, text, Sattr(mode=0o777)))
    if made is None or made.status != Nfsstat2.NFS_OK:
        expect(scratch2.names(), "the names after a link was refused").lacks(b"l")
        return
    link = expect(nfs2.lookup(scratch2.handle, b"l")).ok().file
    reply = wide.attempt(second_nfs2, wide.READLINK, FhandleArgs(link))
    expect(reply is not None and reply.data == text, "that the text is whole").is_true()


@pytest.mark.parametrize("kind", ["file", "directory"])
@proves(READLINK_NEEDS_SYMLINK, killed_by="readlink2-has-a-text-for-everything")
def test_refuses_what_is_no_link(nfs2: Nfs2, scratch2: Scratch2, kind: str) -> None:
    """READLINK refuses an object that is not a symbolic link."""
    # RFC 1094 does not name the error; XNFS has NXIO, others have EINVAL.
    expect(nfs2.readlink(make(scratch2, kind))).refused()
