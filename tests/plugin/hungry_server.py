# SPDX-License-Identifier: MIT
"""A server that believes, or fears, lengths: ``python -m tests.plugin.hungry_server PORT MODE``.

A message announces a length if one of its words is 16 MiB or more, from the arguments of a call with AUTH_SYS on.

- ``takes``: it takes and writes to as much memory, and gives it back. It may have 1.5 GiB, so that no mistake of a test
  takes more.
- ``dies``: a length of 256 MiB or more ends it with SIGABRT.
- ``starves``: it may have 200 MiB, and takes as much as is announced: lack of memory ends it.
- ``leaks``: it takes the memory and never gives it back.
- ``once``: its memory grows at the times of the first rungs, and not again.
- ``grows``: it takes the memory for lengths, and then 100 MiB for each NULL, up to 768 MiB in all.
- ``reserves``: a right server with a lazy heap. Each message writes to 1 MiB more, up to 400, and each announced length
  only reserves address space, which nobody ever writes to.
- ``sound``: it does nothing of the kind.
"""

from __future__ import annotations

import mmap
import os
import resource
import struct
import sys
from collections.abc import Sequence

from nfsclient.rpc.loop import Loop
from nfsserver import Server
from nfsserver.middleware import Answer, AnyAroundCall, AroundMessage, ProceedMessage
from nfsserver.transport import TransportMiddleware

LEAST = 16 << 20
MIB = 1 << 20
LIMITS = {"takes": 1536 * MIB, "leaks": 1536 * MIB, "starves": 200 * MIB}
_HEADER = 24
"""XID, type, RPC version, program, version and procedure."""


class Hungry:
    """Middleware that reads lengths in messages."""

    def __init__(self, mode: str) -> None:
        self._mode = mode
        self._kept: list[bytes] = []
        self._reserved: list[mmap.mmap] = []

    def around_calls(self, _operation: object, /) -> Sequence[AnyAroundCall]:
        return ()

    def around_messages(self) -> Sequence[AroundMessage]:
        return (self._answer,)

    def below_messages(self) -> Sequence[TransportMiddleware]:
        return ()

    def _answer(self, _server: object, message: bytes, proceed: ProceedMessage) -> Answer:
        length = announced_in(message)
        match self._mode:
            case "dies" if length >= 256 * MIB:
                os.abort()
            case "takes" | "starves" | "leaks" if length:
                try:
                    taken = b"\1" * length
                except MemoryError:
                    os.abort()
                self._kept += [taken] if self._mode == "leaks" else []
            case "once" if length in {16 * MIB, 64 * MIB, 256 * MIB}:
                self._keep(length)
            case "grows" if length or (self._kept and message[20:24] == bytes(4)):
                self._keep(length or 100 * MIB)
            case "reserves":
                self._kept += [b"\1" * MIB] if len(self._kept) < 400 else []
                if length:
                    self._reserved.append(mmap.mmap(-1, length))
        return proceed(message)

    def _keep(self, size: int) -> None:
        if sum(map(len, self._kept)) < LIMITS["leaks"] // 2:
            self._kept.append(b"\1" * size)


def announced_in(message: bytes) -> int:
    """The first word of the arguments, if it is large; 0 if it is not, or if there is none."""
    if len(message) < _HEADER + 16:
        return 0
    at = _HEADER
    for _ in range(2):  # credential and verifier
        at += 8 + -(-int.from_bytes(message[at + 4 : at + 8], "big") // 4) * 4
    if len(message) < at + 4:
        return 0
    (word,) = struct.unpack_from(">I", message, at)
    return word if word >= LEAST else 0


def main(port: int, mode: str) -> None:
    """Serve until a call or a signal ends it."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if mode in LIMITS:
        resource.setrlimit(resource.RLIMIT_DATA, (LIMITS[mode], LIMITS[mode]))
    loop, server = Loop(), Server(seed=os.getpid())
    server.surround(Hungry(mode))
    server.listen(loop, port=port)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while True:
        loop.run_once(loop.clock() + 60)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
