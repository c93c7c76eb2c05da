# SPDX-License-Identifier: MIT
"""Exchanges with the reference server, right and with a mutant."""

from __future__ import annotations

import pytest

from nfsclient.clients import Mount, Nfs3
from nfsclient.protocol.nfs3 import CreateMode3, Sattr3, StableHow
from nfsclient.rpc.exchange import Exchange
from tests.nfsserver.conftest import ROOT_USER, Rig, make_rig, rig
from tests.settled import settle

__all__ = ["Rig", "make_rig", "rig"]


def play(rig: Rig, *, proto: str = "tcp") -> list[Exchange]:
    """Two clients that make, change, list and remove, one after the other."""
    seen: list[Exchange] = []
    for name in (b"one", b"two"):
        rpc = rig.rpc(ROOT_USER, proto=proto)
        rpc.on_exchange = seen.append
        nfs = Nfs3(rpc)
        if proto == "tcp":
            Mount(rpc).mnt(b"/export")
        made = nfs.mkdir(rig.root, name).resok
        assert made is not None
        assert made.obj is not None
        for number in range(12):
            rig.clock.advance(1)
            created = nfs.create(made.obj, b"file %d" % number, CreateMode3.GUARDED).resok
            assert created is not None
            assert created.obj is not None
            nfs.write(created.obj, 0, bytes(300 * number), StableHow.UNSTABLE)
            nfs.commit(created.obj)
            nfs.setattr(created.obj, Sattr3(mode=0o600))
            nfs.read(created.obj, 0, 4000)
            nfs.getattr(created.obj)
            nfs.link(created.obj, made.obj, b"link %d" % number)
            nfs.remove(made.obj, b"file %d" % number)
            nfs.getattr(created.obj)
        nfs.readdirplus(made.obj)
        nfs.readdir(made.obj)
    settle(seen)
    return seen


@pytest.fixture
def right(rig: Rig) -> list[Exchange]:
    return play(rig)


@pytest.fixture
def wrong(rig: Rig) -> list[Exchange]:
    """The same with a mutant: 24 times a WRITE counts too much."""
    rig.mutants.add("write3-reports-more-than-sent")
    return play(rig)
