# SPDX-License-Identifier: MIT
"""Finding objects and names again after a crash or restart, on a server whose handles may not survive it."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from fixtures.checks.scratch import CannotList, Scratch
from fixtures.checks.target import TargetView
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Lookup3Res, Nfsstat3
from nfsclient.xdr import XdrEnum
from nfsjudge import Requirement, expect_that, show, skip

_NO_OBJECT: t.Final = (Nfsstat3.NFS3ERR_NOENT, Nfsstat3.NFS3ERR_STALE, Nfsstat3.NFS3ERR_BADHANDLE)
"""They have the same numbers in NFSv2, if they exist there."""
_INTERNAL: t.Final = (Nfsstat3.NFS3ERR_IO, Nfsstat3.NFS3ERR_SERVERFAULT)


def directory_again(target: TargetView, scratch: Nfs3Scratch) -> bytes:
    """The handle of the scratch directory. SKIP if the directory is lost: `recovery/names/directory` judges that."""
    found = look_for_directory(target, scratch)
    if isinstance(found, Lookup3Res):
        skip(f"the directory of the check did not survive: LOOKUP answers {found.status}")
    return found


def look_for_directory(target: TargetView, scratch: Nfs3Scratch) -> bytes | Lookup3Res:
    """A handle of the scratch directory that works, or the reply to LOOKUP that did not find it."""
    nfs3 = target.client(Nfs3)
    if nfs3.getattr(scratch.handle).status == Nfsstat3.NFS3_OK:
        return scratch.handle
    reply = nfs3.lookup(target.root(Nfs3), scratch.name)
    return reply if reply.resok is None else reply.resok.object


def names_again(
    scratch: Scratch[t.Any, t.Any], find: Callable[[], bytes], because: Requirement | None = None
) -> list[bytes]:
    """The names in a directory. `find` looks for its handle.

    What says that the directory is there and broken fails the check: an internal error (RFC 1813 section 2.6), or a
    handle that LOOKUP has just returned, twice, and that READDIR refuses. For other refusals the check is SKIP.
    """
    __tracebackhide__ = True
    found = _names(scratch, find)
    if found in _NO_OBJECT:
        found = _names(scratch, find)
    if not isinstance(found, list):
        is_broken = found in _NO_OBJECT or found in _INTERNAL
        what = "status of READDIR of a directory that LOOKUP finds"
        expect_that(not is_broken, "success", show(found), what, because=because, operation="READDIR")
        skip(f"the names after the crash cannot be seen: READDIR answers {found}")
    return found


def _names(scratch: Scratch[t.Any, t.Any], find: Callable[[], bytes]) -> list[bytes] | XdrEnum:
    """The names, or the status of the refusal."""
    try:
        return scratch.names(find())
    except CannotList as error:
        return error.status


def file_again(target: TargetView, scratch: Nfs3Scratch, handle: bytes, name: bytes) -> bytes:
    """A handle of a file in the scratch directory. SKIP if its name is lost: `recovery/names/survive` judges that."""
    nfs3 = target.client(Nfs3)
    if nfs3.getattr(handle).status == Nfsstat3.NFS3_OK:
        return handle
    reply = nfs3.lookup(directory_again(target, scratch), name)
    if reply.resok is None:
        skip(f"the file {show(name)} did not survive: LOOKUP answers {reply.status}")
    return reply.resok.object
