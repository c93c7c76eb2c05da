# SPDX-License-Identifier: MIT
"""The verifier of WRITE and COMMIT (RFC 1813 3.3.7, 3.3.21): the same while no data is lost, another after a loss.

A client cannot recover from unstable data that is lost under the same verifier. A verifier that changes without a
loss only makes clients write again, and is legal; so is one that never changes on a server that loses nothing.
"""

from __future__ import annotations

import struct
import typing as t
from collections.abc import Callable

import pytest

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from fixtures.checks.target import TargetView
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Sattr3, StableHow
from nfsclient.rpc.blocking import RpcClient
from nfsjudge import Level, Requirement, expect, observe, proves, show, skip, unsupported
from suites.losses import LOSES_NOTHING
from suites.nfs3.clauses import VERIFIER_CHANGES_ON_LOSS, VERIFIER_IS_CONSTANT
from suites.nfs3.contents import Unstable, commit, pattern, read_range, write_all
from suites.nfs3.permissions import STRANGER

VERIFIER_IS_UNIQUE = Requirement(
    rfc="RFC 1813",
    section="3.3.7",
    gist="verf is unique between instances of the server where uncommitted data may be lost",
    level=Level.MUST,
)
Act: t.TypeAlias = Callable[[Nfs3, Nfs3Scratch, bytes], object]
WITHOUT_LOSS: t.Final[dict[str, tuple[str, Act]]] = {
    "commit": ("COMMIT", lambda nfs3, _scratch, file: nfs3.commit(file)),
    "commit-range": ("COMMIT of a range", lambda nfs3, _scratch, file: nfs3.commit(file, 1, 1)),
    "commit-other-file": (
        "COMMIT of another file",
        lambda nfs3, scratch, _file: nfs3.commit(scratch.file("other")),
    ),
    "read": ("READ", lambda nfs3, _scratch, file: nfs3.read(file, 0, 4)),
    "setattr-size": (
        "SETATTR of the size",
        lambda nfs3, _scratch, file: nfs3.setattr(file, Sattr3(size=2)),
    ),
    "rename": (
        "RENAME",
        lambda nfs3, scratch, _file: nfs3.rename(scratch.handle, b"f", scratch.handle, b"g"),
    ),
    "remove": ("REMOVE", lambda nfs3, scratch, _file: nfs3.remove(scratch.handle, b"f")),
    "mkdir": ("MKDIR", lambda nfs3, scratch, _file: nfs3.mkdir(scratch.handle, b"d", Sattr3(mode=0o755))),
    "readdir": ("READDIR", lambda nfs3, scratch, _file: nfs3.readdir(scratch.handle)),
    "refused-write": (
        "a refused WRITE",
        lambda nfs3, scratch, _file: nfs3.write(scratch.handle, 0, b"data"),
    ),
}
"""Id -> description, and what a client does to the file f or its directory: the server loses no data by it."""
ARRANGED: t.Final = 8000
"""Bytes of stable data in the file at first."""


def _verifier_after(nfs3: Nfs3, file: bytes) -> bytes:
    """The verifier after a crash or restart. SKIP if the handle did not survive it."""
    reply = nfs3.write(file, 0, b"data", StableHow.UNSTABLE)
    if reply.resok is None:
        skip(f"cannot get the verifier after the restart: WRITE answers {reply.status}")
    return reply.resok.verf


def _expect_new(verf: bytes, lost: set[bytes]) -> None:
    """The verifier is none of those under which data was lost."""
    __tracebackhide__ = True
    expect(verf, "verf after unstable data was lost").satisfies(lambda now: now not in lost, "a new verifier")


def _verifier(nfs3: Nfs3, file: bytes) -> bytes:
    return expect(nfs3.write(file, 0, b"data", StableHow.UNSTABLE)).ok().verf


# ---------------------------------------------------------------- without a loss of data


@pytest.mark.parametrize("call", WITHOUT_LOSS)
@proves(VERIFIER_IS_CONSTANT, killed_by="nfs3-verifier-changes-with-calls")
def test_same_after(nfs3: Nfs3, scratch: Nfs3Scratch, call: str) -> None:
    """The write verifier stays the same after calls that lose no data."""
    file, probe = scratch.file("f", b"data"), scratch.file("probe")
    before = _verifier(nfs3, probe)
    description, act = WITHOUT_LOSS[call]
    act(nfs3, scratch, file)
    expect(_verifier(nfs3, probe), f"verf after {description}").equals(before)


@proves(VERIFIER_IS_CONSTANT, killed_by="write3-verifier-by-user", needs="other_users")
def test_same_for_users(nfs3: Nfs3, scratch: Nfs3Scratch, as_user: Callable[..., Nfs3]) -> None:
    """The write verifier is the same for every user."""
    file = scratch.file("f", mode=0o666)
    reply = as_user(*STRANGER).write(file, 0, b"data", StableHow.UNSTABLE)
    if reply.resok is None:
        unsupported(f"another user cannot write to a file of mode 0666: WRITE answers {reply.status}")
    expect(reply.resok.verf, "verf for another user").equals(_verifier(nfs3, file))


@proves(VERIFIER_IS_CONSTANT, killed_by="write3-verifier-by-transport", needs="udp")
def test_same_over_udp(nfs3: Nfs3, scratch: Nfs3Scratch, rpc_connect: Callable[..., RpcClient]) -> None:
    """The write verifier is the same over UDP and TCP."""
    file = scratch.file("f")
    over_udp = _verifier(Nfs3(rpc_connect("nfs", proto="udp")), file)
    expect(over_udp, "verf over UDP").equals(_verifier(nfs3, file))


# ---------------------------------------------------------------- crash and restart


def _write_unstable(nfs3: Nfs3, second: Nfs3, scratch: Nfs3Scratch, how: str, data: Unstable) -> None:
    """Write unstable data in one of several ways."""
    content = scratch.file("f", pattern(ARRANGED))
    match how:
        case "large":
            for at in range(0, 2**20, 2**17):
                data.write(nfs3, content, at, pattern(2**17, salt=1))
        case "many-files":
            for number in range(30):
                data.write(nfs3, scratch.file(f"file {number}"), 0, pattern(5000, salt=number))
        case "overwrite":
            data.write(nfs3, content, 1000, pattern(5000, salt=1))
        case "append":
            data.write(nfs3, content, ARRANGED, pattern(5000, salt=1))
        case "after-hole":
            data.write(nfs3, content, 2**20, pattern(5000, salt=1))
        case "after-commit":
            commit(nfs3, content, write_all(nfs3, content, 0, pattern(5000, salt=1), StableHow.UNSTABLE))
            data.write(nfs3, content, 0, pattern(5000, salt=2))
        case "closed-connection":
            data.write(second, content, 0, pattern(5000, salt=1))
            t.cast("RpcClient", second.rpc).close()


@pytest.mark.exclusive
@pytest.mark.parametrize(
    "how",
    [
        "large",
        "many-files",
        "overwrite",
        "append",
        "after-hole",
        "after-commit",
        "closed-connection",
    ],
)
@proves(VERIFIER_CHANGES_ON_LOSS, killed_by="write3-verifier-survives-crash", needs="unstable_writes")
def test_changes_on_loss(
    nfs3: Nfs3, second_client: Nfs3, scratch: Nfs3Scratch, target: TargetView, how: str
) -> None:
    """The write verifier changes if a crash loses unstable data."""
    data = Unstable()
    _write_unstable(nfs3, second_client, scratch, how, data)
    probe = scratch.file("probe")
    target.crash()
    survivor = target.client(Nfs3)
    lost = data.lost(survivor)
    observe("unstable data after the crash", "lost" if lost else "kept")
    _expect_new(_verifier_after(survivor, probe), lost)
    if not lost:
        skip(LOSES_NOTHING)


@pytest.mark.exclusive
@proves(
    VERIFIER_IS_UNIQUE,
    killed_by=("write3-verifier-is-made-of-seconds", "write3-verifier-is-reused"),
    needs="unstable_writes",
)
def test_never_reused(nfs3: Nfs3, scratch: Nfs3Scratch, target: TargetView) -> None:
    """No verifier returns after data was lost under it, even with crashes in quick succession."""
    file, probe = scratch.file("f"), scratch.file("probe")
    lost: set[bytes] = set()
    client = nfs3
    for salt in range(4):
        data = Unstable()
        data.write(client, file, salt * 10_000, pattern(9000, salt))
        target.crash()
        client = target.client(Nfs3)
        lost |= data.lost(client)
        verf = _verifier_after(client, probe)
        _expect_new(verf, lost)
    observe("unstable data after four crashes", "lost" if lost else "kept")
    if not lost:
        skip(LOSES_NOTHING)


@pytest.mark.exclusive
@proves(VERIFIER_CHANGES_ON_LOSS, killed_by="nfs3-orderly-restart-loses-data", needs="unstable_writes")
def test_clean_restart(nfs3: Nfs3, scratch: Nfs3Scratch, target: TargetView) -> None:
    """A clean restart that loses unstable data changes the write verifier."""
    file, probe, data = scratch.file("f"), scratch.file("probe"), Unstable()
    data.write(nfs3, file, 0, pattern(50_000))
    target.restart()
    client = target.client(Nfs3)
    lost = data.lost(client)
    observe("unstable data after a clean restart", "lost" if lost else "kept")
    _expect_new(_verifier_after(client, probe), lost)


def _description(crashes: list[bytes], restarts: list[bytes]) -> str:
    """How the server changes its verifier; each list has the verifiers of successive instances."""
    by_crash, by_restart = (len(set(verfs)) == len(verfs) for verfs in (crashes, restarts))
    if by_crash and by_restart:
        return "changes at every start, after a crash or a clean shutdown"
    if by_crash:
        return "changes after a crash, but not after a clean restart"
    if by_restart:
        return "changes after a clean restart, but not after a crash"
    if len({*crashes, *restarts}) == 1:
        return "never changes"
    return "does not change at every start: it may be a time in seconds, or the boot time of the machine"


def _looks_like_seconds(verf: bytes, now: int) -> bool:
    """Whether half of a verifier could be the time of the start in seconds, in either byte order."""
    halves = [number for order in "><" for number in struct.unpack(f"{order}2I", verf)]
    return any(now - 86_400 <= number <= now + 60 for number in halves)


@pytest.mark.exclusive
@proves(VERIFIER_CHANGES_ON_LOSS, killed_by="write3-verifier-survives-crash")
def test_when_it_changes(nfs3: Nfs3, scratch: Nfs3Scratch, target: TargetView) -> None:
    """The verifier changes on loss of data; the run records when else it changes."""
    file, probe, data = scratch.file("f"), scratch.file("probe"), pattern(9000)
    answers = write_all(nfs3, file, 0, data, StableHow.UNSTABLE)
    crashes = [_verifier(nfs3, probe)]
    for _ in range(2):
        target.crash()
        crashes.append(_verifier_after(target.client(Nfs3), probe))
    kept = read_range(target.client(Nfs3), file, 0, len(data)) == data
    target.restart()
    restarts = [crashes[-1], _verifier_after(target.client(Nfs3), probe)]
    observe("write verifier", _description(crashes, restarts))
    written = target.client(Nfs3).getattr(probe).resok
    if written is not None:
        seconds = _looks_like_seconds(restarts[-1], written.obj_attributes.mtime.seconds)
        observe("write verifier looks like the start time in seconds", show(seconds))
    if not kept:
        expect(crashes[1], "verf after the loss of data").differs_from(crashes[0])
    elif any(answer.committed == StableHow.UNSTABLE for answer in answers):
        skip(LOSES_NOTHING)


# ---------------------------------------------------------------- loss of data without a restart


@pytest.mark.exclusive
@proves(
    VERIFIER_CHANGES_ON_LOSS,
    killed_by=("commit3-nospc-loses-data", "commit3-full-disk-loses-data"),
    needs="unstable_writes",
)
def test_failed_write_back(nfs3: Nfs3, scratch: Nfs3Scratch, target: TargetView) -> None:
    """Unstable data that finds no room on the disk is not lost under the verifier of its WRITE."""
    file, probe, data = scratch.file("f"), scratch.file("probe", b"data"), Unstable()
    data.write(nfs3, file, 0, pattern(50_000))
    target.fill_disk()
    # A client repeats a COMMIT that fails. It forgets its copy of the data once COMMIT succeeds with the old verifier.
    replies = [nfs3.commit(file) for _ in range(2)]
    target.free_disk()
    replies.append(nfs3.commit(file))
    observe("COMMIT on a full disk", ", ".join(str(reply.status) for reply in replies[:2]))
    lost = data.lost(nfs3)
    observe("unstable data on a full disk", "lost" if lost else "kept")
    for reply in replies:
        if reply.resok is not None:
            expect(reply).field("resok.verf").satisfies(lambda verf: verf not in lost, "a new verifier")
    _expect_new(_verifier_after(nfs3, probe), lost)
