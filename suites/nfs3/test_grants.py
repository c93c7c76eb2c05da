# SPDX-License-Identifier: MIT
"""Grants: what ACCESS permits is not denied, and a procedure is not denied to everybody.

Who may do what is the server's policy (RFC 1813 section 4.4), so in other checks a denial ends the check as SKIP. A
server that denies one procedure always would never fail then. Here ACCESS itself says that the user may make the call,
before and after it, and nobody else knows the objects. A server may revoke a right at any time: then ACCESS does not
grant it after the call. Each check tries several new objects.
"""

from __future__ import annotations

import functools
import typing as t
from collections.abc import Callable

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import (
    ACCESS3_DELETE,
    ACCESS3_EXTEND,
    ACCESS3_LOOKUP,
    ACCESS3_MODIFY,
    ACCESS3_READ,
    SERVER_TIME,
    CreateMode3,
    Nfsstat3,
    Sattr3,
    StableHow,
)
from nfsjudge import expect, expect_that, observe, proves, should, show, skip, stated
from nfsjudge.expect import StatusReply
from suites.clauses import SETATTR_CHANGES_ATTRIBUTES
from suites.nfs3.permissions import access_of
from suites.nfs3.statuses import NOT_ALLOWED

ACCESS_RETURNS_WHAT_IS_ALLOWED = stated(
    "RFC 1813",
    "3.3.4",
    "ACCESS returns the permissions that the client is allowed: while nothing changes, such calls are not denied",
)
MODIFY_INCLUDES_REMOVAL = should(
    # DELETE is the permission to delete an entry, but many servers do not support it directly
    "RFC 1813",
    "3.3.4",
    "MODIFY is the permission to modify the entries of a directory, of which removal is one",
)
COMMIT_OF_STABLE_DATA = stated(
    "RFC 1813",
    "3.3.21",
    "COMMIT of data on stable storage has nothing to write: it lacks neither room nor permission",
)
READLINK_READS_LINKS = should(  # ACCESS has no bit for it, and section 4.4 leaves permissions to the server
    "RFC 1813",
    "3.3.5",
    "READLINK reads the data of a symbolic link: it is not denied to the user who has created the link",
)
FSSTAT_DESCRIBES_FILE_SYSTEM = should(  # section 4.4 leaves permissions to the server
    "RFC 1813", "3.3.18", "FSSTAT returns the state of the file system to a user who may use it"
)
FSINFO_DESCRIBES_FILE_SYSTEM = should(
    "RFC 1813", "3.3.19", "FSINFO returns the limits of the file system to a user who may use it"
)
PATHCONF_DESCRIBES_OBJECT = should(
    "RFC 1813", "3.3.20", "PATHCONF returns the limits of an object to the user who has created it"
)
_ATTEMPTS: t.Final = 3
_CHANGE: t.Final = ACCESS3_MODIFY | ACCESS3_EXTEND


def _denied(nfs3: Nfs3, handle: bytes, bits: int, call: Callable[[], StatusReply]) -> StatusReply | None:
    """The reply, if ACCESS grants all `bits` before and after the call, and the call was denied.

    Ends the check if ACCESS does not grant them, and if the call fails for another reason.
    """
    __tracebackhide__ = True
    if access_of(nfs3, handle, bits) != bits:
        skip("ACCESS does not grant the permissions for this call")
    reply = call()
    if reply.status not in NOT_ALLOWED:
        expect(reply).ok()
        return None
    if access_of(nfs3, handle, bits) != bits:
        skip(
            f"ACCESS does not grant the permissions any more: the server has revoked them ({reply.status})",
            reply,
        )
    return reply


def _unless_denied(reply: StatusReply) -> StatusReply | None:
    """The reply if it is a denial. Ends the check if the call fails for another reason."""
    __tracebackhide__ = True
    if reply.status in NOT_ALLOWED:
        return reply
    expect(reply).ok()
    return None


def _expect_one_granted(attempt: Callable[[int], StatusReply | None]) -> None:
    """Expect one attempt at least not to be denied."""
    __tracebackhide__ = True
    for number in range(_ATTEMPTS):
        reply = attempt(number)
        if reply is None:
            return
        observe("denied", show(reply.status))
    assert reply is not None
    expect(reply).granted()


# ---------------------------------------------------------------- files


@proves(ACCESS_RETURNS_WHAT_IS_ALLOWED, killed_by="read3-denies-everybody")
def test_read(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """READ of a new file is not denied to a user to whom ACCESS grants READ."""

    def attempt(number: int) -> StatusReply | None:
        file = scratch.file(f"f{number}")  # empty: nothing but CREATE is needed
        return _denied(nfs3, file, ACCESS3_READ, lambda: nfs3.read(file, 0, 4))

    _expect_one_granted(attempt)


@proves(ACCESS_RETURNS_WHAT_IS_ALLOWED, killed_by="write3-denies-everybody")
def test_write(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """WRITE to a new file is not denied to a user to whom ACCESS grants MODIFY and EXTEND."""

    def attempt(number: int) -> StatusReply | None:
        file = scratch.file(f"f{number}")
        return _denied(nfs3, file, _CHANGE, lambda: nfs3.write(file, 0, b"data", StableHow.FILE_SYNC))

    _expect_one_granted(attempt)


# ---------------------------------------------------------------- directories


@proves(ACCESS_RETURNS_WHAT_IS_ALLOWED, killed_by="lookup3-denies-everybody")
def test_lookup(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """LOOKUP in a new directory is not denied to a user to whom ACCESS grants LOOKUP."""
    where = scratch.handle

    def attempt(number: int) -> StatusReply | None:
        name = b"f%d" % number
        expect(nfs3.create(where, name, CreateMode3.GUARDED, Sattr3(mode=0o644))).ok()
        return _denied(nfs3, where, ACCESS3_LOOKUP, lambda: nfs3.lookup(where, name))

    _expect_one_granted(attempt)


@proves(ACCESS_RETURNS_WHAT_IS_ALLOWED, killed_by="readdir3-denies-everybody")
def test_readdir(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """READDIR of a new directory is not denied to a user to whom ACCESS grants READ."""

    def attempt(number: int) -> StatusReply | None:
        directory = scratch.directory(f"d{number}")
        return _denied(nfs3, directory, ACCESS3_READ, lambda: nfs3.readdir(directory))

    _expect_one_granted(attempt)


@proves(ACCESS_RETURNS_WHAT_IS_ALLOWED, killed_by="create3-denies-everybody")
def test_create(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """CREATE in a new directory is not denied to a user to whom ACCESS grants MODIFY and EXTEND."""

    def attempt(number: int) -> StatusReply | None:
        where, attributes = scratch.directory(f"d{number}"), Sattr3(mode=0o644)
        return _denied(
            nfs3, where, _CHANGE, lambda: nfs3.create(where, b"f", CreateMode3.GUARDED, attributes)
        )

    _expect_one_granted(attempt)


@proves(ACCESS_RETURNS_WHAT_IS_ALLOWED, killed_by="mkdir3-denies-everybody")
def test_mkdir(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """MKDIR in a new directory is not denied to a user to whom ACCESS grants MODIFY and EXTEND."""
    where = scratch.handle

    def attempt(number: int) -> StatusReply | None:
        return _denied(nfs3, where, _CHANGE, lambda: nfs3.mkdir(where, b"d%d" % number, Sattr3(mode=0o755)))

    _expect_one_granted(attempt)


@proves(ACCESS_RETURNS_WHAT_IS_ALLOWED, killed_by="rename3-denies-everybody")
def test_rename(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """RENAME within a new directory is not denied to a user to whom ACCESS grants MODIFY and EXTEND."""

    def attempt(number: int) -> StatusReply | None:
        directory = scratch.directory(f"d{number}")
        scratch.file("old", directory=directory)
        return _denied(nfs3, directory, _CHANGE, lambda: nfs3.rename(directory, b"old", directory, b"new"))

    _expect_one_granted(attempt)


# ---------------------------------------------------------------- removal


def _expect_removal(
    nfs3: Nfs3, arrange: Callable[[int], bytes], remove: Callable[[bytes], StatusReply]
) -> None:
    """Expect one removal at least not to be denied, by the permission DELETE, or by MODIFY without it."""
    __tracebackhide__ = True
    grants_delete = True
    for number in range(_ATTEMPTS):
        directory = arrange(number)
        grants_delete &= bool(access_of(nfs3, directory, ACCESS3_DELETE))
        bits = _CHANGE | (ACCESS3_DELETE if grants_delete else 0)
        reply = _denied(nfs3, directory, bits, functools.partial(remove, directory))
        if reply is None:
            return
    assert reply is not None
    expect(reply, because=None if grants_delete else MODIFY_INCLUDES_REMOVAL).granted()


@proves(ACCESS_RETURNS_WHAT_IS_ALLOWED, MODIFY_INCLUDES_REMOVAL, killed_by="remove3-denies-everybody")
def test_remove(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """REMOVE is not denied to a user to whom ACCESS of the new directory grants DELETE, or MODIFY and EXTEND."""

    def arrange(number: int) -> bytes:
        directory = scratch.directory(f"d{number}")
        scratch.file("file", directory=directory)
        return directory

    _expect_removal(nfs3, arrange, lambda directory: nfs3.remove(directory, b"file"))


@proves(ACCESS_RETURNS_WHAT_IS_ALLOWED, MODIFY_INCLUDES_REMOVAL, killed_by="rmdir3-denies-everybody")
def test_rmdir(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """RMDIR is not denied to a user to whom ACCESS of the new directory grants DELETE, or MODIFY and EXTEND."""

    def arrange(number: int) -> bytes:
        directory = scratch.directory(f"d{number}")
        scratch.directory("directory", directory=directory)
        return directory

    _expect_removal(nfs3, arrange, lambda directory: nfs3.rmdir(directory, b"directory"))


# ---------------------------------------------------------------- attributes and stable storage


@proves(SETATTR_CHANGES_ATTRIBUTES, killed_by="setattr3-denies-everybody")
def test_setattr(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """SETATTR of a new file is not denied to its creator for every attribute."""
    asked = {
        "the mode": Sattr3(mode=0o640),
        "the size": Sattr3(size=3),
        "mtime": Sattr3(mtime=SERVER_TIME),
    }
    for number, (what, attributes) in enumerate(asked.items()):
        file = scratch.file(f"f{number}")

        def set_them(file: bytes = file, attributes: Sattr3 = attributes) -> StatusReply:
            return nfs3.setattr(file, attributes)

        reply = _denied(nfs3, file, _CHANGE, set_them)
        if reply is None:
            return
        observe(f"SETATTR of {what}", show(reply.status))
    assert reply is not None
    expect(reply).granted()


@proves(COMMIT_OF_STABLE_DATA, killed_by="commit3-never-has-room")
def test_commit(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """COMMIT does not lack room or permission for data that WRITE has put on stable storage."""
    refused = (*NOT_ALLOWED, Nfsstat3.NFS3ERR_NOSPC, Nfsstat3.NFS3ERR_DQUOT)
    for number in range(_ATTEMPTS):
        file = scratch.file(f"f{number}")
        expect(nfs3.write(file, 0, b"data", StableHow.FILE_SYNC)).ok()
        reply = nfs3.commit(file)
        if reply.status not in refused:
            expect(reply).ok()
            return
        # There is room, and the right to use it.
        expect(nfs3.write(file, 4, b"more", StableHow.FILE_SYNC)).ok()
    expect_that(False, "success", show(reply.status), "status", reply=reply, field="status")


# ---------------------------------------------------------------- what ACCESS has no permission for


@proves(READLINK_READS_LINKS, killed_by="readlink3-denies-everybody", needs="symlink")
def test_readlink(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """READLINK of a new symbolic link is not denied to its creator."""

    def attempt(number: int) -> StatusReply | None:
        return _unless_denied(nfs3.readlink(scratch.symlink(f"link{number}", b"target")))

    _expect_one_granted(attempt)


@proves(FSSTAT_DESCRIBES_FILE_SYSTEM, killed_by="fsstat3-denies-everybody")
def test_fsstat(nfs3: Nfs3, root: bytes) -> None:
    """FSSTAT of the root is not denied to the user of the run."""
    _expect_one_granted(lambda _: _unless_denied(nfs3.fsstat(root)))


@proves(FSINFO_DESCRIBES_FILE_SYSTEM, killed_by="fsinfo3-denies-everybody")
def test_fsinfo(nfs3: Nfs3, root: bytes) -> None:
    """FSINFO of the root is not denied to the user of the run."""
    _expect_one_granted(lambda _: _unless_denied(nfs3.fsinfo(root)))


@proves(PATHCONF_DESCRIBES_OBJECT, killed_by="pathconf3-denies-everybody")
def test_pathconf(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """PATHCONF of a new directory is not denied to its creator."""
    _expect_one_granted(lambda _: _unless_denied(nfs3.pathconf(scratch.handle)))
