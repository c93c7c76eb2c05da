# SPDX-License-Identifier: MIT
"""The procedures that put a name into a directory, one as good as the other."""

from __future__ import annotations

import typing as t

from fixtures.scratch2 import Scratch2
from nfsclient.clients import Nfs2
from nfsclient.protocol.nfs2 import Diropres, Nfsstat2, Sattr, StatRes
from nfsjudge import unsupported

ENTERING: t.Final = ("CREATE", "MKDIR", "SYMLINK", "LINK", "RENAME")
"""By name; see `enter`."""
NEW: t.Final = ("MKDIR", "SYMLINK", "LINK")
"""Those that do not take the place of what has the name, and do not take it either."""
SOURCE: t.Final = b"source"


class Entrance(t.NamedTuple):
    """A directory, and a file in another one for LINK and RENAME to work with."""

    nfs2: Nfs2
    where: bytes
    elsewhere: bytes
    file: bytes

    def enter(self, how: str, name: bytes, where: bytes | None = None) -> Diropres | StatRes:
        """Put a name into the directory, or into `where`, by the procedure `how`."""
        nfs2, place = self.nfs2, where or self.where
        match how:
            case "CREATE":
                return nfs2.create(place, name, Sattr(mode=0o644))
            case "MKDIR":
                return nfs2.mkdir(place, name, Sattr(mode=0o755))
            case "SYMLINK":
                return nfs2.symlink(place, name, b"text", Sattr(mode=0o777))
            case "LINK":
                return nfs2.link(self.file, place, name)
            case _:
                return nfs2.rename(self.elsewhere, SOURCE, place, name)


def need_procedure(place: Entrance, how: str) -> None:
    """End the check as UNSUPPORTED unless the procedure works at all: some servers have no links, and say PERM."""
    reply = place.enter(how, b"tried")
    if reply.status != Nfsstat2.NFS_OK:
        unsupported(f"the server has no {how}: {reply.status}")


def entrance(nfs2: Nfs2, scratch: Scratch2) -> Entrance:
    """Two new directories, and a file in the second."""
    elsewhere = scratch.directory("elsewhere")
    file = scratch.file(SOURCE, b"data", directory=elsewhere)
    return Entrance(nfs2, scratch.directory("where"), elsewhere, file)
