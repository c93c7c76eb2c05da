# SPDX-License-Identifier: MIT
"""Grants: what the mode permits everybody is not denied, and a procedure is not denied to everybody.

Who may do what is the server's policy (RFC 1094 section 3.3), so in other checks a denial ends the check as SKIP, and
here it breaks a SHOULD. A server that denies one procedure always would show nothing else. NFSv2 has no ACCESS: here
GETATTR says, before and after the call, that owner, group and others alike have the permission, and nobody else knows
the objects. Each check tries several new objects.
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable

from fixtures.checks.dialects.nfs2 import Nfs2Scratch
from nfsclient.clients import Nfs2
from nfsclient.protocol.nfs2 import Nfsstat2, Sattr, Timeval
from nfsjudge import expect, observe, proves, should, show, skip
from nfsjudge.expect import StatusReply
from suites.clauses import SETATTR_CHANGES_ATTRIBUTES

MODE_SAYS_WHO_MAY = should(  # section 3.3: the protocol does not define which permissions a server checks
    "RFC 1094",
    "2.3.5",
    "mode has the permissions of owner, group and others: what it permits all of them is not denied to everybody",
)
READLINK_READS_LINKS = should(  # on other systems than UNIX, links may have permissions
    "RFC 1094", "2.2.6", "READLINK reads the text of a symbolic link that the user has created"
)
STATFS_DESCRIBES_FILE_SYSTEM = should(  # section 3.3 leaves permissions to the server
    "RFC 1094", "2.2.18", "STATFS returns the sizes of the file system to a user who may use it"
)
_DENIED: t.Final = (Nfsstat2.NFSERR_ACCES, Nfsstat2.NFSERR_PERM)
_ATTEMPTS: t.Final = 3
_EVERYBODY: t.Final = 0o777


def _permits(nfs2: Nfs2, handle: bytes) -> bool:
    return expect(nfs2.getattr(handle)).ok().mode & _EVERYBODY == _EVERYBODY


def _denied(nfs2: Nfs2, handle: bytes, call: Callable[[], StatusReply]) -> StatusReply | None:
    """The reply, if everybody has every permission before and after the call, and the call was denied.

    Ends the check if the mode is another one, and if the call fails for another reason.
    """
    __tracebackhide__ = True
    if not _permits(nfs2, handle):
        skip("the object does not have the requested mode 0777")
    reply = call()
    if reply.status not in _DENIED:
        expect(reply).ok()
        return None
    if not _permits(nfs2, handle):
        skip(f"the object does not have mode 0777 any more ({reply.status})", reply)
    return reply


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


def _open_file(scratch: Nfs2Scratch, number: int) -> bytes:
    """An empty file: nothing but CREATE is needed."""
    return scratch.file(f"f{number}", mode=_EVERYBODY)


def _open_directory(scratch: Nfs2Scratch, number: int) -> bytes:
    return scratch.directory(f"d{number}", mode=_EVERYBODY)


# ---------------------------------------------------------------- files


@proves(MODE_SAYS_WHO_MAY, killed_by="read2-denies-everybody")
def test_read(nfs2: Nfs2, scratch: Nfs2Scratch) -> None:
    """READ of a new file of mode 0777 is not denied to its creator."""

    def attempt(number: int) -> StatusReply | None:
        file = _open_file(scratch, number)
        return _denied(nfs2, file, lambda: nfs2.read(file, 0, 4))

    _expect_one_granted(attempt)


@proves(MODE_SAYS_WHO_MAY, killed_by="write2-denies-everybody")
def test_write(nfs2: Nfs2, scratch: Nfs2Scratch) -> None:
    """WRITE to a new file of mode 0777 is not denied to its creator."""

    def attempt(number: int) -> StatusReply | None:
        file = _open_file(scratch, number)
        return _denied(nfs2, file, lambda: nfs2.write(file, 0, b"data"))

    _expect_one_granted(attempt)


# ---------------------------------------------------------------- directories


@proves(MODE_SAYS_WHO_MAY, killed_by="lookup2-denies-everybody")
def test_lookup(nfs2: Nfs2, scratch: Nfs2Scratch) -> None:
    """LOOKUP in a new directory of mode 0777 is not denied to its creator."""

    def attempt(number: int) -> StatusReply | None:
        directory = _open_directory(scratch, number)
        scratch.file("f", directory=directory)
        return _denied(nfs2, directory, lambda: nfs2.lookup(directory, b"f"))

    _expect_one_granted(attempt)


@proves(MODE_SAYS_WHO_MAY, killed_by="readdir2-denies-everybody")
def test_readdir(nfs2: Nfs2, scratch: Nfs2Scratch) -> None:
    """READDIR of a new directory of mode 0777 is not denied to its creator."""

    def attempt(number: int) -> StatusReply | None:
        directory = _open_directory(scratch, number)
        return _denied(nfs2, directory, lambda: nfs2.readdir(directory))

    _expect_one_granted(attempt)


@proves(MODE_SAYS_WHO_MAY, killed_by="create2-denies-everybody")
def test_create(nfs2: Nfs2, scratch: Nfs2Scratch) -> None:
    """CREATE in a new directory of mode 0777 is not denied to its creator."""

    def attempt(number: int) -> StatusReply | None:
        directory = _open_directory(scratch, number)
        return _denied(nfs2, directory, lambda: nfs2.create(directory, b"f", Sattr(mode=0o644)))

    _expect_one_granted(attempt)


@proves(MODE_SAYS_WHO_MAY, killed_by="mkdir2-denies-everybody")
def test_mkdir(nfs2: Nfs2, scratch: Nfs2Scratch) -> None:
    """MKDIR in the directory of the check, which has mode 0777, is not denied to its creator."""

    def attempt(number: int) -> StatusReply | None:
        name = b"d%d" % number
        return _denied(nfs2, scratch.handle, lambda: nfs2.mkdir(scratch.handle, name, Sattr(mode=0o755)))

    _expect_one_granted(attempt)


@proves(MODE_SAYS_WHO_MAY, killed_by="rename2-denies-everybody")
def test_rename(nfs2: Nfs2, scratch: Nfs2Scratch) -> None:
    """RENAME within a new directory of mode 0777 is not denied to its creator."""

    def attempt(number: int) -> StatusReply | None:
        directory = _open_directory(scratch, number)
        scratch.file("old", directory=directory)
        return _denied(nfs2, directory, lambda: nfs2.rename(directory, b"old", directory, b"new"))

    _expect_one_granted(attempt)


@proves(MODE_SAYS_WHO_MAY, killed_by="remove2-denies-everybody")
def test_remove(nfs2: Nfs2, scratch: Nfs2Scratch) -> None:
    """REMOVE in a new directory of mode 0777 is not denied to its creator."""

    def attempt(number: int) -> StatusReply | None:
        directory = _open_directory(scratch, number)
        scratch.file("f", directory=directory)
        return _denied(nfs2, directory, lambda: nfs2.remove(directory, b"f"))

    _expect_one_granted(attempt)


@proves(MODE_SAYS_WHO_MAY, killed_by="rmdir2-denies-everybody")
def test_rmdir(nfs2: Nfs2, scratch: Nfs2Scratch) -> None:
    """RMDIR in a new directory of mode 0777 is not denied to its creator."""

    def attempt(number: int) -> StatusReply | None:
        directory = _open_directory(scratch, number)
        scratch.directory("d", directory=directory)
        return _denied(nfs2, directory, lambda: nfs2.rmdir(directory, b"d"))

    _expect_one_granted(attempt)


# ---------------------------------------------------------------- attributes, links, the file system


@proves(SETATTR_CHANGES_ATTRIBUTES, killed_by="setattr2-denies-everybody")
def test_setattr(nfs2: Nfs2, scratch: Nfs2Scratch) -> None:
    """SETATTR of a new file is not denied to its creator for every attribute."""
    asked = {
        "the size": Sattr(size=3),
        "mtime": Sattr(mtime=Timeval(1_000_000_000)),
        "the mode": Sattr(mode=0o640),
    }
    for number, (what, attributes) in enumerate(asked.items()):
        file = _open_file(scratch, number)
        if not _permits(nfs2, file):
            skip("the object does not have the requested mode 0777")
        reply = nfs2.setattr(file, attributes)
        if reply.status not in _DENIED:
            expect(reply).ok()
            return
        observe(f"SETATTR of {what}", show(reply.status))
    expect(reply).granted()


@proves(READLINK_READS_LINKS, killed_by="readlink2-denies-everybody", needs="nfs2_symlink")
def test_readlink(nfs2: Nfs2, scratch: Nfs2Scratch) -> None:
    """READLINK of a new symbolic link is not denied to its creator."""
    expect(nfs2.readlink(scratch.symlink("link", b"target"))).granted()


@proves(STATFS_DESCRIBES_FILE_SYSTEM, killed_by="statfs2-denies-everybody")
def test_statfs(nfs2: Nfs2, root: bytes) -> None:
    """STATFS of the root is not denied to the user of the run."""
    expect(nfs2.statfs(root)).granted()
