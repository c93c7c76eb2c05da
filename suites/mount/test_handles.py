# SPDX-License-Identifier: MIT
"""The file handles that MNT returns, and to whom (RFC 1813 section 5.2.1, RFC 1094 A.2, A.4 and A.5.2)."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

import pytest

from fixtures.mounting import MakeMounting
from fixtures.scratch import Scratch
from nfsclient.clients import Mount, Nfs3
from nfsclient.errors import AuthFailed, RpcDenied
from nfsclient.protocol.mount import Mnt1Res, Mnt3Res, MountStat3
from nfsclient.rpc.auth import AuthNone, AuthSys
from nfsclient.rpc.blocking import RpcClient
from nfsjudge import Level, Part, Requirement, expect, observe, proves
from suites.mount.clauses import (
    EVERY_VERSION,
    MNT_RETURNS_HANDLE,
    NULL_ACCEPTS_AUTH_NONE,
    NULL_RETURNS_NOTHING,
    OLD_VERSIONS,
)

MNT_HANDLE_IS_32_BYTES = Requirement(
    rfc="RFC 1094", section="A.4.1", gist="MNT returns a handle of exactly 32 bytes, without a length field"
)
MNT_HANDLE_FITS_64_BYTES = Requirement(
    rfc="RFC 1813", section="5.1.5", gist="MNT returns a handle of at most 64 bytes"
)
MNT_LISTS_ONLY_ACCEPTED_FLAVORS = Requirement(
    rfc="RFC 1813",
    section="5.2.1",
    level=Level.SHOULD,
    gist="the server accepts the listed auth_flavors with the handle",
)
MNT_REQUIRES_AUTH_SYS = Requirement(
    rfc="RFC 1813",
    section="5.2.1",
    level=Level.SHOULD,
    part=Part.IMPLEMENTATION,
    gist="MNT requires AUTH_UNIX or better",
)
UMNT_REQUIRES_AUTH_SYS = Requirement(
    rfc="RFC 1813", section="5.2.3", level=Level.SHOULD, gist="UMNT requires AUTH_UNIX or better"
)
UMNTALL_REQUIRES_AUTH_SYS = Requirement(
    rfc="RFC 1813", section="5.2.4", level=Level.SHOULD, gist="UMNTALL requires AUTH_UNIX or better"
)
MNT_RETURNS_ACCES = Requirement(
    rfc="RFC 1813",
    section="5.1.5",
    level=Level.SHOULD,
    gist="MNT3ERR_ACCES reports that permission is denied",
)
REPETITIONS = 4
"""How many times these checks mount the same path."""
AUTH_NONE, AUTH_SYS = 0, 1
_CREDENTIALS = {AUTH_NONE: AuthNone(), AUTH_SYS: None}
"""Flavor -> a credential to try it with; None stands for the run's own."""


@OLD_VERSIONS
@proves(*NULL_RETURNS_NOTHING, killed_by="mount1-null-returns-results")
def test_null_of_old_versions_is_answered_without_results(mounting: MakeMounting, version: int) -> None:
    """MOUNT versions 1 and 2 answer NULL without results."""
    mounting(version).client.null()


@EVERY_VERSION
@proves(*NULL_ACCEPTS_AUTH_NONE, killed_by="mount-null-asks-who-calls")
def test_null_is_for_everybody(mounting: MakeMounting, version: int) -> None:
    """MOUNT answers NULL with AUTH_NONE."""
    refusal = _refusal(mounting(version, credential=AuthNone()).client.null)
    expect(refusal, "the refusal of NULL with AUTH_NONE", because=NULL_ACCEPTS_AUTH_NONE.of(version)).equals(
        ""
    )


def _refusal(act: Callable[[], Mnt1Res | Mnt3Res | None]) -> str:
    """The error of RPC or the status of MNT if the call is refused, else an empty string."""
    try:
        reply = act()
    except RpcDenied as error:
        return str(error)
    return str(reply.status) if reply is not None and reply.resok is None else ""


@pytest.mark.parametrize("name", ["mnt", "umnt", "umntall"])
@proves(
    MNT_REQUIRES_AUTH_SYS,
    UMNT_REQUIRES_AUTH_SYS,
    UMNTALL_REQUIRES_AUTH_SYS,
    killed_by="mount3-serves-nobody",
    needs="mount",
)
def test_version_3_asks_who_calls(mounting: MakeMounting, name: str) -> None:
    """MNT, UMNT and UMNTALL refuse AUTH_NONE."""
    mount = mounting(3, credential=AuthNone())
    acts: dict[str, tuple[Requirement, Callable[[], t.Any]]] = {
        "mnt": (MNT_REQUIRES_AUTH_SYS, lambda: mount.mnt(mount.export)),
        "umnt": (UMNT_REQUIRES_AUTH_SYS, lambda: mount.client.umnt(mount.export)),
        "umntall": (UMNTALL_REQUIRES_AUTH_SYS, mount.client.umntall),
    }
    rule, act = acts[name]
    refusal = _refusal(act)
    observe("AUTH_NONE", refusal or "served")
    expect(refusal, f"the refusal of {name.upper()} with AUTH_NONE", because=rule).differs_from("")


@OLD_VERSIONS
@proves(*MNT_RETURNS_HANDLE, killed_by="mnt1-gives-an-unusable-handle")
def test_old_versions_give_a_handle_that_works(mounting: MakeMounting, version: int) -> None:
    """MNT of MOUNT versions 1 and 2 returns a usable handle of a directory."""
    mount = mounting(version)
    rule = MNT_RETURNS_HANDLE.of(version)
    for _ in range(REPETITIONS):
        is_directory = mount.is_directory(mount.need(mount.export))
        expect(is_directory, "that a directory was mounted", because=rule).is_true()


@OLD_VERSIONS
@proves(*MNT_RETURNS_HANDLE, killed_by="mnt1-mounts-another-directory")
def test_old_versions_give_the_same_directory_each_time(
    mounting: MakeMounting, version: int, scratch: Scratch
) -> None:
    """MNT of MOUNT versions 1 and 2 returns the same directory every time."""
    mount = mounting(version)
    found = [mount.finds(mount.need(mount.export), scratch.name) for _ in range(REPETITIONS)]
    what = "whether the scratch directory is found in what was mounted"
    expect(found, what, because=MNT_RETURNS_HANDLE.of(version)).equals([True] * REPETITIONS)


@proves(MNT_RETURNS_HANDLE.old, killed_by="mnt2-mounts-what-is-not-there", needs="mount2")
def test_version_2_refuses_a_path_that_does_not_exist(mounting: MakeMounting) -> None:
    """MNT of MOUNT version 2 refuses a path that does not exist."""
    mount = mounting(2)
    status = int(mount.mnt(mount.below(b"nfsproof-never-made-this")).status)
    expect(status, "the status of MNT", because=MNT_RETURNS_HANDLE.of(2)).differs_from(0)


@OLD_VERSIONS
@proves(MNT_HANDLE_IS_32_BYTES, killed_by="mnt1-gives-64-bytes")
def test_old_versions_give_a_handle_of_32_bytes(mounting: MakeMounting, version: int) -> None:
    """MNT of MOUNT versions 1 and 2 returns a handle of 32 bytes."""
    mount = mounting(version)
    lengths = [len(mount.need(mount.export)) for _ in range(REPETITIONS)]
    expect(lengths, "lengths of the handles").equals([32] * REPETITIONS)


@proves(MNT_HANDLE_FITS_64_BYTES, killed_by="mnt3-gives-72-bytes", needs="mount")
def test_version_3_gives_a_handle_of_at_most_64_bytes(mounting: MakeMounting) -> None:
    """MNT returns a handle of at most 64 bytes."""
    mount = mounting(3)
    lengths = [len(mount.need(mount.export)) for _ in range(REPETITIONS)]
    observe("handles", f"{max(lengths)} bytes")
    expect(max(lengths), "length of the longest handle").at_most(64)


@proves(MNT_LISTS_ONLY_ACCEPTED_FLAVORS, killed_by="mnt3-names-a-flavor-that-is-refused", needs="mount")
def test_the_flavors_that_it_names_are_taken(
    mount_client: Mount, mounting: MakeMounting, rpc_connect: Callable[..., RpcClient]
) -> None:
    """The server accepts the authentication flavors that MNT lists."""
    resok = expect(mount_client.mnt(mounting(3).export)).ok()
    observe("flavors", resok.auth_flavors)
    for flavor in sorted({*resok.auth_flavors} & {*_CREDENTIALS}):
        rpc = rpc_connect("nfs", credential=_CREDENTIALS[flavor])
        try:
            Nfs3(rpc).getattr(resok.fhandle)
        except AuthFailed as error:
            expect(str(error), f"GETATTR with flavor {flavor}").equals("an answer of NFS")


@proves(MNT_RETURNS_ACCES, killed_by="mnt3-blames-input-and-output", needs=("mount", "other_users"))
def test_what_is_closed_to_the_user_is_mounted_or_denied(mounting: MakeMounting, scratch: Scratch) -> None:
    """MNT mounts a directory that the user may not reach, or refuses it with a fitting error."""
    closed = scratch.directory(b"closed", mode=0o700)
    scratch.directory(b"inner", directory=closed)
    mount = mounting(3, credential=AuthSys(4242, 4242))
    status = mount.mnt(mount.below(scratch.name, b"closed", b"inner")).status
    observe("MNT below a directory that is closed to the user", status)
    denials = (MountStat3.MNT3ERR_ACCES, MountStat3.MNT3ERR_PERM, MountStat3.MNT3ERR_NOENT)
    expect(status, "the status of MNT").one_of(MountStat3.MNT3_OK, *denials)
