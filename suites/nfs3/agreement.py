# SPDX-License-Identifier: MIT
"""Whether the attributes in a reply agree with those that GETATTR gave."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import Fattr3
from nfsjudge import expect
from nfsjudge.expect import StatusReply
from nfsjudge.requirement import Requirement

STEADY: t.Final = ("type", "mode", "nlink", "uid", "gid", "size", "fsid", "fileid")
"""Fields of fattr3 that stay as they are while nobody changes the object. `used` and the times may drift.

Neither is `rdev` among them: for all but devices it may carry whatever the server likes (RFC 1813 section 2.5).
"""


def expect_same_object(
    reply: StatusReply, path: str, known: Fattr3, *, because: Requirement | None = None
) -> None:
    """The fattr3 at `path` of a reply agrees with what GETATTR said, in every field that cannot drift."""
    __tracebackhide__ = True
    for name in STEADY:
        expect(reply, because=because).field(f"{path}.{name}").equals(getattr(known, name))


def expect_before(
    reply: StatusReply, path: str, known: Fattr3, *, because: Requirement | None = None
) -> None:
    """The wcc_attr at `path` of a reply is what GETATTR said before, of an object that was left alone since."""
    __tracebackhide__ = True
    for name in ("size", "mtime", "ctime"):
        expect(reply, because=because).field(f"{path}.{name}").equals(getattr(known, name))
