# SPDX-License-Identifier: MIT
"""REMOVE (RFC 1094 section 2.2.11) removes one name of a file."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs2 import Nfs2Scratch
from fixtures.checks.wire import fresh_xid
from nfsclient.clients import Nfs2
from nfsclient.protocol.nfs2 import REMOVE, Diropargs, Nfsstat2
from nfsjudge import Harm, expect, expect_data, expect_names, observe, proves, stated
from suites.nfs2.clauses import NLINK_COUNTS_NAMES, RETURNS_NOENT
from suites.nfs2.objects import NOT_DIRECTORIES, Connect, make

REMOVE_REMOVES_ENTRY = stated(
    "RFC 1094", "2.2.11", "NFS_OK means that the entry was removed from the directory", harm=Harm.SUCCESS
)
REMOVE_REMOVES_ONE_NAME = stated(
    "RFC 1094",
    "2.2.11",
    "REMOVE removes one entry: other names of the file and other files stay",
    harm=Harm.OBJECT,
)
REFUSED_REMOVE_KEEPS_DIRECTORY = stated(
    "RFC 1094", "2.2.11", "a directory that REMOVE refuses stays with everything in it", harm=Harm.OBJECT
)
REPEATED_REMOVE_IS_HARMLESS = stated(
    "RFC 1094",
    "2.2.11",
    "REMOVE removes its entry and no other one, even if the call arrives twice",
    harm=Harm.OBJECT,
)


@pytest.mark.parametrize("kind", NOT_DIRECTORIES)
@proves(REMOVE_REMOVES_ENTRY, killed_by="remove2-does-nothing")
def test_name_gone(nfs2: Nfs2, scratch: Nfs2Scratch, kind: str) -> None:
    """REMOVE removes the name from the directory."""
    make(scratch, kind)
    expect(nfs2.remove(scratch.handle, b"object")).ok()
    expect_names(scratch.names(), [], "names that are left")
    expect(nfs2.lookup(scratch.handle, b"object")).refused()


@proves(REMOVE_REMOVES_ONE_NAME, killed_by="remove2-removes-the-last-name")
def test_other_files_stay(nfs2: Nfs2, scratch: Nfs2Scratch) -> None:
    """REMOVE keeps the other files of the directory."""
    for name in ("a", "b", "c"):
        scratch.file(name)
    expect(nfs2.remove(scratch.handle, b"b")).ok()
    expect_names(scratch.names(), [b"a", b"c"], "names that are left")


@proves(REMOVE_REMOVES_ONE_NAME, killed_by="remove2-empties-other-names", needs="nfs2_hardlink")
def test_other_links_stay(nfs2: Nfs2, scratch: Nfs2Scratch) -> None:
    """REMOVE of one name keeps the data under the other name of the file."""
    file = scratch.file("first", b"data")
    scratch.link(file, "second")
    expect(nfs2.remove(scratch.handle, b"first")).ok()
    found = expect(nfs2.lookup(scratch.handle, b"second")).ok()
    expect_data(scratch.read(found.file), b"data", "data under the other name")


@proves(NLINK_COUNTS_NAMES, killed_by="remove2-keeps-nlink", needs="nfs2_hardlink")
def test_nlink(nfs2: Nfs2, scratch: Nfs2Scratch) -> None:
    """REMOVE of one name decreases nlink by one."""
    file = scratch.file("first")
    scratch.link(file, "second")
    scratch.link(file, "third")
    expect(nfs2.remove(scratch.handle, b"second")).ok()
    expect(scratch.attributes(file)).field("nlink", "nlink after REMOVE of one of three names").equals(2)


@proves(RETURNS_NOENT, killed_by="nfs2-removes-missing-names")
def test_missing_name(nfs2: Nfs2, scratch: Nfs2Scratch) -> None:
    """REMOVE of a missing name returns NOENT."""
    reply = nfs2.remove(scratch.handle, b"missing")
    expect(reply).refused(Nfsstat2.NFSERR_NOENT, because=RETURNS_NOENT)


@proves(REFUSED_REMOVE_KEEPS_DIRECTORY, killed_by="remove2-empties-directories")
def test_refused_directory_stays(nfs2: Nfs2, scratch: Nfs2Scratch) -> None:
    """REMOVE keeps the contents of a directory that it refuses to remove."""
    directory = scratch.directory("d")
    scratch.file("inside", directory=directory)
    reply = nfs2.remove(scratch.handle, b"d")
    observe("answer", reply.status)
    if reply.status != Nfsstat2.NFS_OK:
        expect_names(scratch.names(directory), [b"inside"], "names in the directory")


@pytest.mark.parametrize("name", [b".", b".."], ids=["dot", "dotdot"])
@proves(REFUSED_REMOVE_KEEPS_DIRECTORY, killed_by="remove2-empties-directories")
def test_dots(nfs2: Nfs2, scratch: Nfs2Scratch, name: bytes) -> None:
    """REMOVE of "." or ".." removes nothing."""
    directory = scratch.directory("d")
    scratch.file("inside", directory=directory)
    observe("answer", nfs2.remove(directory, name).status)
    expect_names(scratch.names(), [b"d"], "names that are left", others=True)
    expect_names(scratch.names(directory), [b"inside"], "names in the directory")


@proves(REPEATED_REMOVE_IS_HARMLESS, killed_by="remove2-does-nothing", needs=("nfs2", "nfs2_udp"))
def test_retransmission(rpc_connect: Connect, scratch: Nfs2Scratch) -> None:
    """A retransmitted REMOVE is answered, and the file is gone."""
    # The server may repeat its first reply, or execute the call again and answer NOENT.
    rpc = rpc_connect("nfs", proto="udp")
    scratch.file("f")
    # Use a fresh XID: a reply cache may still have one from an earlier run.
    xid, where = fresh_xid(), Diropargs(scratch.handle, b"f")
    answers = [rpc.wait(rpc.submit(REMOVE, where, xid=xid)).status for _ in range(2)]
    observe("second answer", answers[1])
    expect_names(scratch.names(), [], "names after two REMOVEs")
