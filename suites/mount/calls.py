# SPDX-License-Identifier: MIT
"""What calls of MOUNT return, for several files of checks: refusals, and entries of DUMP."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

from nfsclient.clients import Mount
from nfsclient.errors import AuthFailed, RpcDenied
from nfsclient.protocol.mount import Mnt1Res, Mnt3Res
from nfsclient.rpc.messages import AuthStat
from nfsjudge import Requirement, expect_that, observe

Names = tuple[bytes, bytes]
"""What the fixture `inner` returns: the names of two nested directories."""
NO_DIRECTORY: t.Final = "an error or another type"
"""What GETATTR answers to a handle that is not that of a directory."""


def refusal_of(act: Callable[[], Mnt1Res | Mnt3Res | None]) -> str:
    """The error of RPC or the status of MNT if the call is refused, else an empty string."""
    try:
        reply = act()
    except AuthFailed as error:
        return f"AUTH_ERROR ({AuthStat(error.auth_stat)})"
    except RpcDenied as error:
        return str(error)
    return str(reply.status) if reply is not None and reply.resok is None else ""


def count_entries(mount3: Mount, path: bytes) -> int:
    """The number of entries that DUMP lists for a directory."""
    entries = mount3.dump()
    observe("entries of DUMP", len(entries))
    return sum(1 for entry in entries if entry.ml_directory.rstrip(b"/") == path.rstrip(b"/"))


def expect_refusal(reply: Mnt1Res | Mnt3Res, what: str, *, because: Requirement | None = None) -> None:
    """Expect a status other than OK."""
    __tracebackhide__ = True
    field = "status" if isinstance(reply, Mnt1Res) else "fhs_status"
    expect_that(
        reply.status != 0, "an error", "success", f"MNT of {what}", reply=reply, field=field, because=because
    )
