# SPDX-License-Identifier: MIT
"""File systems without sparse files fill a gap with zeros: how long a call that goes far beyond the end takes is seen
from gaps of 64 MiB. A server that would need longer than a call may take is not sent that call: it would be busy for
minutes, and no text says how fast it must be.
"""

from __future__ import annotations

import contextlib
import typing as t
from collections.abc import Callable, Iterator

from nfsclient.clients.caller import Caller
from nfsclient.errors import RpcTimeout
from nfsclient.rpc.blocking import RpcClient
from nfsjudge import observe, skip

GAP: t.Final = 1 << 26
"""Bytes."""
SMALL_GAP: t.Final = 1 << 20
"""Bytes, which each server has to fill in the time of a call."""
_AT_ONCE: t.Final = 0.005
"""Seconds in which no server fills a gap."""
_TRIES: t.Final = 3
"""Gaps that are timed, as long as they are made fast: on a busy machine, a call alone can take longer than that."""
_FAST: t.Final = 0.2
"""Seconds."""
_JUKEBOX: t.Final = 10008
"""And DELAY."""
Far: t.TypeAlias = contextlib.AbstractContextManager[None]
"""In this context, the far call is made: a call that fills the gap may take too long all the same."""


def need_gaps(caller: Caller, far: int, grow: Callable[[int], int], used: Callable[[], int | None]) -> Far:
    """SKIP where a call that makes a file of `far` bytes would not be answered in time.

    `grow`: makes a file, empty at first, longer than an offset; the status, 0 for success. `used`: the space of that
    file in bytes, None where the server does not say.
    """
    rpc = t.cast("RpcClient", caller)
    if _is_refused(grow(SMALL_GAP)):
        # The call of the check may be refused as well, but this says nothing of it.
        return _answered_or_skipped()
    took = rpc.timeout
    for number in range(1, _TRIES + 1):
        began = rpc.loop.clock()
        try:
            is_refused = _is_refused(grow(number * GAP))
        except RpcTimeout:
            skip("files of the server may have no gaps: one of 64 MiB is not made in time")
        now = rpc.loop.clock() - began
        took = min(took, now)
        if is_refused:
            return _answered_or_skipped()
        if took < _AT_ONCE:
            return contextlib.nullcontext()
        space = used()
        if space and space < number * GAP // 2:  # 0 is no space that a file with data has: it is not known
            return _answered_or_skipped()
        if now > _FAST:
            break
    observe("a gap of 64 MiB", f"{'unknown' if space is None else space} bytes in {took:.3f} s")
    if took * far / GAP > rpc.timeout:
        skip(
            "files of the server may have no gaps: by the time for one of 64 MiB, this one could take too long"
        )
    return _answered_or_skipped()


def _is_refused(status: int) -> bool:
    """SKIP if the call is put off: a later one may be made, and fill its gap."""
    if status == _JUKEBOX:
        skip("whether files of the server have gaps is not known: the call that makes one is put off")
    return status != 0


@contextlib.contextmanager
def _answered_or_skipped() -> Iterator[None]:
    """SKIP if no answer comes: `used` may be any number, and disks are slower than the memory before them."""
    try:
        yield
    except RpcTimeout as slow:
        skip(f"the server may fill the gap with zeros: {slow}")
