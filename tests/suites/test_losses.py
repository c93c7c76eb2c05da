# SPDX-License-Identifier: MIT
"""What a crash shows: a PASS of a crash check stands only if the crash loses what the server may lose."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

import pytest

from fixtures.checks.dialects.nfs2 import Nfs2Scratch
from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from fixtures.checks.dialects.nfs4 import Grace, Nfs4Dialect, Nfs4Scratch
from fixtures.checks.target import TargetView
from nfsclient.clients import Nfs2, Nfs3
from nfsclient.clients.nfs4 import Nfs4, Session
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs3 import READDIR, WRITE, StableHow
from nfsjudge import Skipped
from nfsmutants.bending import amend
from nfsmutants.nfs4.bending import amend4
from suites.losses import Losses, Nfs2Losses, Nfs3Losses, Nfs4Losses
from tests.nfsserver.conftest import Rig, make_rig, rig, root

__all__ = ["make_rig", "rig", "root"]

KINDS: dict[str, Callable[[TargetView, Rig], Losses]] = {
    "nfs2": lambda target, rig: Nfs2Losses(target, Nfs2Scratch(Nfs2(rig.rpc()), _root2(rig))),
    "nfs3": lambda target, rig: Nfs3Losses(target, Nfs3Scratch(rig.nfs3(), rig.root)),
    "nfs4": lambda target, rig: Nfs4Losses(target, t.cast("Nfs4Dialect", OnlyNfs4(rig))),
}


def _root2(rig: Rig) -> bytes:
    return rig.root.ljust(32, b"\0")


class Target:
    """A target whose crash loses what is not stable, or nothing."""

    def __init__(self, rig: Rig, *, loses: bool) -> None:
        self._rig = rig
        self._loses = loses

    def client(self, kind: type[t.Any]) -> t.Any:
        return kind(self._rig.rpc())

    def crash(self) -> None:
        self._rig.server.restart(clean=not self._loses)


class OnlyNfs4:
    """What a check of NFSv4 has: a client, which may end, and a directory."""

    def __init__(self, rig: Rig) -> None:
        self._rig = rig
        self._session: Session | None = None
        self._instance = rig.server.states
        self._scratch = Nfs4Scratch(self.compounds, rig.root, Grace(rig.clock.advance))

    @property
    def scratch(self) -> Nfs4Scratch:
        self._scratch.move_to(self.compounds, self._rig.root)
        return self._scratch

    @property
    def compounds(self) -> Session:
        if self._session is None or self._rig.server.states is not self._instance:
            self._instance = self._rig.server.states
            self._session = Nfs4(self._rig.rpc(), minor=1).establish()
        return self._session

    def end_sessions(self) -> None:
        if self._session is not None:
            assert self._session.client is not None
            self._session.destroy()
            self._session.nfs4.destroy_clientid(self._session.client.id)
        self._session = None


def losses(rig: Rig, kind: str, *, loses: bool) -> Losses:
    return KINDS[kind](t.cast("TargetView", Target(rig, loses=loses)), rig)


def answer(rig: Rig, committed: StableHow) -> None:
    """Let WRITE say that it commits more than it was asked to."""

    def around(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
        return amend(proceed(context, args), committed=committed)

    rig.server.interpose(WRITE, around)


def keep_atime(rig: Rig) -> None:
    """Let READDIR leave atime alone, as on a file system that is mounted with noatime."""

    def around(server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
        inode = server.backend.resolve(args.dir)
        atime, reply = inode.atime, proceed(context, args)
        inode.atime, inode.stable_atime = atime, None
        return reply

    rig.server.interpose(READDIR, around)


@pytest.mark.parametrize("kind", KINDS)
def test_a_crash_that_loses_something_is_evidence(rig: Rig, kind: str) -> None:
    made = losses(rig, kind, loses=True)
    made.crash(Nfs2 if kind == "nfs2" else Nfs3)
    made.need_data()
    made.need_metadata()


@pytest.mark.parametrize("kind", KINDS)
def test_a_crash_that_loses_nothing_is_none(rig: Rig, kind: str) -> None:
    made = losses(rig, kind, loses=False)
    made.crash(Nfs2 if kind == "nfs2" else Nfs3)
    for need in (made.need_data, made.need_metadata):
        with pytest.raises(Skipped, match="this crash loses nothing"):
            need()


def test_a_server_that_commits_everything_has_nothing_to_lose(rig: Rig) -> None:
    made = losses(rig, "nfs3", loses=False)
    answer(rig, StableHow.FILE_SYNC)
    made.crash(Nfs3)
    made.need_data()
    made.need_metadata()


def test_committed_data_says_nothing_of_metadata(rig: Rig) -> None:
    made = losses(rig, "nfs3", loses=False)
    answer(rig, StableHow.DATA_SYNC)
    made.crash(Nfs3)
    made.need_data()
    with pytest.raises(Skipped, match="atime"):
        made.need_metadata()


@pytest.mark.parametrize("loses", [True, False], ids=["loses", "keeps"])
def test_without_atime_the_mtime_of_a_write_tells(rig: Rig, loses: bool) -> None:
    made = losses(rig, "nfs3", loses=loses)
    keep_atime(rig)
    made.crash(Nfs3)
    if loses:
        made.need_metadata()
        return
    with pytest.raises(Skipped, match="mtime"):
        made.need_metadata()


def test_without_any_time_nothing_tells(rig: Rig) -> None:
    rig.server.knobs.set("time_granularity", 86_400)
    made = losses(rig, "nfs3", loses=True)
    for inode in rig.server.fs.objects:
        inode.mtime = inode.atime = rig.server.fs.stamp()
    made.crash(Nfs3)
    made.need_data()
    with pytest.raises(Skipped, match="nothing shows whether"):
        made.need_metadata()


def test_a_version_4_client_that_leaves_evidence_ends_before_the_crash(rig: Rig) -> None:
    made = losses(rig, "nfs4", loses=True)
    made.leave()
    assert not list(rig.server.states.clients)


def test_a_server_of_version_4_that_commits_everything_has_nothing_to_lose(rig: Rig) -> None:
    made = losses(rig, "nfs4", loses=False)

    def around(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
        return amend4(proceed(context, args), committed=p.StableHow4.FILE_SYNC4)

    rig.server.interpose(p.WRITE, around)
    made.crash(Nfs3)
    made.need_data()
    made.need_metadata()
