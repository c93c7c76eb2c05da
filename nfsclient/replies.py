# SPDX-License-Identifier: MIT
"""From a reply with a status to its result or an exception."""

from __future__ import annotations

import typing as t

from nfsclient.errors import NfsStatusError
from nfsclient.protocol.mount import MOUNT3
from nfsclient.protocol.nfs3 import NFS3, Nfsstat3
from nfsclient.xdr import XdrEnum

T_co = t.TypeVar("T_co", covariant=True)


class NotFound(NfsStatusError, FileNotFoundError):
    """NOENT: no such name."""


class AlreadyExists(NfsStatusError, FileExistsError):
    """EXIST: the name is taken."""


class NotPermitted(NfsStatusError, PermissionError):
    """ACCES or PERM: the caller may not do that."""


class NotADirectory(NfsStatusError, NotADirectoryError):
    """NOTDIR: a directory was needed."""


class IsADirectory(NfsStatusError, IsADirectoryError):
    """ISDIR: something else than a directory was needed."""


_KINDS: t.Final[dict[int, type[NfsStatusError]]] = {
    Nfsstat3.NFS3ERR_NOENT: NotFound,
    Nfsstat3.NFS3ERR_EXIST: AlreadyExists,
    Nfsstat3.NFS3ERR_ACCES: NotPermitted,
    Nfsstat3.NFS3ERR_PERM: NotPermitted,
    Nfsstat3.NFS3ERR_NOTDIR: NotADirectory,
    Nfsstat3.NFS3ERR_ISDIR: IsADirectory,
}
"""Statuses that Python has an exception for; MOUNT numbers those that it has alike."""

_PROCEDURES: t.Final[dict[object, str]] = {
    operation.res: operation.name for program in (NFS3, MOUNT3) for operation in program.operations
}
"""Type of a reply -> name of the operation that gives it."""


class Reply(t.Protocol[T_co]):
    """A reply of NFSv3, or of MOUNT version 3."""

    @property
    def status(self) -> XdrEnum:
        """How the call ended; 0 is success."""
        ...

    @property
    def resok(self) -> T_co | None:
        """The result, on success."""
        ...


def status_error(
    status: XdrEnum, procedure: str, path: str | None = None, reply: object = None
) -> NfsStatusError:
    """The exception for a status: an `NfsStatusError`, and Python's own kind (with `errno`) where there is one."""
    error = _KINDS.get(status, NfsStatusError)(status, procedure, path)
    error.reply = reply
    return error


def ok(reply: Reply[T_co], path: str | None = None) -> T_co:
    """The result of a successful reply. `path` names the object in the exception.

    Raises `NfsStatusError` when the status is another.
    """
    if reply.resok is None:
        raise status_error(reply.status, _PROCEDURES.get(type(reply), type(reply).__name__), path, reply)
    return reply.resok
