# SPDX-License-Identifier: MIT
"""Weak cache consistency (RFC 1813 section 2.5, wcc_data): SETATTR, two clients, RENAME, and calls that fail."""

from __future__ import annotations

import typing as t

import pytest

from fixtures.scratch import Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import CreateMode3, Nfsstat3, Nfstime3, Sattr3
from nfsjudge import Level, Requirement, expect, observe, proves, skip, unsupported
from suites.nfs3.agreement import expect_before, expect_same_object
from suites.nfs3.by_name import FIFO
from suites.nfs3.changing import CHANGES, furnish
from suites.nfs3.preserved import LONG_AGO, at_client_time, expect_change, make_old

WCC_BEFORE_IS_PRE_OPERATION = Requirement(
    rfc="RFC 1813",
    section="2.5",
    gist="wcc_data.before has the size, mtime and ctime of the object from before the operation",
)
WCC_AFTER_IS_POST_OPERATION = Requirement(
    rfc="RFC 1813",
    section="2.5",
    gist="wcc_data.after has the attributes of the object from after the operation",
)
WCC_AFTER_HAS_NEW_TIMES = Requirement(
    rfc="RFC 1813",
    section="2.5",
    level=Level.SHOULD,
    gist="wcc_data.after should have the times of the object from after the operation",
)
DIRECTORY_MTIME_FOLLOWS_ENTRIES = Requirement(
    rfc="RFC 1813",
    section="2.5",
    level=Level.SHOULD,  # section 2.5 defines mtime for the data of files only
    gist="a change of its entries should update the mtime of a directory",
)
RENAME_WCC = Requirement(
    rfc="RFC 1813",
    section="3.3.14",
    gist="fromdir_wcc describes the directory from.dir, and todir_wcc the directory to.dir",
)

_REQUESTED: t.Final[dict[str, Sattr3]] = {
    "mode": Sattr3(mode=0o640),
    "uid": Sattr3(uid=4242),
    "gid": Sattr3(gid=4343),
    "size": Sattr3(size=4),
    "atime": Sattr3(atime=at_client_time(Nfstime3(1_100_000_000))),
    "mtime": Sattr3(mtime=at_client_time(Nfstime3(1_100_000_000))),
}
_ON_A_FILE: t.Final[dict[str, t.Callable[[Nfs3, bytes], t.Any]]] = {
    "create": lambda nfs3, file: nfs3.create(file, b"new", CreateMode3.GUARDED, Sattr3(mode=0o644)),
    "mkdir": lambda nfs3, file: nfs3.mkdir(file, b"new", Sattr3(mode=0o755)),
    "symlink": lambda nfs3, file: nfs3.symlink(file, b"new", b"target"),
    "mknod": lambda nfs3, file: nfs3.mknod(file, b"new", FIFO),
    "remove": lambda nfs3, file: nfs3.remove(file, b"name"),
    "rmdir": lambda nfs3, file: nfs3.rmdir(file, b"name"),
    "rename": lambda nfs3, file: nfs3.rename(file, b"name", file, b"new"),
    "link": lambda nfs3, file: nfs3.link(file, file, b"new"),
}
"""Calls with the handle of a file instead of a directory."""
_WCC = {"rename": "todir_wcc", "link": "linkdir_wcc"}


@pytest.fixture
def furnished(scratch: Scratch) -> Scratch:
    """The scratch directory with the objects that the changes need."""
    return furnish(scratch)


def _wcc(reply: t.Any, path: str) -> t.Any:
    """The wcc_data of a successful change."""
    if reply.status == Nfsstat3.NFS3ERR_NOTSUPP:
        unsupported("the server does not support this procedure")
    if reply.resok is None:
        skip(f"the change was refused: {reply.status}")
    return getattr(reply.resok, path)


# ---------------------------------------------------------------- SETATTR


@pytest.mark.parametrize("what", _REQUESTED)
@proves(
    WCC_BEFORE_IS_PRE_OPERATION,
    killed_by=("setattr3-before-has-another-size", "setattr3-before-is-after"),
)
def test_setattr_before_is_what_getattr_said(nfs3: Nfs3, scratch: Scratch, what: str) -> None:
    """wcc_data.before of SETATTR matches GETATTR before the call."""
    file = scratch.file("f", b"some data", mode=0o600)
    known = scratch.attributes(file)
    reply = nfs3.setattr(file, _REQUESTED[what])
    expect_change(reply)
    if _wcc(reply, "obj_wcc").before is None:
        unsupported("SETATTR withholds the attributes from before")
    expect_before(reply, "resok.obj_wcc.before", known)


@pytest.mark.parametrize("what", _REQUESTED)
@proves(WCC_AFTER_IS_POST_OPERATION, killed_by="setattr3-after-is-of-another-object")
def test_setattr_after_is_what_getattr_says(nfs3: Nfs3, scratch: Scratch, what: str) -> None:
    """wcc_data.after of SETATTR matches GETATTR after the call."""
    file = scratch.file("f", b"some data", mode=0o600)
    reply = nfs3.setattr(file, _REQUESTED[what])
    expect_change(reply)
    if _wcc(reply, "obj_wcc").after is None:
        unsupported("SETATTR withholds the attributes from after")
    expect_same_object(reply, "resok.obj_wcc.after", scratch.attributes(file))


@pytest.mark.parametrize("what", _REQUESTED)
@proves(WCC_AFTER_HAS_NEW_TIMES, killed_by="setattr3-after-has-old-times")
def test_setattr_after_has_the_times_that_getattr_says(nfs3: Nfs3, scratch: Scratch, what: str) -> None:
    """wcc_data.after of SETATTR has the times that GETATTR returns after the call."""
    file = scratch.file("f", b"some data", mode=0o600)
    reply = nfs3.setattr(file, _REQUESTED[what])
    expect_change(reply)
    if _wcc(reply, "obj_wcc").after is None:
        unsupported("SETATTR withholds the attributes from after")
    known = scratch.attributes(file)
    for name in ("mtime", "ctime"):
        expect(reply).field(f"resok.obj_wcc.after.{name}").equals(getattr(known, name))


@proves(WCC_BEFORE_IS_PRE_OPERATION, killed_by="setattr3-refusals-have-another-size")
def test_setattr_before_a_wrong_guard_is_what_getattr_said(nfs3: Nfs3, scratch: Scratch) -> None:
    """wcc_data.before of a SETATTR with a wrong guard matches GETATTR."""
    file = scratch.file("f", b"some data")
    known = scratch.attributes(file)
    guard = Nfstime3(known.ctime.seconds ^ 1 << 18, known.ctime.nseconds)
    reply = nfs3.setattr(file, Sattr3(mode=0o640), guard=guard)
    if reply.resfail is None or reply.resfail.obj_wcc.before is None:
        unsupported("SETATTR withholds the attributes from before a refusal")
    expect_before(reply, "resfail.obj_wcc.before", known)


# ---------------------------------------------------------------- two clients


@pytest.mark.parametrize("change", CHANGES)
@proves(WCC_BEFORE_IS_PRE_OPERATION, killed_by="wcc3-remembers-by-connection")
def test_before_has_what_another_client_did(
    nfs3: Nfs3, second_client: Nfs3, furnished: Scratch, change: str
) -> None:
    """wcc_data.before includes a change that another client made."""
    make_old(second_client, furnished.handle)
    expect(nfs3.getattr(furnished.handle)).ok()  # what this client may cache
    made = second_client.mkdir(furnished.handle, b"of-the-other-client", Sattr3(mode=0o755))
    if made.resok is None:
        skip(f"the other client cannot change the directory: MKDIR answers {made.status}")
    known = expect(second_client.getattr(furnished.handle)).ok().obj_attributes
    reply = CHANGES[change].act(nfs3, furnished)
    if _wcc(reply, CHANGES[change].wcc).before is None:
        unsupported("the server withholds the attributes from before")
    expect_before(reply, f"resok.{CHANGES[change].wcc}.before", known)


@pytest.mark.parametrize("change", CHANGES)
@proves(WCC_AFTER_IS_POST_OPERATION, killed_by="getattr3-remembers-directories-by-connection")
def test_another_client_sees_what_after_said(
    nfs3: Nfs3, second_client: Nfs3, furnished: Scratch, change: str
) -> None:
    """wcc_data.after matches what GETATTR returns to another client."""
    expect(second_client.getattr(furnished.handle)).ok()  # what that client may cache
    reply = CHANGES[change].act(nfs3, furnished)
    after = _wcc(reply, CHANGES[change].wcc).after
    if after is None:
        unsupported("the server withholds the attributes from after")
    known = expect(second_client.getattr(furnished.handle)).ok().obj_attributes
    expect_same_object(reply, f"resok.{CHANGES[change].wcc}.after", known)
    for name in ("mtime", "ctime"):
        expect(reply, because=WCC_AFTER_HAS_NEW_TIMES).field(
            f"resok.{CHANGES[change].wcc}.after.{name}"
        ).equals(getattr(known, name))


# ---------------------------------------------------------------- times of directories


@pytest.mark.parametrize("change", CHANGES)
@proves(DIRECTORY_MTIME_FOLLOWS_ENTRIES, killed_by="names3-leave-mtime-of-directories", needs="cansettime")
def test_a_change_moves_mtime_of_the_directory(nfs3: Nfs3, furnished: Scratch, change: str) -> None:
    """A change of the entries of a directory updates its mtime."""
    make_old(nfs3, furnished.handle)
    _wcc(CHANGES[change].act(nfs3, furnished), CHANGES[change].wcc)
    expect(furnished.attributes().mtime, "mtime of the directory").differs_from(LONG_AGO)


# ---------------------------------------------------------------- RENAME returns two


@pytest.mark.parametrize("arm", ["fromdir_wcc", "todir_wcc"], ids=["fromdir", "todir"])
@proves(RENAME_WCC, killed_by="rename3-before-is-of-the-other-directory")
def test_rename_before_is_of_each_directory(nfs3: Nfs3, scratch: Scratch, arm: str) -> None:
    """RENAME returns wcc_data.before of the old and of the new directory."""
    scratch.file("file")
    elsewhere = scratch.directory("elsewhere")
    make_old(nfs3, elsewhere)  # so that the two differ at least in their times
    known = scratch.attributes() if arm == "fromdir_wcc" else scratch.attributes(elsewhere)
    reply = nfs3.rename(scratch.handle, b"file", elsewhere, b"file")
    if _wcc(reply, arm).before is None:
        unsupported("the server withholds the attributes from before")
    expect_before(reply, f"resok.{arm}.before", known)


@proves(RENAME_WCC, killed_by="rename3-contradicts-itself-before")
def test_rename_in_one_directory_has_one_before(nfs3: Nfs3, scratch: Scratch) -> None:
    """RENAME within one directory returns the same before in both wcc_data."""
    scratch.file("file")
    reply = nfs3.rename(scratch.handle, b"file", scratch.handle, b"new")
    known = _wcc(reply, "fromdir_wcc").before
    if known is None or _wcc(reply, "todir_wcc").before is None:
        unsupported("the server withholds the attributes from before")
    for name in ("size", "mtime", "ctime"):
        expect(reply).field(f"resok.todir_wcc.before.{name}").equals(getattr(known, name))


# ---------------------------------------------------------------- calls on a file instead of a directory


@pytest.mark.parametrize("procedure", _ON_A_FILE)
@proves(WCC_AFTER_IS_POST_OPERATION, killed_by="wcc3-refusals-show-another-object")
def test_after_a_refusal_is_of_the_object_of_the_handle(nfs3: Nfs3, scratch: Scratch, procedure: str) -> None:
    """wcc_data.after of a call on a file instead of a directory is of that file."""
    file, path = scratch.file("file", b"data"), _WCC.get(procedure, "dir_wcc")
    reply = _ON_A_FILE[procedure](nfs3, file)
    observe("the refusal", reply.status)
    if reply.resfail is None or getattr(reply.resfail, path).after is None:
        unsupported("the server withholds the attributes after a refusal, or does not refuse")
    expect_same_object(reply, f"resfail.{path}.after", scratch.attributes(file))


@pytest.mark.parametrize("procedure", _ON_A_FILE)
@proves(WCC_BEFORE_IS_PRE_OPERATION, killed_by="wcc3-refusals-have-another-size")
def test_before_a_refusal_is_of_the_object_of_the_handle(
    nfs3: Nfs3, scratch: Scratch, procedure: str
) -> None:
    """wcc_data.before of a call on a file instead of a directory is of that file."""
    file, path = scratch.file("file", b"data"), _WCC.get(procedure, "dir_wcc")
    known = scratch.attributes(file)
    reply = _ON_A_FILE[procedure](nfs3, file)
    observe("the refusal", reply.status)
    if reply.resfail is None or getattr(reply.resfail, path).before is None:
        unsupported("the server withholds the attributes from before a refusal, or does not refuse")
    expect_before(reply, f"resfail.{path}.before", known)
