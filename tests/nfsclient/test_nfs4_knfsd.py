# SPDX-License-Identifier: MIT
"""The path client of NFSv4 against the Linux kernel, which grants delegations. Skipped where it is not installed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from nfsclient import connect
from nfsclient.highlevel.nfs4 import StateLost
from nfsclient.nfs4 import NfsClient
from nfsclient.protocol import nfs4 as p
from nfsclient.rpc.loop import Loop
from nfstargets import make_target
from nfstargets.base import TargetAddress
from nfstargets.knfsd.target import KnfsdTarget
from tests.needs import needs, starting

pytestmark = needs("knfsd")
READ = p.OpenDelegationType4.OPEN_DELEGATE_READ
NONE = p.OpenDelegationType4.OPEN_DELEGATE_NONE


@pytest.fixture(scope="module")
def target() -> Iterator[KnfsdTarget]:
    made = make_target("knfsd:lease=60,grace=60")  # a slow machine must not lose its lease
    assert isinstance(made, KnfsdTarget)
    with starting("knfsd"):
        made.start()
    made.end_grace()
    yield made
    made.stop()


def by_path(address: TargetAddress, version: str, loop: Loop) -> NfsClient:
    url = f"nfs://{address.host}:{address.nfs_port}{address.export}?version={version}&uid=0&gid=0"
    client = connect(url, timeout=60, loop=loop, delegations=True)
    assert isinstance(client, NfsClient)
    return client


def test_delegation_and_its_recall(target: KnfsdTarget) -> None:
    loop = Loop()
    target.touch_locally(b"/f")
    with by_path(target.address(), "4.1", loop) as holder, by_path(target.address(), "4.2", loop) as other:
        with holder.open("f") as file:
            assert (file.delegation, file.read()) == (READ, b"changed without the protocol")
            with other.open("f", "r+") as changed:  # answered when the delegation is back
                changed.write(b"data")
            assert file.delegation == NONE
            file.seek(0)
            assert file.read() == b"data" + b"changed without the protocol"[4:]
        other.setxattr("f", "user.name", b"text")
        assert (other.listxattr("f"), other.getxattr("f", "user.name")) == (["user.name"], b"text")
        assert other.get_acl("f")


def test_restart_with_an_open_and_a_lock(target: KnfsdTarget) -> None:
    """Both are reclaimed, or the kernel refuses it, as it does at times on a loaded machine: that is an error."""
    target.touch_locally(b"/g")
    refusal = ""
    with by_path(target.address(), "4.1", Loop()) as holder:
        try:
            with holder.open("g", "r+") as file, file.locked(0, 10):
                target.restart()
                assert file.read(7) == b"changed"
        except StateLost as error:
            refusal = str(error)
        assert holder.read_file("g") == b"changed without the protocol"
    if refusal:
        pytest.skip(f"the kernel did not let the client reclaim: {refusal}")
