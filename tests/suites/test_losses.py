# SPDX-License-Identifier: MIT
"""What a crash shows: a PASS of a crash check stands only if the crash loses what the server may lose."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

import pytest

from fixtures.checks.dialects.nfs2 import Nfs2Scratch
from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from fixtures.checks.target import TargetView
from nfsclient.clients import Nfs2, Nfs3
from nfsclient.protocol.nfs3 import READDIR, WRITE, StableHow
from nfsjudge import Skipped
from nfsmutants.bending import amend
from suites.losses import Losses, Nfs2Losses, Nfs3Losses
from tests.nfsserver.conftest import Rig, make_rig, rig, root

__all__ = ["make_rig", "rig", "root"]

KINDS: dict[str, Callable[[TargetView, Rig], Losses]] = {
    "nfs2": lambda target, rig: Nfs2Losses(target, Nfs2Scratch(Nfs2(rig.rpc()), _root2(rig))),
    "nfs3": lambda target, rig: Nfs3Losses(target, Nfs3Scratch(rig.nfs3(), rig.root)),
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
    made.crash(Nfs3 if kind == "nfs3" else Nfs2)
    made.need_data()
    made.need_metadata()


@pytest.mark.parametrize("kind", KINDS)
def test_a_crash_that_loses_nothing_is_none(rig: Rig, kind: str) -> None:
    made = losses(rig, kind, loses=False)
    made.crash(Nfs3 if kind == "nfs3" else Nfs2)
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
