# SPDX-License-Identifier: MIT
"""What calls of MOUNT return, for several files of checks: refusals, and entries of DUMP."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

import pytest

from fixtures.checks.mounting import Mounting
from nfsclient.errors import AuthFailed, RpcDenied
from nfsclient.protocol.mount import Mnt1Res, Mnt3Res
from nfsclient.rpc.messages import AuthStat
from nfsjudge import Requirement, expect_that, observe, skip
from nfsjudge.answers import describe_error

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
        return describe_error(error)
    return str(reply.status) if reply is not None and reply.resok is None else ""


def path_to_mount(mount: Mounting, request: pytest.FixtureRequest) -> bytes:
    """The export. If UMNTALL has left a mount of it in the list, a new directory below it, which is in no list."""
    if not mount.mounts(mount.export):
        return mount.export
    inner: Names = request.getfixturevalue("inner")
    return mount.below(*inner)


def need_listed(mount: Mounting, path: bytes, before: list[bytes]) -> None:
    """Mount a path, and end the check as SKIP unless DUMP then lists more than `before`."""
    listed = mount.list_mount(path, before)
    observe("entries of DUMP", len(mount.mounts(path)))
    if not listed:
        skip("DUMP does not list the mount; another check judges that")


def expect_refusal(reply: Mnt1Res | Mnt3Res, what: str, *, because: Requirement | None = None) -> None:
    """Expect a status other than OK."""
    __tracebackhide__ = True
    field = "status" if isinstance(reply, Mnt1Res) else "fhs_status"
    expect_that(
        reply.status != 0, "an error", "success", f"MNT of {what}", reply=reply, field=field, because=because
    )
