# SPDX-License-Identifier: MIT
"""What a server may lack: it works, or the server says that it does not support it (RFC 1813 section 1.6).

Checks that need SYMLINK, LINK, MKNOD, EXCLUSIVE or READDIRPLUS do not run on a server without it. An internal error
does not mean that the server has no such procedure: here it is judged, once. SYSTEM_ERR of RPC is defined for errors
such as a lack of memory (RFC 1831 section 8), so it is no such answer either; and no rule forbids it.
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable

import pytest

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from nfsclient.clients import Nfs3
from nfsclient.errors import SystemErr
from nfsclient.protocol.nfs3 import CreateMode3, Nfsstat3
from nfsjudge import expect, observe, proves, should, show, stated, unsupported
from nfsjudge.expect import StatusReply, fail
from suites.nfs3.file_types import FIFO

WORKS_OR_IS_NOT_SUPPORTED = stated(
    "RFC 1813",
    "1.6",
    "a procedure works, or the server answers that it does not support it: an internal error is neither",
)
UNSUPPORTED_IS_NOTSUPP = should(
    "RFC 1813", "1.6", "a server that cannot support a procedure should answer NFS3ERR_NOTSUPP"
)
_ATTEMPTS: t.Final = 2
"""A hard error may be that of one moment."""
_INTERNAL: t.Final = (Nfsstat3.NFS3ERR_IO, Nfsstat3.NFS3ERR_SERVERFAULT)
_VERIFIER: t.Final = b"nfsproof"
Act: t.TypeAlias = Callable[[Nfs3, Nfs3Scratch, bytes], StatusReply]
"""(client, scratch directory, an unused name) -> the reply."""
OPTIONAL: t.Final[dict[str, Act]] = {
    "symlink": lambda nfs3, scratch, name: nfs3.symlink(scratch.handle, name, b"target"),
    "link": lambda nfs3, scratch, name: nfs3.link(scratch.file(name + b"-file"), scratch.handle, name),
    "mknod": lambda nfs3, scratch, name: nfs3.mknod(scratch.handle, name, FIFO),
    "exclusive": lambda nfs3, scratch, name: nfs3.create(
        scratch.handle, name, CreateMode3.EXCLUSIVE, verf=_VERIFIER
    ),
    "readdirplus": lambda nfs3, scratch, _: nfs3.readdirplus(scratch.handle),
}


@pytest.mark.parametrize("procedure", OPTIONAL)
@proves(
    WORKS_OR_IS_NOT_SUPPORTED,
    UNSUPPORTED_IS_NOTSUPP,
    killed_by=("nfs3-optional-is-a-fault", "nfs3-optional-is-a-system-error"),
)
def test_works_or_notsupp(nfs3: Nfs3, scratch: Nfs3Scratch, procedure: str) -> None:
    """A procedure that a server may lack works, or fails with NFS3ERR_NOTSUPP."""
    for number in range(_ATTEMPTS):
        try:
            reply = OPTIONAL[procedure](nfs3, scratch, b"n%d" % number)
        except SystemErr:
            fail("answer", ("NFS3ERR_NOTSUPP",), "SYSTEM_ERR", UNSUPPORTED_IS_NOTSUPP)
        if reply.status == Nfsstat3.NFS3_OK:
            return
        observe(procedure, show(reply.status))
        if reply.status == Nfsstat3.NFS3ERR_BADTYPE and procedure == "mknod":
            unsupported("the server has no FIFOs: MKNOD answers NFS3ERR_BADTYPE")
    is_internal = reply.status in _INTERNAL
    expect(reply, because=WORKS_OR_IS_NOT_SUPPORTED if is_internal else UNSUPPORTED_IS_NOTSUPP).ok()
