# SPDX-License-Identifier: MIT
"""Checks on right servers whose answers say nothing of what the check is about: each ends as SKIP, and not as FAIL."""

from __future__ import annotations

import typing as t

import pytest

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from nfsclient.protocol.nfs3 import (
    READ,
    RENAME,
    SETATTR,
    WRITE,
    Nfsstat3,
)
from nfsjudge import Level, Nonconformance, Skipped
from nfsmutants.bending import change
from suites.nfs3 import test_concurrent, test_create, test_setattr_size, test_two_clients
from tests.nfsserver.conftest import BOB, Rig, make_rig, rig, root

__all__ = ["make_rig", "rig", "root"]
_NOT_DENIED: t.Final = (Nfsstat3.NFS3ERR_JUKEBOX, Nfsstat3.NFS3ERR_STALE, Nfsstat3.NFS3ERR_IO)
_HANDLES: t.Final[dict[t.Any, tuple[str, str]]] = {
    READ: ("", "file"),
    WRITE: ("", "file"),
    SETATTR: ("", "object"),
    RENAME: ("from_", "dir"),
}
"""Where the arguments have a handle."""
_OF_DATA: t.Final = {
    "read_after_mode": READ,
    "read_after_owner": READ,
    "write_after_mode": WRITE,
    "write_after_owner": WRITE,
}


def _refused(context: t.Any, args: t.Any, proceed: t.Any, status: Nfsstat3) -> t.Any:
    """What a call is answered that is refused with a status: that of an invalid handle, but for the status."""
    path, name = _HANDLES[context.operation]
    return change(proceed(context, change(args, path, **{name: b""})), status=status)


def _answer_first(rig: Rig, operation: t.Any, status: Nfsstat3, *, of_user: int = 0) -> None:
    """Let the first call of an operation by a user fail with a status."""
    left = [status]

    def around(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
        is_meant = left and context.credential.uid == of_user
        return _refused(context, args, proceed, left.pop()) if is_meant else proceed(context, args)

    rig.server.interpose(operation, around)


def _scratch(rig: Rig) -> Nfs3Scratch:
    return Nfs3Scratch(rig.nfs3(), rig.root)


def _check_user(rig: Rig, name: str) -> None:
    """A check of two users, as pytest calls it."""
    getattr(test_two_clients, f"test_{name}")(rig.nfs3(), lambda *_: rig.nfs3(BOB), _scratch(rig))


@pytest.mark.parametrize("status", _NOT_DENIED)
@pytest.mark.parametrize("name", _OF_DATA)
def test_an_error_of_another_kind_is_no_denial(rig: Rig, name: str, status: Nfsstat3) -> None:
    """For the server both users are one, so that no mode keeps them apart; and it is busy at first."""
    rig.server.knobs.set("all_squash", True)
    _answer_first(rig, _OF_DATA[name], status, of_user=BOB.uid)
    with pytest.raises(Skipped, match="is not known"):
        _check_user(rig, name)


@pytest.mark.parametrize("name", _OF_DATA)
def test_what_was_granted_before_does_not_count(make_rig: t.Any, name: str) -> None:
    by_owner = name.endswith("owner")
    mutant = "data3-grants-all-what-one-was-granted" if by_owner else "data3-remembers-who-was-granted"
    with pytest.raises(Nonconformance, match="got success"):
        _check_user(make_rig(mutants=[mutant]), name)


def test_a_server_may_know_that_a_user_has_the_file_open() -> None:
    """What one user was granted never holds for another; that it holds for this user is only unusual."""
    for claim in (test_two_clients.READ_FOLLOWS_THE_MODE, test_two_clients.WRITE_FOLLOWS_THE_MODE):
        assert (claim.level, claim.harm) == (Level.SHOULD, None)
    for claim in (test_two_clients.READ_IS_CHECKED_EACH_TIME, test_two_clients.WRITE_IS_CHECKED_EACH_TIME):
        assert claim.level is Level.MUST


@pytest.mark.parametrize("how", ["removed", "replaced"])
@pytest.mark.parametrize("status", [Nfsstat3.NFS3ERR_NOENT, Nfsstat3.NFS3ERR_IO])
def test_a_name_that_is_not_given_to_another_file_says_nothing(rig: Rig, how: str, status: Nfsstat3) -> None:
    """RENAME is refused, or was executed before."""
    _answer_first(rig, RENAME, status)
    with pytest.raises(Skipped, match=f"RENAME answers {status.name}"):
        test_create.test_exclusive_name_reused(rig.nfs3(), rig.nfs3(), _scratch(rig), how)


@pytest.mark.parametrize("status", [Nfsstat3.NFS3ERR_IO, Nfsstat3.NFS3ERR_SERVERFAULT])
def test_a_server_without_gaps_may_refuse_them_with_any_error(rig: Rig, status: Nfsstat3) -> None:
    def around(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
        return _refused(context, args, proceed, status) if args.offset else proceed(context, args)

    rig.server.interpose(WRITE, around)
    with pytest.raises(Skipped, match="no gaps"):
        test_concurrent.test_neighbours(rig.nfs3(), lambda _: rig.rpc(), _scratch(rig), "at-the-end")
    with pytest.raises(Nonconformance):
        test_concurrent.test_neighbours(rig.nfs3(), lambda _: rig.rpc(), _scratch(rig), "inside")


def test_a_server_that_makes_no_file_longer_does_not_break_its_maxfilesize(rig: Rig) -> None:
    def around(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
        grows = (args.new_attributes.size or 0) > 0
        return _refused(context, args, proceed, Nfsstat3.NFS3ERR_INVAL) if grows else proceed(context, args)

    rig.server.interpose(SETATTR, around)
    with pytest.raises(Skipped, match="whatever it is"):
        test_setattr_size.test_within_maxfilesize(rig.nfs3(), rig.root, _scratch(rig), "2^31")
