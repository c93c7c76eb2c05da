# SPDX-License-Identifier: MIT
"""The server as the path client sees it: data, names, share reservations, locks, delegations, restarts."""

from __future__ import annotations

import os

import pytest

from nfsclient import NfsStatusError
from nfsclient.protocol import nfs4 as p
from tests.nfsserver.nfs4.conftest import Rig4

READ = p.OpenDelegationType4.OPEN_DELEGATE_READ
NONE = p.OpenDelegationType4.OPEN_DELEGATE_NONE


@pytest.mark.parametrize("version", ["4.1", "4.2"])
def test_files_and_names(rig4: Rig4, version: str) -> None:
    client = rig4.by_path(version)
    data = os.urandom(3_000_000)
    client.mkdir("d/e", parents=True)
    client.write_file("d/f", data)
    assert client.read_file("d/f") == data
    client.symlink("f", "d/l")
    assert client.stat("d/l").size == len(data)
    client.link("d/f", "d/h")
    client.rename("d/f", "d/g")
    assert sorted(client.listdir("d")) == ["e", "g", "h", "l"]
    client.chmod("d/g", 0o600)
    assert client.stat("d/h").mode == 0o600
    client.truncate("d/g", 10)
    assert client.read_file("d/h") == data[:10]
    for name in ("g", "h", "l"):
        client.remove(f"d/{name}")
    client.rmdir("d/e")
    client.rmdir("d")
    assert client.listdir() == []


def test_share_reservations_and_locks(rig4: Rig4) -> None:
    first, other = rig4.by_path(), rig4.by_path()
    first.write_file("f", b"data")
    with first.open("f", "r+", deny="w") as file:
        with pytest.raises(NfsStatusError, match="SHARE_DENIED"):
            other.open("f", "r+")
        with file.locked(0, 10), other.open("f") as second, pytest.raises(NfsStatusError, match="DENIED"):
            second.lock(5, 10, shared=True)
        assert file.read() == b"data"


def test_delegation_is_recalled(rig4: Rig4) -> None:
    holder, other = rig4.by_path(), rig4.by_path("4.2")
    other.write_file("f", b"data")
    other.close()
    other = rig4.by_path("4.2")
    with holder.open("f") as file:
        assert (file.delegation, file.read()) == (READ, b"data")
        with other.open("f", "r+") as changed:
            changed.write(b"DA")
        assert file.delegation == NONE
        file.seek(0)
        assert file.read() == b"DAta"


def test_change_by_nfs3_recalls_a_delegation(rig4: Rig4) -> None:
    holder = rig4.by_path()
    handle = rig4.file(b"f", b"data")
    with holder.open("f") as file:
        assert file.delegation == READ
        nfs3 = rig4.nfs3()
        statuses = [nfs3.write(handle, 0, b"DA").status.name]
        while statuses[-1] == "NFS3ERR_JUKEBOX" and len(statuses) < 100:
            statuses.append(nfs3.write(handle, 0, b"DA").status.name)
        assert (statuses[0], statuses[-1]) == ("NFS3ERR_JUKEBOX", "NFS3_OK")
        assert file.delegation == NONE


def test_opens_and_locks_are_reclaimed_after_a_crash(rig4: Rig4) -> None:
    client = rig4.by_path()
    client.write_file("f", b"data")
    with client.open("f", "r+") as file, file.locked(0, 10):
        rig4.server.crash()
        assert file.read() == b"data"
        other = rig4.by_path()
        with other.open("f", "r+") as second, pytest.raises(NfsStatusError, match="DENIED"):
            second.lock(5, 10)


def test_file_that_is_removed_lives_while_it_is_open(rig4: Rig4) -> None:
    client = rig4.by_path()
    client.write_file("f", b"data")
    before = len(rig4.server.fs.inodes())
    with client.open("f") as file:
        client.remove("f")
        assert file.read() == b"data"
    assert len(rig4.server.fs.inodes()) == before - 1


def test_extended_attributes(rig4: Rig4) -> None:
    client = rig4.by_path("4.2")
    client.write_file("f", b"")
    client.setxattr("f", "user.name", b"text")
    assert (client.listxattr("f"), client.getxattr("f", "user.name")) == (["user.name"], b"text")
    client.removexattr("f", "user.name")
    assert client.listxattr("f") == []


def test_acl_and_mode_follow_each_other(rig4: Rig4) -> None:
    client = rig4.by_path()
    client.write_file("f", b"")
    client.chmod("f", 0o640)
    acl = client.get_acl("f")
    client.chmod("f", 0o777)
    client.set_acl("f", acl)
    assert client.stat("f").mode == 0o640
    assert client.get_acl("f") == acl


def test_state_is_gone_with_its_clients(rig4: Rig4) -> None:
    client = rig4.by_path()
    client.write_file("f", b"data")
    client.open("f")
    client.close()
    states = rig4.server.states
    assert (len(states.clients), len(states.sessions), len(states.held.stateids)) == (0, 0, 0)
