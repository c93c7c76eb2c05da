# SPDX-License-Identifier: MIT
"""LINK (RFC 1094 section 2.2.13) gives a file another name."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs2 import Nfs2Scratch
from nfsclient.clients import Nfs2
from nfsclient.protocol.nfs2 import Nfsstat2, Sattr
from nfsjudge import (
    Harm,
    expect,
    expect_data,
    expect_names,
    observe,
    proves,
    should,
    skip,
    stated,
)
from suites.nfs2.objects import expect_change, expect_same

LINK_ADDS_NAME = stated(
    "RFC 1094",
    "2.2.13",
    "LINK gives an existing file another name, and both names are the same file",
    harm=Harm.SUCCESS,
)
LINKS_SHARE_DATA = should(
    "RFC 1094",
    "2.2.13",
    "data written under one name of a file is read under its other names",
    harm=Harm.DATA,
)
LINKS_SHARE_ATTRIBUTES = should(
    "RFC 1094", "2.2.13", "attributes that are set under one name of a file show under its other names"
)
LINK_RAISES_NLINK = should("RFC 1094", "2.2.13", "LINK increases nlink by one")
REFUSED_LINK_IS_NOT_CREATED = stated(
    "RFC 1094", "2.2.13", "any status but NFS_OK means that the link was not created", harm=Harm.SUCCESS
)
LINK_KEEPS_TREE = should(
    "RFC 1094", "2.1", "a file system is a tree: LINK does not put a directory below itself"
)


@pytest.mark.parametrize("elsewhere", [False, True], ids=["same-directory", "other-directory"])
@proves(LINK_ADDS_NAME, killed_by="link2-makes-a-copy", needs="nfs2_hardlink")
def test_same_file(nfs2: Nfs2, scratch: Nfs2Scratch, elsewhere: bool) -> None:
    """LINK adds a name for the same file."""
    file = scratch.file("first", b"data")
    where = scratch.directory("d") if elsewhere else scratch.handle
    expect(nfs2.link(file, where, b"second")).ok()
    found = expect(nfs2.lookup(where, b"second")).ok()
    expect_same(found.attributes, scratch.attributes(file))


@proves(LINKS_SHARE_DATA, killed_by="link2-makes-a-copy", needs="nfs2_hardlink")
def test_shared_data(nfs2: Nfs2, scratch: Nfs2Scratch) -> None:
    """Data written under the new name is read under the old name."""
    file = scratch.file("first", b"data")
    expect(nfs2.link(file, scratch.handle, b"second")).ok()
    second = expect(nfs2.lookup(scratch.handle, b"second")).ok().file
    expect(nfs2.write(second, 0, b"DATA")).ok()
    expect_data(scratch.read(file), b"DATA", "data under the first name")


@proves(LINKS_SHARE_ATTRIBUTES, killed_by="link2-makes-a-copy", needs="nfs2_hardlink")
def test_shared_attributes(nfs2: Nfs2, scratch: Nfs2Scratch) -> None:
    """A mode set under the new name shows under the old name."""
    file = scratch.file("first", mode=0o644)
    expect(nfs2.link(file, scratch.handle, b"second")).ok()
    second = expect(nfs2.lookup(scratch.handle, b"second")).ok().file
    expect_change(nfs2.setattr(second, Sattr(mode=0o600)))
    expect(
        scratch.attributes(file).mode & 0o777, "permission bits of mode under the first name", field="mode"
    ).equals(0o600)


@pytest.mark.parametrize("names", [1, 2, 5])
@proves(LINK_RAISES_NLINK, killed_by="link2-keeps-nlink", needs="nfs2_hardlink")
def test_nlink(nfs2: Nfs2, scratch: Nfs2Scratch, names: int) -> None:
    """LINK increases nlink by one for each new name."""
    file = scratch.file("first")
    before = scratch.attributes(file).nlink
    for number in range(names):
        expect(nfs2.link(file, scratch.handle, b"name%d" % number)).ok()
    expect(scratch.attributes(file)).field("nlink", "nlink after LINK").equals(before + names)


@proves(REFUSED_LINK_IS_NOT_CREATED, killed_by="link2-refuses-and-increases-nlink", needs="nfs2_hardlink")
def test_refused_changes_nothing(nfs2: Nfs2, scratch: Nfs2Scratch) -> None:
    """A refused LINK leaves nlink and the existing target unchanged."""
    file = scratch.file("first", b"data")
    taken = scratch.file("taken", b"other")
    known = scratch.attributes(file).nlink
    if nfs2.link(file, scratch.handle, b"taken").status == Nfsstat2.NFS_OK:
        skip("LINK to an existing name succeeds; another check judges that")
    expect(scratch.attributes(file)).field("nlink", "nlink of the file after a refused LINK").equals(known)
    expect_data(scratch.read(taken), b"other", "data of the existing target")


@proves(LINK_KEEPS_TREE, killed_by="link2-links-directories", needs="nfs2_hardlink")
def test_directory_below_itself(nfs2: Nfs2, scratch: Nfs2Scratch) -> None:
    """LINK does not put a directory below itself."""
    directory = scratch.directory("d")
    observe("answer", nfs2.link(directory, directory, b"loop").status)
    expect_names(scratch.names(directory), [], "names in the directory")


@proves(REFUSED_LINK_IS_NOT_CREATED, killed_by="link2-creates-removed-files", needs="nfs2_hardlink")
def test_removed_file(nfs2: Nfs2, scratch: Nfs2Scratch) -> None:
    """LINK of a removed file adds no name when it is refused."""
    file = scratch.file("f", b"data")
    expect(nfs2.remove(scratch.handle, b"f")).ok()
    reply = nfs2.link(file, scratch.handle, b"again")
    observe("answer", reply.status)
    if reply.status != Nfsstat2.NFS_OK:
        expect_names(scratch.names(), [], "names after a refused LINK")
