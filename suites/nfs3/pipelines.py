# SPDX-License-Identifier: MIT
"""Many calls at a time, of which the server may answer any with JUKEBOX."""

from __future__ import annotations

import typing as t
from collections.abc import Iterable, Iterator

from nfsclient.clients import Nfs3
from nfsclient.clients.nfs3 import is_jukebox
from nfsclient.rpc.blocking import RpcClient
from nfsclient.rpc.program import Procedure


def pipelined(
    nfs3: Nfs3,
    rpc: RpcClient,
    procedure: Procedure[t.Any, t.Any],
    arguments: Iterable[t.Any],
    *,
    outstanding: int = 64,
) -> Iterator[tuple[t.Any, t.Any]]:
    """As `RpcClient.pipeline`; a call that gets JUKEBOX is made again by itself, with the patience of `nfs3`.

    It is made on the same connection: if the many calls are not recorded, a few of them would mislead the lint.
    """
    for args, reply in rpc.pipeline(procedure, arguments, outstanding=outstanding):
        if is_jukebox(reply):
            reply = Nfs3(rpc, patience=nfs3.patience).call(procedure, args)
        yield args, reply
