# SPDX-License-Identifier: MIT
"""The exceptions of the library."""

from __future__ import annotations


class NfsClientError(Exception):
    """Base of every error that this library raises on purpose."""


class XdrError(NfsClientError):
    """A value that XDR or its declaration does not allow (RFC 4506).

    `path` names the field at fault from its outermost type on (``Write3Res.resok.count``), `detail` says what
    was expected and seen, `offset` is the byte position in the decoded buffer (-1 when encoding).
    """

    def __init__(self, path: str, detail: str, offset: int = -1) -> None:
        where = f" at byte {offset}" if offset >= 0 else ""
        super().__init__(f"{path}{where}: {detail}")
        self.path = path
        self.detail = detail
        self.offset = offset


class UrlError(NfsClientError):
    """An NFS URL that cannot be used. The message says what was expected, what was seen and what to do."""


class NfsStatusError(NfsClientError):
    """A procedure was executed and answered another status than success.

    `status` is the enum member (an int), `procedure` the name of the procedure, `path` the object as the
    caller named it, or None.
    """

    def __init__(self, status: int, procedure: str, path: str | None = None) -> None:
        about = f" of {path}" if path is not None else ""
        super().__init__(f"{procedure}{about}: expected success, the server answered {status!s}")
        self.status = status
        self.procedure = procedure
        self.path = path


class RetriesExhausted(NfsStatusError):
    """The server asked to be called again later (JUKEBOX) for longer than the caller was willing to wait."""


class MountFailed(NfsClientError):
    """No directory on the way to the wanted one could be mounted. `refusals` has each path and its answer."""

    def __init__(self, message: str, refusals: tuple[tuple[bytes, str], ...] = ()) -> None:
        super().__init__(message)
        self.refusals = refusals
