# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_create_session_channels.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.bending import amend4
from nfsserver.state.records import Slot

CreateSession = Call[p.CreateSession4Args, p.CreateSession4Res]
_ENOUGH: t.Final = 4096
_FEW: t.Final = 8
"""Slots and operations of a backchannel."""


@mutant(p.CREATE_SESSION)
def createsession4_grants_impossible_replies(call: CreateSession) -> p.CreateSession4Res:
    """CREATE_SESSION grants a ca_maxresponsesize with which no reply is possible"""
    asked = call.args.csa_fore_chan_attrs.ca_maxresponsesize
    result = call.proceed_with("csa_fore_chan_attrs", ca_maxresponsesize=max(asked, _ENOUGH))
    return amend4(result, "csr_fore_chan_attrs", ca_maxresponsesize=asked)


def _doubled(call: CreateSession, result: p.CreateSession4Res, channel: str) -> p.CreateSession4Res:
    asked = getattr(call.args, f"csa_{channel}_chan_attrs").ca_rdma_ird
    return amend4(result, f"csr_{channel}_chan_attrs", ca_rdma_ird=[2 * depth for depth in asked])


@mutant(p.CREATE_SESSION)
def createsession4_doubles_the_read_depth(call: CreateSession) -> p.CreateSession4Res:
    """CREATE_SESSION grants twice the read depth of the request"""
    return _doubled(call, _doubled(call, call.proceed(), "fore"), "back")


@mutant(p.CREATE_SESSION)
def createsession4_clamps_the_backchannel(call: CreateSession) -> p.CreateSession4Res:
    """CREATE_SESSION grants backchannels of two to eight slots only"""
    return amend4(
        call.proceed(),
        "csr_back_chan_attrs",
        ca_maxrequests=lambda it: max(2, min(it.ca_maxrequests, _FEW)),
    )


@mutant(p.CREATE_SESSION)
def createsession4_has_a_slot_more(call: CreateSession) -> p.CreateSession4Res:
    """A session has one slot more than CREATE_SESSION says"""
    result = call.proceed()
    if result.csr_resok4 is not None:
        session = call.server.states.sessions.require(bytes(result.csr_resok4.csr_sessionid))
        session.slots.append(Slot())
    return result
