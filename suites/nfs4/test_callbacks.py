# SPDX-License-Identifier: MIT
"""The form of callbacks: program, minor version, credential, slots and sequence ids (RFC 5661 sections 18.36, 20.9).

Each is seen in a CB_RECALL. A callback of another program or minor version is refused as a whole, so the recall does
not arrive; one with a wrong slot or sequence id is refused by CB_SEQUENCE.
"""

from __future__ import annotations

import typing as t
from collections.abc import Sequence

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch
from fixtures.checks.side_by_side import Waiting, side_by_side
from nfsclient.clients.nfs4 import Session
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.rpc.auth import AuthNone, AuthSys
from nfsjudge import Requirement, expect, expect_that, must, observe, proves, skip, stated
from suites.nfs4.conflicts import conflicting_open
from suites.nfs4.delegations import (
    ACCESS,
    CONFLICT_RECALLS,
    Granted,
    delegated,
    seconds_to_see_nothing,
)

PROGRAM_IS_THAT_OF_THE_SESSION = must(
    "RFC 5661", "18.36.3", "callbacks have the program number csa_cb_program of CREATE_SESSION"
)
MINOR_VERSION_IS_FIXED = must(
    "RFC 5661", "18.36.3", "a CB_COMPOUND to a client of NFSv4.1 has minor version 1"
)
CREDENTIALS_ARE_OFFERED = stated(
    "RFC 5661", "18.36.3", "callbacks have one of the credentials that csa_sec_parms of CREATE_SESSION has"
)
FIRST_CALLBACK_IS_NUMBERED = must(
    "RFC 5661", "18.36.4", "the first CB_SEQUENCE on a slot of a new session has sequence id 1"
)
CALLBACKS_COUNT = stated(
    "RFC 5661", "2.10.6.1", "each further callback on a slot has a sequence id that is one greater"
)
BACK_SLOTS_ARE_LIMITED = stated(
    "RFC 5661", "18.36.3", "callbacks have slots from 0 to ca_maxrequests - 1 of the backchannel"
)
PROGRAM_IS_REPLACED = stated(
    "RFC 5661", "18.33.3", "BACKCHANNEL_CTL replaces the program number of the callbacks of the session"
)
UNKNOWN_HANDLE_IS_NOENT = must(
    "RFC 5661",
    "18.33.3",
    "BACKCHANNEL_CTL with an RPCSEC_GSS handle that the server does not have gets NFS4ERR_NOENT",
)
_ONE_SLOT: t.Final = op.channel(requestsize=8192, responsesize=8192, operations=4, requests=1)
_QUIET: t.Final = 1.0
"""Seconds in which a server would send what it must not."""
_ANOTHER: t.Final = p.CALLBACK_PROGRAM + 4711
_USER: t.Final = AuthSys(4711, 4712, (4713,), b"callback.example.org", 42)


def _of_user() -> p.CallbackSecParms4:
    parameters = p.AuthsysParms(_USER.stamp, _USER.machine_name, _USER.uid, _USER.gid, list(_USER.gids))
    return p.CallbackSecParms4(p.AUTH_SYS, cbsp_sys_cred=parameters)


def _holder(v4: Nfs4Dialect, program: int | None = None, **more: t.Any) -> Session:
    """A client with a backchannel of this form. SKIP where the server takes no connection for callbacks."""
    nfs4 = v4.client(v4.connections.connect("nfs"))
    if program is not None:
        nfs4.callbacks.use(program)
    session = nfs4.new_client().create_session(callbacks=True, **more)
    if not session.state.flags & p.CREATE_SESSION4_FLAG_CONN_BACK_CHAN:
        skip("the server uses no connection for callbacks")
    expect(session.compound(op.reclaim_complete())).ok()
    return session


def _recalled(
    v4: Nfs4Dialect, scratch: Nfs4Scratch, holder: Session, because: Requirement, name: bytes = b"file"
) -> Waiting[Granted]:
    """A read delegation of the holder whose recall must arrive; then it is returned."""
    granted = yield from delegated(v4, scratch, ACCESS["read"], name, holder=holder)
    conflict = conflicting_open(granted)
    yield from conflict.need_callback(p.CbRecall4Args, because=because)
    granted.give_back()
    yield from conflict.succeeds()
    return granted


@side_by_side
@proves(PROGRAM_IS_THAT_OF_THE_SESSION, killed_by="callbacks4-have-the-usual-program")
def test_program(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> Waiting[None]:
    """A callback comes to the program number that CREATE_SESSION named."""
    holder = _holder(v4, _ANOTHER)
    yield from _recalled(v4, scratch, holder, PROGRAM_IS_THAT_OF_THE_SESSION)


@side_by_side
@proves(MINOR_VERSION_IS_FIXED, killed_by="callbacks4-have-minor-version-2")
def test_minor_version(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> Waiting[None]:
    """A callback to a session of NFSv4.1 has minor version 1."""
    holder = _holder(v4)
    holder.nfs4.callbacks.router.minors = frozenset({1})
    yield from _recalled(v4, scratch, holder, MINOR_VERSION_IS_FIXED)


_OFFERED: t.Final[dict[str, tuple[Sequence[p.CallbackSecParms4], Sequence[object]]]] = {
    "none": ([p.CallbackSecParms4(p.AUTH_NONE)], [AuthNone()]),
    "sys": ([_of_user()], [_USER]),
    "both": ([_of_user(), p.CallbackSecParms4(p.AUTH_NONE)], [_USER, AuthNone()]),
}


def _who(credential: object) -> object:
    """What names a user in it: neither machine nor stamp. Groups may be missing, others may not be there."""
    if not isinstance(credential, AuthSys):
        return credential
    return AuthSys(
        credential.uid, credential.gid, tuple(sorted({*credential.gids} - {_USER.gid, *_USER.gids}))
    )


@side_by_side
@pytest.mark.parametrize("offered", _OFFERED)
@proves(CREDENTIALS_ARE_OFFERED, killed_by="callbacks4-come-from-root")
def test_credential(v4: Nfs4Dialect, scratch: Nfs4Scratch, offered: str) -> Waiting[None]:
    """A callback has a credential that the client has offered."""
    parms, allowed = _OFFERED[offered]
    holder = _holder(v4, sec_parms=parms)
    yield from _recalled(v4, scratch, holder, CREDENTIALS_ARE_OFFERED)
    found = holder.nfs4.callbacks.credential
    observe("credential of the callback", str(found))
    expect(_who(found), "credential of the callback").one_of(*map(_who, allowed))


def _expect_not_refused(holder: Session, *statuses: Nfsstat4) -> None:
    """No callback had a slot or a sequence id that the session does not have."""
    found = [status for status in holder.callbacks.refused if status in statuses]
    expect_that(not found, "callbacks that fit", " ".join(status.name for status in found) or "none")


@side_by_side
@proves(FIRST_CALLBACK_IS_NUMBERED, killed_by="callbacks4-begin-with-2")
def test_first_number(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> Waiting[None]:
    """The first callback of a session has sequence id 1."""
    holder = _holder(v4)
    granted = yield from delegated(v4, scratch, ACCESS["read"], holder=holder)
    conflict = conflicting_open(granted)
    came = yield from conflict.brings(p.CbRecall4Args)
    _expect_not_refused(holder, Nfsstat4.NFS4ERR_SEQ_MISORDERED)
    granted.give_back()
    if not came:
        skip("the server recalls nothing: another check judges that")


@side_by_side
@proves(CALLBACKS_COUNT, killed_by="callbacks4-do-not-count")
def test_next_number(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> Waiting[None]:
    """The second callback in a session with one callback slot has the next sequence id."""
    holder = _holder(v4, back=_ONE_SLOT)
    yield from _recalled(v4, scratch, holder, CONFLICT_RECALLS, b"first")
    holder.callbacks.received.clear()
    granted = yield from delegated(v4, scratch, ACCESS["read"], b"second", holder=holder)
    conflict = conflicting_open(granted)
    came = yield from conflict.brings(p.CbRecall4Args)
    _expect_not_refused(holder, Nfsstat4.NFS4ERR_SEQ_MISORDERED, Nfsstat4.NFS4ERR_SEQ_FALSE_RETRY)
    granted.give_back()
    if not came:
        skip("the server recalls nothing more")


@side_by_side
@proves(BACK_SLOTS_ARE_LIMITED, killed_by="callbacks4-take-any-slot")
def test_slots(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> Waiting[None]:
    """While one recall has no reply, another one does not take a slot that the backchannel does not have."""
    holder = _holder(v4, back=_ONE_SLOT)
    first = yield from delegated(v4, scratch, ACCESS["read"], b"first", holder=holder)
    second = yield from delegated(v4, scratch, ACCESS["read"], b"second", holder=holder)
    callbacks = holder.nfs4.callbacks
    callbacks.holds = True
    conflicts = conflicting_open(first), conflicting_open(second)
    came = yield from conflicts[0].brings(p.CbRecall4Args)
    yield from conflicts[1].ends(seconds_to_see_nothing(v4, _QUIET, first.lease))
    _expect_not_refused(holder, Nfsstat4.NFS4ERR_BADSLOT, Nfsstat4.NFS4ERR_BAD_HIGH_SLOT)
    callbacks.holds = False
    callbacks.release()
    for granted in (first, second):
        granted.give_back()
    if not came:
        skip("the server recalls nothing: another check judges that")


# ---------------------------------------------------------------- BACKCHANNEL_CTL


@side_by_side
@proves(PROGRAM_IS_REPLACED, killed_by="backchannelctl4-changes-nothing")
def test_other_program(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> Waiting[None]:
    """After BACKCHANNEL_CTL callbacks come to the program number that it named."""
    holder = _holder(v4)
    expect(holder.compound(op.backchannel_ctl(_ANOTHER))).ok()
    holder.nfs4.callbacks.use(_ANOTHER)
    yield from _recalled(v4, scratch, holder, PROGRAM_IS_REPLACED)


@proves(UNKNOWN_HANDLE_IS_NOENT, killed_by="backchannelctl4-takes-any-handle")
def test_unknown_gss_handle(session: Session) -> None:
    """BACKCHANNEL_CTL with an RPCSEC_GSS handle that nobody has made fails with NOENT."""
    handles = p.GssCbHandles4(p.RpcGssSvcT.RPC_GSS_SVC_NONE, b"nobody made this", b"nor this")
    parameters = p.CallbackSecParms4(p.RPCSEC_GSS, cbsp_gss_handles=handles)
    reply = session.compound(op.backchannel_ctl(sec_parms=[parameters]))
    expect(reply).refused(Nfsstat4.NFS4ERR_NOENT, because=UNKNOWN_HANDLE_IS_NOENT)
