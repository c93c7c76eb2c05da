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
_MOST_KNOWN = 4096
"""Handles whose checksum was found right, and is not computed again."""


class Identity(t.NamedTuple):
    """What a handle says."""

    export: int
    fileid: int
    generation: int


class HandleCodec:
    """Makes and reads handles. The key is drawn from `seed`, so handles outlive a restart of the service."""

    def __init__(self, seed: int = 0) -> None:
        self._key = hashlib.blake2s(b"file handles of %d" % seed).digest()
        self._known: dict[bytes, Identity] = {}
        """What this server has made or read before, by handle."""

    def encode(self, identity: Identity, variant: int = 0) -> bytes:
        """The handle of this object: `HANDLE_SIZE` bytes, the same ones for the same variant (0 to 255)."""
        export, fileid, generation = identity
        body = _IDENTITY.pack(variant << _EXPORT_BITS | export, fileid, generation)
        handle = body + self._checksum(body)
        self._remember(handle, identity)
        return handle

    def decode(self, handle: bytes) -> Identity:
        """Raises EBADF for any bytes that this server never made."""
        known = self._known.get(handle)
        if known is not None:
            return known
        body, checksum = handle[: _IDENTITY.size], handle[_IDENTITY.size :]
        if len(handle) != HANDLE_SIZE or not hmac.compare_digest(checksum, self._checksum(body)):
            raise FsError(errno.EBADF)
        export, fileid, generation = _IDENTITY.unpack(body)
        identity = Identity(export & (1 << _EXPORT_BITS) - 1, fileid, generation)
        self._remember(bytes(handle), identity)
        return identity

    def _remember(self, handle: bytes, identity: Identity) -> None:
        if len(self._known) >= _MOST_KNOWN:
            self._known.clear()
        self._known[handle] = identity

    def token(self, purpose: bytes, *numbers: int) -> bytes:
        """Eight bytes that stand for `numbers`, to be recognised later (READDIR verifiers)."""
        text = purpose + b",".join(b"%d" % number for number in numbers)
        return hashlib.blake2s(text, key=self._key, digest_size=8).digest()

    def _checksum(self, body: bytes) -> bytes:
        return hashlib.blake2s(body, key=self._key, digest_size=_CHECKSUM_SIZE).digest()
