# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_callbacks.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.rpc.auth import AuthSys
from nfsmutants.form import Call, mutant
from nfsserver.state.records import Session

CreateSession = Call[p.CreateSession4Args, p.CreateSession4Res]
Control = Call[p.BackchannelCtl4Args, p.BackchannelCtl4Res]


def _made(call: CreateSession) -> tuple[p.CreateSession4Res, Session | None]:
    """The result, and the session that was made."""
    result = call.proceed()
    if result.csr_resok4 is None:
        return result, None
    return result, call.server.states.sessions.require(bytes(result.csr_resok4.csr_sessionid))


@mutant(p.CREATE_SESSION)
def callbacks4_have_the_usual_program(call: CreateSession) -> p.CreateSession4Res:
    """Callbacks have a fixed program number, whichever CREATE_SESSION names"""
    return call.proceed_with(csa_cb_program=p.CALLBACK_PROGRAM)


@mutant(p.CREATE_SESSION)
def callbacks4_have_minor_version_2(call: CreateSession) -> p.CreateSession4Res:
    """Callbacks of sessions of NFSv4.1 have minor version 2"""
    result, session = _made(call)
    if session is not None:
        session.minor = 2
    return result


@mutant(p.CREATE_SESSION)
def callbacks4_come_from_root(call: CreateSession) -> p.CreateSession4Res:
    """Callbacks have the credential of root, whichever CREATE_SESSION offers"""
    result, session = _made(call)
    if session is not None and session.flavors:
        session.flavors = (AuthSys(0, 0),)
    return result


@mutant(p.CREATE_SESSION)
def callbacks4_begin_with_2(call: CreateSession) -> p.CreateSession4Res:
    """The first callback of a slot has sequence id 2"""
    result, session = _made(call)
    if session is not None:
        session.callback_slots = [1] * len(session.callback_slots)
    return result


class _Stopped(list[int]):
    """Sequence ids that stay as they are once they are 1."""

    def __setitem__(self, at: t.Any, number: t.Any) -> None:
        super().__setitem__(at, min(number, 1))


@mutant(p.CREATE_SESSION)
def callbacks4_do_not_count(call: CreateSession) -> p.CreateSession4Res:
    """Every callback of a slot has sequence id 1"""
    result, session = _made(call)
    if session is not None:
        session.callback_slots = _Stopped(session.callback_slots)
    return result


@mutant(p.CREATE_SESSION)
def callbacks4_take_any_slot(call: CreateSession) -> p.CreateSession4Res:
    """Callbacks use more slots than the backchannel has"""
    result, session = _made(call)
    if session is not None and session.callback_slots:
        session.callback_slots = [*session.callback_slots, 0, 0]
    return result


@mutant(p.BACKCHANNEL_CTL)
def backchannelctl4_changes_nothing(_call: Control) -> p.BackchannelCtl4Res:
    """BACKCHANNEL_CTL succeeds, and changes nothing"""
    return p.BackchannelCtl4Res(Nfsstat4.NFS4_OK)


@mutant(p.BACKCHANNEL_CTL)
def backchannelctl4_takes_any_handle(call: Control) -> p.BackchannelCtl4Res:
    """BACKCHANNEL_CTL with an RPCSEC_GSS handle that nobody has made succeeds"""
    return call.proceed_with(bca_sec_parms=[])
