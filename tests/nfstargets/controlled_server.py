# SPDX-License-Identifier: MIT
"""A server in a separate process, controlled through files in a folder: for tests of control by commands.

``controlled_server FOLDER`` prints its URL. A file FOLDER/ACTION makes it carry out the action, with the text of the
file as argument; it removes the file when it is done. `command` is the shell command that does this.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from nfsclient.rpc.loop import Loop
from nfstargets.embedded import EmbeddedTarget

ACTIONS = (
    "crash",
    "restart",
    "stop",
    "start",
    "touch_locally",
    "remove_locally",
    "fill_disk",
    "free_disk",
    "set_lease",
    "end_grace",
    "drop_caches",
)
_TICK = 0.02
ROOT = Path(__file__).resolve().parents[2]


def command(folder: Path, action: str) -> str:
    """A shell command that has an action carried out, and ends when it is done."""
    file = folder / action
    return f'printf %s "$NFSPROOF_PATH" > {file}.new; mv {file}.new {file}; while [ -e {file} ]; do sleep 0.02; done'


@contextlib.contextmanager
def controlled(folder: Path) -> Iterator[str]:
    """The URL of such a server in another process, which ends with the context."""
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.nfstargets.controlled_server", str(folder)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdout is not None
    try:
        yield server.stdout.readline().strip()
    finally:
        server.kill()
        server.communicate()


def _carry_out(target: EmbeddedTarget, action: str, text: str, port: int) -> None:
    server = target.running()
    match action:
        case "crash":
            target.crash()
        case "restart":
            target.restart()
        case "stop":
            server.close()
        case "start":
            assert target.loop is not None
            server.restart()
            server.listen(target.loop, port=port)
        case "touch_locally" | "remove_locally":
            inside = text.removeprefix(target.address().export).lstrip("/")
            target.touch_locally(inside.encode(), remove=action == "remove_locally")
        case "fill_disk":
            target.fill_disk()
        case "free_disk":
            target.free_disk()
        case _:
            pass  # it has neither state nor caches


def main(folder: Path) -> None:
    with closing(Loop()) as loop:
        target = EmbeddedTarget()
        target.loop = loop
        target.start()
        port = target.address().nfs_port
        print(  # noqa: T201
            f"nfs://127.0.0.1:{port}/export?mountport={port}&nfsport={port}&rpcbindport={port}&uid=0&gid=0",
            flush=True,
        )
        while True:
            loop.run_until(lambda: False, loop.clock() + _TICK)
            for action in ACTIONS:
                file = folder / action
                if file.exists():
                    _carry_out(target, action, file.read_text(), port)
                    file.unlink()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
