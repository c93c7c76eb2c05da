# SPDX-License-Identifier: MIT
"""Attributes of an absent file system, by GETATTR, VERIFY and READDIR of its parent (RFC 5661 sections 11.3, 11.9)."""

from __future__ import annotations

import typing as t

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect
from nfsclient.clients.nfs4 import Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Fattr4, Nfsstat4
from nfsclient.xdr import XdrType
from nfsjudge import expect, expect_that, must, observe, proves, should, skip, stated
from suites.nfs4.locations import CUR_REQ, entries_of, path_shown
from suites.nfs4.referrals import LOCATIONS, Listing, Referral, listed

NO_LOCATION_IS_MOVED = stated(
    "RFC 5661",
    "11.3.1",
    "GETATTR of an absent file system gets NFS4ERR_MOVED if it asks for no location attribute",
    also={"4.0": ("RFC 7530", "8.3.1")},
)
REST_IS_LEFT_OUT = stated(
    "RFC 5661",
    "11.3.1",
    "GETATTR that asks for a location attribute succeeds; the mask has the attributes that the absent file system has",
    also={"4.0": ("RFC 7530", "8.3.1")},
)
OTHERS_ARE_NOT_GIVEN = should(
    "RFC 5661",
    "11.3.1",
    "attributes other than those of locations, change_policy, fsid and mounted_on_fileid should not be made available",
    also={"4.0": ("RFC 7530", "8.3.1")},
)
BOUNDARY_IS_SHOWN = should(
    "RFC 5661",
    "11.3.1",
    "fsid and mounted_on_fileid should be available of the root of an absent file system",
    also={"4.0": ("RFC 7530", "8.3.1")},
)
FSID_IS_ANOTHER = must(
    "RFC 5661",
    "11.3.1",
    "the fsid of an absent file system is different from any other fsid on the server",
    also={"4.0": ("RFC 7530", "8.3.1")},
)
MOVED_HAS_LOCATIONS = must(
    "RFC 5661",
    "11.2",
    "a server that answers NFS4ERR_MOVED supports fs_locations",
    also={"4.0": ("RFC 7530", "8.2")},
)
MOVED_HAS_MORE = should(
    "RFC 5661", "11.2", "a server that answers NFS4ERR_MOVED should support fs_locations_info and fs_status"
)
MOUNTED_ON_IS_THE_ENTRY = should(
    "RFC 5661",
    "5.8.2.23",
    "mounted_on_fileid by GETATTR should be that of the entry in the parent directory",
    also={"4.0": ("RFC 7530", "5.8.2.19")},
)
MOUNTED_ON_IS_UNIQUE = stated(
    "RFC 5661",
    "11.8.2",
    "mounted_on_fileid of a referral is a unique fileid within the referring file system",
    also={"4.0": ("RFC 7530", "8.7.2")},
)
VERIFY_IS_AS_GETATTR = stated(
    "RFC 5661",
    "11.3.1",
    "VERIFY and NVERIFY of an absent file system get NFS4ERR_MOVED without a location attribute, or with one it lacks",
    also={"4.0": ("RFC 7530", "8.3.1")},
)
LOCATIONS_CAN_BE_VERIFIED = stated(
    "RFC 5661",
    "11.3.1",
    "VERIFY and NVERIFY of an absent file system handle location attributes as GETATTR does",
    also={"4.0": ("RFC 7530", "8.3.1")},
)
PAGE_IS_MOVED = stated(
    "RFC 5661",
    "11.3.2",
    "READDIR over a referral gets NFS4ERR_MOVED if it asks for no location attribute and not for rdattr_error",
    also={"4.0": ("RFC 7530", "8.3.2")},
)
ENTRY_IS_MOVED = stated(
    "RFC 5661",
    "11.3.2",
    "READDIR that asks for rdattr_error, and no location attribute: it is NFS4ERR_MOVED in the entry of a referral",
    also={"4.0": ("RFC 7530", "8.3.2")},
)
ENTRY_HAS_LOCATIONS = stated(
    "RFC 5661",
    "11.3.2",
    "READDIR that asks for a location attribute fetches it, and says NFS4ERR_MOVED nowhere",
    also={"4.0": ("RFC 7530", "8.3.2")},
)
LEADS_SOMEWHERE = stated(
    "RFC 5661",
    "11.8",
    "a referral makes one or more locations available",
    also={"4.0": ("RFC 7530", "8.7")},
)
FS_ROOT_IS_THE_WAY = must(
    "RFC 5661",
    "11.9",
    "fs_root is equal to the path that the client used to reach the referral",
    also={"4.0": ("RFC 7530", "8.8")},
)
REFERRALS_ARE_NOT_CURRENT = stated(
    "RFC 5661", "11.10.1", "in the case of a referral, no entry of fs_locations_info has FSLI4GF_CUR_REQ"
)
ABSENCE_IS_SHOWN = stated("RFC 5661", "11.11", "fss_absent says that the file system is absent")
_MAY_HAVE: t.Final = frozenset({*LOCATIONS, "change_policy", "fsid", "mounted_on_fileid", "rdattr_error"})


def _has_mounted_on(compounds: Compounds, referral: Referral) -> bool:
    """Whether the file system that the referral is in supports mounted_on_fileid."""
    reply = expect(compounds.compound(*referral.parent, op.getattr("supported_attrs"))).ok()
    return "mounted_on_fileid" in p.names_of(reply.attributes.supported_attrs or [])


# ---------------------------------------------------------------- GETATTR


@pytest.mark.parametrize("name", ["type", "fsid", "mounted_on_fileid", "rdattr_error"])
@proves(NO_LOCATION_IS_MOVED, killed_by="getattr4-absent-needs-no-location")
def test_no_location(compounds: Compounds, referral: Referral, name: str) -> None:
    """GETATTR of an absent file system without a location attribute fails with MOVED."""
    reply = compounds.compound(*referral.way, op.getattr(name))
    expect(reply).refused(Nfsstat4.NFS4ERR_MOVED, because=NO_LOCATION_IS_MOVED)


@proves(REST_IS_LEFT_OUT, killed_by="getattr4-absent-is-moved")
def test_rest(compounds: Compounds, referral: Referral) -> None:
    """GETATTR of fs_locations and of ordinary attributes of an absent file system succeeds."""
    reply = compounds.compound(*referral.way, op.getattr("fs_locations", "type", "size", "fsid", "fileid"))
    expect(reply).ok()


@proves(OTHERS_ARE_NOT_GIVEN, killed_by="getattr4-absent-has-more")
def test_others(compounds: Compounds, referral: Referral) -> None:
    """GETATTR of an absent file system gives none of type, change, size, fileid, mode and times."""
    asked = ("type", "change", "size", "fileid", "mode", "time_modify", "numlinks")
    seen = referral.attributes(compounds, "fs_locations", *asked)
    given = sorted(set(p.names_of(seen.attrmask)) - _MAY_HAVE)
    expect(given, "attributes of an absent file system", of=seen, field="obj_attributes").equals([])


@pytest.mark.parametrize("name", ["fsid", "mounted_on_fileid"])
@proves(BOUNDARY_IS_SHOWN, killed_by="getattr4-absent-has-no-boundary")
def test_boundary(compounds: Compounds, referral: Referral, name: str) -> None:
    """fsid and mounted_on_fileid of an absent file system come with its locations."""
    if name == "mounted_on_fileid" and not _has_mounted_on(compounds, referral):
        skip("the server does not support mounted_on_fileid where the referral is")
    seen = referral.attributes(compounds, "fs_locations", name)
    expect(seen).field(name).is_present()


@proves(FSID_IS_ANOTHER, killed_by="getattr4-absent-fsid-is-the-parents")
def test_fsid(v4: Nfs4Dialect, compounds: Compounds, referral: Referral) -> None:
    """fsid of an absent file system is not that of its parent directory, of the root or of the export."""
    seen = referral.attributes(compounds, "fs_locations", "fsid")
    if seen.fsid is None:
        skip("the server gives no fsid of an absent file system")
    ways: dict[str, list[XdrType]] = {
        "its parent": referral.parent,
        "the root": [op.putrootfh()],
        "the export": [op.putfh(v4.root)],
    }
    for where, way in ways.items():
        other = expect(compounds.compound(*way, op.getattr("fsid"))).ok().attributes.fsid
        expect(seen).field("fsid", f"fsid, where {where} has another").differs_from(other)


@proves(MOVED_HAS_LOCATIONS, killed_by="getattr4-absent-has-no-locations")
def test_locations(compounds: Compounds, referral: Referral) -> None:
    """fs_locations is there of a file system that is absent."""
    reply = compounds.compound(*referral.way, op.getattr("fs_locations"))
    expect(reply).ok()
    expect(reply.attributes).field("fs_locations").is_present()


@pytest.mark.parametrize("name", ["fs_locations_info", "fs_status"])
@proves(MOVED_HAS_MORE, killed_by="getattr4-absent-has-only-locations")
def test_more(compounds: Compounds, referral: Referral, name: str) -> None:
    """fs_locations_info and fs_status are there of a file system that is absent."""
    seen = referral.attributes(compounds, "fs_locations", name)
    expect(seen).field(name).is_present()


# ---------------------------------------------------------------- VERIFY and NVERIFY


@pytest.mark.parametrize("verifying", ["verify", "nverify"])
@pytest.mark.parametrize("along", ["alone", "locations"])
@proves(VERIFY_IS_AS_GETATTR, killed_by="verify4-absent-is-attrnotsupp")
def test_verify_refused(compounds: Compounds, referral: Referral, verifying: str, along: str) -> None:
    """VERIFY of what an absent file system lacks fails with MOVED, alone and with fs_locations."""
    known = referral.attributes(compounds, "fs_locations", "size")
    if along == "locations" and known.size is not None:
        skip("the server has sizes in an absent file system")
    locations = known.fs_locations if along == "locations" else None
    call = {"verify": op.verify, "nverify": op.nverify}[verifying]
    reply = compounds.compound(*referral.way, call(Fattr4(size=4096, fs_locations=locations)))
    if (
        reply.status == Nfsstat4.NFS4ERR_ATTRNOTSUPP
    ):  # it says nothing elsewhere, and here it is the wrong one
        expect(reply).field("status").equals(Nfsstat4.NFS4ERR_MOVED)
    expect(reply).refused(Nfsstat4.NFS4ERR_MOVED, because=VERIFY_IS_AS_GETATTR)


@pytest.mark.parametrize("verifying", ["verify", "nverify"])
@proves(LOCATIONS_CAN_BE_VERIFIED, killed_by="verify4-absent-is-moved")
def test_verify(compounds: Compounds, referral: Referral, verifying: str) -> None:
    """VERIFY of the fs_locations that GETATTR returned succeeds, NVERIFY of it fails with SAME."""
    locations = referral.attributes(compounds, "fs_locations").fs_locations
    if locations is None:
        skip("the server gives no fs_locations of an absent file system")
    if locations != referral.attributes(compounds, "fs_locations").fs_locations:
        skip("the server gives other fs_locations each time, or in another order")
    same = Fattr4(fs_locations=locations)
    if verifying == "verify":
        expect(compounds.compound(*referral.way, op.verify(same))).ok()
    else:
        reply = compounds.compound(*referral.way, op.nverify(same))
        expect(reply).refused(Nfsstat4.NFS4ERR_SAME, because=LOCATIONS_CAN_BE_VERIFIED)


# ---------------------------------------------------------------- READDIR


def _entry(listing: Listing, referral: Referral) -> p.Entry4:
    expect(listing.last).ok()
    entry = listing.entry(referral.name)
    if entry is None:
        skip("the referral is not in the listing of its parent directory")
    return entry


@proves(PAGE_IS_MOVED, killed_by="readdir4-absent-is-without-attributes")
def test_readdir(compounds: Compounds, referral: Referral) -> None:
    """READDIR over a referral that asks for types and sizes fails with MOVED."""
    listing = listed(compounds, referral.parent, "type", "size")
    if listing.last.status == Nfsstat4.NFS4_OK and listing.entry(referral.name) is None:
        skip("the referral is not in the listing of its parent directory")
    expect(listing.last).refused(Nfsstat4.NFS4ERR_MOVED, because=PAGE_IS_MOVED)


@proves(ENTRY_IS_MOVED, killed_by=("readdir4-absent-fails-the-page", "readdir4-absent-error-is-stale"))
def test_readdir_error(compounds: Compounds, referral: Referral) -> None:
    """READDIR with rdattr_error lists a referral with MOVED, and other entries with their attributes."""
    listing = listed(compounds, referral.parent, "rdattr_error", "type", "size")
    seen = _entry(listing, referral).attrs
    expect(seen).field("rdattr_error").equals(Nfsstat4.NFS4ERR_MOVED)
    readable = [entry.attrs for entry in listing.entries if not entry.attrs.rdattr_error]
    observe("other entries", len(readable))
    for each in readable:
        expect(each).field("type", "type of another entry").is_present()


@proves(OTHERS_ARE_NOT_GIVEN, killed_by="readdir4-absent-has-more")
def test_readdir_others(compounds: Compounds, referral: Referral) -> None:
    """An entry of a referral with rdattr_error has only fsid and mounted_on_fileid besides."""
    asked = ("rdattr_error", "type", "size", "fsid", "fileid", "mounted_on_fileid", "time_modify")
    seen = _entry(listed(compounds, referral.parent, *asked), referral).attrs
    given = sorted(set(p.names_of(seen.attrmask)) - _MAY_HAVE)
    expect(given, "attributes of a referral's entry", of=seen, field="attrs").equals([])


@pytest.mark.parametrize("along", ["alone", "rdattr_error"])
@proves(ENTRY_HAS_LOCATIONS, killed_by="readdir4-locations-are-errors")
def test_readdir_locations(compounds: Compounds, referral: Referral, along: str) -> None:
    """READDIR with fs_locations lists a referral with its locations, and rdattr_error, if asked for, is OK."""
    names = ("fs_locations", "type", *(["rdattr_error"] if along == "rdattr_error" else []))
    seen = _entry(listed(compounds, referral.parent, *names), referral).attrs
    expect(seen).field("fs_locations").is_present()
    if seen.rdattr_error is not None:
        expect(seen).field("rdattr_error").equals(Nfsstat4.NFS4_OK)


@proves(MOUNTED_ON_IS_THE_ENTRY, killed_by="getattr4-absent-is-mounted-elsewhere")
def test_mounted_on(compounds: Compounds, referral: Referral) -> None:
    """mounted_on_fileid of a referral is the same by GETATTR and in the listing of its parent directory."""
    by_getattr = referral.attributes(compounds, "fs_locations", "mounted_on_fileid")
    entry = _entry(
        listed(compounds, referral.parent, "fs_locations", "rdattr_error", "mounted_on_fileid"), referral
    )
    if by_getattr.mounted_on_fileid is None or entry.attrs.mounted_on_fileid is None:
        skip("the server gives no mounted_on_fileid of an absent file system")
    expect(by_getattr).field("mounted_on_fileid").equals(entry.attrs.mounted_on_fileid)


@proves(MOUNTED_ON_IS_UNIQUE, killed_by="readdir4-absent-is-mounted-on-its-neighbour")
def test_mounted_on_alone(compounds: Compounds, referral: Referral) -> None:
    """No other entry of the directory has the mounted_on_fileid of a referral."""
    listing = listed(compounds, referral.parent, "rdattr_error", "mounted_on_fileid")
    entry = _entry(listing, referral)
    if entry.attrs.mounted_on_fileid is None:
        skip("the server gives no mounted_on_fileid of an absent file system")
    others = [other.attrs.mounted_on_fileid for other in listing.entries if other is not entry]
    observe("other entries", len(others))
    found = entry.attrs.mounted_on_fileid in others
    expect_that(
        not found,
        "a fileid that no other entry has",
        "that of another entry",
        "mounted_on_fileid",
        because=MOUNTED_ON_IS_UNIQUE,
    )


# ---------------------------------------------------------------- where it leads to


def _locations(compounds: Compounds, referral: Referral) -> p.FsLocations4:
    found = referral.attributes(compounds, "fs_locations").fs_locations
    if found is None:
        skip("the server gives no fs_locations of an absent file system")
    return found


def _info(compounds: Compounds, referral: Referral) -> p.FsLocationsInfo4:
    found = referral.attributes(compounds, "fs_locations_info", "fs_locations").fs_locations_info
    if found is None:
        skip("the server gives no fs_locations_info of an absent file system")
    return found


@proves(LEADS_SOMEWHERE, killed_by="getattr4-referral-leads-nowhere")
def test_leads_somewhere(compounds: Compounds, referral: Referral) -> None:
    """A server is named in fs_locations of a referral, or else in its fs_locations_info."""
    found = _locations(compounds, referral)
    named = sum(len(location.server) for location in found.locations)
    info = None if named else referral.attributes(compounds, *LOCATIONS).fs_locations_info
    observe("servers in fs_locations", named)
    more = 0 if info is None else len(entries_of(info))
    expect(named + more, "servers with the file system", of=found, field="locations").at_least(1)


@proves(FS_ROOT_IS_THE_WAY, killed_by="getattr4-referral-root-is-empty")
def test_fs_root(compounds: Compounds, referral: Referral) -> None:
    """fs_root of a referral is the path by which it was reached."""
    found = _locations(compounds, referral)
    expect(path_shown(found.fs_root), "fs_root", of=found, field="fs_root").equals(path_shown(referral.path))


@proves(FS_ROOT_IS_THE_WAY, killed_by="getattr4-referral-info-root-is-empty")
def test_info_root(compounds: Compounds, referral: Referral) -> None:
    """fli_fs_root of a referral is the path by which it was reached."""
    found = _info(compounds, referral)
    expect(path_shown(found.fli_fs_root), "fli_fs_root", of=found, field="fli_fs_root").equals(
        path_shown(referral.path)
    )


@proves(REFERRALS_ARE_NOT_CURRENT, killed_by="getattr4-referral-is-current")
def test_info_current(compounds: Compounds, referral: Referral) -> None:
    """fs_locations_info of a referral has entries, and none of them is the current one."""
    found = _info(compounds, referral)
    status = referral.attributes(compounds, *LOCATIONS).fs_status
    if status is not None and status.fss_type != p.Fs4StatusType.STATUS4_REFERRAL:
        skip("the file system was present once, as fs_status says: it is no referral")
    entries = entries_of(found)
    expect(len(entries), "entries of fs_locations_info", of=found, field="fli_items").at_least(1)
    current = [entry for entry in entries if entry.flags & CUR_REQ]
    expect(len(current), "entries with CUR_REQ", of=found, field="fli_items").equals(0)


@proves(ABSENCE_IS_SHOWN, killed_by="getattr4-absent-says-present")
def test_status(compounds: Compounds, referral: Referral) -> None:
    """fss_absent of a referral is TRUE."""
    seen = referral.attributes(compounds, "fs_status", "fs_locations").fs_status
    if seen is None:
        skip("the server gives no fs_status of an absent file system")
    observe("fss_type of a referral", seen.fss_type)
    expect(seen).field("fss_absent").equals(True)
