# SPDX-License-Identifier: MIT
"""File handles: the object, its export, and a proof that this server made them."""

from __future__ import annotations

import errno
import hashlib
import hmac
import struct
import typing as t

from nfsserver.fs.errors import FsError

HANDLE_SIZE = 32
"""Fits NFSv2, whose handles are 32 bytes, never more and never less."""

_IDENTITY = struct.Struct(">IQI")
_EXPORT_BITS = 24
"""Of the first number; the others have the variant of the handle."""
_CHECKSUM_SIZE = HANDLE_SIZE - _IDENTITY.size


class Identity(t.NamedTuple):
    """What a handle says."""

    export: int
    fileid: int
    generation: int


class HandleCodec:
    """Makes and reads handles. The key is drawn from `seed`, so handles outlive a restart of the service."""

    def __init__(self, seed: int = 0) -> None:
        self._key = hashlib.blake2s(b"file handles of %d" % seed).digest()

    def encode(self, identity: Identity, variant: int = 0) -> bytes:
        """The handle of this object: `HANDLE_SIZE` bytes, the same ones for the same variant (0 to 255)."""
        export, fileid, generation = identity
        body = _IDENTITY.pack(variant << _EXPORT_BITS | export, fileid, generation)
        return body + self._checksum(body)

    def decode(self, handle: bytes) -> Identity:
        """Raises EBADF for any bytes that this server never made."""
        body, checksum = handle[: _IDENTITY.size], handle[_IDENTITY.size :]
        if len(handle) != HANDLE_SIZE or not hmac.compare_digest(checksum, self._checksum(body)):
            raise FsError(errno.EBADF)
        export, fileid, generation = _IDENTITY.unpack(body)
        return Identity(export & (1 << _EXPORT_BITS) - 1, fileid, generation)

    def token(self, purpose: bytes, *numbers: int) -> bytes:
        """Eight bytes that stand for `numbers`, to be recognised later (READDIR verifiers)."""
        text = purpose + b",".join(b"%d" % number for number in numbers)
        return hashlib.blake2s(text, key=self._key, digest_size=8).digest()

    def _checksum(self, body: bytes) -> bytes:
        return hashlib.blake2s(body, key=self._key, digest_size=_CHECKSUM_SIZE).digest()
