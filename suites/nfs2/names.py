# SPDX-License-Identifier: MIT
"""Names that CREATE, MKDIR, SYMLINK, LINK and RENAME add: the directories to try them in, and unusual ones."""

from __future__ import annotations

import typing as t

from fixtures.checks.dialects.nfs2 import Nfs2Scratch
from nfsclient.clients import Nfs2
from nfsclient.protocol.nfs2 import MAXNAMLEN, Nfsstat2
from nfsjudge import expect, expect_names, unsupported
from nfsjudge.expect import StatusReply
from suites.catalogue import Operands
from suites.nfs2 import oversized
from suites.nfs2.calls import CALLS
from suites.nfs2.clauses import NAME_IS_KEPT_EXACTLY

ADDING: t.Final = ("CREATE", "MKDIR", "SYMLINK", "LINK", "RENAME")
"""Names of the procedures that `Directories.add` can call."""
ADDING_NEW: t.Final = ("MKDIR", "SYMLINK", "LINK")
"""Procedures that need an unused name. CREATE may open an existing file, RENAME may replace it."""
UNUSUAL: t.Final = {
    "space": b"sp ace",
    "utf8": "\u65e5\u672c".encode(),
    "not-utf8": b"\xff\xfe",
    "backslash": b"back\\slash",
    "dash": b"-dash",
    "newline": b"new\nline",
    "dots": b"...",
    "longest": b"-" * MAXNAMLEN,
}
_SOURCE: t.Final = b"source"


class Directories(t.NamedTuple):
    """An empty directory, and another one with a file that LINK and RENAME can use."""

    nfs2: Nfs2
    empty: bytes
    other: bytes
    file: bytes

    def add(self, how: str, name: bytes, where: bytes | None = None) -> StatusReply:
        """Add a name to the empty directory, or to `where`, with the procedure `how`."""
        directory = where or self.empty
        if how in {"LINK", "RENAME"}:
            operands = Operands(self.file, self.other, _SOURCE, directory, name)
        else:
            operands = Operands(directory=directory, name=name)
        reply: StatusReply = CALLS[how.lower()].make(self.nfs2, operands)
        return reply


def need_procedure(directories: Directories, how: str) -> None:
    """End the check as UNSUPPORTED unless the procedure works: some servers have no links and answer PERM."""
    reply = directories.add(how, b"tried")
    if reply.status != Nfsstat2.NFS_OK:
        unsupported(f"the server does not support {how}: it answers {reply.status}", reply)


def make_directories(nfs2: Nfs2, scratch: Nfs2Scratch) -> Directories:
    """Make two directories, the second with a file in it."""
    other = scratch.directory("elsewhere")
    file = scratch.file(_SOURCE, b"data", directory=other)
    return Directories(nfs2, scratch.directory("where"), other, file)


def expect_exact_name(second_client: Nfs2, scratch: Nfs2Scratch, how: str, name: bytes) -> None:
    """Expect the exact name after a success, and no name after a refusal."""
    __tracebackhide__ = True
    directories = make_directories(second_client, scratch)
    # A server may refuse the name as garbage: an XDR string is ASCII.
    reply = oversized.tolerate(lambda: directories.add(how, name))
    if reply is None:
        return
    found = scratch.names(directories.empty)
    if reply.status != Nfsstat2.NFS_OK:
        expect_names(found, [], f"names in the directory after a refused {how}")
        return
    expect(second_client.lookup(directories.empty, name)).ok()
    expect_names(found, [name], f"names in the directory after {how}", because=NAME_IS_KEPT_EXACTLY)
