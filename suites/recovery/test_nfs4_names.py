# SPDX-License-Identifier: MIT
"""Names and attributes that NFSv4.1 has changed survive a crash (RFC 7530 section 14.3, which RFC 5661 lacks)."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

import pytest

from fixtures.checks.across import ARRANGED, CRASH, Steps, across
from fixtures.checks.dialects.nfs4 import Nfs4Dialect, new_state_owner, through_grace
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Fattr4, NfsFtype4, Nfsstat4
from nfsclient.xdr import XdrType
from nfsjudge import Harm, Part, expect, expect_data, expect_names, must, proves, should, skip, unsupported
from suites.losses import Losses
from suites.nfs3.contents import pattern
from suites.nfs4.minors import MINORS
from suites.nfs4.opens import WRITE, create_file
from suites.recovery.v4 import again, file_again, found, leave_nothing

CHANGES4_ARE_SYNCHRONOUS = should(  # RFC 5661 does not repeat the section, and replaces nothing of it
    "RFC 7530",
    "14.3",
    "operations that modify the file system are synchronous: their results are on stable storage",
)
EXCLUSIVE4_VERIFIER_IS_STABLE = must(
    "RFC 5661",
    "18.16.4",
    "the verifier of an exclusive creation is in stable storage, so that a repetition does not fail",
    part=Part.IMPLEMENTATION,
    says_must=True,
)
EXCLUSIVE4_IS_COMPARED = must(  # "Otherwise, the request is rejected with the error NFS4ERR_EXIST"
    "RFC 5661",
    "18.16.4",
    "an exclusive creation of a name that exists fails with NFS4ERR_EXIST, unless its verifier made the file",
    part=Part.IMPLEMENTATION,
    says_must=True,
    harm=Harm.DATA,
)
_VERIFIER, _OTHER = b"verifier", b"another!"
_MODES: t.Final[dict[str, Callable[[], p.Createhow4]]] = {
    "unchecked": op.unchecked,
    "guarded": op.guarded,
    "exclusive": lambda: op.exclusive(_VERIFIER),
    "exclusive4_1": lambda: op.exclusive4_1(_VERIFIER),
}
_MADE: t.Final[dict[str, tuple[XdrType, NfsFtype4]]] = {
    "directory": (op.mkdir(b"new"), NfsFtype4.NF4DIR),
    "symlink": (op.symlink(b"new", b"some/where"), NfsFtype4.NF4LNK),
    "fifo": (op.create(b"new", NfsFtype4.NF4FIFO, Fattr4(mode=0o600)), NfsFtype4.NF4FIFO),
}


def _do(v4: Nfs4Dialect, *operations: XdrType) -> None:
    """Make a change that must succeed, in the directory of the check as the current and the saved filehandle."""
    here = op.putfh(v4.scratch.handle)
    reply = v4.compounds.compound(here, op.savefh(), *operations)
    if reply.failed is p.CREATE and reply.status == Nfsstat4.NFS4ERR_BADTYPE:  # section 15.1.4.1
        unsupported(f"the server has no objects of this type: CREATE answers {reply.status}", reply)
    expect(reply, because=CHANGES4_ARE_SYNCHRONOUS).ok()


def _create(v4: Nfs4Dialect, name: bytes, how: p.Createhow4) -> None:
    """Create a file by OPEN, and close it. UNSUPPORTED where the server has no such creation."""
    opened = create_file(v4.compounds, v4.scratch.handle, name, how, WRITE, may_lack_exclusive=True)
    expect(v4.compounds.compound(op.putfh(opened.handle), op.close(opened.stateid))).ok()


@MINORS
@across(CRASH, "CREATE")
@pytest.mark.parametrize("kind", _MADE)
@proves(CHANGES4_ARE_SYNCHRONOUS, killed_by="create4-crash-loses-the-name")
def test_created(v4: Nfs4Dialect, losses: Losses, kind: str) -> Steps:
    """What CREATE has made is there after a crash, and of its type."""
    making, wanted = _MADE[kind]
    v4.scratch  # noqa: B018  (made before the act)
    yield ARRANGED
    _do(v4, making)
    leave_nothing(v4)
    yield CRASH
    again(v4)
    handle = found(v4, b"new", CHANGES4_ARE_SYNCHRONOUS)
    expect(v4.scratch.attributes(handle, "type")).field("type", "type after the crash").equals(wanted)
    losses.need_metadata()


@MINORS
@across(CRASH, "CREATE")
@proves(CHANGES4_ARE_SYNCHRONOUS, killed_by="create4-crash-empties-symlinks")
def test_symlink_text(v4: Nfs4Dialect, losses: Losses) -> Steps:
    """A new symbolic link has its text after a crash."""
    v4.scratch  # noqa: B018  (made before the act)
    yield ARRANGED
    _do(v4, op.symlink(b"new", b"some/where"))
    leave_nothing(v4)
    yield CRASH
    again(v4)
    handle = found(v4, b"new", CHANGES4_ARE_SYNCHRONOUS)
    result = expect(v4.compounds.compound(op.putfh(handle), op.readlink())).of(p.READLINK).ok()
    expect(result).field("link", "text of the link after the crash").equals(b"some/where")
    losses.need_metadata()


@MINORS
@across(CRASH, "OPEN")
@pytest.mark.parametrize("mode", _MODES)
@proves(CHANGES4_ARE_SYNCHRONOUS, killed_by="open4-crash-loses-the-name")
def test_opened(v4: Nfs4Dialect, losses: Losses, mode: str) -> Steps:
    """A file that OPEN has created is there after a crash, in each mode of creation."""
    v4.scratch  # noqa: B018  (made before the act)
    yield ARRANGED
    _create(v4, b"new", _MODES[mode]())
    leave_nothing(v4)
    yield CRASH
    again(v4)
    found(v4, b"new", CHANGES4_ARE_SYNCHRONOUS)
    losses.need_metadata()


@MINORS
@across(CRASH, "OPEN")
@pytest.mark.parametrize("mode", ["unchecked", "guarded", "exclusive4_1"])
@proves(CHANGES4_ARE_SYNCHRONOUS, killed_by="open4-crash-forgets-modes")
def test_mode(v4: Nfs4Dialect, losses: Losses, mode: str) -> Steps:
    """A file that OPEN has created has its mode after a crash."""
    v4.scratch  # noqa: B018  (made before the act)
    yield ARRANGED
    _create(v4, b"new", _MODES[mode]())
    known = v4.scratch.attributes(v4.scratch.lookup(b"new"), "mode").mode
    leave_nothing(v4)
    yield CRASH
    seen = v4.scratch.attributes(file_again(v4, b"new"), "mode")
    expect(seen).field("mode", "mode after the crash").equals(known)
    losses.need_metadata()


@MINORS
@across(CRASH, "OPEN")
@pytest.mark.parametrize("mode", ["exclusive", "exclusive4_1"])
@proves(EXCLUSIVE4_VERIFIER_IS_STABLE, killed_by="open4-exclusive-forgets-at-restart")
def test_repeated(v4: Nfs4Dialect, losses: Losses, mode: str) -> Steps:
    """An exclusive creation that is repeated after a crash succeeds."""
    v4.scratch  # noqa: B018  (made before the act)
    yield ARRANGED
    for _ in range(2):
        opening = op.open(b"new", WRITE, owner=new_state_owner(), how=_MODES[mode]())
        reply = v4.compounds.compound(op.putfh(v4.scratch.handle), opening)
        if reply.status != Nfsstat4.NFS4_OK:
            skip(f"the server has no such creation, or does not know it again: OPEN answers {reply.status}")
        v4.compounds.compound(op.putfh(v4.scratch.lookup(b"new") or b""), op.close(reply.stateid))
    leave_nothing(v4)
    yield CRASH
    file_again(v4, b"new")
    opening = op.open(b"new", WRITE, owner=new_state_owner(), how=_MODES[mode]())
    expect(through_grace(v4.compounds, op.putfh(v4.scratch.handle), opening)).ok()
    losses.need_metadata()


@MINORS
@across(CRASH, "OPEN")
@pytest.mark.parametrize("mode", ["exclusive", "exclusive4_1"])
@proves(EXCLUSIVE4_IS_COMPARED, killed_by="open4-exclusive-accepts-older-files")
def test_compared(v4: Nfs4Dialect, losses: Losses, mode: str) -> Steps:
    """An exclusive creation with another verifier is refused after a crash as before."""
    v4.scratch  # noqa: B018  (made before the act)
    yield ARRANGED
    _create(v4, b"new", _MODES[mode]())
    leave_nothing(v4)
    yield CRASH
    file_again(v4, b"new")
    how = op.exclusive(_OTHER) if mode == "exclusive" else op.exclusive4_1(_OTHER)
    opening = op.open(b"new", WRITE, owner=new_state_owner(), how=how)
    reply = through_grace(v4.compounds, op.putfh(v4.scratch.handle), opening)
    expect(reply).refused(Nfsstat4.NFS4ERR_EXIST, because=EXCLUSIVE4_IS_COMPARED)
    losses.need_metadata()


@MINORS
@across(CRASH, "OPEN")
@proves(CHANGES4_ARE_SYNCHRONOUS, killed_by="open4-crash-brings-back-cut-data")
def test_cut(v4: Nfs4Dialect, losses: Losses) -> Steps:
    """The data that OPEN with size 0 has cut off an existing file does not come back in a crash."""
    v4.scratch.file("f", pattern(5000))
    yield ARRANGED
    _create(v4, b"f", op.unchecked(Fattr4(size=0)))
    leave_nothing(v4)
    yield CRASH
    seen = v4.scratch.attributes(file_again(v4), "size")
    expect(seen).field("size", "size after the crash").equals(0)
    losses.need_metadata()


@MINORS
@across(CRASH, "REMOVE")
@pytest.mark.parametrize("kind", ["file", "directory"])
@proves(CHANGES4_ARE_SYNCHRONOUS, killed_by="remove4-crash-brings-back-the-name")
def test_removed(v4: Nfs4Dialect, losses: Losses, kind: str) -> Steps:
    """What REMOVE has removed is not there after a crash."""
    getattr(v4.scratch, kind)("old")
    yield ARRANGED
    _do(v4, op.remove(b"old"))
    leave_nothing(v4)
    yield CRASH
    expect_names([name for name in again(v4).names() if name == b"old"], [])
    losses.need_metadata()


@MINORS
@across(CRASH, "RENAME")
@pytest.mark.parametrize("kind", ["file", "directory"])
@proves(CHANGES4_ARE_SYNCHRONOUS, killed_by="rename4-crash-brings-back-the-old-name")
def test_renamed(v4: Nfs4Dialect, losses: Losses, kind: str) -> Steps:
    """What RENAME has renamed has its new name after a crash, and not the old one."""
    getattr(v4.scratch, kind)("old")
    yield ARRANGED
    _do(v4, op.rename(b"old", b"new"))
    leave_nothing(v4)
    yield CRASH
    names = again(v4).names()
    expect_names([name for name in names if name in {b"old", b"new"}], [b"new"])
    losses.need_metadata()


@MINORS
@across(CRASH, "RENAME")
@proves(CHANGES4_ARE_SYNCHRONOUS, killed_by="rename4-crash-empties-the-file")
def test_replaced(v4: Nfs4Dialect, losses: Losses) -> Steps:
    """A file that RENAME has put over another one has its data after a crash."""
    v4.scratch.file("f", pattern(100))
    v4.scratch.file("source", pattern(5000, salt=1))
    yield ARRANGED
    _do(v4, op.rename(b"source", b"f"))
    leave_nothing(v4)
    yield CRASH
    expect_data(v4.scratch.read(file_again(v4)), pattern(5000, salt=1), "data after the crash")
    losses.need_metadata()


@MINORS
@across(CRASH, "LINK")
@proves(CHANGES4_ARE_SYNCHRONOUS, killed_by="link4-crash-loses-the-name", needs="nfs4_hardlink")
def test_linked(v4: Nfs4Dialect, losses: Losses) -> Steps:
    """A name that LINK has made leads to its file after a crash."""
    file = v4.scratch.file("f", pattern(100))
    yield ARRANGED
    reply = v4.compounds.compound(op.putfh(file), op.savefh(), op.putfh(v4.scratch.handle), op.link(b"new"))
    expect(reply).ok()
    leave_nothing(v4)
    yield CRASH
    again(v4)
    handle = found(v4, b"new", CHANGES4_ARE_SYNCHRONOUS)
    expect_data(v4.scratch.read(handle), pattern(100), "data by the new name after the crash")
    losses.need_metadata()


@MINORS
@across(CRASH, "SETATTR")
@pytest.mark.parametrize("field", ["mode", "size", "time_modify"])
@proves(CHANGES4_ARE_SYNCHRONOUS, killed_by="setattr4-is-lost-in-a-crash")
def test_setattr(v4: Nfs4Dialect, losses: Losses, field: str) -> Steps:
    """Attributes that SETATTR has set survive a crash."""
    file = v4.scratch.file("f", pattern(5000))
    long_ago = p.Settime4(p.TimeHow4.SET_TO_CLIENT_TIME4, p.Nfstime4(1_000_000_000, 0))
    asked = {
        "mode": Fattr4(mode=0o600),
        "size": Fattr4(size=1234),
        "time_modify": Fattr4(time_modify_set=long_ago),
    }
    yield ARRANGED
    expect(v4.compounds.compound(op.putfh(file), op.setattr(asked[field]))).ok()
    known = getattr(v4.scratch.attributes(file, field), field)
    leave_nothing(v4)
    yield CRASH
    seen = v4.scratch.attributes(file_again(v4), field)
    expect(seen).field(field, f"{field} after the crash").equals(known)
    losses.need_metadata()
