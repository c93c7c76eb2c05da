# SPDX-License-Identifier: MIT
"""Objects of every type, for checks with the type as a parameter."""

from __future__ import annotations

import typing as t

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from fixtures.checks.scratch import as_name
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Devicedata3, Ftype3, Mknoddata3, Nfsstat3, Sattr3, Specdata3
from nfsjudge import skip, unsupported

SPECIAL: t.Final = ("fifo", "socket", "block", "character")
"""Types other than regular files, directories and symbolic links."""
NOT_REGULAR: t.Final = ("directory", "symlink", *SPECIAL)
ALL: t.Final = ("regular", *NOT_REGULAR)
HAS_NO_DATA: t.Final = (*SPECIAL, "symlink")
SAMPLE: t.Final = ("directory", "symlink", "fifo", "socket")
"""Types other than regular files, where devices would add nothing: servers treat all special files alike."""
KINDS: t.Final[dict[str, Ftype3]] = {
    "regular": Ftype3.NF3REG,
    "directory": Ftype3.NF3DIR,
    "symlink": Ftype3.NF3LNK,
    "fifo": Ftype3.NF3FIFO,
    "socket": Ftype3.NF3SOCK,
    "block": Ftype3.NF3BLK,
    "character": Ftype3.NF3CHR,
}
"""All types, with their names in RFC 1813 section 2.5."""
DEVICE: t.Final = Specdata3(240, 7)
"""The numbers of the devices that `make` creates."""
FIFO: t.Final = Mknoddata3(Ftype3.NF3FIFO, pipe_attributes=Sattr3(mode=0o644))
SOCKET: t.Final = Mknoddata3(Ftype3.NF3SOCK, pipe_attributes=Sattr3(mode=0o644))
NODES: t.Final = {
    "fifo": FIFO,
    "socket": SOCKET,
    "block": Mknoddata3(Ftype3.NF3BLK, device=Devicedata3(Sattr3(mode=0o644), DEVICE)),
    "character": Mknoddata3(Ftype3.NF3CHR, device=Devicedata3(Sattr3(mode=0o644), DEVICE)),
}
"""The arguments of MKNOD for each type in `SPECIAL`."""


def make(
    nfs3: Nfs3,
    scratch: Nfs3Scratch,
    kind: str,
    name: str | bytes = "object",
    *,
    directory: bytes | None = None,
    data: bytes = b"target",
    is_trusted: bool = False,
) -> bytes:
    """Create an object of one of the types in `ALL` and return its handle; `data` is the data of a file or link.

    UNSUPPORTED if the server has no such type. SKIP if the user of the run may not create one: most servers let
    only privileged users create devices. If MKNOD creates an object of another type, the result is UNSUPPORTED too,
    since the checks of MKNOD report that; `is_trusted` leaves this test out, for checks of GETATTR itself.
    """
    if kind == "regular":
        return scratch.file(name, data, directory=directory)
    if kind == "directory":
        return scratch.directory(name, directory=directory)
    if kind == "symlink":
        return scratch.symlink(name, data, directory=directory)
    where = directory or scratch.handle
    reply = nfs3.mknod(where, as_name(name), NODES[kind])
    if reply.status in {Nfsstat3.NFS3ERR_NOTSUPP, Nfsstat3.NFS3ERR_BADTYPE}:
        unsupported(f"MKNOD of a {kind} answers {reply.status}", reply)
    if reply.resok is None:
        skip(f"no {kind} for this check: MKNOD answers {reply.status}", reply)
    handle = reply.resok.obj
    if handle is None:
        found = nfs3.lookup(where, as_name(name))
        if found.resok is None:
            skip(f"LOOKUP of the new {kind} answers {found.status}", found)
        handle = found.resok.object
    if not is_trusted:
        _need_type(nfs3, handle, kind)
    return handle


def _need_type(nfs3: Nfs3, handle: bytes, kind: str) -> None:
    """UNSUPPORTED unless GETATTR reports the type that MKNOD was to create."""
    reply = nfs3.getattr(handle)
    if reply.resok is None:
        unsupported(f"MKNOD of a {kind} answers NFS3_OK, and GETATTR of its handle {reply.status}", reply)
    if reply.resok.obj_attributes.type is not KINDS[kind]:
        unsupported(f"MKNOD of a {kind} creates a {reply.resok.obj_attributes.type}")
