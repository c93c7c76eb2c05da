# SPDX-License-Identifier: MIT
"""LOOKUP (RFC 5661 section 18.13): from a name in the current directory to its filehandle."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Scratch
from nfsclient.clients.nfs4 import Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsjudge import Harm, expect, proves, should, stated
from suites.nfs4.minors import MINORS

FINDS_THE_COMPONENT = stated(
    "RFC 5661",
    "18.13.3",
    "LOOKUP replaces the current filehandle by that of the component",
    harm=Harm.DATA,
    also={"4.0": ("RFC 7530", "16.13.4")},
)
FAILS_WITHOUT_A_COMPONENT = stated(
    "RFC 5661",
    "18.13.3",
    "if the component does not exist, LOOKUP returns an error",
    also={"4.0": ("RFC 7530", "16.13.4")},
)
RETURNS_NOENT = stated(
    "RFC 5661",
    "15.1.4.8",
    "NFS4ERR_NOENT: the file or directory that is named does not exist",
    also={"4.0": ("RFC 7530", "13.1.4.8")},
)
NEEDS_A_DIRECTORY = should(
    "RFC 5661",
    "18.13.4",
    "LOOKUP in a symbolic link returns NFS4ERR_SYMLINK, in any other object that is no directory NFS4ERR_NOTDIR",
    also={"4.0": ("RFC 7530", "16.13.5")},
)
EMPTY_NAME_IS_INVALID = stated(
    "RFC 5661",
    "18.13.3",
    "LOOKUP of a zero-length name returns NFS4ERR_INVAL",
    also={"4.0": ("RFC 7530", "16.13.4")},
)


@MINORS
@proves(FINDS_THE_COMPONENT, killed_by="lookup4-returns-another-entry")
def test_finds_object(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """LOOKUP makes the object with the given name the current one."""
    known = scratch.attributes(scratch.file("wanted"), "fileid", "type")
    scratch.file("other")
    finding = (op.putfh(scratch.handle), op.lookup(b"wanted"), op.getattr("fileid", "type"))
    found = expect(compounds.compound(*finding)).ok().attributes
    expect(found).field("type").equals(known.type)
    expect(found).field("fileid").equals(known.fileid)


@MINORS
@proves(
    FAILS_WITHOUT_A_COMPONENT,
    RETURNS_NOENT,
    killed_by=("lookup4-finds-every-name", "lookup4-absent-is-inval"),
)
def test_noent(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """LOOKUP of a name that does not exist fails with NOENT."""
    reply = compounds.compound(op.putfh(scratch.handle), op.lookup(b"absent"))
    expect(reply).refused(Nfsstat4.NFS4ERR_NOENT, because=RETURNS_NOENT)


@MINORS
@proves(NEEDS_A_DIRECTORY, killed_by="lookup4-in-a-file-is-noent")
def test_in_file(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """LOOKUP in a regular file fails with NOTDIR."""
    reply = compounds.compound(op.putfh(scratch.file("file")), op.lookup(b"name"))
    expect(reply).refused(Nfsstat4.NFS4ERR_NOTDIR, because=NEEDS_A_DIRECTORY)


@MINORS
@proves(NEEDS_A_DIRECTORY, killed_by="lookup4-in-a-link-is-notdir", needs="nfs4_symlink")
def test_in_symlink(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """LOOKUP in a symbolic link fails with SYMLINK: the client follows it."""
    scratch.directory("directory")
    reply = compounds.compound(op.putfh(scratch.symlink("link", b"directory")), op.lookup(b"name"))
    expect(reply).refused(Nfsstat4.NFS4ERR_SYMLINK, because=NEEDS_A_DIRECTORY)


@MINORS
@proves(EMPTY_NAME_IS_INVALID, killed_by="lookup4-empty-name-is-noent")
def test_empty_name(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """LOOKUP of an empty name fails with INVAL."""
    reply = compounds.compound(op.putfh(scratch.handle), op.lookup(b""))
    expect(reply).refused(Nfsstat4.NFS4ERR_INVAL, because=EMPTY_NAME_IS_INVALID)


@pytest.mark.parametrize("name", [b"\xff\xfe", b"a\x80"], ids=["no-start", "continuation"])
@proves(FAILS_WITHOUT_A_COMPONENT, killed_by="lookup4-finds-every-name")
def test_bad_utf8(compounds: Compounds, scratch: Nfs4Scratch, name: bytes) -> None:
    """LOOKUP of an absent name that is no UTF-8 fails, whether or not the file system takes such names."""
    expect(compounds.compound(op.putfh(scratch.handle), op.lookup(name))).refused()
