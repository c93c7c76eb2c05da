# SPDX-License-Identifier: MIT
"""Credentials (RFC 5531 section 8.2 and appendix A)."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass

from nfsclient.errors import XdrError
from nfsclient.rpc.messages import AuthFlavor, OpaqueAuth
from nfsclient.xdr import Array, Identity, String, Struct, u32

MAX_GIDS = 16
"""The most groups that AUTH_SYS carries (RFC 5531 appendix A)."""


class AuthSysParms(Struct):
    """authsys_parms: who the client says the caller is; nothing proves it."""

    stamp: u32
    machinename: t.Annotated[bytes, String(255), Identity("host")]
    uid: u32
    gid: u32
    gids: t.Annotated[list[u32], Array(MAX_GIDS)]


class Credential(t.Protocol):
    """What goes with each call. Must be hashable: encoded call headers are kept by credential.

    One that is another in each call is a `Security` (`nfsclient.rpc.security`).
    """

    def __hash__(self) -> int:
        """Equal credentials encode alike."""
        ...

    def opaque(self) -> tuple[bytes, bytes]:
        """Credential and verifier, each encoded as opaque_auth."""
        ...


NO_AUTH: t.Final = OpaqueAuth().to_xdr()
"""AUTH_NONE, encoded."""


@dataclass(frozen=True, slots=True)
class AuthNone:
    """AUTH_NONE: nobody in particular."""

    def opaque(self) -> tuple[bytes, bytes]:
        """Credential and verifier, each encoded as opaque_auth."""
        return NO_AUTH, NO_AUTH


@dataclass(frozen=True, slots=True)
class AuthSys:
    """AUTH_SYS: a user and groups by number. More than 16 `gids` cannot be encoded; see `RawCredential`."""

    uid: int = 0
    gid: int = 0
    gids: tuple[int, ...] = ()
    machine_name: bytes = b"nfsproof"
    stamp: int = 0

    def opaque(self) -> tuple[bytes, bytes]:
        """Credential and verifier, each encoded as opaque_auth."""
        body = AuthSysParms(self.stamp, self.machine_name, self.uid, self.gid, list(self.gids)).to_xdr()
        return OpaqueAuth(AuthFlavor.AUTH_SYS, body).to_xdr(), NO_AUTH

    @classmethod
    def from_body(cls, body: bytes) -> AuthSys:
        """The credential of a received call. Raises `XdrError`."""
        parms = AuthSysParms.from_xdr(body)
        return cls(parms.uid, parms.gid, tuple(parms.gids), parms.machinename, parms.stamp)


@dataclass(frozen=True, slots=True)
class RawCredential:
    """Any flavours and bodies, of any length: for checks of what a server does with them."""

    flavor: int
    body: bytes = b""
    verf_flavor: int = 0
    verf_body: bytes = b""

    def opaque(self) -> tuple[bytes, bytes]:
        """Credential and verifier, each encoded as opaque_auth, whatever their length."""
        return _raw(self.flavor, self.body), _raw(self.verf_flavor, self.verf_body)


def _raw(flavor: int, body: bytes) -> bytes:
    # Enumerations are signed on the wire, so a received flavour may be negative.
    return (
        (flavor & 0xFFFF_FFFF).to_bytes(4, "big")
        + len(body).to_bytes(4, "big")
        + body
        + bytes(-len(body) % 4)
    )


def decode_credential(cred: OpaqueAuth, verf: OpaqueAuth) -> AuthSys | AuthNone | RawCredential:
    """The credential of a received call; unknown flavours stay raw. Raises `XdrError` for bad AUTH_SYS."""
    if cred.flavor is AuthFlavor.AUTH_SYS:
        return AuthSys.from_body(cred.body)
    if cred.flavor is AuthFlavor.AUTH_NONE:
        return AuthNone()
    return RawCredential(int(cred.flavor), cred.body, int(verf.flavor), verf.body)


__all__ = [
    "MAX_GIDS",
    "NO_AUTH",
    "AuthNone",
    "AuthSys",
    "AuthSysParms",
    "Credential",
    "RawCredential",
    "XdrError",
    "decode_credential",
]
