# SPDX-License-Identifier: MIT
"""LINK (RFC 5661 section 18.9)."""

from __future__ import annotations

from fixtures.checks.dialects.nfs4 import Nfs4Scratch
from nfsclient.clients.nfs4 import CompoundReply, Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.xdr import XdrType
from nfsjudge import (
    Harm,
    Part,
    expect,
    expect_names,
    proves,
    should,
    skip,
    stated,
    unsupported,
)
from suites.nfs4.clauses import CHANGE_INFO
from suites.nfs4.handles import expect_same_object
from suites.nfs4.minors import MINORS

MAKES_A_NAME = stated(
    "RFC 5661",
    "18.9.3",
    "LINK creates an additional name for the saved filehandle in the directory of the current one",
    harm=Harm.SUCCESS,
    also={"4.0": ("RFC 7530", "16.9.4")},
)
COUNTS_NAMES = should(
    "RFC 5661",
    "18.9.4",
    "after LINK numlinks is one greater than before",
    part=Part.IMPLEMENTATION,
    also={"4.0": ("RFC 7530", "16.9.5")},
)
EXISTING_IS_EXIST = stated(
    "RFC 5661",
    "18.9.3",
    "if an object of that name exists in the target directory, NFS4ERR_EXIST is returned",
    harm=Harm.OBJECT,
)
EMPTY_NAME_IS_INVALID = stated(
    "RFC 5661", "18.9.3", "a name of zero length gets NFS4ERR_INVAL", also={"4.0": ("RFC 7530", "16.9.4")}
)
CURRENT_STAYS = stated(
    "RFC 5661",
    "18.9.3",
    "on success the current filehandle continues to be the target directory",
    also={"4.0": ("RFC 7530", "16.9.4")},
)


def link(
    compounds: Compounds, scratch: Nfs4Scratch, file: bytes, name: bytes, *after: XdrType
) -> CompoundReply:
    """The reply to LINK in the scratch directory."""
    linking = (op.savefh(), op.putfh(scratch.handle), op.link(name))
    reply = compounds.compound(op.putfh(file), *linking, *after)
    if reply.failed is p.LINK and reply.status == Nfsstat4.NFS4ERR_NOTSUPP:
        unsupported("the server has no hard links: LINK answers NFS4ERR_NOTSUPP")
    return reply


@MINORS
@proves(MAKES_A_NAME, COUNTS_NAMES, killed_by=("link4-links-nothing", "link4-counts-nothing"))
def test_links(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """A file with one more name has one more link, and both names are the same file."""
    file = scratch.file("1")
    before = scratch.attributes(file, "numlinks").numlinks
    expect(link(compounds, scratch, file, b"2")).ok()
    expect_names(scratch.names(), [b"1", b"2"])
    expect_same_object(scratch, scratch.lookup("2"), file, "handle of the new name")
    if before is not None:
        after = scratch.attributes(file, "numlinks").numlinks
        expect(after, "numlinks", field="numlinks", because=COUNTS_NAMES).equals(before + 1)


@MINORS
@proves(EXISTING_IS_EXIST, killed_by="link4-existing-is-taken")
def test_exists(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """LINK to a name that exists fails with EXIST."""
    file, other = scratch.file("file"), scratch.file("other")
    reply = link(compounds, scratch, file, b"other")
    expect(reply).refused(Nfsstat4.NFS4ERR_EXIST, because=EXISTING_IS_EXIST)
    expect_same_object(scratch, scratch.lookup("other"), other, "handle of the name that existed")


@MINORS
@proves(EMPTY_NAME_IS_INVALID, killed_by="link4-empty-name-is-noent")
def test_empty_name(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """LINK to an empty name fails with INVAL."""
    reply = link(compounds, scratch, scratch.file("file"), b"")
    expect(reply).refused(Nfsstat4.NFS4ERR_INVAL, because=EMPTY_NAME_IS_INVALID)


@MINORS
@proves(CURRENT_STAYS, killed_by="link4-makes-the-file-current")
def test_current_filehandle(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """After LINK the directory is the current filehandle."""
    reply = expect(link(compounds, scratch, scratch.file("file"), b"made", op.getfh())).ok()
    expect_same_object(scratch, reply.handle, scratch.handle, "filehandle after LINK")


@MINORS
@proves(CHANGE_INFO, killed_by="link4-change-info-is-of-nothing")
def test_change_info(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """change_info has the change of the directory before and after LINK, where it is atomic."""
    file = scratch.file("file")
    before = scratch.attributes(None, "change").change
    cinfo = expect(link(compounds, scratch, file, b"made")).of(p.LINK).ok().cinfo
    if not cinfo.atomic:
        skip("change_info is not atomic")
    expect(cinfo).field("before").equals(before or 0)
    expect(cinfo).field("after").equals(scratch.attributes(None, "change").change or 0)
