# SPDX-License-Identifier: MIT
"""Access control lists and the mode (RFC 5661 section 6): each says what the other one says."""

from __future__ import annotations

import typing as t

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Scratch
from nfsclient.clients.nfs4 import CompoundReply, Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Fattr4, Nfsace4, Nfsstat4
from nfsjudge import expect, must, observe, proves, should, skip, unsupported
from suites.nfs4.attribute_values import supported_names

ACL_SAYS_THE_MODE = should(  # where an ACL is stored, the other way round: the mode "MUST match"
    "RFC 5661",
    "6.4.2",
    "the ACL of an object represents the nine low bits of its mode, as section 6.3.2 computes them",
)
ACL_FOLLOWS_THE_MODE = must(
    "RFC 5661",
    "6.4.1.1",
    "when the mode is set, the ACL is modified such that section 6.3.2 yields the nine low bits of that mode",
)
MODE_FOLLOWS_THE_ACL = must(
    "RFC 5661",
    "6.4.1.2",
    "when the ACL is set and the mode is not, the nine low bits of the mode match what the ACL allows",
)
ACL_IS_SET_AS_GIVEN = should("RFC 5661", "6.4.1.2", "an ACL should be set as it is given")
HIGH_BITS_STAY = should(
    "RFC 5661", "6.4.1.2", "when the ACL is set, the three high bits of the mode should remain unchanged"
)
MODE_THEN_ACL = must(
    "RFC 5661",
    "6.4.1.3",
    "mode and ACL in one SETATTR are applied in this order: the ACL decides the final mode",
)
NEW_OBJECT_FOLLOWS_THE_ACL = must(
    "RFC 5661",
    "6.4.3",
    "a new object with an ACL and without a mode has the nine low bits that the ACL yields",
)
CANNOT_BE_STORED_IS_ATTRNOTSUPP = must(
    "RFC 5661",
    "6.2.1.2",
    "an ACE that the server cannot store is rejected with NFS4ERR_ATTRNOTSUPP",
)
_READ: t.Final = p.ACE4_READ_DATA
_WRITE: t.Final = p.ACE4_WRITE_DATA | p.ACE4_APPEND_DATA
_EXECUTE: t.Final = p.ACE4_EXECUTE
_CLASSES: t.Final = (
    (p.ACE4_WHO_OWNER, 6, {p.ACE4_WHO_OWNER, p.ACE4_WHO_EVERYONE}),
    (p.ACE4_WHO_GROUP, 3, {p.ACE4_WHO_GROUP, p.ACE4_WHO_EVERYONE}),
    (p.ACE4_WHO_EVERYONE, 0, {p.ACE4_WHO_EVERYONE}),
)


def mode_of(acl: list[Nfsace4]) -> int:
    """The nine low bits of the mode that an ACL yields (section 6.3.2)."""
    return sum(_bits(acl, who) << shift for _, shift, who in _CLASSES)


def _bits(acl: list[Nfsace4], whose: set[bytes]) -> int:
    decided = granted = 0
    for ace in acl:
        if bytes(ace.who) not in whose or ace.flag & p.ACE4_INHERIT_ONLY_ACE:
            continue
        if ace.type == p.ACE4_ACCESS_ALLOWED_ACE_TYPE:
            granted |= ace.access_mask & ~decided
        if ace.type in {p.ACE4_ACCESS_ALLOWED_ACE_TYPE, p.ACE4_ACCESS_DENIED_ACE_TYPE}:
            decided |= ace.access_mask
    return (
        (4 if granted & _READ else 0)
        | (2 if granted & _WRITE == _WRITE else 0)
        | (1 if granted & _EXECUTE else 0)
    )


def _ace(who: bytes, mask: int, kind: int = p.ACE4_ACCESS_ALLOWED_ACE_TYPE) -> Nfsace4:
    flag = p.ACE4_IDENTIFIER_GROUP if who == p.ACE4_WHO_GROUP else 0
    return Nfsace4(kind, flag, mask, who)


ACLS: t.Final[dict[str, list[Nfsace4]]] = {
    "640": [_ace(p.ACE4_WHO_OWNER, _READ | _WRITE), _ace(p.ACE4_WHO_GROUP, _READ)],
    "604": [
        _ace(p.ACE4_WHO_OWNER, _READ | _WRITE),
        _ace(p.ACE4_WHO_GROUP, _READ, p.ACE4_ACCESS_DENIED_ACE_TYPE),
        _ace(p.ACE4_WHO_EVERYONE, _READ),
    ],
    "755": [
        _ace(p.ACE4_WHO_OWNER, _READ | _WRITE | _EXECUTE),
        _ace(p.ACE4_WHO_GROUP, _READ | _EXECUTE),
        _ace(p.ACE4_WHO_EVERYONE, _READ | _EXECUTE),
    ],
}
"""By the mode that they yield."""
_ALL_ACLS = pytest.mark.parametrize("which", ACLS)


def _need(scratch: Nfs4Scratch) -> None:
    if not {"acl", "mode"} <= set(supported_names(scratch, scratch.handle)):
        unsupported("the server does not support both acl and mode")


def _set(compounds: Compounds, handle: bytes, attributes: Fattr4) -> None:
    """SETATTR that must succeed. SKIP where the server does not store such an ACL (section 6.4.1)."""
    _need_taken(compounds.compound(op.putfh(handle), op.setattr(attributes)))


def _need_taken(reply: CompoundReply) -> None:
    if reply.status in {Nfsstat4.NFS4ERR_ATTRNOTSUPP, Nfsstat4.NFS4ERR_INVAL}:
        skip(f"the server does not take the ACL: {reply.status}", reply)
    expect(reply).ok()


def _expect_mode(scratch: Nfs4Scratch, handle: bytes, wanted: int) -> None:
    __tracebackhide__ = True
    seen = scratch.attributes(handle, "mode")
    bits = (seen.mode or 0) & 0o777
    expect(f"{bits:03o}", "permission bits of the mode", of=seen, field="mode").equals(f"{wanted:03o}")


def _expect_acl(scratch: Nfs4Scratch, handle: bytes, wanted: int) -> None:
    __tracebackhide__ = True
    seen = scratch.attributes(handle, "acl", "mode")
    if seen.acl is None:
        skip("the server returns no ACL of the object")
    bits = mode_of(seen.acl)
    expect(f"{bits:03o}", "mode that the ACL yields", of=seen, field="acl").equals(f"{wanted:03o}")


@pytest.mark.parametrize("kind", ["file", "directory"])
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o755], ids=["640", "604", "755"])
@proves(ACL_SAYS_THE_MODE, killed_by="getattr4-acl-denies-all")
def test_of_new(scratch: Nfs4Scratch, kind: str, mode: int) -> None:
    """The ACL of a new object yields its mode."""
    _need(scratch)
    made = scratch.file("made", mode=mode) if kind == "file" else scratch.directory("made", mode=mode)
    known = scratch.attributes(made, "mode").mode or 0
    _expect_acl(scratch, made, known & 0o777)


@pytest.mark.parametrize("mode", [0o600, 0o604, 0o751, 0o077], ids=["600", "604", "751", "077"])
@proves(ACL_FOLLOWS_THE_MODE, killed_by="setattr4-mode-keeps-the-acl")
def test_follows_mode(compounds: Compounds, scratch: Nfs4Scratch, mode: int) -> None:
    """After SETATTR of the mode of a file with an ACL, the ACL yields that mode."""
    _need(scratch)
    file = scratch.file("file", mode=0o666)
    _set(compounds, file, Fattr4(acl=ACLS["640"]))
    expect(compounds.compound(op.putfh(file), op.setattr(Fattr4(mode=mode)))).ok()
    _expect_mode(scratch, file, mode)
    _expect_acl(scratch, file, mode)


@_ALL_ACLS
@proves(MODE_FOLLOWS_THE_ACL, killed_by="setattr4-acl-counts-only-the-owner")
def test_mode_follows(compounds: Compounds, scratch: Nfs4Scratch, which: str) -> None:
    """After SETATTR of an ACL, with denials or without, the mode has the bits that the ACL yields."""
    _need(scratch)
    file = scratch.file("file", mode=0o222)
    _set(compounds, file, Fattr4(acl=ACLS[which]))
    _expect_mode(scratch, file, mode_of(ACLS[which]))


@_ALL_ACLS
@proves(ACL_IS_SET_AS_GIVEN, killed_by="setattr4-acl-loses-an-entry")
def test_kept(compounds: Compounds, scratch: Nfs4Scratch, which: str) -> None:
    """GETATTR returns the ACL that SETATTR has set."""
    _need(scratch)
    file = scratch.file("file")
    _set(compounds, file, Fattr4(acl=ACLS[which]))
    seen = scratch.attributes(file, "acl")
    expect(_shown(seen.acl or []), "ACL", of=seen, field="acl").equals(_shown(ACLS[which]))


def _shown(acl: list[Nfsace4]) -> list[str]:
    kinds = {p.ACE4_ACCESS_ALLOWED_ACE_TYPE: "allows", p.ACE4_ACCESS_DENIED_ACE_TYPE: "denies"}
    return [
        f"{bytes(ace.who).decode(errors='replace')} {kinds.get(ace.type, ace.type)} {ace.access_mask:#x}"
        for ace in acl
    ]


@proves(HIGH_BITS_STAY, killed_by="setattr4-acl-clears-the-high-bits")
def test_high_bits(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """SETATTR of an ACL keeps the sticky bit of a directory."""
    _need(scratch)
    directory = scratch.directory("directory")
    expect(compounds.compound(op.putfh(directory), op.setattr(Fattr4(mode=0o1700)))).ok()
    if (scratch.attributes(directory, "mode").mode or 0) & 0o7000 != 0o1000:
        skip("the server does not keep the sticky bit of a directory")
    _set(compounds, directory, Fattr4(acl=ACLS["755"]))
    seen = scratch.attributes(directory, "mode")
    expect((seen.mode or 0) & 0o7000, "three high bits of the mode", of=seen, field="mode").equals(0o1000)


@proves(MODE_THEN_ACL, killed_by="setattr4-acl-then-mode")
def test_with_mode(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """SETATTR of another mode and an ACL at once leaves the mode that the ACL yields."""
    _need(scratch)
    file = scratch.file("file", mode=0o666)
    _set(compounds, file, Fattr4(mode=0o777, acl=ACLS["640"]))
    _expect_mode(scratch, file, 0o640)


@proves(NEW_OBJECT_FOLLOWS_THE_ACL, killed_by="create4-ignores-the-acl")
def test_at_creation(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """CREATE with an ACL, and without a mode, makes an object with the mode that the ACL yields."""
    _need(scratch)
    owner, *others = ACLS["755"]
    # Who may write a POSIX directory may remove entries: without DELETE_CHILD a server may grant less (6.2.1.3.1).
    acl = [Nfsace4(owner.type, owner.flag, owner.access_mask | p.ACE4_DELETE_CHILD, owner.who), *others]
    making = op.mkdir(b"made", Fattr4(acl=acl))
    reply = compounds.compound(op.putfh(scratch.handle), making, op.getfh())
    _need_taken(reply)
    if "acl" not in p.names_of(reply.of(p.CREATE).resok4.attrset):  # type: ignore[union-attr]
        skip("the server says that it did not set the ACL (attrset)")
    _expect_mode(scratch, reply.handle, 0o755)


_SUPPORTS: t.Final = {
    "audit": (p.ACE4_SYSTEM_AUDIT_ACE_TYPE, p.ACL4_SUPPORT_AUDIT_ACL),
    "alarm": (p.ACE4_SYSTEM_ALARM_ACE_TYPE, p.ACL4_SUPPORT_ALARM_ACL),
}


@pytest.mark.parametrize("kind", _SUPPORTS)
@proves(CANNOT_BE_STORED_IS_ATTRNOTSUPP, killed_by="setattr4-unknown-aces-are-inval")
def test_unsupported_type(compounds: Compounds, scratch: Nfs4Scratch, kind: str) -> None:
    """SETATTR of an ACE of a type that aclsupport lacks fails with ATTRNOTSUPP, or the ACE is stored."""
    _need(scratch)
    number, bit = _SUPPORTS[kind]
    if (scratch.attributes(None, "aclsupport").aclsupport or 0) & bit:
        unsupported(f"the server supports {kind} ACEs")
    file, ace = scratch.file("file"), _ace(p.ACE4_WHO_EVERYONE, _READ, number)
    setting = op.setattr(Fattr4(acl=[*ACLS["640"], Nfsace4(ace.type, 0x10, ace.access_mask, ace.who)]))
    reply = compounds.compound(op.putfh(file), setting)
    observe(f"{kind} ACE, which aclsupport lacks", reply.status)
    if reply.status == Nfsstat4.NFS4_OK:
        seen = scratch.attributes(file, "acl")
        kinds = [ace.type for ace in seen.acl or []]
        expect(kinds, "types of the ACEs that are stored", of=seen, field="acl").contains(number)
        return
    expect(reply).refused(Nfsstat4.NFS4ERR_ATTRNOTSUPP, because=CANNOT_BE_STORED_IS_ATTRNOTSUPP)
