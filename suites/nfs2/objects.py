# SPDX-License-Identifier: MIT
"""Objects of each kind, and what of their attributes stays as it is."""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Iterable

from fixtures.checks import TargetView
from fixtures.scratch2 import Scratch2
from nfsclient.clients import Nfs2
from nfsclient.protocol.nfs2 import Fattr, Ftype, Nfsstat2, Sattr, Timeval
from nfsjudge import Level, Requirement, expect, skip
from nfsjudge.expect import StatusReply

KINDS: t.Final = ("file", "directory", "symlink")
"""What NFSv2 itself can make."""
NOT_DIRECTORIES: t.Final = ("file", "symlink")
NOT_FILES: t.Final = ("directory", "symlink")
TYPES: t.Final = {"file": Ftype.NFREG, "directory": Ftype.NFDIR, "symlink": Ftype.NFLNK}

STEADY: t.Final = ("type", "mode", "nlink", "uid", "gid", "size", "fsid", "fileid")
"""Fields of fattr that stay as they are while nobody changes the object; `blocks` and times may drift."""
LONG_AGO: t.Final = Timeval(946_684_800)
"""The year 2000: no clock of a server says so by chance."""

OF_DIRECTORIES: t.Final = Requirement(
    rfc="RFC 1094",
    section="2.3.5",
    level=Level.SHOULD,  # the text does not say what these are: some systems add up what is below, by and by
    gist="size and nlink of a directory do not change while nobody changes it, whoever asks",
)


def make(scratch: Scratch2, kind: str, name: str = "object") -> bytes:
    """A new object of a kind; its handle."""
    match kind:
        case "file":
            return scratch.file(name, b"data")
        case "directory":
            return scratch.directory(name, mode=0o711)
        case _:
            return scratch.symlink(name, b"some/where")


def expect_same(
    seen: Fattr, known: Fattr, fields: Iterable[str] = STEADY, *, because: Requirement | None = None
) -> None:
    """Both are attributes of one object, and agree in `fields`."""
    __tracebackhide__ = True
    is_open = {"size", "nlink"} if known.type == Ftype.NFDIR else set[str]()
    for name in sorted(fields, key=is_open.__contains__):
        broken = OF_DIRECTORIES if name in is_open else because
        expect(getattr(seen, name), name, because=broken).equals(getattr(known, name))


def but(*changed: str) -> list[str]:
    """`STEADY` without some fields."""
    return [name for name in STEADY if name not in changed]


def expect_change(reply: StatusReply) -> None:
    """A change of attributes succeeded. SKIP where the user of the run may not make it."""
    __tracebackhide__ = True
    if reply.status in {Nfsstat2.NFSERR_PERM, Nfsstat2.NFSERR_ACCES}:
        skip(f"the user of the run may not: {reply.status}")
    expect(reply).ok()


def make_old(nfs2: Nfs2, scratch: Scratch2, handle: bytes) -> None:
    """Set mtime to `LONG_AGO`, from which to see it move. SKIP where that cannot be done."""
    nfs2.setattr(handle, Sattr(mtime=LONG_AGO))
    if scratch.attributes(handle).mtime != LONG_AGO:
        skip("mtime cannot be set to one of old, from which to see it move")


def stranger_to(nfs2_as: Callable[..., Nfs2], scratch: Scratch2) -> Nfs2:
    """Another user than the owner of the scratch directory. SKIP where the server takes both for the same one."""
    owner = scratch.attributes(scratch.file("owned")).uid
    stranger = nfs2_as(owner + 1000, 4343)
    made = stranger.create(scratch.directory("open", mode=0o777), b"theirs", Sattr(mode=0o644))
    if made.resok is not None and made.resok.attributes.uid == owner:
        skip("the server takes all users for one")
    return stranger


def return_to(target: TargetView, scratch: Scratch2) -> None:
    """Go on after a restart or a crash. SKIP where the whole file system went with the server, as from memory."""
    nfs2, root = target.nfs2(), target.root2
    scratch.move_to(nfs2, root)
    if nfs2.lookup(root, scratch.name).status == Nfsstat2.NFSERR_NOENT:
        skip("nothing of the file system is left: the target keeps it in memory")
