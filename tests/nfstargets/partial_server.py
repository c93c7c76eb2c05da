# SPDX-License-Identifier: MIT
"""Middleware that makes of the embedded server one that serves less, is slow, or wants more of its callers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nfsclient.protocol import nfs3
from nfsclient.rpc.messages import AcceptStat, AuthStat, MismatchInfo, OpaqueAuth, accepted, denied
from nfsserver.middleware import Answer, AnyAroundCall, AroundMessage, ProceedMessage
from nfsserver.transport import TransportMiddleware

MOUNT = 100005
PORTMAP = 100000
_AUTH_TLS = 7


class Messages:
    """One function around the answer to each message."""

    def __init__(self, answer: Callable[[bytes, ProceedMessage], Answer]) -> None:
        self._answer = answer

    def around_calls(self, _operation: object, /) -> Sequence[AnyAroundCall]:
        return ()

    def around_messages(self) -> Sequence[AroundMessage]:
        return (lambda _server, message, proceed: self._answer(message, proceed),)

    def below_messages(self) -> Sequence[TransportMiddleware]:
        return ()


def only(*versions: int, mount: bool = True, portmap: bool = True) -> Messages:
    """A server that has these versions of NFS only, and MOUNT and a port mapper if so wished."""

    def answer(message: bytes, proceed: ProceedMessage) -> Answer:
        xid, program, version = word(message, 0), word(message, 12), word(message, 16)
        if (program == MOUNT and not mount) or (program == PORTMAP and not portmap):
            return accepted(xid, AcceptStat.PROG_UNAVAIL).to_buffers()
        if program == nfs3.NFS3.number and version not in versions:
            mismatch = MismatchInfo(min(versions), max(versions))
            return accepted(xid, AcceptStat.PROG_MISMATCH, mismatch).to_buffers()
        return proceed(message)

    return Messages(answer)


def refusing(version: int, *, low: int, high: int) -> Messages:
    """A server that refuses this version of NFS, and says that it has those from `low` to `high`."""

    def answer(message: bytes, proceed: ProceedMessage) -> Answer:
        if word(message, 12) == nfs3.NFS3.number and word(message, 16) == version:
            mismatch = MismatchInfo(low, high)
            return accepted(word(message, 0), AcceptStat.PROG_MISMATCH, mismatch).to_buffers()
        return proceed(message)

    return Messages(answer)


def wants_tls(*programs: int) -> Messages:
    """A server that offers TLS, and refuses calls of these programs without it (RFC 9289)."""

    def answer(message: bytes, proceed: ProceedMessage) -> Answer:
        xid, program, flavor = word(message, 0), word(message, 12), word(message, 24)
        if flavor == _AUTH_TLS:
            starttls = OpaqueAuth(0, b"STARTTLS").to_xdr()  # type: ignore[arg-type]
            return [xid.to_bytes(4, "big"), (1).to_bytes(4, "big"), bytes(4), starttls, bytes(4)]
        if program in programs:
            return denied(xid, auth_stat=AuthStat.AUTH_TOOWEAK).to_buffers()
        return proceed(message)

    return Messages(answer)


def refuses_flavor(program: int) -> Messages:
    """A server to which AUTH_SYS is too weak for a program, except for NULL."""

    def answer(message: bytes, proceed: ProceedMessage) -> Answer:
        if word(message, 12) == program and word(message, 20):
            return denied(word(message, 0), auth_stat=AuthStat.AUTH_TOOWEAK).to_buffers()
        return proceed(message)

    return Messages(answer)


def word(message: bytes, at: int) -> int:
    """An unsigned integer of a message."""
    return int.from_bytes(message[at : at + 4], "big")
