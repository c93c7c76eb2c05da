# SPDX-License-Identifier: MIT
"""FSSTAT (RFC 1813 section 3.3.18): how full the file system is.

The numbers are best effort, so that only those are judged that contradict each other.
"""

from __future__ import annotations

import typing as t

import pytest

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from nfsclient.clients import Nfs3
from nfsjudge import expect, observe, proves, should, stated, unsupported

FSSTAT_FOR_ANY_OBJECT = stated(
    "RFC 1813", "3.3.18", "FSSTAT accepts the handle of any object of the file system"
)
FREE_IS_PART_OF_ALL = should(  # RFC 1813 asks for a best effort only
    "RFC 1813",
    "3.3.18",
    "free space and file slots are a part of all, and those available to the user a part of the free ones",
)
UNLIMITED: t.Final = 2**64 - 1
"""What file systems that can always create another file return for their free slots."""


@proves(FSSTAT_FOR_ANY_OBJECT, killed_by="fsstat3-refuses-a-file")
def test_regular_file(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """FSSTAT accepts the handle of a regular file."""
    resok = expect(nfs3.fsstat(scratch.file("file"))).ok()
    observe("tbytes", "0" if not resok.tbytes else "above 0")
    observe("tfiles", "0" if not resok.tfiles else "above 0")
    observe("invarsec", resok.invarsec)


@pytest.mark.parametrize("what", ["bytes", "files"])
@proves(FREE_IS_PART_OF_ALL, killed_by=("fsstat3-frees-more-than-all", "fsstat3-usable-space-wraps"))
def test_free_below_total(nfs3: Nfs3, root: bytes, what: str) -> None:
    """FSSTAT returns no more available than free, and no more free than all space and file slots."""
    reply = nfs3.fsstat(root)
    resok = expect(reply).ok()
    total, free = getattr(resok, f"t{what}"), getattr(resok, f"f{what}")
    if what == "files" and free == UNLIMITED:
        unsupported("FSSTAT returns the largest number for ffiles: file slots have no limit")
    expect(reply).field(f"resok.a{what}").at_most(free)
    expect(reply).field(f"resok.f{what}").at_most(total)
