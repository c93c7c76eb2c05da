# SPDX-License-Identifier: MIT
"""Names that a server may refuse: calls with them, and expectations of what they return."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from fixtures.checks.wire import GARBAGE_ARGS
from nfsclient.clients import Nfs3
from nfsclient.errors import GarbageArgs, SystemErr
from nfsclient.rpc.blocking import RpcClient
from nfsjudge import Requirement, expect, expect_that, observe
from nfsjudge.answers import answer_name
from suites.nfs3.clauses import NAMES_RETURN_A_STATUS
from suites.nfs3.limits import name_max_of

R = t.TypeVar("R")


class BelowNfs(t.NamedTuple):
    """A refusal by RPC in place of a reply."""

    answer: str
    """The name of the RPC error."""


def reply_if_decoded(nfs3: Nfs3, call: Callable[[], R], what: str) -> R | BelowNfs:
    """The reply to a call with a name or path that a server may refuse, or the RPC error that came instead.

    Many servers check names and paths while they decode the arguments, and refuse one with GARBAGE_ARGS. The names are
    of type filename3, which has no limits, so they do decode: `expect_name_refused` judges that.
    """
    try:
        return call()
    except (GarbageArgs, SystemErr) as refusal:
        answer = answer_name(refusal)
        observe(what, answer)
        reconnect(nfs3)
        return BelowNfs(answer)


def reconnect(nfs3: Nfs3) -> None:
    """Open a new connection: a server may close one after a call that it could not decode."""
    if isinstance(nfs3.rpc, RpcClient):
        nfs3.rpc.reconnect()


def expect_name_refused(reply: t.Any, what: str, *, because: Requirement | None = None) -> None:
    """Expect a failure of NFS (see `reply_if_decoded`)."""
    __tracebackhide__ = True
    expect_status(reply, what)
    if not isinstance(reply, BelowNfs):
        observe(what, expect(reply, because=because).refused())


def expect_status(reply: t.Any, what: str) -> None:
    """Expect that the arguments were decoded: a status of NFS, or SYSTEM_ERR, which comes of missing procedures too."""
    __tracebackhide__ = True
    below = reply.answer if isinstance(reply, BelowNfs) else ""
    is_decoded = below != GARBAGE_ARGS
    expect_that(is_decoded, "a status of NFS", below, f"answer to {what}", because=NAMES_RETURN_A_STATUS)


def too_long_name(nfs3: Nfs3, scratch: Nfs3Scratch) -> bytes:
    """A name one byte longer than name_max. SKIP if name_max is missing or unlimited."""
    return b"n" * (name_max_of(nfs3, scratch.handle) + 1)
