# SPDX-License-Identifier: MIT
"""One loop for the clients of a thread that want delegations.

A client answers CB_RECALL only while something waits on its loop. If each client had its own loop, one that waits
for a file that another one has been delegated would wait in vain: the other is not served meanwhile. Clients that want
no delegations are not called back, and keep their own loops, so that each may be used in another thread.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

from nfsclient.rpc.loop import Loop


class _Shared:
    def __init__(self) -> None:
        self.loop = Loop()
        self.users = 0


class _OfThread(threading.local):
    shared: _Shared | None = None


_of_thread = _OfThread()


@contextlib.contextmanager
def loop_of_thread() -> Iterator[Loop]:
    """The loop of this thread, closed with its last user."""
    shared = _of_thread.shared
    if shared is None or not shared.users:  # the last user may have ended in another thread
        shared = _of_thread.shared = _Shared()
    shared.users += 1
    try:
        yield shared.loop
    finally:
        shared.users -= 1
        if not shared.users:
            shared.loop.close()
