# SPDX-License-Identifier: MIT
"""What a server may lack: it works, or the server says that it does not support it.

RFC 1094 has no status for that. Servers answer PROC_UNAVAIL, or EOPNOTSUPP of UNIX (45 or 95). The checks that need
SYMLINK or LINK do not run on a server without it. An error such as NFSERR_IO does not mean that the server has no such
procedure: here it is judged, once, and as a SHOULD. A server without symbolic links on its file system, for which the
RFC has no status, may well take "some sort of hard error" for the nearest one.
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable

import pytest

from fixtures.checks.dialects.nfs2 import Nfs2Scratch
from nfsclient.clients import Nfs2
from nfsclient.errors import SystemErr
from nfsclient.protocol.nfs2 import Nfsstat2, Sattr
from nfsjudge import expect, observe, proves, should, show
from nfsjudge.expect import StatusReply, fail

IO_IS_A_HARD_ERROR = should(  # "some sort of hard error": the text has no status for what a server lacks
    "RFC 1094", "2.3.1", "NFSERR_IO reports a hard error, such as that of a disk: no procedure always ends so"
)
WORKS_OR_IS_UNAVAILABLE = should(  # no text says how a server reports that it lacks a procedure
    "RFC 1094", "2.2", "a procedure works, or the server answers that it does not support it"
)
_ATTEMPTS: t.Final = 2
"""A hard error may be that of one moment."""
Act: t.TypeAlias = Callable[[Nfs2, Nfs2Scratch, bytes], StatusReply]
"""(client, scratch directory, an unused name) -> the reply."""
OPTIONAL: t.Final[dict[str, Act]] = {
    "symlink": lambda nfs2, scratch, name: nfs2.symlink(scratch.handle, name, b"target", Sattr(mode=0o777)),
    "link": lambda nfs2, scratch, name: nfs2.link(scratch.file(name + b"-file"), scratch.handle, name),
}


@pytest.mark.parametrize("procedure", OPTIONAL)
@proves(
    IO_IS_A_HARD_ERROR,
    WORKS_OR_IS_UNAVAILABLE,
    killed_by=("nfs2-optional-is-an-io-error", "nfs2-optional-is-a-system-error"),
)
def test_works_or_unavailable(nfs2: Nfs2, scratch: Nfs2Scratch, procedure: str) -> None:
    """A procedure that a server may lack works, or fails with an error that says so."""
    for number in range(_ATTEMPTS):
        try:
            reply = OPTIONAL[procedure](nfs2, scratch, b"n%d" % number)
        except SystemErr:
            fail("answer", ("success", "PROC_UNAVAIL"), "SYSTEM_ERR", WORKS_OR_IS_UNAVAILABLE)
        if reply.status == Nfsstat2.NFS_OK:
            return
        observe(procedure, show(reply.status))
    is_io = reply.status == Nfsstat2.NFSERR_IO
    expect(reply, because=IO_IS_A_HARD_ERROR if is_io else WORKS_OR_IS_UNAVAILABLE).ok()
