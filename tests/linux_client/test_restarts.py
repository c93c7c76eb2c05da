# SPDX-License-Identifier: MIT
"""The server goes and comes back while the kernel's client works: nothing that the client was promised is lost."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import pytest

from nfsclient.protocol import nfs3, nfs4
from nfsserver import Server
from tests.linux_client.conftest import Mounted

WRITE = """
import hashlib, os
digest = hashlib.sha256()
with open("stream", "wb", buffering=0) as file:
    for number in range(128):
        data = hashlib.shake_256(bytes([number])).digest(65_536)
        digest.update(data)
        file.write(data)
        if number in (40, 80):
            os.fsync(file.fileno())
    os.fsync(file.fileno())
print(digest.hexdigest())
"""


class AtCommits:
    """Ends an instance of the server just before it performs COMMIT of data that a crash loses: three times."""

    def __init__(self, server: Server, how: Callable[[Server], None]) -> None:
        self.server = server
        self.how = how
        self.times = 0
        server.interpose(nfs3.COMMIT, self.around)
        server.interpose(nfs4.COMMIT, self.around)

    def around(self, _server: object, context: Any, args: Any, proceed: Any) -> Any:
        """Around COMMIT."""
        if self.times < 3 and any(inode.has_unstable for inode in self.server.fs.objects):
            self.times += 1
            self.how(self.server)
        return proceed(context, args)


@pytest.mark.parametrize("how", [Server.crash, Server.restart], ids=["crash", "restart"])
def test_data_is_written_again_after_a_restart(linux_client: Mounted, how: Callable[[Server], None]) -> None:
    watches: list[AtCommits] = []
    linux_client.served.do(lambda server: watches.append(AtCommits(server, how)))
    digest = linux_client.python(WRITE, seconds=300).strip()
    assert watches[0].times == 3
    linux_client.guest.drop_caches()
    assert linux_client.sh("sha256sum <stream").split()[0] == digest
    with linux_client.served.client() as fresh:
        assert hashlib.sha256(fresh.read_file("stream")).hexdigest() == digest


def test_an_open_file_is_read_on_after_a_crash(linux_client: Mounted) -> None:
    program = """
import os, time
data = os.urandom(3_000_000)
with open("f", "wb") as file:
    file.write(data)
    os.fsync(file.fileno())
with open("f", "rb") as file:
    first = file.read(1000)
    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    open("/tmp/now", "w").close()
    while os.path.exists("/tmp/now"):
        time.sleep(0.1)
    print(first + file.read() == data)
"""
    running = linux_client.guest.begin("python3", "-c", program, folder=linux_client.point)
    linux_client.sh("while ! test -e /tmp/now; do sleep 0.1; done")
    linux_client.served.do(Server.crash)
    linux_client.sh("rm /tmp/now")
    assert linux_client.guest.finish(running, seconds=300).check().text == "True\n"


def test_what_was_made_survives_a_crash(linux_client: Mounted) -> None:
    linux_client.sh("mkdir d; echo x >d/f; ln d/f d/g; ln -s f d/l; mv d/g d/h; chmod 640 d/f; sync")
    linux_client.served.do(Server.crash)
    linux_client.guest.drop_caches()
    assert linux_client.sh("ls d; stat -c '%h %a' d/f; cat d/l") == "f\nh\nl\n2 640\nx\n"
