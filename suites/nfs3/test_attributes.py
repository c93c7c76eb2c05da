# SPDX-License-Identifier: MIT
"""Attributes that operations set on new objects, or return for any object (RFC 1813 sections 2.5, 3.3)."""

from __future__ import annotations

import typing as t

import pytest

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import SERVER_TIME, Nfstime3, Sattr3
from nfsclient.xdr import replace
from nfsjudge import expect, expect_attributes, observe, proves, skip, unsupported
from suites.nfs3 import file_types
from suites.nfs3.attributes import expect_same_object
from suites.nfs3.calls import call_on
from suites.nfs3.clauses import (
    FS_INFO_RETURNS_ATTRIBUTES,
    MKDIR_SETS_INITIAL_ATTRIBUTES,
    MKNOD_SETS_INITIAL_ATTRIBUTES,
    SETS_INITIAL_ATTRIBUTES,
)
from suites.nfs3.file_types import SAMPLE
from suites.nfs3.new_objects import CREATIONS, new_attributes
from suites.nfs3.times import A_DAY, A_TIME, ANOTHER_TIME, ROUGHLY, at_client_time, expect_time

OF_OBJECTS: t.Final = [
    *(("fsstat", kind) for kind in ("regular", *SAMPLE)),
    *(("fsinfo", kind) for kind in ("regular", "directory")),
    *(("pathconf", kind) for kind in ("regular", "directory")),
]
"""FSSTAT of every type, since one server failed there; one code path finds the object for all three procedures."""
INITIAL: t.Final = {
    "unchecked": SETS_INITIAL_ATTRIBUTES,
    "guarded": SETS_INITIAL_ATTRIBUTES,
    "mkdir": MKDIR_SETS_INITIAL_ATTRIBUTES,
    "mknod": MKNOD_SETS_INITIAL_ATTRIBUTES,
}
"""One of `CREATIONS` -> the clause of its procedure."""
INITIAL_CLAUSES: t.Final = tuple(dict.fromkeys(INITIAL.values()))

# ---------------------------------------------------------------- the object of the call


@pytest.mark.parametrize(("procedure", "kind"), OF_OBJECTS)
@proves(FS_INFO_RETURNS_ATTRIBUTES, killed_by="info3-attributes-of-the-root")
def test_fs_info(nfs3: Nfs3, scratch: Nfs3Scratch, procedure: str, kind: str) -> None:
    """FSSTAT, FSINFO and PATHCONF return the attributes of the object, whatever its type."""
    handle = file_types.make(nfs3, scratch, kind)
    reply = call_on(nfs3, procedure, handle)
    if reply.resok is None:
        skip(f"no attributes to compare: {procedure.upper()} answers {reply.status}", reply)
    if reply.resok.obj_attributes is None:
        unsupported(f"{procedure.upper()} returns no obj_attributes")
    expect_same_object(reply, "resok.obj_attributes", scratch.attributes(handle))


# ---------------------------------------------------------------- initial attributes of a new object


@pytest.mark.parametrize("creation", [name for name in CREATIONS if name != "unchecked"])
@proves(*INITIAL_CLAUSES, killed_by="creations3-ignore-initial-attributes")
def test_initial_mode(nfs3: Nfs3, scratch: Nfs3Scratch, creation: str) -> None:
    """A new object has no permission bit that was not requested."""
    mode = new_attributes(nfs3, scratch, creation, Sattr3(mode=0o710)).mode
    observe("permission bits for mode 0710", f"0{mode & 0o777:03o}")
    expect(mode, "mode of the new object", field="mode", because=INITIAL[creation]).satisfies(
        lambda mode: not mode & 0o777 & ~0o710, "no permission bits but 0710"
    )


@pytest.mark.parametrize("creation", CREATIONS)
@proves(*INITIAL_CLAUSES, killed_by="creations3-ignore-initial-attributes", needs="root")
def test_initial_owner(nfs3: Nfs3, scratch: Nfs3Scratch, creation: str) -> None:
    """A new object has the requested owner and group."""
    made = new_attributes(nfs3, scratch, creation, Sattr3(mode=0o644, uid=4242, gid=4343))
    expect_attributes(made, "the new object", because=INITIAL[creation], uid=4242, gid=4343)


@pytest.mark.parametrize("creation", CREATIONS)
@proves(
    *INITIAL_CLAUSES,
    killed_by=("creations3-ignore-initial-attributes", "creations3-swap-initial-times"),
    needs="cansettime",
)
def test_initial_times(nfs3: Nfs3, root: bytes, scratch: Nfs3Scratch, creation: str) -> None:
    """A new object has the requested atime and mtime."""
    asked = {"atime": A_TIME, "mtime": Nfstime3(ANOTHER_TIME.seconds, 500_000_000)}
    times = [at_client_time(time) for time in asked.values()]
    made = new_attributes(nfs3, scratch, creation, Sattr3(mode=0o644, atime=times[0], mtime=times[1]))
    for which, time in asked.items():
        seen = getattr(made, which)
        expect_time(nfs3, root, which, seen, time, tolerance=ROUGHLY, because=INITIAL[creation])


@pytest.mark.parametrize("creation", CREATIONS)
@pytest.mark.parametrize("which", ["atime", "mtime"])
@proves(*INITIAL_CLAUSES, killed_by="creations3-server-times-are-of-the-client", needs="cansettime")
def test_server_time(nfs3: Nfs3, root: bytes, scratch: Nfs3Scratch, creation: str, which: str) -> None:
    """A new object has one time of the server, and the other one of the client."""
    other = "mtime" if which == "atime" else "atime"
    asked = replace(Sattr3(mode=0o644), **{which: SERVER_TIME, other: at_client_time(A_TIME)})
    made = new_attributes(nfs3, scratch, creation, asked)
    expect(made, because=INITIAL[creation]).field(f"{which}.seconds", f"seconds of {which}").at_least(
        A_TIME.seconds + A_DAY
    )
    expect_time(nfs3, root, other, getattr(made, other), A_TIME, tolerance=ROUGHLY, because=INITIAL[creation])
