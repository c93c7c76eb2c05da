# SPDX-License-Identifier: MIT
"""From RPC messages to exchanges as a client would have recorded them."""

from __future__ import annotations

import contextlib
import typing as t
from collections.abc import Mapping

from nfsclient.errors import NfsClientError, UnknownArm, XdrError
from nfsclient.protocol.nfs4 import COMPOUND
from nfsclient.protocol.registry import callback_of, programs, protocol_of_version, protocols
from nfsclient.rpc.auth import Credential, RawCredential, decode_credential
from nfsclient.rpc.core import decode_reply
from nfsclient.rpc.exchange import Exchange
from nfsclient.rpc.messages import AuthFlavor, CallHeader
from nfsclient.rpc.program import AnyOperation, Procedure, Program
from nfsclient.rpc.record import Record


def plain_programs() -> Mapping[tuple[int, int], Program]:
    """What is decoded where nothing else is said: without NFSv4, whose calls mean little out of their session."""
    return programs(protocol for protocol in protocols() if not protocol.has_minor_versions)


def exchange_of_call(
    message: bytes,
    moment: float,
    peer: str,
    transport: t.Literal["tcp", "udp"],
    known: Mapping[tuple[int, int], Program] | None = None,
) -> Exchange:
    """An exchange without a reply. Arguments that do not decode are None: that is the client's affair."""
    exchange = Exchange(
        int.from_bytes(message[:4], "big"), None, None, None, message, moment, peer, transport
    )
    try:
        header, at = CallHeader.unpack_from(message)
    except XdrError:
        return exchange
    exchange.credential = _credential(header)
    program = (plain_programs() if known is None else known).get((header.prog, header.vers))
    exchange.procedure = None if program is None else program.by_number.get(header.proc)
    if exchange.procedure is not None:
        with contextlib.suppress(XdrError):
            exchange.args = exchange.procedure.args.from_xdr(message[at:])
    return exchange


def procedure_of(exchange: Exchange) -> Procedure[t.Any, t.Any] | None:
    """The procedure of a call, also of one that a check made from bytes; None for bytes that are no call."""
    if exchange.procedure is not None or not exchange.call:
        return exchange.procedure
    return exchange_of_call(exchange.call, 0.0, "", "tcp").procedure


class Asked(t.NamedTuple):
    """A call for the lint: an exchange, the minor version of a compound, and why only the header of its reply counts.

    `reason` is empty where all of the reply is judged.
    """

    exchange: Exchange
    minor: int | None
    reason: str


def call_to_judge(message: bytes, moment: float, peer: str, transport: t.Literal["tcp", "udp"]) -> Asked:
    """The same for the lint.

    A compound of NFSv4.0 is left alone, and so is one whose minor version nobody can read. RPCSEC_GSS may have signed
    or encrypted arguments and results.
    """
    exchange = exchange_of_call(message, moment, peer, transport, programs())
    minor: int | None = getattr(exchange.args, "minorversion", None)
    reason = ""
    if isinstance(exchange.credential, RawCredential) and exchange.credential.flavor == AuthFlavor.RPCSEC_GSS:
        reason = "RPCSEC_GSS"
    elif exchange.procedure is COMPOUND and minor not in _judged_minors(exchange.procedure):
        reason = f"NFSv4.{minor}" if minor is not None else "NFSv4, with arguments that do not decode"
    if reason:
        exchange.procedure = exchange.args = None
    return Asked(exchange, minor, reason)


def _judged_minors(procedure: AnyOperation) -> t.Collection[int]:
    """The minor versions that are judged."""
    protocol = protocol_of_version(procedure.program, procedure.version)
    return () if protocol is None else protocol.rfcs


def set_aside(exchange: Exchange) -> str:
    """Why only the header of a reply counts after all; empty where all of it is judged.

    Minor versions of NFSv4 are extended by new operations and new arms of unions (RFC 8178 section 4): a reply with one
    of them cannot be read to its end, and is right all the same.
    """
    if exchange.procedure is not COMPOUND or not isinstance(exchange.error, UnknownArm):
        return ""
    minor = getattr(exchange.args, "minorversion", None)
    exchange.procedure = exchange.args = exchange.error = None
    return f"NFSv4.{minor}, with an unknown operation or union arm in the reply"


def callback_in(
    message: bytes, moment: float, peer: str, transport: t.Literal["tcp", "udp"]
) -> Exchange | None:
    """A call of a server, `peer`, to a client of NFSv4, without its reply; None for any other message.

    Its caller is not to be judged by the reply. RPCSEC_GSS may have signed or encrypted the arguments.
    """
    try:
        header, at = CallHeader.unpack_from(message)
    except XdrError:
        return None
    program = callback_of(header.vers, header.prog)
    procedure = None if program is None else program.by_number.get(header.proc)
    if procedure is None:
        return None
    try:
        args = procedure.args.from_xdr(message[at:])
    except XdrError:
        return None
    xid = int.from_bytes(message[:4], "big")
    found = Exchange(xid, procedure, args, _credential(header), message, moment, peer, transport)
    found.is_callback = True
    if header.cred.flavor == AuthFlavor.RPCSEC_GSS:
        found.procedure = found.args = None
    return found


def _credential(header: CallHeader) -> Credential | None:
    try:
        return decode_credential(header.cred, header.verf)
    except XdrError:
        return None


def fill_in_reply(exchange: Exchange, message: bytes, moment: float) -> None:
    """Add the reply to a call."""
    exchange.reply, exchange.received_at = message, moment
    if exchange.procedure is None:
        return
    try:
        exchange.result = decode_reply(exchange.procedure, Record(message, 0, len(message)))
    except NfsClientError as error:
        exchange.error = error
