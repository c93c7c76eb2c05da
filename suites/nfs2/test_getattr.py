# SPDX-License-Identifier: MIT
"""GETATTR and the attributes that it returns (RFC 1094 sections 2.2.2 and 2.3.5)."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs2 import Nfs2Scratch
from nfsclient.clients import Nfs2
from nfsjudge import expect, proves, stated
from suites.nfs2.clauses import NLINK_COUNTS_NAMES, TYPE_IS_IN_MODE, TYPE_NAMES_KIND
from suites.nfs2.objects import KINDS, TYPES, expect_same, make
from suites.nfs3.contents import pattern

SIZE_IS_IN_BYTES = stated("RFC 1094", "2.3.5", "size is the size of the file in bytes")
GETATTR_CHANGES_NOTHING = stated(
    "RFC 1094", "2.2.2", "GETATTR returns the attributes of the file and changes none of them"
)
TYPE_BITS = 0o170000
BITS = {"file": 0o100000, "directory": 0o040000, "symlink": 0o120000}


@pytest.mark.parametrize("kind", KINDS)
@proves(TYPE_NAMES_KIND, killed_by="getattr2-reports-everything-as-device")
def test_type(nfs2: Nfs2, scratch: Nfs2Scratch, kind: str) -> None:
    """GETATTR returns the type of the object."""
    reply = nfs2.getattr(make(scratch, kind))
    expect(reply).ok()
    expect(reply).field("attributes.type").equals(TYPES[kind])


@pytest.mark.parametrize("kind", KINDS)
@proves(TYPE_IS_IN_MODE, killed_by="getattr2-mode-lacks-the-type")
def test_type_in_mode(nfs2: Nfs2, scratch: Nfs2Scratch, kind: str) -> None:
    """GETATTR returns a mode that includes the type bits of the object."""
    attributes = expect(nfs2.getattr(make(scratch, kind))).ok()
    expect(attributes.mode & TYPE_BITS, "file type bits of mode", of=attributes, field="mode").equals(
        BITS[kind]
    )


@pytest.mark.parametrize("size", [0, 1, 8192, 100_001])
@proves(SIZE_IS_IN_BYTES, killed_by="getattr2-rounds-the-size")
def test_size(nfs2: Nfs2, scratch: Nfs2Scratch, size: int) -> None:
    """GETATTR returns the size of the file in bytes."""
    file = scratch.file("f", pattern(size))
    reply = nfs2.getattr(file)
    expect(reply).ok()
    expect(reply).field("attributes.size").equals(size)


@proves(NLINK_COUNTS_NAMES, killed_by="getattr2-reports-one-link-too-many")
def test_new_file_nlink(nfs2: Nfs2, scratch: Nfs2Scratch) -> None:
    """GETATTR returns nlink 1 for a new file."""
    reply = nfs2.getattr(scratch.file("f"))
    expect(reply).ok()
    expect(reply).field("attributes.nlink").equals(1)


@pytest.mark.parametrize("kind", KINDS)
@proves(GETATTR_CHANGES_NOTHING, killed_by="getattr2-changes-the-mode")
def test_no_side_effect(nfs2: Nfs2, scratch: Nfs2Scratch, kind: str) -> None:
    """GETATTR does not change the attributes of the object."""
    handle = make(scratch, kind)
    first = expect(nfs2.getattr(handle)).ok()
    second = expect(nfs2.getattr(handle)).ok()
    expect_same(second, first)
    expect(second).field("mtime").equals(first.mtime)
    expect(second).field("ctime").equals(first.ctime)
