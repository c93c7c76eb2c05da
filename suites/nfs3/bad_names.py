# SPDX-License-Identifier: MIT
"""Names that a server may refuse: calls with them, and expectations of what they return."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from nfsclient.clients import Nfs3
from nfsclient.errors import GarbageArgs, SystemErr
from nfsclient.rpc.blocking import RpcClient
from nfsjudge import Requirement, expect, observe
from nfsjudge.answers import answer_name
from suites.nfs3.limits import name_max_of

R = t.TypeVar("R")


def reply_if_decoded(nfs3: Nfs3, call: Callable[[], R], what: str) -> R | None:
    """The reply to a call with a name or path that a server may refuse; None if it does not decode the arguments.

    Many servers check names and paths while they decode the arguments, and refuse one with GARBAGE_ARGS: the error
    code is only a "should" (RFC 1813 section 3.2).
    """
    try:
        return call()
    except (GarbageArgs, SystemErr) as refusal:
        observe(what, answer_name(refusal))
        reconnect(nfs3)
        return None


def reconnect(nfs3: Nfs3) -> None:
    """Open a new connection: a server may close one after a call that it could not decode."""
    if isinstance(nfs3.rpc, RpcClient):
        nfs3.rpc.reconnect()


def expect_name_refused(reply: t.Any, what: str, *, because: Requirement | None = None) -> None:
    """Expect a failure, where the server decoded the call (see `reply_if_decoded`)."""
    __tracebackhide__ = True
    if reply is not None:
        observe(what, expect(reply, because=because).refused())


def too_long_name(nfs3: Nfs3, scratch: Nfs3Scratch) -> bytes:
    """A name one byte longer than name_max. SKIP if name_max is missing or unlimited."""
    return b"n" * (name_max_of(nfs3, scratch.handle) + 1)
