# SPDX-License-Identifier: MIT
"""Calls that a server may refuse as a whole, because the arguments of an operation do not decode (section 15.1.1.1)."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

from nfsclient.clients.nfs4 import CompoundReply, Nfs4
from nfsclient.errors import ConnectionLost, RpcRejected, RpcTimeout
from nfsclient.protocol import nfs4 as p
from nfsclient.xdr import Unread, XdrType, malformations
from nfsjudge import observe

_REFUSED: t.Final = (RpcRejected, ConnectionLost, RpcTimeout)
"""What a server may do with a call that it cannot decode: refuse it, close the connection, or drop it."""
_SOON: t.Final = 2.0
"""Seconds in which a call is answered or dropped, on a server of the usual speed."""
_MORE: t.Final = 16
"""Elements that a count announces besides those that are there: a name is not too long by them."""
_WORD: t.Final = 4
Slowness: t.TypeAlias = Callable[[], float]


def reply_or_none(
    nfs4: Nfs4, slowness: Slowness, ask: Callable[[], CompoundReply], what: str
) -> CompoundReply | None:
    """The reply; None if the whole call is refused. Which it was is observed."""
    nfs4.timeout = _SOON * slowness()
    try:
        reply = ask()
    except _REFUSED as refusal:
        observe(what, type(refusal).__name__)
        return None
    observe(what, reply.status.name)
    return reply


def _unread(args: XdrType, data: bytes) -> Unread:
    return Unread(p.operation_of(args).number, data)


def cut(args: XdrType) -> Unread:
    """The arguments without their last word."""
    return _unread(args, args.to_xdr()[:-_WORD])


def with_long_count(args: XdrType) -> Unread | None:
    """The arguments with a last count of more than there is; None if nothing in them has a count."""
    whole = args.to_xdr()
    counts = [malformation.data for malformation in malformations(args) if malformation.flaw == "length"]
    if not counts:
        return None
    at = next(place for place, byte in enumerate(counts[-1]) if byte != whole[place]) // _WORD * _WORD
    count = int.from_bytes(whole[at : at + _WORD], "big") + _MORE
    return _unread(args, whole[:at] + count.to_bytes(_WORD, "big") + whole[at + _WORD :])


def with_strange_boolean(args: XdrType) -> Unread | None:
    """The arguments with a 2 for the first boolean; None if there is none."""
    bent = (malformation.data for malformation in malformations(args) if malformation.flaw == "boolean")
    data = next(bent, None)
    return None if data is None else _unread(args, data)
