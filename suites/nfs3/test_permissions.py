# SPDX-License-Identifier: MIT
"""Permissions (RFC 1813 section 4.4) for calls that change names and attributes: owner, group, others.

The protocol leaves permissions to the server, so no claim here is more than SHOULD.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fixtures.scratch import Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import SERVER_TIME, Nfsstat3, Sattr3
from nfsjudge import Level, Requirement, expect, observe, proves, unsupported
from nfsjudge.expect import StatusReply
from suites.nfs3.by_name import CALLS, MAKING, TAKING, Place
from suites.nfs3.preserved import LONG_AGO, at_client_time, expect_preserved, with_mode

DENIES_WITHOUT_PERMISSION = Requirement(
    rfc="RFC 1813",
    section="4.4",
    gist="the server is expected to deny what the mode of an object does not allow a user to do",
    level=Level.SHOULD,
)
GRANTS_WITH_PERMISSION = Requirement(
    rfc="RFC 1813",
    section="4.4",
    gist="the server is expected to grant what the mode of an object allows a user to do",
    level=Level.SHOULD,
)
RETURNS_ACCES_OR_PERM = Requirement(
    rfc="RFC 1813",
    section="2.6",
    level=Level.SHOULD,
    gist="NFS3ERR_ACCES or NFS3ERR_PERM reports that the caller lacks permission",
)

STRANGER = (4242, 4242)
GROUP = 4343
NO_PERMISSION = (Nfsstat3.NFS3ERR_ACCES, Nfsstat3.NFS3ERR_PERM)
"""Servers use either."""
_CHANGING = [name for name in CALLS if name != "lookup"]


@pytest.fixture
def place(scratch: Scratch) -> Place:
    """The directory in which the checks use names."""
    return Place(scratch)


def _expect_denied(reply: StatusReply, what: str) -> None:
    """The call was refused, with an error for lack of permission."""
    __tracebackhide__ = True
    observe(what, reply.status)
    expect(reply, because=DENIES_WITHOUT_PERMISSION).refused(*NO_PERMISSION, because=RETURNS_ACCES_OR_PERM)


# ---------------------------------------------------------------- directories


@pytest.mark.parametrize("procedure", _CHANGING)
@proves(DENIES_WITHOUT_PERMISSION, killed_by="names3-deny-nobody", needs=("other_users", "distinct_users"))
def test_others_do_not_change_a_directory(
    nfs3: Nfs3, nfs3_as: Callable[..., Nfs3], place: Place, procedure: str
) -> None:
    """Another user cannot change the entries of a directory of mode 0755."""
    if procedure in TAKING:
        place.put(procedure, b"name")
    with_mode(nfs3, place.here, 0o755)
    known = place.names()
    reply = CALLS[procedure](nfs3_as(*STRANGER), place, place.here, b"name")
    expect(place.names(), "the names in the directory").equals(known)
    _expect_denied(reply, f"{procedure.upper()} by another user")


@pytest.mark.parametrize("procedure", _CHANGING)
@proves(GRANTS_WITH_PERMISSION, killed_by="names3-deny-everybody", needs="other_users")
def test_everybody_changes_a_directory_of_mode_777(
    nfs3: Nfs3, nfs3_as: Callable[..., Nfs3], place: Place, procedure: str
) -> None:
    """Another user can change the entries of a directory of mode 0777."""
    if procedure in TAKING:
        place.put(procedure, b"name")
    with_mode(nfs3, place.here, 0o777)
    with_mode(nfs3, place.elsewhere, 0o777)
    if procedure == "link":
        with_mode(nfs3, place.source, 0o666)  # some systems let users link only files that they may write
    reply = CALLS[procedure](nfs3_as(*STRANGER), place, place.here, b"name")
    expect(reply).granted()


@pytest.mark.parametrize("procedure", _CHANGING)
@proves(GRANTS_WITH_PERMISSION, killed_by="names3-deny-everybody", needs=("root", "other_users"))
def test_members_of_the_group_change_a_directory_of_mode_770(
    nfs3: Nfs3, nfs3_as: Callable[..., Nfs3], place: Place, procedure: str
) -> None:
    """A member of the group can change the entries of a directory of mode 0770."""
    if procedure in TAKING:
        place.put(procedure, b"name")
    for directory in (place.here, place.elsewhere):
        nfs3.setattr(directory, Sattr3(gid=GROUP))
        with_mode(nfs3, directory, 0o770)
    with_mode(nfs3, place.source, 0o666)
    member = nfs3_as(*STRANGER, gids=(GROUP,))
    if member.readdir(place.here).status != Nfsstat3.NFS3_OK:
        unsupported("the server does not go by the groups that are sent: a member may not READDIR")
    expect(CALLS[procedure](member, place, place.here, b"name")).granted()


@pytest.mark.parametrize("procedure", [*MAKING, *TAKING])
@proves(DENIES_WITHOUT_PERMISSION, killed_by="names3-deny-nobody", needs=("other_users", "distinct_users"))
def test_others_find_nothing_in_a_private_directory(
    nfs3: Nfs3, nfs3_as: Callable[..., Nfs3], place: Place, procedure: str
) -> None:
    """Another user can neither find nor change the entries of a directory of mode 0700."""
    if procedure in TAKING:
        place.put(procedure, b"name")
    with_mode(nfs3, place.here, 0o700)
    known = place.names()
    reply = CALLS[procedure](nfs3_as(*STRANGER), place, place.here, b"name")
    expect(place.names(), "the names in the directory").equals(known)
    _expect_denied(reply, f"{procedure.upper()} by another user")


@pytest.mark.parametrize("procedure", ["remove", "rmdir", "rename_from"])
@proves(
    DENIES_WITHOUT_PERMISSION,
    killed_by="names3-ignore-the-sticky-bit",
    needs=("other_users", "distinct_users"),
)
def test_others_objects_stay_in_a_sticky_directory(
    nfs3: Nfs3, nfs3_as: Callable[..., Nfs3], place: Place, procedure: str
) -> None:
    """Another user cannot remove or rename a user's object in a sticky directory."""
    place.put(procedure, b"name")
    with_mode(nfs3, place.here, 0o1777)
    reply = TAKING[procedure](nfs3_as(*STRANGER), place, place.here, b"name")
    expect(place.names(), "the names in the directory").equals([b"name"])
    _expect_denied(reply, f"{procedure.upper()} in a sticky directory by another user")


# ---------------------------------------------------------------- attributes

_REQUESTED = {
    "uid": Sattr3(uid=STRANGER[0]),
    "gid": Sattr3(gid=STRANGER[1]),
    "atime": Sattr3(atime=at_client_time(LONG_AGO)),
    "mtime": Sattr3(mtime=at_client_time(LONG_AGO)),
    "mtime_of_the_server": Sattr3(mtime=SERVER_TIME),
}
_FIELD = {"uid": "uid", "gid": "gid", "atime": "atime", "mtime": "mtime", "mtime_of_the_server": "mtime"}


@pytest.mark.parametrize("what", _REQUESTED, ids=["uid", "gid", "atime", "mtime", "mtime-now"])
@proves(
    DENIES_WITHOUT_PERMISSION, killed_by="setattr3-denies-nobody", needs=("other_users", "distinct_users")
)
def test_others_do_not_change_attributes(
    nfs3: Nfs3, nfs3_as: Callable[..., Nfs3], scratch: Scratch, what: str
) -> None:
    """Another user cannot change the owner, group or times of a file of mode 0644."""
    file = with_mode(nfs3, scratch.file("f", b"data"), 0o644)
    if what == "mtime_of_the_server":
        nfs3.setattr(file, Sattr3(mtime=at_client_time(LONG_AGO)))  # so that a change shows
    known = scratch.attributes(file)
    reply = nfs3_as(*STRANGER).setattr(file, _REQUESTED[what])
    expect_preserved(scratch.attributes(file), known, (_FIELD[what],))
    _expect_denied(reply, f"SETATTR of {what} by another user")


@proves(
    GRANTS_WITH_PERMISSION, killed_by="setattr3-time-is-the-owners-alone", needs=("other_users", "cansettime")
)
def test_who_may_write_sets_the_servers_time(
    nfs3: Nfs3, nfs3_as: Callable[..., Nfs3], scratch: Scratch
) -> None:
    """A user who may write to a file can set its times to the server's time."""
    file = with_mode(nfs3, scratch.file("f", b"data"), 0o666)
    expect(nfs3_as(*STRANGER).setattr(file, Sattr3(atime=SERVER_TIME, mtime=SERVER_TIME))).granted()


@proves(GRANTS_WITH_PERMISSION, killed_by="readlink3-needs-permission", needs=("other_users", "symlink"))
def test_everybody_reads_a_link(nfs3_as: Callable[..., Nfs3], scratch: Scratch) -> None:
    """READLINK works for every user."""
    reply = nfs3_as(*STRANGER).readlink(scratch.symlink("link", b"target"))
    expect(reply).granted()
