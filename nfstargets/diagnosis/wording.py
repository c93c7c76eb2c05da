# SPDX-License-Identifier: MIT
"""Errors of the library in the words of a diagnosis."""

from __future__ import annotations

from nfsclient.discovery import MountRefused, PathNotFound
from nfsclient.errors import AuthFailed, ConnectFailed, ConnectionLost, MountFailed, RpcTimeout
from nfsclient.paths import shown


def why(error: BaseException) -> str:
    """What happened, in few words, for people who do not use the library."""
    if isinstance(error, MountFailed):
        return _why_not_mounted(error)
    match error:
        case ConnectFailed():
            return error.cause.partition("] ")[2] or error.cause  # without "[Errno 111] "
        case ConnectionLost():
            return f"the connection ended: {error.cause}"
        case RpcTimeout():
            return f"no answer within {error.seconds:.1f} s"
        case AuthFailed():
            return str(error).partition(";")[0]
        case _:
            return str(error)


def _why_not_mounted(error: MountFailed) -> str:
    if isinstance(error, MountRefused):
        if error.__cause__ is not None:
            return why(error.__cause__)
        return ", ".join(f"{shown(path)}: {status}" for path, status in error.refusals)
    seen = error.detail.rpartition("; ")[0] or error.detail
    return seen if isinstance(error, PathNotFound) else seen.partition(", saw ")[2] or seen
