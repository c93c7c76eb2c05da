# SPDX-License-Identifier: MIT
"""From RPC messages to exchanges as a client would have recorded them."""

from __future__ import annotations

import contextlib
import typing as t

from nfsclient.errors import NfsClientError, XdrError
from nfsclient.protocol.mount import MOUNT1, MOUNT2, MOUNT3
from nfsclient.protocol.nfs2 import NFS2
from nfsclient.protocol.nfs3 import NFS3
from nfsclient.protocol.portmap import PORTMAP2
from nfsclient.protocol.rpcbind import RPCBIND3, RPCBIND4
from nfsclient.rpc.auth import Credential, decode_credential
from nfsclient.rpc.core import decode_reply
from nfsclient.rpc.exchange import Exchange
from nfsclient.rpc.messages import CallHeader
from nfsclient.rpc.program import Program
from nfsclient.rpc.record import Record

PROGRAMS: t.Final[dict[tuple[int, int], Program]] = {
    (program.number, program.version): program
    for program in (NFS2, NFS3, MOUNT1, MOUNT2, MOUNT3, PORTMAP2, RPCBIND3, RPCBIND4)
}
"""What is decoded; other programs are judged as RPC alone."""


def exchange_of_call(
    message: bytes, moment: float, peer: str, transport: t.Literal["tcp", "udp"]
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
    program = PROGRAMS.get((header.prog, header.vers))
    exchange.procedure = None if program is None else program.by_number.get(header.proc)
    if exchange.procedure is not None:
        with contextlib.suppress(XdrError):
            exchange.args = exchange.procedure.args.from_xdr(message[at:])
    return exchange


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
