# SPDX-License-Identifier: MIT
"""Users without permission, and the errors that they get."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import Nfsstat3
from nfsjudge import Level, Requirement, expect, observe
from nfsjudge.expect import StatusReply
from suites.nfs3.clauses import DENIES_WITHOUT_PERMISSION

RETURNS_ACCES_OR_PERM = Requirement(
    rfc="RFC 1813",
    section="2.6",
    level=Level.SHOULD,
    gist="NFS3ERR_ACCES or NFS3ERR_PERM reports that the caller lacks permission",
)
DENIED_USER: t.Final = (4243, 4243)


STRANGER = (4242, 4242)
NO_PERMISSION = (Nfsstat3.NFS3ERR_ACCES, Nfsstat3.NFS3ERR_PERM)
"""Servers use either."""


def expect_denied(reply: StatusReply, what: str) -> None:
    """The call was refused, with an error for lack of permission."""
    __tracebackhide__ = True
    observe(what, reply.status)
    expect(reply, because=DENIES_WITHOUT_PERMISSION).refused(*NO_PERMISSION, because=RETURNS_ACCES_OR_PERM)


FEW = ("create", "link", "rename_to", "remove")
"""Stand for all procedures where a server decides in one place: one creates, one removes, two have two handles."""
