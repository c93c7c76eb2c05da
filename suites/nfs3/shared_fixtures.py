# SPDX-License-Identifier: MIT
"""Fixtures that several files of NFSv3 checks share. Checks of NFSv2 use `losses`, too."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import pytest

from fixtures.checks.budget import Budget
from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from fixtures.checks.target import TargetView
from fixtures.stage.stage import Stage
from nfsclient.clients import Mount, Nfs3
from nfsclient.protocol.nfs3 import (
    Nfstime3,
    StableHow,
)
from nfsclient.rpc.blocking import RpcClient
from nfsjudge import show, skip, unsupported
from suites.losses import Losses, Nfs2Losses, Nfs3Losses, Nfs4Losses
from suites.nfs3.calls import Place
from suites.nfs3.exports import exported
from suites.nfs3.limits import fsinfo
from suites.nfs3.listing import Fill
from suites.nfs3.times import LONGEST_TICK, SECOND, WaitForTick, nanoseconds, tick_after


@pytest.fixture
def place(scratch: Nfs3Scratch) -> Place:
    """The directories to try names in."""
    return Place(scratch)


@pytest.fixture
def fill(
    nfs3: Nfs3,
    scratch: Nfs3Scratch,
    rpc_connect: Callable[..., RpcClient],
    slowness: Callable[[], float],
    budget: Budget,
) -> Iterator[Fill]:
    """Creates many empty files in the scratch directory, and removes them after the check."""
    rpc = rpc_connect("nfs")
    rpc.on_exchange = None  # keep tens of thousands of calls out of the evidence
    made = Fill(nfs3, rpc, scratch.handle, slowness())
    yield made
    if not budget.leaves_names:
        made.empty()


@pytest.fixture
def wait_for_tick(
    nfs3: Nfs3,
    root: bytes,
    scratch: Nfs3Scratch,
    rpc_connect: Callable[..., RpcClient],
    slowness: Callable[[], float],
) -> WaitForTick:
    """Waits until the clock of the server ticks. It writes to another file to see the clock."""

    numbers = itertools.count()

    def wait(time: Nfstime3, *, whatever_delta: bool = False) -> None:
        rpc = rpc_connect("nfs")
        rpc.on_exchange = None  # keep hundreds of calls out of the evidence
        client, enough = Nfs3(rpc, patience=nfs3.patience), nanoseconds(time) + tick_after(time)
        delta = fsinfo(client, root).time_delta
        if nanoseconds(delta) > 2 * SECOND and not whatever_delta:
            skip(f"time_delta is {show(delta)} seconds: this check does not wait for the next tick")
        clock, end = scratch.file(f"clock-{next(numbers)}"), rpc.loop.clock() + LONGEST_TICK * slowness()
        while rpc.loop.clock() < end:
            reply = client.write(clock, 0, b"tick", StableHow.FILE_SYNC)
            seen = client.getattr(clock)
            if reply.resok is None or seen.resok is None:
                skip(
                    f"the clock of the server is unknown: WRITE answers {reply.status}, GETATTR {seen.status}"
                )
            if nanoseconds(seen.resok.obj_attributes.mtime) >= enough:
                return
        skip(f"no WRITE gave a file a time after {show(time)} within {LONGEST_TICK:g} seconds")

    return wait


@pytest.fixture
def elsewhere(nfs3: Nfs3, scratch: Nfs3Scratch, mount3: Mount) -> bytes:
    """The root of another export, on another file system. UNSUPPORTED if this client can mount none."""
    home, roots = scratch.attributes().fsid, []
    for path in exported(mount3):
        mounted = mount3.mnt(path)
        if mounted.resok is None:
            continue
        reply = nfs3.getattr(mounted.resok.fhandle)
        if reply.resok is not None and reply.resok.obj_attributes.fsid != home:
            roots.append(mounted.resok.fhandle)
    if not roots:
        unsupported("no other export on another file system can be mounted")
    return roots[0]


@pytest.fixture
def losses(request: pytest.FixtureRequest, stage: Stage, target: TargetView) -> Losses:
    """A crash of the target, with evidence of what it loses: by NFSv3 if the target serves it.

    Otherwise by NFSv4 in its own checks, and by NFSv2 in all others.
    """
    if isinstance(stage.sentinel, Losses):  # the check has begun before a crash that it shares
        return stage.sentinel
    made: Losses
    if target.has("nfs3"):
        made = Nfs3Losses(target, request.getfixturevalue("v3").scratch)
    elif "v4" in request.fixturenames:
        made = Nfs4Losses(target, request.getfixturevalue("v4"))
    else:
        made = Nfs2Losses(target, request.getfixturevalue("v2").scratch)
    stage.sentinel = made
    return made
