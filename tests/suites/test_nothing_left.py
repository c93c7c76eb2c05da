# SPDX-License-Identifier: MIT
"""After a run over TCP no client, session, open, lock or delegation of it is left on the server."""

from __future__ import annotations

import subprocess
import sys
import typing as t
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from nfsclient.protocol import nfs4 as p
from nfsclient.rpc.loop import Loop
from nfsserver.server import Server
from nfstargets.embedded import EmbeddedTarget
from tests.suites.test_broken_servers import ENVIRONMENT
from tests.waiting import AT_MOST

RUN: t.Final = (sys.executable, "-P", "-m", "nfsproof", "run")
STATES: t.Final = (
    "nfs4/CLOSE",
    "nfs4/LOCK",
    "nfs4/OPEN",
    "nfs4/delegation",
    "nfs4/two_clients",
    "nfs4/users",
)
_LOOK: t.Final = 0.2
"""Seconds between two looks at the other process."""
SESSIONS: t.Final = ("faults/sessions", "nfs4/CREATE_SESSION", "nfs4/EXCHANGE_ID", "nfs4/SEQUENCE")


def run_on(target: EmbeddedTarget, loop: Loop, folder: Path, checks: tuple[str, ...]) -> None:
    """A run of some checks on a server of this process, by another process."""
    found = target.address()
    url = f"nfs://127.0.0.1:{found.nfs_port}{found.export}?mountport={found.mount_port}&uid=0&gid=0"
    with subprocess.Popen(
        [*RUN, url, *checks, "-q", f"--report={folder / 'report'}"],
        env=ENVIRONMENT,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        end = loop.clock() + AT_MOST
        while not (ended := process.poll() is not None) and loop.clock() < end:
            # No call tells that a process has ended.
            loop.run_until(lambda: process.poll() is not None, loop.clock() + _LOOK)
        output = process.stdout.read() if process.stdout is not None else ""
    assert ended
    assert process.returncode == 0, output


def what_is_left(server: Server) -> dict[str, int]:
    states = server.states
    kinds = Counter[str](
        state.kind for client in states.clients for state in states.held.stateids.of_client(client.id)
    )
    return {"clients": len(states.clients), "sessions": len(states.sessions), **kinds}


@pytest.mark.parametrize(("checks", "busy"), [(STATES, 0), (SESSIONS, 1)], ids=["states", "sessions"])
def test_a_run_leaves_nothing(tmp_path: Path, checks: tuple[str, ...], busy: int) -> None:
    """`busy`: of checks that want this status, as nfs4/CREATE_SESSION/of-another-client. Clean-up never gets it."""
    statuses: Counter[str] = Counter()

    def count(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> p.DestroyClientid4Res:
        result: p.DestroyClientid4Res = proceed(context, args)
        statuses[result.dcr_status.name] += 1
        return result

    target = EmbeddedTarget()
    target.knobs = {"lease_time": 2.0}
    with closing(Loop()) as loop:
        target.loop = loop
        target.start()
        server = target.running()
        server.interpose(p.DESTROY_CLIENTID, count)
        try:
            run_on(target, loop, tmp_path, checks)
            assert what_is_left(server) == {"clients": 0, "sessions": 0}
        finally:
            target.stop()
    assert statuses["NFS4_OK"]
    assert statuses["NFS4ERR_CLIENTID_BUSY"] == busy
