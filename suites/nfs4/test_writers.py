# SPDX-License-Identifier: MIT
"""What GETATTR shows of a file that another client may have written, by CB_GETATTR (RFC 5661 sections 10.4.3, 20.1).

A server is free to recall the write delegation instead: then these checks are SKIP. Here the holder answers by what
each check wants it to have in its cache; nothing of that is ever on the server.
"""

from __future__ import annotations

import typing as t

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch
from fixtures.checks.side_by_side import Waiting, side_by_side
from nfsclient.clients.nfs4 import CompoundReply
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Fattr4, Nfsstat4
from nfsjudge import expect, must, proves, should, skip, stated
from suites.nfs4.clauses import WRITER_GETS_A_CALL
from suites.nfs4.conflicts import Conflict, conflict_of
from suites.nfs4.delegations import ACCESS, Granted, delegated, recalls, seconds_for
from suites.nfs4.handles import expect_same_object

pytestmark = pytest.mark.late

SIZE_IS_THE_WRITERS = stated(
    "RFC 5661", "10.4.3", "GETATTR of another client has the size that the holder answers to CB_GETATTR"
)
MODIFIED_HAS_NEW_CHANGE = stated(
    "RFC 5661",
    "10.4.3",
    "when the holder of a write delegation has modified the file, GETATTR has a new value of change",
)
OTHER_SIZE_IS_MODIFIED = stated(
    "RFC 5661",
    "10.4.3",
    "a size that differs from that on the server means a modified file, whatever change the holder answers",
)
MODIFIED_HAS_THIS_TIME = stated(
    "RFC 5661",
    "10.4.3",
    "when the holder of a write delegation has modified the file, GETATTR has the current time as time_modify",
)
EACH_ANSWER_IS_NEWER = must(
    "RFC 5661",
    "10.4.3",
    "each GETATTR of a file that the holder has modified has a greater change than the one before",
)
UNMODIFIED_KEEPS = stated(
    "RFC 5661",
    "10.4.3",
    "while the holder answers with the change that it got, GETATTR has the values that the server has",
)
NEVER_BACKWARD = should(
    "RFC 5661",
    "10.4.3",
    "change does not go backward when the delegation ends without the data that its holder has announced",
)
ASKS_ABOUT_THE_FILE = stated(
    "RFC 5661", "20.1.3", "CB_GETATTR has the filehandle of a file of which the client has a write delegation"
)
_QUIET: t.Final = 1.0
"""Seconds in which GETATTR must not succeed."""
_ANSWERS: t.Final = 8.0
"""Seconds for GETATTR to succeed after the holder has answered."""
_SIZE: t.Final = 4
_LARGER: t.Final = 4711
_LONG_AGO: t.Final = p.Nfstime4(1_000_000_000, 0)
_ATTRIBUTES: t.Final = ("size", "change", "time_modify")


def _writer(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> Waiting[tuple[Granted, int]]:
    """A write delegation of a file, and the change that its holder has got. SKIP where the server asks no holder."""
    if v4.connections.is_known_never_to("CB_GETATTR"):
        skip("the server recalls a write delegation for GETATTR: it sends no CB_GETATTR")
    granted = yield from delegated(v4, scratch, ACCESS["write"], size=_SIZE)
    mine = expect(granted.holder.compound(op.putfh(granted.file), op.getattr("change"))).ok().attributes
    return granted, int(mine.change or 0)


def _says(granted: Granted, change: int, size: int = _SIZE) -> None:
    """The holder has this in its cache."""

    def answer(asked: p.CbGetattr4Args) -> p.CbGetattr4Res:
        names = p.names_of(asked.attr_request)
        known = Fattr4(change=change if "change" in names else None, size=size if "size" in names else None)
        return p.CbGetattr4Res(Nfsstat4.NFS4_OK, p.CbGetattr4ResOk(known))

    granted.holder.callbacks.on(p.CB_GETATTR, answer)


def _modified(change: int) -> int:
    """The change of a file that the holder has modified (section 10.4.3: greater than the one that it got)."""
    return min(change + 1, p.NFS4_UINT64_MAX)


def _getattr(granted: Granted) -> Conflict:
    """GETATTR by another client."""
    return conflict_of(granted, lambda: (op.putfh(granted.file), op.getattr(*_ATTRIBUTES)), "GETATTR")


def _asked(granted: Granted) -> Waiting[Conflict]:
    """A GETATTR of another client that has brought CB_GETATTR. SKIP where the server recalls the delegation."""
    v4, holder = granted.v4, granted.holder
    holder.callbacks.received.clear()
    conflict = _getattr(granted)
    came = yield from conflict.brings(p.CbGetattr4Args, p.CbRecall4Args)
    has_asked = any(isinstance(each.args, p.CbGetattr4Args) for each in holder.callbacks.received)
    v4.connections.waits.note("CB_GETATTR", came=has_asked)
    if not has_asked:
        granted.give_back()
        skip(
            "the server recalls the delegation"
            if came
            else "GETATTR brings no callback: nfs4/delegation/getattr"
        )
    return conflict


def _shown(granted: Granted) -> Waiting[CompoundReply]:
    """What another client sees by GETATTR, after CB_GETATTR was answered."""
    conflict = yield from _asked(granted)
    reply = yield from conflict.ends(seconds_for(granted.v4, _ANSWERS))
    if reply is None and not recalls(granted.holder):
        skip("GETATTR is still put off though CB_GETATTR was answered")
    if recalls(granted.holder):
        skip("the server recalls the delegation although CB_GETATTR was answered")
    assert isinstance(reply, CompoundReply)
    return expect(reply).ok()


@side_by_side
@proves(SIZE_IS_THE_WRITERS, killed_by="getattr4-keeps-its-own-size")
def test_size(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> Waiting[None]:
    """GETATTR by another client has the size that the holder of a write delegation answers to CB_GETATTR."""
    granted, change = yield from _writer(v4, scratch)
    _says(granted, _modified(change), _LARGER)
    reply = yield from _shown(granted)
    expect(reply.attributes).field("size").equals(_LARGER)
    granted.give_back()


@side_by_side
@proves(SIZE_IS_THE_WRITERS, killed_by="getattr4-keeps-the-first-size")
def test_size_again(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> Waiting[None]:
    """When the holder has another size by the next CB_GETATTR, the next GETATTR has that."""
    granted, change = yield from _writer(v4, scratch)
    _says(granted, _modified(change), _LARGER)
    yield from _shown(granted)
    _says(granted, _modified(change), _LARGER + 1)
    reply = yield from _shown(granted)
    expect(reply.attributes).field("size").equals(_LARGER + 1)
    granted.give_back()


@side_by_side
@proves(MODIFIED_HAS_NEW_CHANGE, killed_by="getattr4-ignores-the-change-of-writers")
def test_change(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> Waiting[None]:
    """GETATTR has another change when the holder has modified data, although the size is the same."""
    granted, change = yield from _writer(v4, scratch)
    _says(granted, _modified(change))
    reply = yield from _shown(granted)
    expect(reply.attributes).field("change").differs_from(change)
    granted.give_back()


@side_by_side
@proves(OTHER_SIZE_IS_MODIFIED, killed_by="getattr4-ignores-the-size-of-writers")
def test_change_by_size(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> Waiting[None]:
    """GETATTR has another change when the holder answers another size with the change that it got."""
    granted, change = yield from _writer(v4, scratch)
    _says(granted, change, _LARGER)
    reply = yield from _shown(granted)
    expect(reply.attributes).field("change").differs_from(change)
    granted.give_back()


@side_by_side
@proves(EACH_ANSWER_IS_NEWER, killed_by="getattr4-counts-writers-once")
def test_change_again(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> Waiting[None]:
    """When the holder has modified data, each further GETATTR has a greater change, though the holder says the same."""
    granted, change = yield from _writer(v4, scratch)
    _says(granted, _modified(change))
    first = yield from _shown(granted)
    second = yield from _shown(granted)
    expect(second.attributes).field("change").at_least(int(first.attributes.change or 0) + 1)
    granted.give_back()


@side_by_side
@proves(MODIFIED_HAS_THIS_TIME, killed_by="getattr4-keeps-mtime-of-writers")
def test_mtime(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> Waiting[None]:
    """GETATTR has a new time_modify when the holder has modified data: here it was set to a time long ago."""
    granted, change = yield from _writer(v4, scratch)
    long_ago = Fattr4(time_modify_set=p.Settime4(p.TimeHow4.SET_TO_CLIENT_TIME4, _LONG_AGO))
    ageing = granted.holder.compound(op.putfh(granted.file), op.setattr(long_ago), op.getattr(*_ATTRIBUTES))
    if ageing.status != Nfsstat4.NFS4_OK or ageing.attributes.time_modify != _LONG_AGO:
        skip("the server does not set time_modify to a time long ago")
    _says(granted, _modified(int(ageing.attributes.change or change)), _LARGER)
    reply = yield from _shown(granted)
    expect(reply.attributes).field("time_modify").differs_from(_LONG_AGO)
    granted.give_back()


@side_by_side
@proves(UNMODIFIED_KEEPS, killed_by="getattr4-takes-every-writer-for-modified")
def test_unmodified(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> Waiting[None]:
    """GETATTR has the change that the file had when the holder has modified nothing."""
    granted, change = yield from _writer(v4, scratch)
    _says(granted, change)
    reply = yield from _shown(granted)
    expect(reply.attributes).field("change").equals(change)
    granted.give_back()


@side_by_side
@proves(NEVER_BACKWARD, killed_by="getattr4-stores-nothing-of-writers")
def test_backward(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> Waiting[None]:
    """After the return of the delegation without a WRITE, change is not less than GETATTR has shown before."""
    granted, change = yield from _writer(v4, scratch)
    _says(granted, _modified(change))
    yield from _shown(granted)
    reply = yield from _shown(granted)
    granted.give_back()
    after = scratch.attributes(granted.file, "change")
    expect(after).field("change").at_least(int(reply.attributes.change or 0))


@side_by_side
@proves(ASKS_ABOUT_THE_FILE, killed_by="getattr4-asks-about-another-file")
def test_names_the_file(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> Waiting[None]:
    """CB_GETATTR has the filehandle of the file."""
    granted, change = yield from _writer(v4, scratch)
    _says(granted, change)
    yield from _asked(granted)
    calls = [each.args for each in granted.holder.callbacks.received]
    call = next(each for each in calls if isinstance(each, p.CbGetattr4Args))
    granted.give_back()
    expect_same_object(scratch, call.fh, granted.file, "fh of CB_GETATTR")


@side_by_side
@pytest.mark.parametrize("status", ["badhandle", "serverfault"])
@proves(WRITER_GETS_A_CALL, killed_by="getattr4-goes-on-without-writers")
def test_refused(v4: Nfs4Dialect, scratch: Nfs4Scratch, status: str) -> Waiting[None]:
    """GETATTR does not succeed when CB_GETATTR fails, as long as the delegation is neither returned nor revoked."""
    granted, _ = yield from _writer(v4, scratch)
    granted.holder.callbacks.on(p.CB_GETATTR, Nfsstat4[f"NFS4ERR_{status.upper()}"])
    conflict = yield from _asked(granted)
    reply = yield from conflict.ends(seconds_for(v4, _QUIET))  # the next attempt meets the failure
    granted.need_kept()
    if reply is not None:
        expect(reply).field("status", "status of GETATTR").differs_from(Nfsstat4.NFS4_OK)
    granted.give_back()
    if reply is not None:
        skip(f"GETATTR answers {reply.status.name} instead of being put off")
    yield from conflict.succeeds()
