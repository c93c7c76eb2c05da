# SPDX-License-Identifier: MIT
"""An SSH server on loopback that runs what it is ordered to, for whoever connects, until its standard input ends.

python -m tests.workloads.ssh_server FOLDER     writes `config` and `known_hosts` there, as in ~/.ssh
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import typing as t
from pathlib import Path

from tests.needs import need

need("asyncssh")
import asyncssh  # noqa: E402

HOST: t.Final = "127.0.0.1"


class Open(asyncssh.SSHServer):
    """Nobody has to say who they are: it listens on loopback, for the seconds of a test."""

    def begin_auth(self, username: str) -> bool:
        return False


async def carry_out(process: t.Any) -> None:
    """Run the command of a session; it ends with the session."""
    pipe = asyncio.subprocess.PIPE
    command = await asyncio.create_subprocess_exec(
        "sh", "-c", process.command or "true", stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
    )
    await process.redirect(stdin=command.stdin, stdout=command.stdout, stderr=command.stderr)
    ends = [asyncio.ensure_future(command.wait()), asyncio.ensure_future(process.wait_closed())]
    await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
    if command.returncode is None:
        os.killpg(command.pid, signal.SIGTERM)
    process.exit(await command.wait())


async def serve(folder: Path) -> None:
    """Until standard input ends."""
    key = asyncssh.generate_private_key("ssh-ed25519")
    server = await asyncssh.listen(
        HOST, 0, server_host_keys=[key], server_factory=Open, process_factory=carry_out, encoding=None
    )
    port = server.get_port()
    public = key.export_public_key().decode().strip()
    (folder / "known_hosts").write_text(f"[{HOST}]:{port} {public}\n")
    (folder / "config").write_text(f"Host {HOST}\n  Port {port}\n")
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    server.close()


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1])))
