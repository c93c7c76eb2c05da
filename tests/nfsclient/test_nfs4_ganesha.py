# SPDX-License-Identifier: MIT
"""The clients of NFSv4.1 and 4.2 against NFS-Ganesha. Skipped where it is not installed or cannot be started."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from nfsclient import NfsStatusError, connect
from nfsclient.clients.nfs4 import CompoundError, Nfs4
from nfsclient.clients.nfs4 import operations as op
from nfsclient.nfs4 import NfsClient
from nfsclient.protocol import nfs4 as p
from nfsclient.rpc.auth import AuthSys
from nfsclient.rpc.blocking import connect_tcp
from nfstargets import make_target
from nfstargets.base import TargetAddress, TargetError
from nfstargets.ganesha import GaneshaTarget
from tests.needs import needs

pytestmark = needs("ganesha.nfsd")


@pytest.fixture(scope="module")
def target() -> Iterator[GaneshaTarget]:
    made = make_target("ganesha:mem")
    assert isinstance(made, GaneshaTarget)
    try:
        made.start()
    except TargetError as error:
        if "unshare" in str(error):
            pytest.skip(str(error))
        raise
    yield made
    made.stop()


def by_path(address: TargetAddress, version: str) -> NfsClient:
    client = connect(
        f"nfs://{address.host}:{address.nfs_port}{address.export}?version={version}&uid=0&gid=0", timeout=60
    )
    assert isinstance(client, NfsClient)
    return client


@pytest.fixture(params=["4.1", "4.2"])
def client(target: GaneshaTarget, request: pytest.FixtureRequest) -> Iterator[NfsClient]:
    with by_path(target.address(), request.param) as made:
        yield made


@pytest.mark.parametrize("minor", [1, 2])
def test_compounds_in_a_session(target: GaneshaTarget, minor: int) -> None:
    address = target.address()
    with connect_tcp(address.host, address.nfs_port, credential=AuthSys(0, 0), timeout=60) as rpc:
        nfs4 = Nfs4(rpc, minor=minor)
        nfs4.null()
        with nfs4.establish(callbacks=True) as session:
            reply = session.compound(op.putrootfh(), op.getfh(), op.getattr("type", "lease_time")).ok()
            assert reply.attributes.type == p.NfsFtype4.NF4DIR
            with pytest.raises(FileNotFoundError):
                session.compound(op.putfh(reply.handle), op.lookup(b"no such name")).ok()
            twice = session.state.begin([op.putrootfh(), op.getfh()], cache_this=True)
            assert session.perform(twice).handle == session.perform(twice).handle
            assert session.compound(slot=0, sequence_id=77).status == p.Nfsstat4.NFS4ERR_SEQ_MISORDERED
            assert session.compound(op.putrootfh()).status == p.Nfsstat4.NFS4_OK


def test_version_that_the_server_lacks_is_named(target: GaneshaTarget) -> None:
    address = target.address()
    with connect_tcp(address.host, address.nfs_port, credential=AuthSys(0, 0), timeout=60) as rpc:
        reply = Nfs4(rpc, minor=9).compound(op.putrootfh())
        assert reply.status == p.Nfsstat4.NFS4ERR_MINOR_VERS_MISMATCH
        with pytest.raises(CompoundError, match="COMPOUND"):
            reply.ok()


def test_files_and_names(client: NfsClient) -> None:
    data = os.urandom(300_000)
    client.mkdir("d/e", parents=True)
    client.write_file("d/f", data)
    assert client.read_file("d/f") == data
    client.symlink("f", "d/l")
    assert client.stat("d/l").size == len(data)
    assert client.readlink("d/l") == "f"
    client.rename("d/f", "d/g")
    assert sorted(client.listdir("d")) == ["e", "g", "l"]
    client.chmod("d/g", 0o600)
    assert client.stat("d/g").mode == 0o600
    assert [(top, dirs) for top, dirs, _ in client.walk("d")] == [("d", ["e"]), ("d/e", [])]
    client.remove("d/l")
    client.remove("d/g")
    client.rmdir("d/e")
    client.rmdir("d")
    assert client.listdir() == []


def test_share_reservations_and_locks(client: NfsClient, target: GaneshaTarget) -> None:
    client.write_file("f", b"data")
    with client.open("f", "r+", deny="w") as file, by_path(target.address(), "4.1") as other:
        with pytest.raises(NfsStatusError, match="SHARE_DENIED"):
            other.open("f", "r+")
        with file.locked(0, 10), other.open("f") as second, pytest.raises(NfsStatusError, match="DENIED"):
            second.lock(5, 10, shared=True)
        assert file.read() == b"data"
    client.remove("f")


def test_exclusive_creation(client: NfsClient) -> None:
    with client.open("f", "x") as file:
        file.write(b"data")
    with pytest.raises(FileExistsError):
        client.open("f", "x")
    assert client.read_file("f") == b"data"
    client.remove("f")


def test_connection_that_was_lost(client: NfsClient) -> None:
    client.write_file("f", b"data")
    with client.open("f", "r+") as file, file.locked(0, 10):
        client.live.rpc.close()
        assert file.read(4) == b"data"
    client.remove("f")


def test_restart_is_survived(target: GaneshaTarget) -> None:
    with by_path(target.address(), "4.1") as client:
        target.restart()
        assert client.listdir() == []


@pytest.mark.parametrize("wanted", [False, True], ids=["not wanted", "wanted"])
def test_two_clients_of_one_program(target: GaneshaTarget, wanted: bool) -> None:
    """The one with the open file makes no calls while the other writes it."""
    address = target.address()
    url = f"nfs://{address.host}:{address.nfs_port}{address.export}?version=4.1&uid=0&gid=0"
    with (
        connect(url, timeout=60, delegations=wanted) as idle,
        connect(url, timeout=60, delegations=wanted) as busy,
    ):
        idle.write_file("f", b"one")
        with idle.open("f", "r+") as file:
            busy.write_file("f", b"two")
            assert (busy.read_file("f"), file.read()) == (b"two", b"two")
        busy.remove("f")
