# SPDX-License-Identifier: MIT
"""STATFS (RFC 1094 section 2.2.18): numbers of the file system, as good as the server has them."""

from __future__ import annotations

import pytest

from fixtures.scratch2 import Scratch2
from nfsclient.clients import Nfs2
from nfsclient.protocol.nfs2 import Statfsres
from nfsjudge import Level, Requirement, expect, proves, skip
from suites.nfs2.objects import NOT_DIRECTORIES, make

BLOCK_SIZE = Requirement(
    rfc="RFC 1094",
    section="2.2.18",
    level=Level.SHOULD,  # a file system may have no blocks, or of several sizes
    gist="bsize is the size of a block in bytes",
)
TRANSFER_SIZE = Requirement(
    rfc="RFC 1094",
    section="2.2.18",
    level=Level.SHOULD,
    gist="tsize is the number of bytes that the server would like to have in a READ or WRITE",
)
FREE = Requirement(
    rfc="RFC 1094",
    section="2.2.18",
    level=Level.SHOULD,
    gist="bfree is the number of free ones among the blocks of the file system",
)
AVAILABLE = Requirement(
    rfc="RFC 1094",
    section="2.2.18",
    level=Level.SHOULD,
    gist="bavail is the number of free blocks that non-privileged users may have",
)
OF_THE_FILE_SYSTEM = Requirement(
    rfc="RFC 1094",
    section="2.2.18",
    level=Level.SHOULD,
    gist="the numbers are those of the file system that contains the file, whichever file it is",
)


def _told(nfs2: Nfs2, handle: bytes) -> Statfsres:
    """The numbers; SKIP where there are none: whether they are due is a claim of its own."""
    reply = nfs2.statfs(handle)
    if reply.info is None:
        skip(f"the numbers are not told: STATFS answers {reply.status}")
    return reply


@proves(BLOCK_SIZE, killed_by="statfs2-has-blocks-of-no-bytes")
def test_blocks_have_a_size(nfs2: Nfs2, scratch2: Scratch2) -> None:
    reply = _told(nfs2, scratch2.handle)
    expect(reply).field("info.bsize").at_least(1)


@proves(TRANSFER_SIZE, killed_by="statfs2-wants-no-bytes")
def test_transfers_have_a_size(nfs2: Nfs2, scratch2: Scratch2) -> None:
    reply = _told(nfs2, scratch2.handle)
    expect(reply).field("info.tsize").at_least(1)


@proves(FREE, killed_by="statfs2-frees-more-than-there-is")
def test_no_more_blocks_are_free_than_there_are(nfs2: Nfs2, scratch2: Scratch2) -> None:
    reply = _told(nfs2, scratch2.handle)
    info = expect(reply).ok()
    expect(reply).field("info.bfree").at_most(info.blocks)


@proves(AVAILABLE, killed_by="statfs2-gives-users-more-than-is-free")
def test_users_have_no_more_than_is_free(nfs2: Nfs2, scratch2: Scratch2) -> None:
    reply = _told(nfs2, scratch2.handle)
    info = expect(reply).ok()
    expect(reply).field("info.bavail").at_most(info.bfree)


@pytest.mark.parametrize("kind", NOT_DIRECTORIES)
@proves(OF_THE_FILE_SYSTEM, killed_by="statfs2-differs-by-object")
def test_any_object_tells_of_its_file_system(nfs2: Nfs2, scratch2: Scratch2, kind: str) -> None:
    known = expect(nfs2.statfs(scratch2.handle)).ok()
    info = expect(nfs2.statfs(make(scratch2, kind))).ok()
    expect(info.bsize, "the size of a block").equals(known.bsize)
