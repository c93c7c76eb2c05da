# SPDX-License-Identifier: MIT
"""What the checks of REMOVE, RMDIR, RENAME and LINK judge alike of names."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

from fixtures.scratch import Scratch
from nfsclient.clients import Nfs3
from nfsclient.errors import GarbageArgs, SystemErr
from nfsclient.rpc.blocking import RpcClient
from nfsjudge import Level, Requirement, expect, observe, skip

R = t.TypeVar("R")

NOENT_IS_MEANT = Requirement(
    rfc="RFC 1813", section="2.6", level=Level.SHOULD, gist="NOENT says that the name does not exist"
)
NLINK_COUNTS = Requirement(
    rfc="RFC 1813",
    section="2.5",
    level=Level.SHOULD,  # a server may have to simulate fields
    gist="nlink is the number of names of a file: a name more, or less, or none is counted so",
)
NO_EMPTY_NAME = Requirement(
    rfc="RFC 1813",
    section="3.2",
    level=Level.SHOULD,
    gist="a filename must not be empty: such a request is refused with ACCES",
)
NO_TRUNC = Requirement(
    rfc="RFC 1813",
    section="3.3.20",
    gist="with no_trunc, a request with a name longer than name_max is refused with NAMETOOLONG",
)
_LONGEST: t.Final = 4096
"""name_max above this is taken for "no limit" and not tried."""


def heard(nfs3: Nfs3, call: Callable[[], R], what: str) -> R | None:
    """The reply to a call with a string that no server has to take; None where the server will not even read it.

    Many look at names and paths while they decode the arguments, so that GARBAGE_ARGS is how they refuse one: which
    error it is is no more than a "should" (RFC 1813 section 3.2).
    """
    try:
        return call()
    except (GarbageArgs, SystemErr) as refusal:
        observe(what, type(refusal).__name__)
        go_on(nfs3)
        return None


def go_on(nfs3: Nfs3) -> None:
    """A new connection: a server may close one after a call that it could not decode."""
    if isinstance(nfs3.rpc, RpcClient):
        nfs3.rpc.reconnect()


def expect_name_refused(reply: t.Any, what: str, *, because: Requirement | None = None) -> None:
    """What was `heard` is no success."""
    __tracebackhide__ = True
    if reply is not None:
        observe(what, expect(reply, because=because).refused())


def too_long_name(nfs3: Nfs3, scratch: Scratch) -> bytes:
    """A name of one byte more than name_max. SKIP where no such name can be tried."""
    name_max = expect(nfs3.pathconf(scratch.handle)).ok().name_max
    if not 1 <= name_max <= _LONGEST:
        skip(f"name_max is {name_max}: no length to try")
    return b"n" * (name_max + 1)
