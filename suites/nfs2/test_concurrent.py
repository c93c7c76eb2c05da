# SPDX-License-Identifier: MIT
"""Calls of two clients at the same time, by NFSv2."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fixtures.checks.dialects.nfs2 import Nfs2Scratch
from nfsclient.clients import Nfs2
from nfsclient.protocol.nfs2 import WRITE, Writeargs
from nfsclient.rpc.blocking import RpcClient
from nfsjudge import Harm, expect, proves, show, skip, stated
from suites.neighbours import SIZE, Part, Written, expect_nothing_lost, write_at_once

WRITES_DO_NOT_UNDO_OTHERS = stated(
    "RFC 1094",
    "2.2.9",
    "WRITE changes the file where its data goes: it undoes no WRITE of another client next to it",
    harm=Harm.DATA,
)


@pytest.mark.parametrize("where", ["inside", "at-the-end"])
@proves(WRITES_DO_NOT_UNDO_OTHERS, killed_by="write2-puts-the-file-back")
def test_neighbours(
    nfs2: Nfs2, rpc_connect: Callable[..., RpcClient], scratch: Nfs2Scratch, where: str
) -> None:
    """WRITEs of two clients to neighbouring ranges at the same time all take effect."""
    file = scratch.file("f", bytes(SIZE) if where == "inside" else b"")
    clients = [rpc_connect("nfs") for _ in range(2)]

    def start(number: int) -> Callable[[Part], Callable[[], Written]]:
        def submit(part: Part) -> Callable[[], Written]:
            pending = clients[number].submit(WRITE, Writeargs(file, 0, part.offset, 0, part.data))

            def wait() -> Written:
                reply = clients[number].wait(pending)
                if reply.status and where == "at-the-end":
                    skip(
                        f"WRITE beyond the end answers {show(reply.status)}: RFC 1094 promises no gaps in files"
                    )
                expect(reply).ok()
                return Written(reply.status, len(part.data))

            return wait

        return submit

    def again(part: Part) -> int:
        expect(nfs2.write(file, part.offset, part.data)).ok()
        return len(part.data)

    wanted = write_at_once([start(0), start(1)], again)
    expect_nothing_lost(scratch.read(file), wanted)
