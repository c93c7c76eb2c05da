# SPDX-License-Identifier: MIT
"""RECOMMENDED attributes that few servers have (RFC 5661 sections 5.8.2 and 11.9): marks, quotas, locations.

A check is UNSUPPORTED where `supported_attrs` lacks its attribute. No server that is right need have any of them.
"""

from __future__ import annotations

import typing as t

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch, new_state_owner, note_open, through_grace
from nfsclient.clients.nfs4 import Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Fattr4, NfsFtype4, Nfsstat4
from nfsjudge import expect, expect_that, must, observe, proves, should, skip, stated, unsupported
from suites.clauses import SETATTR_SETS
from suites.nfs4.attribute_values import supported_names
from suites.nfs4.minors import MINORS
from suites.nfs4.opens import WRITE, another_client

MARKS_ARE_KEPT = should(  # no text says how long a mark lasts that nobody has changed
    "RFC 5661", "5.8.2", "a mark of a file, once it was set, should stay until it is set again"
)
SET_AT_CREATION = stated(
    "RFC 5661",
    "18.4.3",
    "createattrs are the initial attributes of a new object, attrset those that were set",
)
ARCHIVED_SINCE_MODIFICATION = should(  # deprecated in favor of time_backup
    "RFC 5661", "5.8.2.1", "archive should be TRUE only if the file was archived since its last modification"
)
QUOTA_COUNTS_THE_FILE = (
    should(  # whether holes, copies and what is not on the disk yet are counted is left open
        "RFC 5661",
        "5.8.2.30",
        "quota_used should be the disk space of this file, and of others, so no less than its own",
    )
)
QUOTA_IS_SHARED = stated(
    "RFC 5661",
    "5.8.2.30",
    "quota_used is of a set of files, each of which has less quota_avail_hard when another one gets space",
)
FS_ROOT_IS_THE_PATH = must(
    "RFC 5661",
    "11.9",
    "fs_root is equal to the path that the client used to reach the object, or its file system",
)
FS_ROOT_IS_OF_ALL = stated(
    "RFC 5661",
    "11.9",
    "fs_root is the root of the file system, no matter which object in it GETATTR is about",
)
LOCATIONS_HAVE_SERVERS = stated(
    "RFC 5661", "11.9", "a location has the names of servers, each a host name, an address, or empty"
)
_MARKS: t.Final[dict[str, tuple[t.Any, t.Any]]] = {
    "archive": (True, False),
    "hidden": (True, False),
    "system": (True, False),
    "mimetype": (b"text/plain", b"image/png"),
    "time_backup": (p.Nfstime4(1_000_000_000, 0), p.Nfstime4(1_000_086_400, 0)),
}
"""Name -> two values. Times are whole even days in no unit that a server rounds to, but two seconds (FAT)."""
_KEPT: t.Final = ("hidden", "system", "mimetype", "time_backup")
_EACH: t.Final = pytest.mark.parametrize("name", _MARKS)


def _need(scratch: Nfs4Scratch, handle: bytes, *names: str) -> None:
    lacking = [name for name in names if name not in supported_names(scratch, handle)]
    if lacking:
        unsupported(f"the server does not support {', '.join(lacking)}")


def _set(compounds: Compounds, file: bytes, name: str, value: t.Any) -> None:
    """Set an attribute. SKIP where the server refuses this value: no text says which values it must accept."""
    reply = compounds.compound(op.putfh(file), op.setattr(Fattr4().changed(**{name: value})))
    if reply.status != Nfsstat4.NFS4_OK:
        skip(f"the server does not set {name}: SETATTR answers {reply.status}", reply)


@MINORS
@_EACH
@proves(SETATTR_SETS, killed_by="setattr4-marks-are-ignored")
def test_set(compounds: Compounds, scratch: Nfs4Scratch, name: str) -> None:
    """A mark of a file that SETATTR has set is read back with its new value, twice."""
    file = scratch.file("file", b"data")
    _need(scratch, file, name)
    for value in _MARKS[name]:
        _set(compounds, file, name, value)
        expect(scratch.attributes(file, name)).field(name).equals(value)


@MINORS
@pytest.mark.parametrize("name", _KEPT)
@proves(MARKS_ARE_KEPT, killed_by="rename4-forgets-marks")
def test_kept(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch, name: str) -> None:
    """A mark of a file is there for another client after the file has got data, another mode and another name."""
    file = scratch.file("old", b"data")
    _need(scratch, file, name)
    value = _MARKS[name][0]
    _set(compounds, file, name, value)
    scratch.write(file, b"other")
    here = op.putfh(scratch.handle)
    changes = op.putfh(file), op.setattr(Fattr4(mode=0o600)), here, op.savefh(), op.rename(b"old", b"new")
    if compounds.compound(*changes).status != Nfsstat4.NFS4_OK:
        skip("the server does not rename the file")
    looking = here, op.lookup(b"new"), op.getattr(name)
    reply = expect(another_client(v4).compound(*looking)).ok()
    expect(reply.attributes).field(name).equals(value)


@MINORS
@_EACH
@pytest.mark.parametrize("how", ["open", "create"])
@proves(SET_AT_CREATION, killed_by="create4-forgets-marks")
def test_created(compounds: Compounds, scratch: Nfs4Scratch, name: str, how: str) -> None:
    """A mark that OPEN or CREATE says it has set is that of the new object."""
    _need(scratch, scratch.handle, name)
    value = _MARKS[name][0]
    wanted = Fattr4(mode=0o755).changed(**{name: value})
    here = op.putfh(scratch.handle)
    opening = op.open(b"new", WRITE, owner=new_state_owner(), how=op.guarded(wanted))
    making = opening if how == "open" else op.create(b"new", NfsFtype4.NF4DIR, wanted)
    reply = through_grace(compounds, here, making, op.getfh())
    if reply.status != Nfsstat4.NFS4_OK:
        skip(f"the server creates nothing with {name}: {how.upper()} answers {reply.status}", reply)
    if how == "open":
        result = expect(reply).of(p.OPEN).ok()
        note_open(compounds, reply.handle, result.stateid)
        compounds.compound(op.putfh(reply.handle), op.close(result.stateid))
        said = result.attrset
    else:
        said = expect(reply).of(p.CREATE).ok().attrset
    if name not in p.names_of(said):
        skip(f"the server says that it has not set {name}")
    reply = expect(compounds.compound(here, op.lookup(b"new"), op.getattr(name))).ok()
    expect(reply.attributes).field(name).equals(value)


@MINORS
@proves(ARCHIVED_SINCE_MODIFICATION, killed_by="write4-keeps-archive")
def test_archive(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """A file that was archived is not archived any more after a WRITE."""
    file = scratch.file("file", b"data")
    _need(scratch, file, "archive", "time_modify")
    _set(compounds, file, "archive", True)
    before = scratch.attributes(file, "archive", "time_modify")
    if not before.archive:
        skip("the server does not keep archive")
    scratch.write(file, b"other")
    after = scratch.attributes(file, "archive", "time_modify")
    if before.time_modify == after.time_modify:
        skip("the clock of the server is too coarse to tell the two times")
    expect(after).field("archive").equals(False)


# ---------------------------------------------------------------- quotas


@proves(QUOTA_COUNTS_THE_FILE, killed_by="getattr4-quota-used-is-zero")
def test_quota_used(scratch: Nfs4Scratch) -> None:
    """quota_used of a file with data is no less than space_used."""
    file = scratch.file("file", bytes(range(256)) * 256)
    _need(scratch, file, "quota_used", "space_used")
    seen = scratch.attributes(file, "quota_used", "space_used")
    if seen.quota_used is None or seen.space_used is None:
        skip("the server gives no quota_used or space_used of this file")
    observe("quota_used", seen.quota_used)
    expect(seen).field("quota_used").at_least(seen.space_used)


@proves(QUOTA_IS_SHARED, killed_by="getattr4-quota-grows-with-use")
def test_quota_available(scratch: Nfs4Scratch) -> None:
    """Where quota_used of a file grows by a WRITE, its quota_avail_hard does not grow."""
    file = scratch.file("file")
    _need(scratch, file, "quota_used", "quota_avail_hard")
    names = ("quota_used", "quota_avail_hard")
    before = scratch.attributes(file, *names)
    scratch.write(file, bytes(range(1, 256)) * 1024)
    after = scratch.attributes(file, *names)
    if after.quota_used is None or before.quota_used is None or after.quota_used <= before.quota_used:
        skip("quota_used has not grown: others may have freed space")
    if before.quota_avail_hard is None:
        skip("the server gives no quota_avail_hard of this file")
    expect(after).field("quota_avail_hard").at_most(before.quota_avail_hard)


# ---------------------------------------------------------------- locations


def _locations(scratch: Nfs4Scratch, handle: bytes) -> p.FsLocations4:
    _need(scratch, handle, "fs_locations")
    found = scratch.attributes(handle, "fs_locations").fs_locations
    if found is None:
        skip("the server gives no fs_locations of this object")
    return found


@MINORS
@proves(FS_ROOT_IS_THE_PATH, killed_by=("getattr4-fs-root-is-too-long", "getattr4-fs-root-is-empty"))
def test_fs_root(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """fs_root of the export leads from the root of the server to the same file system."""
    path = [bytes(name) for name in _locations(scratch, v4.root).fs_root]
    reply = compounds.compound(op.putrootfh(), *(op.lookup(name) for name in path), op.getattr("fsid"))
    shown = b"/" + b"/".join(path)
    is_there = reply.status == Nfsstat4.NFS4_OK
    expect_that(
        is_there, f"a directory at {shown!r}", reply.status.name, "fs_root", because=FS_ROOT_IS_THE_PATH
    )
    known = scratch.attributes(v4.root, "fsid")
    expect(reply.attributes).field("fsid", "fsid at fs_root").equals(known.fsid)


@pytest.mark.parametrize("kind", ["directory", "file"])
@proves(FS_ROOT_IS_OF_ALL, killed_by="getattr4-fs-root-of-a-file-is-empty")
def test_same_root(scratch: Nfs4Scratch, kind: str) -> None:
    """fs_root of an object is that of the directory that it is in, on the same file system."""
    made = scratch.file("file") if kind == "file" else scratch.directory("directory")
    wanted, seen = _locations(scratch, scratch.handle), _locations(scratch, made)
    expect(list(map(bytes, seen.fs_root)), "fs_root", field="fs_root").equals(
        list(map(bytes, wanted.fs_root))
    )


@proves(LOCATIONS_HAVE_SERVERS, killed_by="getattr4-locations-without-servers")
def test_locations(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> None:
    """Each location in fs_locations of the export names a server; there may be none."""
    found = _locations(scratch, v4.root)
    observe("locations", len(found.locations))
    bare = [location for location in found.locations if not location.server]
    expect(len(bare), "locations without a server", field="locations").equals(0)
