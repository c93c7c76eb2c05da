# SPDX-License-Identifier: MIT
"""SECINFO (RFC 5661 section 18.29)."""

from __future__ import annotations

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch
from nfsclient.clients.nfs4 import Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsjudge import expect, expect_that, must, proves, skip, stated
from suites.nfs4.minors import MINORS
from suites.nfs4.strangers import a_stranger

LISTS_FLAVORS = stated(
    "RFC 5661", "18.29.3", "the result contains an array that represents the security mechanisms available"
)
CONSUMES_THE_FILEHANDLE = stated(
    "RFC 5661",
    "18.29.3",
    "on success the current filehandle is consumed: its next use fails with NFS4ERR_NOFILEHANDLE",
)
ABSENT_IS_NOENT = stated(
    "RFC 5661",
    "15.1.4.8",
    "NFS4ERR_NOENT: the file or directory that is named does not exist",
    also={"4.0": ("RFC 7530", "13.1.4.8")},
)
EMPTY_NAME_IS_INVALID = stated("RFC 5661", "18.29.3", "a name of zero length gets NFS4ERR_INVAL")
NO_UTF8_IS_INVALID = stated(
    "RFC 5661",
    "18.29.3",
    "a name that does not obey the UTF-8 definition gets NFS4ERR_INVAL, if UTF-8 capabilities are enabled",
)
ACCESS_IS_LOOKUPS = must(
    "RFC 5661",
    "18.29.3",
    "if the caller may not LOOKUP the name, SECINFO behaves the same way and returns NFS4ERR_ACCESS",
)


@MINORS
@proves(LISTS_FLAVORS, killed_by="secinfo4-lists-nothing")
def test_flavors(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """SECINFO lists the flavor that the check itself uses."""
    scratch.file("file")
    reply = expect(compounds.compound(op.putfh(scratch.handle), op.secinfo(b"file"))).ok()
    flavors = [entry.flavor for entry in reply.of(p.SECINFO).resok4 or []]
    expect_that(p.AUTH_SYS in flavors, "AUTH_SYS among the flavors", str(flavors), because=LISTS_FLAVORS)


@MINORS
@proves(CONSUMES_THE_FILEHANDLE, killed_by="secinfo4-keeps-the-current-filehandle")
def test_consumes(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """After SECINFO there is no current filehandle."""
    scratch.file("file")
    reply = compounds.compound(op.putfh(scratch.handle), op.secinfo(b"file"), op.getfh())
    expect(reply).of(p.SECINFO).ok()
    expect(reply).refused(Nfsstat4.NFS4ERR_NOFILEHANDLE, because=CONSUMES_THE_FILEHANDLE)


@MINORS
@proves(ABSENT_IS_NOENT, killed_by="secinfo4-knows-every-name")
def test_absent(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """SECINFO of a name that does not exist fails with NOENT."""
    reply = compounds.compound(op.putfh(scratch.handle), op.secinfo(b"absent"))
    expect(reply).refused(Nfsstat4.NFS4ERR_NOENT, because=ABSENT_IS_NOENT)


@MINORS
@proves(EMPTY_NAME_IS_INVALID, killed_by="secinfo4-empty-name-is-noent")
def test_empty_name(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """SECINFO of an empty name fails with INVAL."""
    reply = compounds.compound(op.putfh(scratch.handle), op.secinfo(b""))
    expect(reply).refused(Nfsstat4.NFS4ERR_INVAL, because=EMPTY_NAME_IS_INVALID)


@proves(ACCESS_IS_LOOKUPS, killed_by="secinfo4-needs-no-access", needs="nfs4_other_users")
def test_access(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> None:
    """SECINFO by a user who may not look names up in the directory fails with ACCESS, as LOOKUP does."""
    stranger = a_stranger(v4, scratch)
    private = scratch.directory("private", mode=0o700)
    scratch.file("file", directory=private)
    if stranger.compound(op.putfh(private), op.lookup(b"file")).status != Nfsstat4.NFS4ERR_ACCESS:
        skip("LOOKUP by another user in a directory of mode 0700 is not denied")
    reply = stranger.compound(op.putfh(private), op.secinfo(b"file"))
    expect(reply).refused(Nfsstat4.NFS4ERR_ACCESS, because=ACCESS_IS_LOOKUPS)


@proves(NO_UTF8_IS_INVALID, killed_by="secinfo4-takes-any-bytes")
def test_no_utf8(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """SECINFO of a name that is no UTF-8 fails: with INVAL, where there is only UTF-8 (fs_charset_cap)."""
    cap = scratch.attributes(None, "fs_charset_cap").fs_charset_cap or 0
    reply = compounds.compound(op.putfh(scratch.handle), op.secinfo(b"n\xffm"))
    if cap & p.FSCHARSET_CAP4_ALLOWS_ONLY_UTF8:
        expect(reply).refused(Nfsstat4.NFS4ERR_INVAL, because=NO_UTF8_IS_INVALID)
    else:
        expect(reply).refused()
