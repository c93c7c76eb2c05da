# SPDX-License-Identifier: MIT
"""fileid and fsid (RFC 1094 section 2.3.5): what they identify, and how long."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs2 import Nfs2Scratch
from nfsclient.clients import Nfs2
from nfsjudge import expect, proves, stated
from suites.clauses import FILEID_IS_UNIQUE
from suites.nfs2.objects import KINDS, make

FSID_IDENTIFIES_FILE_SYSTEM = stated(
    "RFC 1094", "2.3.5", "fsid identifies the file system that contains the file"
)


@proves(FILEID_IS_UNIQUE, killed_by="getattr2-repeats-fileids")
def test_unique_fileid(scratch: Nfs2Scratch) -> None:
    """Objects of one file system have different fileids."""
    files = [scratch.file(f"f{number}") for number in range(10)]
    files.append(scratch.directory("d"))
    fileids = [scratch.attributes(file).fileid for file in files]
    expect(len(set(fileids)), "different fileids of 11 objects").equals(11)


@proves(FILEID_IS_UNIQUE, killed_by="getattr2-fileid-changes-with-the-size")
def test_stable_fileid(nfs2: Nfs2, scratch: Nfs2Scratch) -> None:
    """A file keeps its fileid when it is written and renamed."""
    file = scratch.file("f")
    before = scratch.attributes(file).fileid
    expect(nfs2.write(file, 0, b"data")).ok()
    expect(nfs2.rename(scratch.handle, b"f", scratch.handle, b"g")).ok()
    # Look up the new name: a server may build handles from names.
    found = expect(nfs2.lookup(scratch.handle, b"g")).ok()
    expect(scratch.attributes(found.file)).field("fileid", "fileid after WRITE and RENAME").equals(before)


@pytest.mark.parametrize("kind", KINDS)
@proves(FSID_IDENTIFIES_FILE_SYSTEM, killed_by="getattr2-fsid-differs-by-object")
def test_fsid(nfs2: Nfs2, scratch: Nfs2Scratch, kind: str) -> None:
    """An object has the fsid of the directory that contains it."""
    known = scratch.attributes().fsid
    reply = nfs2.getattr(make(scratch, kind))
    expect(reply).ok()
    expect(reply).field("attributes.fsid").equals(known)
