# SPDX-License-Identifier: MIT
"""One call per procedure for testing invalid handles, and the statuses acceptable for them."""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Mapping

from fixtures.scratch import Scratch
from nfsclient.clients import Nfs3
from nfsclient.errors import GarbageArgs, SystemErr
from nfsclient.protocol.nfs3 import Ftype3, Mknoddata3, Nfsstat3, Sattr3
from nfsjudge import Requirement, expect, observe, skip
from nfsjudge.expect import StatusReply
from suites.nfs3.bad_names import reconnect

NOT_A_HANDLE = (
    Nfsstat3.NFS3ERR_BADHANDLE,
    Nfsstat3.NFS3ERR_STALE,
    # A server may not know what is wrong with the handle.
    Nfsstat3.NFS3ERR_IO,
    Nfsstat3.NFS3ERR_SERVERFAULT,
    # An altered handle may refer to another export, which this client may not access.
    Nfsstat3.NFS3ERR_ACCES,
    Nfsstat3.NFS3ERR_PERM,
)
ABSENT: t.Final = b"nfsproof-1b7e4f20-absent"
"""A name that exists in no directory: a call changes nothing even if a damaged handle reaches a directory."""
Call: t.TypeAlias = Callable[[Nfs3, bytes], StatusReply]
ON_A_FILE: t.Final[dict[str, Call]] = {
    "getattr": lambda nfs3, handle: nfs3.getattr(handle),
    "setattr": lambda nfs3, handle: nfs3.setattr(handle, Sattr3(mode=0o600)),
    "access": lambda nfs3, handle: nfs3.access(handle, 0x3F),
    "read": lambda nfs3, handle: nfs3.read(handle, 0, 10),
    "write": lambda nfs3, handle: nfs3.write(handle, 0, b"data"),
    "commit": lambda nfs3, handle: nfs3.commit(handle),
}
IN_A_DIRECTORY: t.Final[dict[str, Call]] = {
    "lookup": lambda nfs3, handle: nfs3.lookup(handle, b"name"),
    "create": lambda nfs3, handle: nfs3.create(handle, b"name", attributes=Sattr3(mode=0o644)),
    "mkdir": lambda nfs3, handle: nfs3.mkdir(handle, b"name", Sattr3(mode=0o755)),
    "symlink": lambda nfs3, handle: nfs3.symlink(handle, b"name", b"text"),
    "mknod": lambda nfs3, handle: nfs3.mknod(
        handle, b"name", Mknoddata3(Ftype3.NF3FIFO, pipe_attributes=Sattr3(mode=0o644))
    ),
    "remove": lambda nfs3, handle: nfs3.remove(handle, b"name"),
    "rmdir": lambda nfs3, handle: nfs3.rmdir(handle, b"name"),
    "rename": lambda nfs3, handle: nfs3.rename(handle, b"name", handle, b"other"),
    "link": lambda nfs3, handle: nfs3.link(handle, handle, b"name"),
    "readdir": lambda nfs3, handle: nfs3.readdir(handle),
    "readdirplus": lambda nfs3, handle: nfs3.readdirplus(handle),
}
ON_ANYTHING: t.Final[dict[str, Call]] = {
    **ON_A_FILE,
    **IN_A_DIRECTORY,
    "readlink": lambda nfs3, handle: nfs3.readlink(handle),
    "fsstat": lambda nfs3, handle: nfs3.fsstat(handle),
    "fsinfo": lambda nfs3, handle: nfs3.fsinfo(handle),
    "pathconf": lambda nfs3, handle: nfs3.pathconf(handle),
}
"""Every procedure except NULL, with the same handle for each handle argument."""
WITHOUT_EFFECT: t.Final[dict[str, Call]] = {
    "read": ON_ANYTHING["read"],
    "lookup": lambda nfs3, handle: nfs3.lookup(handle, ABSENT),
    "rename": lambda nfs3, handle: nfs3.rename(handle, ABSENT, handle, ABSENT + b"-2"),
    **{name: ON_ANYTHING[name] for name in ("fsstat", "fsinfo", "pathconf")},
}
"""Calls that may check a handle in different code: for data, for names, for the file system.

They change nothing, even if the server accepts a damaged handle, perhaps as that of another file.
"""


def try_handle(call: Call, nfs3: Nfs3, handle: bytes) -> StatusReply | None:
    """The reply to a call with a handle of unusual length; None if the server does not decode the arguments."""
    try:
        return call(nfs3, handle)
    except (GarbageArgs, SystemErr):
        reconnect(nfs3)
        return None


def expect_bad_handle(
    replies: Mapping[str, StatusReply | None], because: Requirement, *, right: StatusReply | None = None
) -> None:
    """Expect invalid handles to be refused as such, or accepted: a simple server may accept one of its own form.

    `right` is the reply to the same call with the valid handle that the others were made from; its status is accepted
    too. A reply of None means that the server did not decode the arguments, which is neither a success nor an error
    about the handle.
    """
    __tracebackhide__ = True
    seen: dict[str, list[str]] = {}
    for what, reply in replies.items():
        seen.setdefault("GARBAGE_ARGS" if reply is None else str(reply.status), []).append(what)
    for status, those in seen.items():
        observe(status, ", ".join(those))
    for reply in replies.values():
        if reply is None or reply.status in {Nfsstat3.NFS3_OK, None if right is None else right.status}:
            continue
        expect(reply).refused(*NOT_A_HANDLE, because=because)


LATER = 4
"""Objects created after one was removed: a server that reuses inode numbers does so at once."""


GONE = (Nfsstat3.NFS3ERR_STALE, Nfsstat3.NFS3ERR_NOENT)
"""Many systems answer NOENT for any name in a removed directory, before they check the directory itself."""


def handle_of_removed(nfs3: Nfs3, scratch: Scratch, handle: bytes, name: bytes) -> bytes:
    """Remove a name and return the handle of its object. SKIP if it cannot be removed."""
    status = nfs3.remove(scratch.handle, name).status
    if status != Nfsstat3.NFS3_OK:
        skip(f"{name.decode()} cannot be removed: {status}")
    return handle
