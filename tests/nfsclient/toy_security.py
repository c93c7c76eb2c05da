# SPDX-License-Identifier: MIT
"""A toy flavor that numbers, signs and encrypts calls as RPCSEC_GSS does (RFC 2203 section 5.3), with a shared key."""

from __future__ import annotations

import hashlib
import hmac
import itertools
import typing as t
from collections.abc import Sequence
from dataclasses import dataclass, field

from nfsclient.errors import BadReply
from nfsclient.rpc.auth import AuthSys
from nfsclient.rpc.messages import AuthFlavor, AuthStat, CallHeader, OpaqueAuth
from nfsclient.rpc.security import OpenedCall, Sealed, Security
from nfsclient.rpc.service import Refused
from nfsclient.xdr import Buffer, Opaque, Struct, u32

FLAVOR = AuthFlavor.RPCSEC_GSS
HEAD = 24
"""Bytes of a call up to its credential."""


class ToyCred(Struct):
    seq: u32
    handle: t.Annotated[bytes, Opaque(16)]


class Wrapped(Struct):
    body: t.Annotated[bytes, Opaque(1 << 24)]
    mic: t.Annotated[bytes, Opaque(64)]


def mic(key: bytes, data: bytes) -> bytes:
    return hmac.new(key, data, hashlib.sha256).digest()


def mixed(key: bytes, seq: int, data: bytes) -> bytes:
    """Encrypt, or decrypt."""
    stream = hashlib.shake_128(key + seq.to_bytes(4, "big")).digest(len(data))
    return bytes(a ^ b for a, b in zip(data, stream, strict=True))


def wrap(key: bytes, seq: int, data: bytes) -> bytes:
    body = mixed(key, seq, seq.to_bytes(4, "big") + data)
    return Wrapped(body, mic(key, body)).to_xdr()


def unwrap(key: bytes, seq: int, data: bytes) -> bytes:
    """Raises ValueError, or `XdrError`."""
    wrapped = Wrapped.from_xdr(data)
    plain = mixed(key, seq, wrapped.body)
    if not hmac.compare_digest(wrapped.mic, mic(key, wrapped.body)) or plain[:4] != seq.to_bytes(4, "big"):
        raise ValueError("the body is not what was sealed")
    return plain[4:]


class ToySecurity(Security):
    """The client's side of a context."""

    def __init__(self, key: bytes, handle: bytes = b"here") -> None:
        self.key = key
        self.handle = handle
        self.numbers: t.Iterator[int] = itertools.count(1)
        self.opened: list[list[object]] = []

    def seal(self, head: bytes, args: bytes) -> Sealed:
        seq = next(self.numbers)
        cred = OpaqueAuth(FLAVOR, ToyCred(seq, self.handle).to_xdr()).to_xdr()
        verf = OpaqueAuth(FLAVOR, mic(self.key, head + cred)).to_xdr()
        return Sealed([cred, verf, wrap(self.key, seq, args)], seq)

    def open(self, tokens: Sequence[object], verifier: OpaqueAuth, results: bytes | None) -> bytes:
        self.opened.append(list(tokens))
        for seq in tokens:
            assert isinstance(seq, int)
            if hmac.compare_digest(verifier.body, mic(self.key, seq.to_bytes(4, "big"))):
                try:
                    return b"" if results is None else unwrap(self.key, seq, results)
                except ValueError as error:
                    raise BadReply(str(error), results or b"", "results") from error
        raise BadReply("the verifier is of none of the calls", verifier.body, "body.areply.verf")


@dataclass
class Opened:
    """A call that was opened."""

    key: bytes
    seq: int
    arguments: bytes
    credential: AuthSys = field(default_factory=lambda: AuthSys(7, 7))

    def seal(self, results: bytes | None) -> tuple[OpaqueAuth, list[Buffer]]:
        verf = OpaqueAuth(FLAVOR, mic(self.key, self.seq.to_bytes(4, "big")))
        return verf, [] if results is None else [wrap(self.key, self.seq, results)]


class ToyAcceptor:
    """The server's side."""

    def __init__(self, key: bytes) -> None:
        self.key = key
        self.seen: set[int] = set()
        self.forge: t.Callable[[Opened], OpenedCall] = lambda call: call

    def open(self, header: CallHeader, message: bytes, pos: int) -> OpenedCall | list[Buffer] | None:
        cred = ToyCred.from_xdr(header.cred.body)
        if cred.handle != b"here":
            raise Refused(auth_stat=AuthStat.RPCSEC_GSS_CREDPROBLEM)
        signed = message[: HEAD + len(header.cred.to_xdr())]
        if not hmac.compare_digest(header.verf.body, mic(self.key, signed)):
            raise Refused(auth_stat=AuthStat.RPCSEC_GSS_CREDPROBLEM)
        if cred.seq in self.seen:
            return None
        self.seen.add(cred.seq)
        try:
            arguments = unwrap(self.key, cred.seq, message[pos:])
        except ValueError:
            return None
        return self.forge(Opened(self.key, cred.seq, arguments))
