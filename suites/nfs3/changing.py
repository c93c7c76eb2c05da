# SPDX-License-Identifier: MIT
"""Tables of calls that change a directory, and of calls that fail to, for the checks of wcc_data."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

from fixtures.scratch import Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import CreateMode3, Ftype3, Mknoddata3, Nfsstat3, Sattr3
from nfsjudge import expect, skip, unsupported


class Change(t.NamedTuple):
    """A call that changes the scratch directory, and the field of its reply that has the wcc_data."""

    act: Callable[[Nfs3, Scratch], t.Any]
    wcc: str = "dir_wcc"


def _rename_in(nfs3: Nfs3, scratch: Scratch) -> t.Any:
    found = expect(nfs3.lookup(scratch.handle, b"directory")).ok()
    return nfs3.rename(found.object, b"inside", scratch.handle, b"new")


def _rename_out(nfs3: Nfs3, scratch: Scratch) -> t.Any:
    found = expect(nfs3.lookup(scratch.handle, b"directory")).ok()
    return nfs3.rename(scratch.handle, b"file", found.object, b"new")


def _link(nfs3: Nfs3, scratch: Scratch) -> t.Any:
    found = expect(nfs3.lookup(scratch.handle, b"file")).ok()
    return nfs3.link(found.object, scratch.handle, b"new")


def _link_over(nfs3: Nfs3, scratch: Scratch) -> t.Any:
    found = expect(nfs3.lookup(scratch.handle, b"file")).ok()
    return nfs3.link(found.object, scratch.handle, b"empty")


_FIFO: t.Final = Mknoddata3(Ftype3.NF3FIFO, pipe_attributes=Sattr3(mode=0o644))
CHANGES: t.Final[dict[str, Change]] = {
    "create": Change(
        lambda nfs3, scratch: nfs3.create(scratch.handle, b"new", CreateMode3.GUARDED, Sattr3(mode=0o644))
    ),
    "mkdir": Change(lambda nfs3, scratch: nfs3.mkdir(scratch.handle, b"new", Sattr3(mode=0o755))),
    "symlink": Change(lambda nfs3, scratch: nfs3.symlink(scratch.handle, b"new", b"target")),
    "mknod": Change(lambda nfs3, scratch: nfs3.mknod(scratch.handle, b"new", _FIFO)),
    "remove": Change(lambda nfs3, scratch: nfs3.remove(scratch.handle, b"file")),
    "rmdir": Change(lambda nfs3, scratch: nfs3.rmdir(scratch.handle, b"empty")),
    "rename_from": Change(_rename_out, "fromdir_wcc"),
    "rename_to": Change(_rename_in, "todir_wcc"),
    "link": Change(_link, "linkdir_wcc"),
}
REFUSED: t.Final[dict[str, Change]] = {
    "create": Change(
        lambda nfs3, scratch: nfs3.create(scratch.handle, b"file", CreateMode3.GUARDED, Sattr3(mode=0o644))
    ),
    "mkdir": Change(lambda nfs3, scratch: nfs3.mkdir(scratch.handle, b"file", Sattr3(mode=0o755))),
    "remove": Change(lambda nfs3, scratch: nfs3.remove(scratch.handle, b"nobody-made-this")),
    "rename_from": Change(
        lambda nfs3, scratch: nfs3.rename(scratch.handle, b"nobody-made-this", scratch.handle, b"new"),
        "fromdir_wcc",
    ),
    "rename_to": Change(
        lambda nfs3, scratch: nfs3.rename(scratch.handle, b"nobody-made-this", scratch.handle, b"new"),
        "todir_wcc",
    ),
    "symlink": Change(lambda nfs3, scratch: nfs3.symlink(scratch.handle, b"file", b"target")),
    "mknod": Change(lambda nfs3, scratch: nfs3.mknod(scratch.handle, b"file", _FIFO)),
    "rmdir": Change(lambda nfs3, scratch: nfs3.rmdir(scratch.handle, b"nobody-made-this")),
    "link": Change(_link_over, "linkdir_wcc"),
}
"""Calls that cannot succeed."""


def furnish(scratch: Scratch) -> Scratch:
    """Create the objects that the changes need in the scratch directory."""
    scratch.file("file", b"data")
    scratch.file("inside", directory=scratch.directory("directory"))
    scratch.directory("empty")
    return scratch


def wcc_of(reply: t.Any, path: str) -> t.Any:
    """The wcc_data of a successful change."""
    if reply.status == Nfsstat3.NFS3ERR_NOTSUPP:
        unsupported("the server does not support this procedure")
    if reply.resok is None:
        skip(f"the change was refused: {reply.status}")
    return getattr(reply.resok, path)
