# SPDX-License-Identifier: MIT
"""Objects of each type and their attributes, other users, restarts, and ids of parameters."""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Iterable

from fixtures.checks.dialects.nfs2 import Nfs2Scratch
from fixtures.checks.target import TargetView
from nfsclient.clients import Nfs2
from nfsclient.errors import XdrError
from nfsclient.protocol.nfs2 import Diropres, Fattr, Ftype, Nfsstat2, Sattr, Timeval
from nfsclient.rpc.blocking import RpcClient
from nfsjudge import Requirement, expect, expect_unchanged, skip
from nfsjudge.expect import StatusReply
from suites.gaps import Far, need_gaps
from suites.nfs2.clauses import DIRECTORY_SIZE_IS_STEADY

KINDS: t.Final = ("file", "directory", "symlink")
"""The types of objects that NFSv2 can make."""
NOT_DIRECTORIES: t.Final = ("file", "symlink")
NOT_FILES: t.Final = ("directory", "symlink")
TYPES: t.Final = {"file": Ftype.NFREG, "directory": Ftype.NFDIR, "symlink": Ftype.NFLNK}
STEADY: t.Final = ("type", "mode", "nlink", "uid", "gid", "size", "fsid", "fileid")
"""Fields of fattr that stay the same while nobody changes the object; `blocks` and times may drift."""
LONG_AGO: t.Final = Timeval(946_684_800)
"""The year 2000: no server has this time by chance."""
Connect: t.TypeAlias = Callable[..., RpcClient]
"""The fixture `rpc_connect`."""


def need_far(nfs2: Nfs2, scratch: Nfs2Scratch, far: int, *, by_setattr: bool = False) -> Far:
    """SKIP where the gap of a file of `far` bytes would be filled, and that takes too long."""
    file = scratch.file("gap", b"x")

    def grow(offset: int) -> int:
        if by_setattr:
            return nfs2.setattr(file, Sattr(size=offset + 1)).status
        return nfs2.write(file, offset, b"x").status

    def used() -> int | None:
        seen = scratch.attributes(file)  # the unit of `blocks` is not defined: 512 bytes or a block
        return seen.blocks * max(512, seen.blocksize)

    return need_gaps(nfs2.rpc, far, grow, used)


def make(scratch: Nfs2Scratch, kind: str, name: str = "object") -> bytes:
    """Make an object of the given type and return its handle."""
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
    """Expect that two fattr of one object agree in `fields`."""
    __tracebackhide__ = True
    loose = {"size", "nlink"} if known.type == Ftype.NFDIR else set[str]()
    names = [*fields]
    expect_unchanged(known, seen, [name for name in names if name not in loose], because=because)
    expect_unchanged(known, seen, [name for name in names if name in loose], because=DIRECTORY_SIZE_IS_STEADY)


def steady_except(*changed: str) -> list[str]:
    """Return the fields of `STEADY` without some of them."""
    return [name for name in STEADY if name not in changed]


def expect_change(reply: StatusReply) -> None:
    """Expect that SETATTR succeeded. SKIP if the user of the run has no permission."""
    __tracebackhide__ = True
    if reply.status in {Nfsstat2.NFSERR_PERM, Nfsstat2.NFSERR_ACCES}:
        skip(f"the user of the run may not change this attribute: SETATTR answers {reply.status}", reply)
    expect(reply).ok()


def set_old_mtime(nfs2: Nfs2, scratch: Nfs2Scratch, handle: bytes) -> None:
    """Set mtime to `LONG_AGO`, so that a later change shows. SKIP if the server does not set it."""
    nfs2.setattr(handle, Sattr(mtime=LONG_AGO))
    if scratch.attributes(handle).mtime != LONG_AGO:
        skip("the server does not set mtime to the year 2000, so a later change would not show")


def other_user(as_user: Callable[..., Nfs2], scratch: Nfs2Scratch) -> Nfs2:
    """Return a client of a user who does not own the scratch directory. SKIP if the server maps both to one user."""
    owner = scratch.attributes(scratch.file("owned")).uid
    other = as_user(owner + 1000, 4343)
    made = other.create(scratch.directory("open", mode=0o777), b"theirs", Sattr(mode=0o644))
    if made.resok is not None and made.resok.attributes.uid == owner:
        skip("the server maps both users to one")
    return other


def reconnect(target: TargetView, scratch: Nfs2Scratch) -> None:
    """Connect again after a restart or crash. SKIP if the directory is lost: `recovery/nfs2/directory` judges that."""
    found = look_for_directory(target, scratch)
    if found.resok is None:
        skip(f"the directory of the check did not survive: LOOKUP answers {found.status}", found)
    if target.client(Nfs2).getattr(scratch.handle).resok is None:
        scratch.handle = found.resok.file  # handles of some servers do not survive a restart


def look_for_directory(target: TargetView, scratch: Nfs2Scratch) -> Diropres:
    """Connect again after a restart or a crash, and return the reply to LOOKUP of the scratch directory."""
    nfs2, root = target.client(Nfs2), target.root(Nfs2)
    scratch.move_to(nfs2, root)
    return nfs2.lookup(root, scratch.name)


def size_id(number: int) -> str:
    """Return the parameter id of a number: a large one as a difference from a multiple of 2^30, like `4g-1`."""
    if number < 2**30:
        return str(number)
    gibibytes = round(number / 2**30)
    rest = number - gibibytes * 2**30
    return f"{gibibytes}g{rest:+d}" if rest else f"{gibibytes}g"


def mode_id(mode: int) -> str:
    """Return the parameter id of permission bits: four octal digits."""
    return f"{mode:04o}"


def surplus_results(act: Callable[[], None]) -> str:
    """Return what a reply has instead of void results, or an empty string."""
    try:
        act()
    except XdrError as error:
        return f"results that are not void ({error.detail})"
    return ""
