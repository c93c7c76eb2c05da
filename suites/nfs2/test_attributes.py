# SPDX-License-Identifier: MIT
"""fileid and fsid (RFC 1094 section 2.3.5): what they identify, and how long."""

from __future__ import annotations

import pytest

from fixtures.scratch2 import Scratch2
from nfsclient.clients import Nfs2
from nfsjudge import Requirement, expect, proves
from suites.nfs2.objects import KINDS, make

FILEID_IS_UNIQUE = Requirement(
    rfc="RFC 1094", section="2.3.5", gist="fileid uniquely identifies the file within its file system"
)
FSID_IDENTIFIES_FILE_SYSTEM = Requirement(
    rfc="RFC 1094", section="2.3.5", gist="fsid identifies the file system that contains the file"
)


@proves(FILEID_IS_UNIQUE, killed_by="getattr2-shares-a-fileid")
def test_unique_fileid(scratch2: Scratch2) -> None:
    """Objects of one file system have different fileids."""
    files = [scratch2.file(f"f{number}") for number in range(10)]
    files.append(scratch2.directory("d"))
    fileids = [scratch2.attributes(file).fileid for file in files]
    expect(len(set(fileids)), "different fileids of 11 objects").equals(11)


@proves(FILEID_IS_UNIQUE, killed_by="getattr2-fileid-changes-with-the-size")
def test_stable_fileid(nfs2: Nfs2, scratch2: Scratch2) -> None:
    """A file keeps its fileid when it is written and renamed."""
    file = scratch2.file("f")
    before = scratch2.attributes(file).fileid
    expect(nfs2.write(file, 0, b"data")).ok()
    expect(nfs2.rename(scratch2.handle, b"f", scratch2.handle, b"g")).ok()
    # Look up the new name: a server may build handles from names.
    found = expect(nfs2.lookup(scratch2.handle, b"g")).ok()
    expect(scratch2.attributes(found.file).fileid, "fileid after WRITE and RENAME").equals(before)


@pytest.mark.parametrize("kind", KINDS)
@proves(FSID_IDENTIFIES_FILE_SYSTEM, killed_by="getattr2-fsid-is-that-of-the-object")
def test_fsid(nfs2: Nfs2, scratch2: Scratch2, kind: str) -> None:
    """An object has the fsid of the directory that contains it."""
    known = scratch2.attributes().fsid
    reply = nfs2.getattr(make(scratch2, kind))
    expect(reply).ok()
    expect(reply).field("attributes.fsid").equals(known)
