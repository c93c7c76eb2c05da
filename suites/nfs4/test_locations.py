# SPDX-License-Identifier: MIT
"""fs_locations_info, fs_status and lists of layouts, of what is present (RFC 5661 sections 11.10, 11.11, 5.12).

A check is UNSUPPORTED where `supported_attrs` lacks its attribute. `test_optional` has those of fs_locations.
"""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch
from nfsclient.clients.nfs4 import Compounds, Nfs4
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Fs4StatusType, Nfsstat4
from nfsjudge import expect, expect_that, must, observe, proves, should, skip, stated, unsupported
from suites.nfs4.attribute_values import supported_names
from suites.nfs4.locations import CUR_REQ, DEFINED_BYTES, Replica, entries_of, path_shown

INFO_ROOT_IS_THE_PATH = must(
    "RFC 5661", "11.9", "fli_fs_root, as fs_root, is equal to the path by which the file system is reached"
)
INFO_HAS_AN_ENTRY = stated(
    "RFC 5661", "11.10", "fs_locations_info always contains at least one fs_locations_server4"
)
ONE_IS_CURRENT = stated(
    "RFC 5661", "11.10.1", "only a single entry of fs_locations_info may have FSLI4GF_CUR_REQ"
)
CURRENT_IS_AMONG_THEM = should(  # "typically"
    "RFC 5661",
    "11.10",
    "of a file system that is present, one entry of fs_locations_info has FSLI4GF_CUR_REQ",
)
PRESENT_IS_NOT_ABSENT = stated(
    "RFC 5661", "11.10.1", "FSLI4GF_ABSENT is of an absent replica, and only with FSLI4GF_CUR_REQ"
)
FLAGS_ARE_DEFINED = should(
    "RFC 5661", "11.10.2", "bits of fli_flags that are not defined should be returned as zero"
)
BYTES_ARE_DEFINED = should(
    "RFC 5661", "11.10.1", "the server should not send bytes of fls_info that no RFC defines"
)
INFO_COMES_WITH_LOCATIONS = must(
    "RFC 5661", "11.10", "a server that supports fs_locations_info supports fs_locations as well"
)
PRESENT_HAS_STATUS = stated("RFC 5661", "11.11", "fss_absent says whether the file system is absent")
WRITABLE_IS_SHOWN = stated(
    "RFC 5661",
    "11.11",
    "an image that is fixed, updated or versioned cannot be changed by users who write to it, and a referral is absent",
)
NO_LAYOUTS_WITHOUT_PNFS = should(  # section 12.6 has clients expect a server that is "contrary to" its list
    "RFC 5661", "5.12.1", "fs_layout_type has the layout types that the file system supports"
)


def _need(scratch: Nfs4Scratch, handle: bytes, name: str) -> None:
    if name not in supported_names(scratch, handle):
        unsupported(f"the server does not support {name}")


def _info(scratch: Nfs4Scratch, handle: bytes) -> p.FsLocationsInfo4:
    _need(scratch, handle, "fs_locations_info")
    found = scratch.attributes(handle, "fs_locations_info").fs_locations_info
    if found is None:
        skip("the server gives no fs_locations_info of this object")
    return found


def _entries(info: p.FsLocationsInfo4) -> list[Replica]:
    found = entries_of(info)
    observe("entries of fs_locations_info", len(found))
    return found


# ---------------------------------------------------------------- fs_locations_info


@proves(INFO_ROOT_IS_THE_PATH, killed_by="getattr4-info-root-is-too-long")
def test_info_root(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """fli_fs_root of the export leads from the root of the server to the same file system."""
    path = [bytes(name) for name in _info(scratch, v4.root).fli_fs_root]
    reply = compounds.compound(op.putrootfh(), *(op.lookup(name) for name in path), op.getattr("fsid"))
    is_there = reply.status == Nfsstat4.NFS4_OK
    expect_that(
        is_there,
        f"a directory at {path_shown(path)!r}",
        reply.status.name,
        "fli_fs_root",
        because=INFO_ROOT_IS_THE_PATH,
    )
    known = scratch.attributes(v4.root, "fsid")
    expect(reply.attributes).field("fsid", "fsid at fli_fs_root").equals(known.fsid)


@proves(INFO_HAS_AN_ENTRY, killed_by="getattr4-info-is-empty")
def test_info_entries(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> None:
    """fs_locations_info of the export has at least one entry."""
    found = _info(scratch, v4.root)
    expect(len(_entries(found)), "entries", of=found, field="fli_items").at_least(1)


@proves(ONE_IS_CURRENT, killed_by="getattr4-info-repeats-the-current-entry")
def test_info_current(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> None:
    """One entry of fs_locations_info of the export, and no more, has CUR_REQ."""
    found = _info(scratch, v4.root)
    current = [entry for entry in _entries(found) if entry.flags & CUR_REQ]
    expect(len(current), "entries with CUR_REQ", of=found, field="fli_items").at_most(1)
    expect(
        len(current), "entries with CUR_REQ", of=found, field="fli_items", because=CURRENT_IS_AMONG_THEM
    ).at_least(1)


@proves(PRESENT_IS_NOT_ABSENT, killed_by="getattr4-info-is-of-what-is-absent")
def test_info_absent(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> None:
    """No entry of fs_locations_info of the export has ABSENT."""
    found = _info(scratch, v4.root)
    absent = [entry for entry in _entries(found) if entry.flags & p.FSLI4GF_ABSENT]
    expect(len(absent), "entries with ABSENT", of=found, field="fli_items").equals(0)


@proves(FLAGS_ARE_DEFINED, killed_by="getattr4-info-has-unknown-flags")
def test_info_flags(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> None:
    """fli_flags of the export has no bit but VAR_SUB."""
    found = _info(scratch, v4.root)
    unknown = found.fli_flags & ~p.FSLI4IF_VAR_SUB
    expect(unknown, "bits that are not defined", of=found, field="fli_flags").equals(0)


@proves(BYTES_ARE_DEFINED, killed_by="getattr4-info-has-unknown-bytes")
def test_info_bytes(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> None:
    """fls_info of each entry of the export ends with the last byte that is defined, or before."""
    found = _info(scratch, v4.root)
    longest = max((len(entry.info) for entry in _entries(found)), default=0)
    expect(longest, "bytes of fls_info", of=found, field="fli_items").at_most(DEFINED_BYTES)


@proves(INFO_COMES_WITH_LOCATIONS, killed_by="getattr4-info-without-locations")
def test_info_with_locations(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> None:
    """supported_attrs of the export that has fs_locations_info has fs_locations, too."""
    names = supported_names(scratch, v4.root)
    if "fs_locations_info" not in names:
        unsupported("the server does not support fs_locations_info")
    expect(names, "supported attributes", field="supported_attrs").contains("fs_locations")


# ---------------------------------------------------------------- fs_status


def _status(scratch: Nfs4Scratch) -> p.Fs4Status:
    _need(scratch, scratch.handle, "fs_status")
    found = scratch.attributes(None, "fs_status").fs_status
    if found is None:
        skip("the server gives no fs_status of this object")
    return found


@proves(PRESENT_HAS_STATUS, killed_by="getattr4-status-is-absent")
def test_status(scratch: Nfs4Scratch) -> None:
    """fss_absent of a file system that serves a directory is FALSE."""
    found = _status(scratch)
    expect(found).field("fss_absent").equals(False)


@proves(WRITABLE_IS_SHOWN, killed_by="getattr4-status-is-fixed")
def test_status_type(scratch: Nfs4Scratch) -> None:
    """fss_type of a file system in which a file was just made is STATUS4_WRITABLE."""
    scratch.file("file", b"data")
    found = _status(scratch)
    expect(found).field("fss_type").equals(Fs4StatusType.STATUS4_WRITABLE)


# ---------------------------------------------------------------- pNFS


@pytest.mark.parametrize("name", ["fs_layout_types", "layout_types"])
@proves(NO_LAYOUTS_WITHOUT_PNFS, killed_by="getattr4-layouts-without-pnfs")
def test_no_layouts(nfs4: Nfs4, scratch: Nfs4Scratch, name: str) -> None:
    """A server that is no metadata server, as EXCHANGE_ID says, lists no layout types."""
    client = nfs4.new_client(flags=p.EXCHGID4_FLAG_USE_PNFS_MDS)
    if client.result.eir_flags & p.EXCHGID4_FLAG_USE_PNFS_MDS:
        unsupported("the server is a metadata server of pNFS")
    file = scratch.file("file")
    _need(scratch, file, name)
    found = scratch.attributes(file, name)
    if getattr(found, name) is None:
        skip(f"the server gives no {name} of a file")
    expect(found).field(name).equals([])
