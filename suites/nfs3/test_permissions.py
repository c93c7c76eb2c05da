# SPDX-License-Identifier: MIT
"""Permissions (RFC 1813 section 4.4) for calls on names and data: owner, group, others, squashed root.

The protocol leaves permissions to the server, so no claim here is more than SHOULD.
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable

import pytest

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from fixtures.checks.target import KnobsView
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Nfsstat3, Sattr3
from nfsjudge import expect, expect_names, proves, unsupported
from nfsjudge.expect import StatusReply
from suites.nfs3.attributes import with_mode
from suites.nfs3.calls import CHANGING_NAMES, ON_NAMES, Place, procedure_name
from suites.nfs3.clauses import DENIES_WITHOUT_PERMISSION, GRANTS_WITH_PERMISSION, SQUASHED_ROOT_IS_NOBODY
from suites.nfs3.contents import pattern
from suites.nfs3.permissions import GROUP, ONE_OF_EACH, RETURNS_ACCES_OR_PERM, STRANGER, expect_denied
from suites.nfs3.statuses import NO_PERMISSION

DataCall: t.TypeAlias = Callable[[Nfs3, bytes, bytes], StatusReply]
DATA_CALLS: t.Final[dict[str, DataCall]] = {
    "read": lambda nfs3, file, _directory: nfs3.read(file, 0, 10),
    "read-0": lambda nfs3, file, _directory: nfs3.read(file, 0, 0),
    "write": lambda nfs3, file, _directory: nfs3.write(file, 0, b"data"),
    "write-0": lambda nfs3, file, _directory: nfs3.write(file, 0, b""),
    "readdir": lambda nfs3, _file, directory: nfs3.readdir(directory),
    "readdirplus": lambda nfs3, _file, directory: nfs3.readdirplus(directory),
}
"""Reads and writes, also of no bytes: (client, file, directory) -> reply."""


# ---------------------------------------------------------------- directories


def _expect_denied_to_others(as_user: Callable[..., Nfs3], place: Place, procedure: str) -> None:
    """A call of another user on a name in `place` is refused, and changes no names."""
    __tracebackhide__ = True
    known = place.names()
    reply = place.call(as_user(*STRANGER), procedure, b"name")
    expect_names(place.names(), known, "names in the directory")
    expect_denied(reply, f"{procedure_name(procedure)} by another user")


@pytest.mark.parametrize("procedure", CHANGING_NAMES)
@proves(DENIES_WITHOUT_PERMISSION, killed_by="names3-deny-nobody", needs=("other_users", "distinct_users"))
def test_dir_0755_others(nfs3: Nfs3, as_user: Callable[..., Nfs3], place: Place, procedure: str) -> None:
    """Another user cannot change the entries of a directory of mode 0755."""
    place.arrange(procedure, b"name")
    with_mode(nfs3, place.here, 0o755)
    _expect_denied_to_others(as_user, place, procedure)


@pytest.mark.parametrize("procedure", CHANGING_NAMES)
@proves(GRANTS_WITH_PERMISSION, killed_by="names3-deny-everybody", needs="other_users")
def test_dir_0777_others(nfs3: Nfs3, as_user: Callable[..., Nfs3], place: Place, procedure: str) -> None:
    """Another user can change the entries of a directory of mode 0777."""
    place.arrange(procedure, b"name")
    with_mode(nfs3, place.here, 0o777)
    with_mode(nfs3, place.elsewhere, 0o777)
    if procedure == "link":
        with_mode(nfs3, place.source, 0o666)  # some systems let users link only files that they may write
    reply = place.call(as_user(*STRANGER), procedure, b"name")
    expect(reply).granted()


@pytest.mark.parametrize("procedure", CHANGING_NAMES)
@proves(GRANTS_WITH_PERMISSION, killed_by="names3-deny-everybody", needs=("root", "other_users"))
def test_dir_0770_group(nfs3: Nfs3, as_user: Callable[..., Nfs3], place: Place, procedure: str) -> None:
    """A member of the group can change the entries of a directory of mode 0770."""
    place.arrange(procedure, b"name")
    for directory in (place.here, place.elsewhere):
        nfs3.setattr(directory, Sattr3(gid=GROUP))
        with_mode(nfs3, directory, 0o770)
    with_mode(nfs3, place.source, 0o666)
    member = as_user(*STRANGER, gids=(GROUP,))
    if member.readdir(place.here).status != Nfsstat3.NFS3_OK:
        unsupported("the server ignores the groups in the credential: READDIR by a member of the group fails")
    expect(place.call(member, procedure, b"name")).granted()


@pytest.mark.parametrize("procedure", ON_NAMES)
@proves(DENIES_WITHOUT_PERMISSION, killed_by="names3-deny-nobody", needs=("other_users", "distinct_users"))
def test_dir_0700_others(nfs3: Nfs3, as_user: Callable[..., Nfs3], place: Place, procedure: str) -> None:
    """Another user can neither find nor change the entries of a directory of mode 0700."""
    place.arrange(procedure, b"name")
    with_mode(nfs3, place.here, 0o700)
    _expect_denied_to_others(as_user, place, procedure)


@pytest.mark.parametrize("procedure", ["remove", "rmdir", "rename_from"])
@proves(
    DENIES_WITHOUT_PERMISSION,
    killed_by="names3-ignore-the-sticky-bit",
    needs=("other_users", "distinct_users"),
)
def test_sticky_directory(nfs3: Nfs3, as_user: Callable[..., Nfs3], place: Place, procedure: str) -> None:
    """Another user cannot remove or rename a user's object in a sticky directory."""
    place.arrange(procedure, b"name")
    with_mode(nfs3, place.here, 0o1777)
    reply = place.call(as_user(*STRANGER), procedure, b"name")
    expect_names(place.names(), [b"name"], "names in the directory")
    expect_denied(reply, f"{procedure_name(procedure)} in a sticky directory by another user")


# ---------------------------------------------------------------- data


@pytest.mark.parametrize("call", DATA_CALLS)
@proves(
    DENIES_WITHOUT_PERMISSION,
    RETURNS_ACCES_OR_PERM,
    killed_by="nfs3-data-ignores-permissions",
    needs=("other_users", "distinct_users"),
)
def test_private_data(nfs3: Nfs3, scratch: Nfs3Scratch, as_user: Callable[..., Nfs3], call: str) -> None:
    """Another user cannot read, write or list objects of modes 0600 and 0700."""
    file = with_mode(nfs3, scratch.file("f", pattern(100)), 0o600)
    directory = with_mode(nfs3, scratch.directory("d"), 0o700)
    reply = DATA_CALLS[call](as_user(*STRANGER), file, directory)
    expect(reply).refused(*NO_PERMISSION, because=RETURNS_ACCES_OR_PERM)


# ---------------------------------------------------------------- root squash


@pytest.mark.parametrize("procedure", ONE_OF_EACH)
@proves(SQUASHED_ROOT_IS_NOBODY, killed_by="names3-let-a-squashed-root-change", needs="root")
def test_root_squash(nfs3: Nfs3, place: Place, knobs: KnobsView, procedure: str) -> None:
    """Squashed root cannot change the entries of another user's directory."""
    place.arrange(procedure, b"name")
    with_mode(nfs3, place.here, 0o755)
    known = place.names()
    knobs.set(root_squash=True)
    reply = place.call(nfs3, procedure, b"name")
    expect_names(place.names(), known, "names in the directory")
    expect(reply).refused(*NO_PERMISSION, because=SQUASHED_ROOT_IS_NOBODY)


@pytest.mark.parametrize("procedure", ["create", "mkdir"])
@proves(SQUASHED_ROOT_IS_NOBODY, killed_by="names3-let-a-squashed-root-change", needs="root")
def test_root_squash_owner(nfs3: Nfs3, place: Place, knobs: KnobsView, procedure: str) -> None:
    """An object that squashed root creates does not belong to uid 0."""
    knobs.set(root_squash=True)
    expect(place.call(nfs3, procedure, b"name")).ok()
    found = expect(nfs3.lookup(place.here, b"name")).ok()
    made = expect(nfs3.getattr(found.object)).ok().obj_attributes
    expect(made).field("uid", "uid of the new object").differs_from(0)
