# SPDX-License-Identifier: MIT
"""The path client of NFSv4.1 against embednfs, whose stateids depend on the owner's client ID. Skipped where it is not
installed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from nfsclient import NfsStatusError, connect
from nfsclient.nfs4 import NfsClient
from nfstargets import make_target
from nfstargets.base import Target
from tests.needs import needs

pytestmark = needs("embednfs")


@pytest.fixture
def target() -> Iterator[Target]:
    made = make_target("embednfs")
    made.start()
    yield made
    made.stop()


def test_files_names_and_locks(target: Target) -> None:
    address, data = target.address(), os.urandom(300_000)
    client = connect(f"nfs://{address.host}:{address.nfs_port}/?version=4.1", timeout=60)
    assert isinstance(client, NfsClient)
    with client:
        client.mkdir("d")
        client.write_file("d/f", data)
        assert client.read_file("d/f") == data
        with client.open("d/f", "r+") as file, file.locked(0, 10):
            file.write(b"hello")
            file.seek(0)
            assert file.read(6) == b"hello" + data[5:6]
        client.rename("d/f", "d/g")
        client.symlink("g", "d/l")
        assert sorted(client.listdir("d")) == ["g", "l"]
        with pytest.raises(NfsStatusError, match="NOTEMPTY"):
            client.rmdir("d")
        for name in ("d/g", "d/l"):
            client.remove(name)
        client.rmdir("d")
        assert client.listdir() == []
