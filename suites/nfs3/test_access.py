# SPDX-License-Identifier: MIT
"""ACCESS (RFC 1813 section 3.3.4): which permissions the server grants a user.

The protocol does not define permissions (section 4.4), and ACCESS is advisory: claims about permissions are SHOULD
here. The server may or may not return bits that have no meaning for the type of the object.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import (
    ACCESS3_DELETE,
    ACCESS3_EXECUTE,
    ACCESS3_EXTEND,
    ACCESS3_LOOKUP,
    ACCESS3_MODIFY,
    ACCESS3_READ,
    Access3Res,
    CreateMode3,
    Nfsstat3,
    Sattr3,
)
from nfsjudge import (
    Part,
    expect,
    expect_that,
    observe,
    proves,
    should,
    skip,
    stated,
    unsupported,
)
from suites.nfs3.attributes import expect_same_object, with_mode
from suites.nfs3.file_types import HAS_NO_DATA, KINDS, make
from suites.nfs3.permissions import STRANGER

ACCESS_RETURNS_REQUESTED_BITS = should(
    "RFC 1813",
    "3.3.4",
    "ACCESS returns those of the requested permissions that the caller has, and no others",
)
ACCESS_IGNORES_UNDEFINED_BITS = should(
    "RFC 1813",
    "3.3.4",
    "ACCESS has six permission bits; the server should ignore every other bit of the mask",
)
ACCESS_RETURNS_OK = should(
    "RFC 1813",
    "3.3.4",
    "ACCESS should return NFS3_OK whenever the server could check permissions, whatever the result",
)
CHECKS_PERMISSIONS = should(
    "RFC 1813",
    "4.4",
    "the server is expected to check permissions by uid, gid and groups, as its operating system does",
)
ACCESS_IS_ACCURATE = should(
    "RFC 1813",
    "3.3.4",
    "the permissions that ACCESS returns are correct at the time of the reply",
    part=Part.IMPLEMENTATION,
)
ACCESS_RETURNS_ATTRIBUTES = stated(
    "RFC 1813", "3.3.4", "obj_attributes of ACCESS are the attributes of the object, if present"
)
BITS = {
    "READ": ACCESS3_READ,
    "LOOKUP": ACCESS3_LOOKUP,
    "MODIFY": ACCESS3_MODIFY,
    "EXTEND": ACCESS3_EXTEND,
    "DELETE": ACCESS3_DELETE,
    "EXECUTE": ACCESS3_EXECUTE,
}
ALL = 0x3F


def _names(mask: int) -> list[str]:
    """The names of the permissions in a mask; undefined bits as a number."""
    unknown = [hex(mask & ~ALL)] if mask & ~ALL else []
    return [name for name, bit in BITS.items() if mask & bit] + unknown


def _listed(names: list[str]) -> str:
    return ", ".join(names) or "nothing"


def _granted(reply: Access3Res) -> list[str]:
    """The permissions that ACCESS grants."""
    __tracebackhide__ = True
    return _names(expect(reply, because=ACCESS_RETURNS_OK).ok().access)


def _expect_access(reply: Access3Res, holds: bool, expected: str, what: str = "access") -> None:
    """Judge the permissions in a successful reply. The failure text lists them."""
    __tracebackhide__ = True
    seen = _names(expect(reply).ok().access)
    expect_that(holds, expected, _listed(seen), what, reply=reply, field="resok.access")


def _expect_rights(nfs3: Nfs3, handle: bytes, whose: str, *, has: str = "", lacks: str = "") -> None:
    """ACCESS grants the permissions in `has` and none of those in `lacks`. The others do not matter."""
    __tracebackhide__ = True
    reply = nfs3.access(handle, ALL)
    granted = _granted(reply)
    observe(f"access {whose}", _listed(granted))
    wanted, unwanted = has.split(), lacks.split()
    expected = [f"at least {_listed(wanted)}"] if wanted else []
    expected += [f"none of {_listed(unwanted)}"] if unwanted else []
    holds = set(wanted) <= set(granted) and not set(unwanted) & set(granted)
    _expect_access(reply, holds, " and ".join(expected), f"access {whose}")


def _need_distinct_users(scratch: Nfs3Scratch, handle: bytes) -> None:
    """SKIP if a new object belongs to the other user, as when the server squashes all users into one."""
    made = scratch.attributes(handle)
    if made.uid == STRANGER[0] or made.gid == STRANGER[1]:
        skip(
            f"new objects have uid {made.uid} and gid {made.gid}, as the other user: the server squashes users"
        )


# ---------------------------------------------------------------- the mask


@proves(ACCESS_RETURNS_REQUESTED_BITS, killed_by="access3-grants-more-than-requested")
def test_only_requested_bits(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """ACCESS grants no permission that was not requested."""
    for handle in (scratch.file("f", mode=0o755), scratch.directory("d")):
        for name, bit in BITS.items():
            reply = nfs3.access(handle, bit)
            granted = expect(reply, because=ACCESS_RETURNS_OK).ok().access
            _expect_access(reply, not granted & ~bit, f"{name} or nothing, as requested")


@proves(ACCESS_RETURNS_REQUESTED_BITS, killed_by="access3-refuses-an-empty-request")
def test_empty_mask(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """ACCESS with an empty mask succeeds and grants nothing."""
    reply = nfs3.access(scratch.file("f"), 0)
    expect(reply, because=ACCESS_RETURNS_OK).granted()
    expect(reply).field("resok.access").equals(0)


@proves(ACCESS_IGNORES_UNDEFINED_BITS, killed_by="access3-refuses-unknown-bits")
def test_undefined_bits(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """ACCESS ignores undefined bits of the mask."""
    for handle in (scratch.file("f"), scratch.directory("d")):
        known = _granted(nfs3.access(handle, ALL))
        reply = nfs3.access(handle, 0xFFFF_FFFF)
        granted = expect(reply).ok().access
        observe("undefined bits granted", hex(granted & ~ALL))
        expected = f"{_listed(known)}, as for the six defined bits"
        _expect_access(reply, _names(granted & ALL) == known, expected, "access for a mask of all 32 bits")


# ---------------------------------------------------------------- the owner


@proves(CHECKS_PERMISSIONS, killed_by="access3-never-grants-extend")
def test_owner_of_file(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """ACCESS grants the owner READ, MODIFY and EXTEND on a file of mode 0600."""
    file = with_mode(nfs3, scratch.file("f"), 0o600)
    _expect_rights(nfs3, file, "of the owner to a file of mode 0600", has="READ MODIFY EXTEND")


@proves(CHECKS_PERMISSIONS, killed_by="access3-never-grants-lookup")
def test_owner_of_directory(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """ACCESS grants the owner READ, LOOKUP, MODIFY and EXTEND on a directory of mode 0700."""
    directory = with_mode(nfs3, scratch.directory("d"), 0o700)
    # Many servers do not support DELETE directly (section 3.3.4).
    _expect_rights(
        nfs3, directory, "of the owner to a directory of mode 0700", has="READ LOOKUP MODIFY EXTEND"
    )


@proves(
    CHECKS_PERMISSIONS, killed_by=("access3-never-executes", "access3-executes-anything"), needs="other_users"
)
def test_execute_bit(as_user: Callable[..., Nfs3], scratch: Nfs3Scratch) -> None:
    """ACCESS grants the owner of a file EXECUTE only if the mode allows execution."""
    owner = as_user(*STRANGER)
    made = owner.create(scratch.handle, b"f", CreateMode3.GUARDED, Sattr3(mode=0o700))
    if made.resok is None:
        skip(f"no file of another user for this check: CREATE answers {made.status}", made)
    file = scratch.lookup("f") or b""
    with_mode(owner, file, 0o700)
    _expect_rights(owner, file, "of the owner to a file of mode 0700", has="EXECUTE")
    with_mode(owner, file, 0o600)
    _expect_rights(owner, file, "of the owner to a file of mode 0600", lacks="EXECUTE")


# ---------------------------------------------------------------- others


@proves(CHECKS_PERMISSIONS, killed_by="access3-ignores-the-mode", needs=("other_users", "distinct_users"))
def test_private_file(nfs3: Nfs3, as_user: Callable[..., Nfs3], scratch: Nfs3Scratch) -> None:
    """ACCESS grants another user no access to the data of a file of mode 0600."""
    file = with_mode(nfs3, scratch.file("f"), 0o600)
    _need_distinct_users(scratch, file)
    _expect_rights(
        as_user(*STRANGER), file, "of another user to a file of mode 0600", lacks="READ MODIFY EXTEND EXECUTE"
    )


@proves(
    CHECKS_PERMISSIONS, killed_by="access3-grants-modify-to-readers", needs=("other_users", "distinct_users")
)
def test_public_file(nfs3: Nfs3, as_user: Callable[..., Nfs3], scratch: Nfs3Scratch) -> None:
    """ACCESS grants another user READ, but not MODIFY and EXTEND, on a file of mode 0644."""
    file = with_mode(nfs3, scratch.file("f"), 0o644)
    _need_distinct_users(scratch, file)
    _expect_rights(
        as_user(*STRANGER), file, "of another user to a file of mode 0644", has="READ", lacks="MODIFY EXTEND"
    )


@proves(
    CHECKS_PERMISSIONS,
    killed_by="access3-grants-read-of-any-directory",
    needs=("other_users", "distinct_users"),
)
def test_private_directory(nfs3: Nfs3, as_user: Callable[..., Nfs3], scratch: Nfs3Scratch) -> None:
    """ACCESS grants another user nothing on a directory of mode 0700."""
    directory = with_mode(nfs3, scratch.directory("d"), 0o700)
    _need_distinct_users(scratch, directory)
    _expect_rights(
        as_user(*STRANGER),
        directory,
        "of another user to a directory of mode 0700",
        lacks="READ LOOKUP MODIFY EXTEND DELETE",
    )


@proves(CHECKS_PERMISSIONS, killed_by="access3-ignores-groups", needs=("root", "other_users"))
def test_group_member(nfs3: Nfs3, as_user: Callable[..., Nfs3], scratch: Nfs3Scratch) -> None:
    """ACCESS grants a member of the file's group what the group bits of the mode allow."""
    file = scratch.file("f", b"data")
    status = nfs3.setattr(file, Sattr3(gid=4343)).status
    if status != Nfsstat3.NFS3_OK:
        skip(f"SETATTR of the group answers {status}")
    with_mode(nfs3, file, 0o640)
    member = as_user(*STRANGER, gids=(4300, 4343))
    status = member.read(file, 0, 4).status
    if status != Nfsstat3.NFS3_OK:
        unsupported(f"the server ignores the groups in the credential: READ by a member answers {status}")
    _expect_rights(
        member, file, "of a group member to a file of mode 0640", has="READ", lacks="MODIFY EXTEND"
    )


@proves(ACCESS_RETURNS_OK, killed_by="access3-denies-with-an-error", needs="other_users")
def test_denial_is_ok(as_user: Callable[..., Nfs3], scratch: Nfs3Scratch) -> None:
    """ACCESS returns NFS3_OK even if it grants nothing."""
    reply = as_user(*STRANGER).access(scratch.file("f", mode=0o600), ALL)
    expect(reply).granted()


@proves(ACCESS_IS_ACCURATE, killed_by="access3-treats-others-as-group", needs="other_users")
def test_granted_then_allowed(as_user: Callable[..., Nfs3], scratch: Nfs3Scratch) -> None:
    """READ and WRITE succeed for a user to whom ACCESS grants them."""
    other = as_user(*STRANGER)
    for mode in (0o600, 0o604, 0o606, 0o640, 0o660):
        file = scratch.file(f"f{mode:o}", b"data", mode=mode)
        granted = _granted(other.access(file, ALL))
        observe(f"access of another user to a file of mode {mode:04o}", _listed(granted))
        if "READ" in granted:
            expect(other.read(file, 0, 4)).granted()
        if "MODIFY" in granted:
            expect(other.write(file, 0, b"DATA")).granted()


# ---------------------------------------------------------------- attributes


@proves(ACCESS_RETURNS_ATTRIBUTES, killed_by="access3-attributes-of-the-root")
def test_attributes(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """ACCESS returns the attributes of the object."""
    file = scratch.file("f", b"some data", mode=0o640)
    reply = nfs3.access(file, ALL)
    if expect(reply, because=ACCESS_RETURNS_OK).ok().obj_attributes is None:
        unsupported("ACCESS returns no obj_attributes")
    expect_same_object(reply, "resok.obj_attributes", scratch.attributes(file))


# ---------------------------------------------------------------- objects of other types


@pytest.mark.parametrize("kind", HAS_NO_DATA)
@proves(ACCESS_RETURNS_REQUESTED_BITS, killed_by="access3-grants-more-than-requested")
def test_only_requested_any_type(nfs3: Nfs3, scratch: Nfs3Scratch, kind: str) -> None:
    """ACCESS grants no permission that was not requested."""
    handle = make(nfs3, scratch, kind)
    for name, bit in BITS.items():
        reply = nfs3.access(handle, bit)
        granted = expect(reply).ok().access
        _expect_access(reply, not granted & ~bit, f"{name} or nothing, as requested")


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "regular"])
@proves(ACCESS_RETURNS_ATTRIBUTES, killed_by="access3-reports-everything-as-regular")
def test_attributes_any_type(nfs3: Nfs3, scratch: Nfs3Scratch, kind: str) -> None:
    """ACCESS returns the attributes of an object of any type."""
    handle = make(nfs3, scratch, kind)
    reply = nfs3.access(handle, ALL)
    if expect(reply).ok().obj_attributes is None:
        unsupported("ACCESS returns no obj_attributes")
    expect_same_object(reply, "resok.obj_attributes", scratch.attributes(handle))
