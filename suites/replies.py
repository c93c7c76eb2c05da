# SPDX-License-Identifier: MIT
"""Calls with arguments that a server may refuse below the protocol: their reply, if there is one."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

from nfsclient.errors import ConnectionLost, GarbageArgs, NfsClientError, RpcTimeout, SystemErr
from nfsclient.rpc.blocking import RpcClient
from nfsclient.rpc.core import DatagramCore
from nfsjudge import observe, skip, unsupported
from nfsjudge.answers import answer_name
from suites.common_client import Answer, CommonClient

R = t.TypeVar("R")

_NOENT: t.Final = 2
_NOTSUPP: t.Final = 10004
REJECTIONS: t.Final = (GarbageArgs, SystemErr, ConnectionLost, RpcTimeout)
"""What may come of a call whose arguments the server does not decode."""


def copies_sent(rpc: object) -> int:
    """How many calls were sent again on this connection: over UDP, or because the server had closed it while idle.

    A server without a reply cache, or without room in it, executes such a call twice, or late (RFC 1813 section 4.5).
    """
    if not isinstance(rpc, RpcClient):
        return 0
    return rpc.core.retransmissions if isinstance(rpc.core, DatagramCore) else rpc.sent_again


def need_done(client: CommonClient, change: Callable[[], Answer[t.Any]], what: str) -> None:
    """Make a change that a check needs. SKIP if the server refuses it, which is for other checks to judge."""
    copies = client.copies_sent()
    answer = change()
    if int(answer.reply.status) == _NOENT and client.copies_sent() != copies:
        skip(f"{what} answers {answer.reply.status}: it was sent twice, and may have been executed twice")
    if answer.succeeded:
        return
    text = f"{what} answers {answer.reply.status}"
    if int(answer.reply.status) == _NOTSUPP:
        unsupported(text, answer.reply)
    skip(text, answer.reply)


def reply_or_none(
    call: Callable[[], R], what: str, *, rejections: tuple[type[NfsClientError], ...] = REJECTIONS
) -> R | None:
    """The reply to a call; None after one of `rejections`. Observes the status, or what came instead, as `what`."""
    try:
        reply = call()
    except rejections as rejection:
        observe(what, answer_name(rejection))
        return None
    observe(what, getattr(reply, "status", "a reply"))
    return reply
