# SPDX-License-Identifier: MIT
"""Credentials that differ from call to call, as those of RPCSEC_GSS do (RFC 2203; RFC 5531 section 8.2).

AUTH_NONE and AUTH_SYS are the same bytes in each call: their header is encoded once (`Plan`). A `Security` *seals* each
call: it numbers it, signs its header, and may sign or encrypt its arguments. And it *opens* each reply. It is given in
place of a `Credential`, to clients and to calls. Such calls leave the fast paths.

A server has an `Acceptor` for each such flavor (`Dispatcher.acceptors`).
"""

from __future__ import annotations

import abc
import typing as t
from collections.abc import Sequence

from nfsclient.errors import BadReply, RpcError
from nfsclient.rpc.auth import NO_AUTH, AuthNone, AuthSys, RawCredential
from nfsclient.rpc.messages import AcceptStat, CallHeader, OpaqueAuth, ReplyHeader, parse_reply
from nfsclient.xdr import Buffer


class Sealed(t.NamedTuple):
    """A call as it is sent."""

    after_head: list[Buffer]
    """Credential, verifier and arguments."""
    token: object
    """What `Security.open` needs to check the reply: the sequence number of the call."""


class Security(abc.ABC):
    """A context of calls that are sealed one by one; several connections may share it. Equal only to itself."""

    @abc.abstractmethod
    def seal(self, head: bytes, args: bytes) -> Sealed:
        """Number and seal a call: `head` is the message from the XID to the procedure number.

        A datagram that is sent again is sealed again, since RFC 2203 section 5.3.3.1 wants another number for it.
        """

    @abc.abstractmethod
    def open(self, tokens: Sequence[object], verifier: OpaqueAuth, results: bytes | None) -> bytes:
        """The results of an accepted reply, opened; nothing where `results` is None, since the reply is an error.

        `tokens` are of all the times that the call was sent. Raises `RpcError`, such as `BadReply`, where the verifier
        or the results are not right.
        """

    def opaque(self) -> tuple[bytes, bytes]:
        """Credential and verifier of a call that nobody has sealed: AUTH_NONE."""
        return NO_AUTH, NO_AUTH


def open_reply(
    security: Security, tokens: Sequence[object], message: bytes, what: str
) -> tuple[bytes, RpcError | None]:
    """The results in a reply, or the error in their place. Raises `RpcError` where the reply is not to be believed.

    MSG_DENIED has no verifier, so anybody on the way can make one (RFC 5531 section 9); it is believed.
    """
    end, error = parse_reply(message, 0, what)
    if error is not None and end != len(message) and not isinstance(error, BadReply):
        raise BadReply(f"{len(message) - end} bytes follow a reply without results", message)
    body = ReplyHeader.unpack_from(message, 0)[0].body.areply
    if body is None:
        return b"", error
    return security.open(tokens, body.verf, None if error is not None else message[end:]), error


# ---------------------------------------------------------------- the server's side


class OpenedCall(t.Protocol):
    """A call that an acceptor believes."""

    @property
    def credential(self) -> AuthSys | AuthNone | RawCredential:
        """As whom it is made."""

    @property
    def arguments(self) -> bytes:
        """Its arguments, opened."""

    def seal(self, results: bytes | None) -> tuple[OpaqueAuth, list[Buffer]]:
        """The verifier of the reply, and its results sealed; None for a reply that is an error and has none."""
        ...


class Acceptor(t.Protocol):
    """What a server knows of a flavor: its contexts, with the sequence numbers that were seen."""

    def open(self, header: CallHeader, message: bytes, pos: int) -> OpenedCall | list[Buffer] | None:
        """Judge a call whose header ends at `pos`.

        Gives the opened call; or a whole reply, to a call that makes a context; or None, for silence (RFC 2203 section
        5.3.3.1: a sequence number below the window, or one that was used). Raises `Refused`, or `XdrError` for a body
        that does not decode.
        """
        ...


def seal_reply(call: OpenedCall, reply: list[Buffer]) -> list[Buffer]:
    """A plain reply with the call's verifier, and with its results sealed. MSG_DENIED stays as it is."""
    message = b"".join(reply)
    header, end = ReplyHeader.unpack_from(message, 0)
    body = header.body.areply
    if body is None:
        return [message]
    is_success = body.reply_data.stat is AcceptStat.SUCCESS
    body.verf, results = call.seal(message[end:] if is_success else None)
    return [*header.to_buffers(), *results]


__all__ = ["Acceptor", "OpenedCall", "Sealed", "Security", "open_reply", "seal_reply"]
