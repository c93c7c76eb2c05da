# SPDX-License-Identifier: MIT
"""The other versions and transports that a kernel's client may have."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from nfsclient import NfsClient
from nfstargets.knfsd.client import ClientRefused, LinuxClient
from tests.linux_client.conftest import Mounted
from tests.linux_client.trees import in_guest, on_server

SOURCE = "/usr/lib/python3.11/asyncio"


@pytest.fixture(
    params=[(2, "tcp"), (2, "udp"), (3, "udp"), ("4.1", "tcp")], ids=lambda mount: f"v{mount[0]}-{mount[1]}"
)
def other(guest: LinuxClient, mount: Callable[..., Mounted], request: pytest.FixtureRequest) -> Mounted:
    """The export, mounted in another way. Debian's kernels have no client over UDP, newer ones no NFSv2."""
    version, proto = request.param
    try:
        return mount(guest, version=version, proto=proto)
    except ClientRefused as error:
        why = str(error).rpartition(" ended with ")[2]
        pytest.skip(f"the kernel {guest.kernel} of the client cannot mount NFSv{version} over {proto}: {why}")


def test_a_tree_and_what_programs_do(other: Mounted, nfs: NfsClient) -> None:
    other.sh(
        f"cp -r {SOURCE} tree; cp -r tree again; diff -r tree again; ln -s x tree/l; ln tree/log.py tree/m; sync"
    )
    other.guest.drop_caches()
    tree = in_guest(other, "tree")
    assert len(tree) > 30
    reported = on_server(nfs, "tree")
    # Times of NFSv2 are in microseconds.
    assert {name: facts[:4] + facts[5:] for name, facts in tree.items()} == {
        name: facts[:4] + facts[5:] for name, facts in reported.items()
    }
    program = """
import os
held = open("f", "w+b")
held.write(b"contents" * 100_000)
os.fsync(held.fileno())
os.rename("f", "g")
os.unlink("g")
held.seek(0)
print(len(held.read()), len(os.listdir(".")))
held.close()
os.mkdir("many")
for number in range(500):
    open(f"many/{number}", "x").close()
print(len(os.listdir("many")), sorted(os.listdir(".")))
"""
    assert other.python(program) == "800000 3\n500 ['again', 'many', 'tree']\n"
    other.sh("rm -r again many tree")
    assert nfs.listdir() == []
