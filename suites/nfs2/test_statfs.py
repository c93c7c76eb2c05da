# SPDX-License-Identifier: MIT
"""STATFS (RFC 1094 section 2.2.18) returns sizes and free space of the file system."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs2 import Nfs2Scratch
from nfsclient.clients import Nfs2
from nfsclient.protocol.nfs2 import Statfsres
from nfsjudge import expect, proves, should, skip
from suites.nfs2.objects import NOT_DIRECTORIES, make

BSIZE_IS_BLOCK_SIZE = should(  # a file system may have no blocks, or blocks of several sizes
    "RFC 1094", "2.2.18", "bsize is the size of a block in bytes"
)
TSIZE_IS_TRANSFER_SIZE = should(
    "RFC 1094", "2.2.18", "tsize is the number of bytes that the server prefers in a READ or WRITE"
)
BFREE_COUNTS_FREE_BLOCKS = should(
    "RFC 1094", "2.2.18", "bfree is the number of free blocks among the blocks of the file system"
)
BAVAIL_COUNTS_USABLE_BLOCKS = should(
    "RFC 1094", "2.2.18", "bavail is the number of free blocks available to non-privileged users"
)
STATFS_IS_OF_FILE_SYSTEM = should(
    "RFC 1094", "2.2.18", "STATFS describes the file system that contains the file, whichever file it is"
)


def _statfs(nfs2: Nfs2, handle: bytes) -> Statfsres:
    """Return the reply of STATFS. SKIP if it is refused: another check judges that."""
    reply = nfs2.statfs(handle)
    if reply.info is None:
        skip(f"the server refuses STATFS: it answers {reply.status}", reply)
    return reply


@proves(BSIZE_IS_BLOCK_SIZE, killed_by="statfs2-returns-bsize-0")
def test_bsize(nfs2: Nfs2, root: bytes) -> None:
    """STATFS returns a block size of at least one byte."""
    reply = _statfs(nfs2, root)
    expect(reply).field("info.bsize").at_least(1)


@proves(TSIZE_IS_TRANSFER_SIZE, killed_by="statfs2-returns-tsize-0")
def test_tsize(nfs2: Nfs2, root: bytes) -> None:
    """STATFS returns a transfer size of at least one byte."""
    reply = _statfs(nfs2, root)
    expect(reply).field("info.tsize").at_least(1)


@proves(BFREE_COUNTS_FREE_BLOCKS, killed_by="statfs2-reports-more-free-than-total")
def test_bfree(nfs2: Nfs2, root: bytes) -> None:
    """STATFS returns no more free blocks than blocks."""
    reply = _statfs(nfs2, root)
    info = expect(reply).ok()
    expect(reply).field("info.bfree").at_most(info.blocks)


@proves(BAVAIL_COUNTS_USABLE_BLOCKS, killed_by="statfs2-reports-more-available-than-free")
def test_bavail(nfs2: Nfs2, root: bytes) -> None:
    """STATFS returns no more available blocks than free blocks."""
    reply = _statfs(nfs2, root)
    info = expect(reply).ok()
    expect(reply).field("info.bavail").at_most(info.bfree)


@pytest.mark.parametrize("kind", NOT_DIRECTORIES)
@proves(STATFS_IS_OF_FILE_SYSTEM, killed_by="statfs2-block-size-differs-by-object")
def test_any_object(nfs2: Nfs2, scratch: Nfs2Scratch, kind: str) -> None:
    """STATFS returns the same block size for every object of a file system."""
    known = expect(nfs2.statfs(scratch.handle)).ok()
    info = expect(nfs2.statfs(make(scratch, kind))).ok()
    expect(info).field("bsize").equals(known.bsize)
