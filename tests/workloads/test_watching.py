# SPDX-License-Identifier: MIT
"""What is kept of the last calls, where the server is wrong."""

from __future__ import annotations

import typing as t
from contextlib import closing
from pathlib import Path

from nfsclient.clients.nfs4 import direct
from nfsclient.protocol import nfs3
from nfsclient.protocol import nfs4 as p
from nfsclient.rpc.blocking import connect_tcp
from nfsclient.rpc.loop import Loop
from nfsclient.rpc.mixed import MixedCalls, TimedCall
from nfsserver.server import Server
from tests.nfsclient.rpc_peer import Peer, framed, success, words
from tests.workloads.rig import run_whole
from workloads.watching import Watch


def test_a_compound_that_does_not_decode_is_in_the_capture(tmp_path: Path) -> None:
    """It is decoded late: what its decoding raises must not be in the way of the evidence for that."""
    results = words(0, 0, 1, 99_999, 0)  # an operation that does not exist
    over: list[TimedCall] = []
    with (
        closing(Loop()) as loop,
        Peer(lambda calls: framed(success(calls[-1], results))) as peer,
        closing(connect_tcp("127.0.0.1", peer.port, loop=loop)) as client,
    ):
        mixed, watch = MixedCalls(client), Watch(0)
        mixed.start(direct.RAW, p.Compound4Args(b"", 1, []), over.append)
        mixed.flush()
        while not over:
            loop.run_once(loop.clock() + 5.0)
            mixed.check()
            mixed.dispatch()
        assert over[0].error is None
        watch.saw(mixed, over[0], is_judged=False)
        packets = watch.write_capture(tmp_path / "wrong.pcapng", "no operation")
    assert packets
    assert results in (tmp_path / "wrong.pcapng").read_bytes()


def test_what_waits_is_judged_when_the_verifier_changes() -> None:
    """Several WRITEs are under way; the first reply breaks a rule, and the second has another verifier.

    What is wrong in a reply by itself is not forgotten; replies of before and after the restart are not compared.
    """
    count = 0

    def prepare(server: Server) -> None:
        def bent(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
            nonlocal count
            count += 1
            result = proceed(context, args)
            if count == 1:
                result.resok.file_wcc.after.ctime.nseconds = 2_000_000_000
            if count == 2:
                server.backend.begin_instance(clean=True)
                result.resok.verf = b"another."
            return result

        server.interpose(nfs3.WRITE, bent)

    outcome, _ = run_whole("write10", prepare=prepare)
    assert [each.rule for each in outcome.result.findings]
