# SPDX-License-Identifier: MIT
"""Tables of the procedures that take names, for checks of a rule that applies to all of them."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

from fixtures.scratch import Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import CreateMode3, Ftype3, Mknoddata3, Sattr3
from nfsjudge import skip
from suites.nfs3.listing import page, read_all

FIFO: t.Final = Mknoddata3(Ftype3.NF3FIFO, pipe_attributes=Sattr3(mode=0o644))
MODE: t.Final = Sattr3(mode=0o755)


class Place:
    """A directory to try names in, and a second one with the file that LINK and RENAME use as their source."""

    def __init__(self, scratch: Scratch) -> None:
        self.scratch = scratch
        self.here = scratch.directory("here", mode=0o777)
        self.elsewhere = scratch.directory("elsewhere", mode=0o777)
        self.source = scratch.file("source", b"source", directory=self.elsewhere)

    def put(self, procedure: str, name: bytes, directory: bytes | None = None) -> bytes:
        """Create the object that a procedure of `TAKING` needs: a directory for RMDIR, else a file."""
        where = directory or self.here
        if procedure == "rmdir":
            return self.scratch.directory(name, directory=where)
        return self.scratch.file(name, b"precious", directory=where)

    def names(self) -> list[bytes]:
        """The names in `here`, sorted, without ``.`` and ``..``."""
        return sorted(self.scratch.names(self.here))


Call: t.TypeAlias = Callable[[Nfs3, Place, bytes, bytes], t.Any]
"""(client, place, directory, name) -> reply."""
MAKING: t.Final[dict[str, Call]] = {
    "create": lambda nfs3, _place, directory, name: nfs3.create(directory, name, CreateMode3.GUARDED, MODE),
    "mkdir": lambda nfs3, _place, directory, name: nfs3.mkdir(directory, name, MODE),
    "symlink": lambda nfs3, _place, directory, name: nfs3.symlink(directory, name, b"target"),
    "mknod": lambda nfs3, _place, directory, name: nfs3.mknod(directory, name, FIFO),
    "link": lambda nfs3, place, directory, name: nfs3.link(place.source, directory, name),
    "rename_to": lambda nfs3, place, directory, name: nfs3.rename(
        place.elsewhere, b"source", directory, name
    ),
}
"""Calls that create a name in a directory."""
TAKING: t.Final[dict[str, Call]] = {
    "lookup": lambda nfs3, _place, directory, name: nfs3.lookup(directory, name),
    "remove": lambda nfs3, _place, directory, name: nfs3.remove(directory, name),
    "rmdir": lambda nfs3, _place, directory, name: nfs3.rmdir(directory, name),
    "rename_from": lambda nfs3, place, directory, name: nfs3.rename(
        directory, name, place.elsewhere, b"taken"
    ),
}
"""Calls on an existing name, made by `Place.put`."""
CALLS: t.Final[dict[str, Call]] = {**MAKING, **TAKING}


def raw_names(nfs3: Nfs3, directory: bytes) -> list[bytes]:
    """All names in a directory, with ``.`` and ``..`` as often as they are listed. SKIP if it cannot be read."""
    listing = read_all(page, nfs3, directory)
    if not listing.ended:
        skip("the directory cannot be read to its end")
    return sorted(entry.name for entry in listing.entries)
