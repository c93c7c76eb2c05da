# SPDX-License-Identifier: MIT
"""The verifier of WRITE and COMMIT (RFC 1813 3.3.7, 3.3.21): the same while no data is lost, another after a loss.

A client cannot recover from unstable data that is lost under the same verifier. A verifier that changes without a
loss only makes clients write again, and is legal; so is one that never changes on a server that loses nothing.
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable

import pytest

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from fixtures.checks.target import TargetView
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Sattr3, StableHow
from nfsclient.rpc.blocking import RpcClient
from nfsjudge import expect, observe, proves, unsupported
from suites.nfs3.clauses import VERIFIER_CHANGES_ON_LOSS, VERIFIER_IS_CONSTANT
from suites.nfs3.contents import Unstable, pattern
from suites.nfs3.permissions import STRANGER
from suites.nfs3.verifiers import expect_new, verifier, verifier_after

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


# ---------------------------------------------------------------- without a loss of data


@pytest.mark.parametrize("call", WITHOUT_LOSS)
@proves(VERIFIER_IS_CONSTANT, killed_by="nfs3-verifier-changes-with-calls")
def test_same_after(nfs3: Nfs3, scratch: Nfs3Scratch, call: str) -> None:
    """The write verifier stays the same after calls that lose no data."""
    file, probe = scratch.file("f", b"data"), scratch.file("probe")
    before = verifier(nfs3, probe)
    description, act = WITHOUT_LOSS[call]
    act(nfs3, scratch, file)
    expect(verifier(nfs3, probe), f"verf after {description}", field="verf").equals(before)


@proves(VERIFIER_IS_CONSTANT, killed_by="write3-verifier-by-user", needs="other_users")
def test_same_for_users(nfs3: Nfs3, scratch: Nfs3Scratch, as_user: Callable[..., Nfs3]) -> None:
    """The write verifier is the same for every user."""
    file = scratch.file("f", mode=0o666)
    reply = as_user(*STRANGER).write(file, 0, b"data", StableHow.UNSTABLE)
    if reply.resok is None:
        unsupported(f"another user cannot write to a file of mode 0666: WRITE answers {reply.status}", reply)
    expect(reply).field("resok.verf", "verf for another user").equals(verifier(nfs3, file))


@proves(VERIFIER_IS_CONSTANT, killed_by="write3-verifier-by-transport", needs="udp")
def test_same_over_udp(nfs3: Nfs3, scratch: Nfs3Scratch, rpc_connect: Callable[..., RpcClient]) -> None:
    """The write verifier is the same over UDP and TCP."""
    file = scratch.file("f")
    over_udp = verifier(Nfs3(rpc_connect("nfs", proto="udp"), patience=nfs3.patience), file)
    expect(over_udp, "verf over UDP", field="verf").equals(verifier(nfs3, file))


# ---------------------------------------------------------------- crash and restart


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
    expect_new(verifier_after(nfs3, probe), lost)
