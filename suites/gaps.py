# SPDX-License-Identifier: MIT
"""File systems without sparse files fill a gap with zeros: how long a WRITE far beyond the end takes is seen from a gap
of 64 MiB. A server that would need longer than a call may take is not sent that WRITE: it would be busy for minutes,
and no text says how fast it must be.
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable

from nfsclient.clients.caller import Caller
from nfsclient.errors import RpcTimeout
from nfsclient.rpc.blocking import RpcClient
from nfsjudge import observe, skip

GAP: t.Final = 1 << 26
"""Bytes."""


def need_gaps(caller: Caller, far: int, write: Callable[[int], bool], used: Callable[[], int | None]) -> None:
    """SKIP where a WRITE at `far` would not be answered in time.

    `write`: writes one byte at an offset of an empty file; whether it succeeded. `used`: the space of that file in
    bytes, None where the server does not say.
    """
    rpc = t.cast("RpcClient", caller)
    began = rpc.loop.clock()
    try:
        has_gap = write(GAP)
    except RpcTimeout:
        skip("files of the server may have no gaps: one of 64 MiB is not made in time")
    took = rpc.loop.clock() - began
    if not has_gap:
        return  # refused, as the WRITE of the check will be
    space = used()
    if space is not None and space < GAP // 2:
        return
    observe("a gap of 64 MiB", f"{'unknown' if space is None else space} bytes in {took:.3f} s")
    if took * far / GAP > rpc.timeout:
        skip(
            "files of the server may have no gaps: by the time for one of 64 MiB, this one could take too long"
        )
