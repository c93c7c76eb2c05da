# SPDX-License-Identifier: MIT
"""The handles that MNT gives, and who may ask for them (RFC 1813 section 5.2.1, RFC 1094 A.2, A.4 and A.5.2)."""

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
    MAPS_A_PATH,
    NULL_ANSWERS,
    NULL_FOR_ALL,
    OLD_VERSIONS,
)

HANDLE_2 = Requirement(
    rfc="RFC 1094", section="A.4.1", gist="the handle that MNT gives has exactly 32 bytes, without a length"
)
HANDLE_3 = Requirement(rfc="RFC 1813", section="5.1.5", gist="the handle that MNT gives has at most 64 bytes")
FLAVORS_WORK = Requirement(
    rfc="RFC 1813",
    section="5.2.1",
    level=Level.SHOULD,
    gist="the flavors that MNT names are supported with the handle",
)
MNT_ASKS_WHO = Requirement(
    rfc="RFC 1813",
    section="5.2.1",
    level=Level.SHOULD,
    part=Part.IMPLEMENTATION,
    gist="MNT requires AUTH_UNIX or better",
)
UMNT_ASKS_WHO = Requirement(
    rfc="RFC 1813", section="5.2.3", level=Level.SHOULD, gist="UMNT requires AUTH_UNIX or better"
)
UMNTALL_ASKS_WHO = Requirement(
    rfc="RFC 1813", section="5.2.4", level=Level.SHOULD, gist="UMNTALL requires AUTH_UNIX or better"
)
DENIAL_IS_MEANT = Requirement(
    rfc="RFC 1813",
    section="5.1.5",
    level=Level.SHOULD,
    gist="MNT3ERR_ACCES says that permission is denied",
)
OFTEN = 4
"""How many times the same path is mounted."""
AUTH_NONE, AUTH_SYS = 0, 1
_CREDENTIALS = {AUTH_NONE: AuthNone(), AUTH_SYS: None}
"""Flavors that can be tried from here; None: as the user of the run."""


@OLD_VERSIONS
@proves(*NULL_ANSWERS, killed_by="mount1-null-returns-results")
def test_null_of_old_versions_is_answered_without_results(mounting: MakeMounting, version: int) -> None:
    mounting(version).client.null()


@EVERY_VERSION
@proves(*NULL_FOR_ALL, killed_by="mount-null-asks-who-calls")
def test_null_is_for_everybody(mounting: MakeMounting, version: int) -> None:
    refusal = _refusal(mounting(version, credential=AuthNone()).client.null)
    expect(refusal, "the refusal of NULL with AUTH_NONE", because=NULL_FOR_ALL.of(version)).equals("")


def _refusal(act: Callable[[], Mnt1Res | Mnt3Res | None]) -> str:
    """How RPC or MNT refuses; empty when neither does."""
    try:
        reply = act()
    except RpcDenied as error:
        return str(error)
    return str(reply.status) if reply is not None and reply.resok is None else ""


@pytest.mark.parametrize("name", ["mnt", "umnt", "umntall"])
@proves(MNT_ASKS_WHO, UMNT_ASKS_WHO, UMNTALL_ASKS_WHO, killed_by="mount3-serves-nobody", needs="mount")
def test_version_3_asks_who_calls(mounting: MakeMounting, name: str) -> None:
    mount = mounting(3, credential=AuthNone())
    acts: dict[str, tuple[Requirement, Callable[[], t.Any]]] = {
        "mnt": (MNT_ASKS_WHO, lambda: mount.mnt(mount.export)),
        "umnt": (UMNT_ASKS_WHO, lambda: mount.client.umnt(mount.export)),
        "umntall": (UMNTALL_ASKS_WHO, mount.client.umntall),
    }
    rule, act = acts[name]
    refusal = _refusal(act)
    observe("AUTH_NONE", refusal or "served")
    expect(refusal, f"the refusal of {name.upper()} with AUTH_NONE", because=rule).differs_from("")


@OLD_VERSIONS
@proves(*MAPS_A_PATH, killed_by="mnt1-gives-an-unusable-handle")
def test_old_versions_give_a_handle_that_works(mounting: MakeMounting, version: int) -> None:
    mount = mounting(version)
    rule = MAPS_A_PATH.of(version)
    for _ in range(OFTEN):
        is_directory = mount.is_directory(mount.need(mount.export))
        expect(is_directory, "that a directory was mounted", because=rule).is_true()


@OLD_VERSIONS
@proves(*MAPS_A_PATH, killed_by="mnt1-mounts-another-directory")
def test_old_versions_give_the_same_directory_each_time(
    mounting: MakeMounting, version: int, scratch: Scratch
) -> None:
    mount = mounting(version)
    found = [mount.finds(mount.need(mount.export), scratch.name) for _ in range(OFTEN)]
    what = "whether the scratch directory is found in what was mounted"
    expect(found, what, because=MAPS_A_PATH.of(version)).equals([True] * OFTEN)


@proves(MAPS_A_PATH.old, killed_by="mnt2-mounts-what-is-not-there", needs="mount2")
def test_version_2_refuses_a_path_that_does_not_exist(mounting: MakeMounting) -> None:
    mount = mounting(2)
    status = int(mount.mnt(mount.below(b"nfsproof-never-made-this")).status)
    expect(status, "the status of MNT", because=MAPS_A_PATH.of(2)).differs_from(0)


@OLD_VERSIONS
@proves(HANDLE_2, killed_by="mnt1-gives-64-bytes")
def test_old_versions_give_a_handle_of_32_bytes(mounting: MakeMounting, version: int) -> None:
    mount = mounting(version)
    lengths = [len(mount.need(mount.export)) for _ in range(OFTEN)]
    expect(lengths, "lengths of the handles").equals([32] * OFTEN)


@proves(HANDLE_3, killed_by="mnt3-gives-72-bytes", needs="mount")
def test_version_3_gives_a_handle_of_at_most_64_bytes(mounting: MakeMounting) -> None:
    mount = mounting(3)
    lengths = [len(mount.need(mount.export)) for _ in range(OFTEN)]
    observe("handles", f"{max(lengths)} bytes")
    expect(max(lengths), "length of the longest handle").at_most(64)


@proves(FLAVORS_WORK, killed_by="mnt3-names-a-flavor-that-is-refused", needs="mount")
def test_the_flavors_that_it_names_are_taken(
    mount_client: Mount, mounting: MakeMounting, rpc_connect: Callable[..., RpcClient]
) -> None:
    resok = expect(mount_client.mnt(mounting(3).export)).ok()
    observe("flavors", resok.auth_flavors)
    for flavor in sorted({*resok.auth_flavors} & {*_CREDENTIALS}):
        rpc = rpc_connect("nfs", credential=_CREDENTIALS[flavor])
        try:
            Nfs3(rpc).getattr(resok.fhandle)
        except AuthFailed as error:
            expect(str(error), f"GETATTR with flavor {flavor}").equals("an answer of NFS")


@proves(DENIAL_IS_MEANT, killed_by="mnt3-blames-input-and-output", needs=("mount", "other_users"))
def test_what_is_closed_to_the_user_is_mounted_or_denied(mounting: MakeMounting, scratch: Scratch) -> None:
    closed = scratch.directory(b"closed", mode=0o700)
    scratch.directory(b"inner", directory=closed)
    mount = mounting(3, credential=AuthSys(4242, 4242))
    status = mount.mnt(mount.below(scratch.name, b"closed", b"inner")).status
    observe("MNT below a directory that is closed to the user", status)
    denials = (MountStat3.MNT3ERR_ACCES, MountStat3.MNT3ERR_PERM, MountStat3.MNT3ERR_NOENT)
    expect(status, "the status of MNT").one_of(MountStat3.MNT3_OK, *denials)
