# SPDX-License-Identifier: MIT
"""Finding objects again after a crash or restart, on a server whose handles may not survive it."""

from __future__ import annotations

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from fixtures.checks.target import TargetView
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Lookup3Res, Nfsstat3
from nfsjudge import show, skip


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


def file_again(target: TargetView, scratch: Nfs3Scratch, handle: bytes, name: bytes) -> bytes:
    """A handle of a file in the scratch directory. SKIP if its name is lost: `recovery/names/survive` judges that."""
    nfs3 = target.client(Nfs3)
    if nfs3.getattr(handle).status == Nfsstat3.NFS3_OK:
        return handle
    reply = nfs3.lookup(directory_again(target, scratch), name)
    if reply.resok is None:
        skip(f"the file {show(name)} did not survive: LOOKUP answers {reply.status}")
    return reply.resok.object
