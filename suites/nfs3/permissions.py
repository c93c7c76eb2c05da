# SPDX-License-Identifier: MIT
"""A user without permission, and the errors that this user gets."""

from __future__ import annotations

import typing as t

from nfsclient.clients import Nfs3
from nfsjudge import expect, observe, should
from nfsjudge.expect import StatusReply
from suites.nfs3.clauses import DENIES_WITHOUT_PERMISSION
from suites.nfs3.statuses import NO_PERMISSION

RETURNS_ACCES_OR_PERM = should(
    "RFC 1813", "2.6", "NFS3ERR_ACCES or NFS3ERR_PERM reports that the caller lacks permission"
)
STRANGER: t.Final = (4242, 4242)
"""uid and gid of a user who owns nothing that a check creates."""
GROUP: t.Final = 4343
"""A group that the stranger may be made a member of."""
ONE_OF_EACH: t.Final = ("create", "link", "rename_to", "remove")
"""Samples of all procedures, for servers that decide in one place: one creates, one removes, two have two handles."""


def access_of(nfs3: Nfs3, handle: bytes, mask: int) -> int:
    """Those of the permissions in `mask` that ACCESS grants the user of this client. Ends the check if ACCESS fails."""
    __tracebackhide__ = True
    return expect(nfs3.access(handle, mask)).ok().access & mask


def expect_denied(reply: StatusReply, what: str) -> None:
    """The call was refused, with an error for lack of permission."""
    __tracebackhide__ = True
    observe(what, reply.status)
    expect(reply, because=DENIES_WITHOUT_PERMISSION).refused(*NO_PERMISSION, because=RETURNS_ACCES_OR_PERM)
