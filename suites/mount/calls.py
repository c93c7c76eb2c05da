# SPDX-License-Identifier: MIT
"""What calls of MOUNT return, for several files of checks: refusals, and entries of DUMP."""

from __future__ import annotations

from collections.abc import Callable

from nfsclient.clients import Mount
from nfsclient.errors import RpcDenied
from nfsclient.protocol.mount import Mnt1Res, Mnt3Res
from nfsjudge import observe

Names = tuple[bytes, bytes]
"""What the fixture `inner` returns: the names of two nested directories."""


def refusal_of(act: Callable[[], Mnt1Res | Mnt3Res | None]) -> str:
    """The error of RPC or the status of MNT if the call is refused, else an empty string."""
    try:
        reply = act()
    except RpcDenied as error:
        return str(error)
    return str(reply.status) if reply is not None and reply.resok is None else ""


def count_entries(mount_client: Mount, path: bytes) -> int:
    """The number of entries that DUMP lists for a directory."""
    entries = mount_client.dump()
    observe("entries of DUMP", len(entries))
    return sum(1 for entry in entries if entry.ml_directory.rstrip(b"/") == path.rstrip(b"/"))
