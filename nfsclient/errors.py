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
