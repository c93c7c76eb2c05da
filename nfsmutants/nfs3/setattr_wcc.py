# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs3/test_setattr_wcc.py catch."""

from __future__ import annotations

from nfsclient.protocol.nfs3 import SETATTR, Setattr3Res, Setattr3ResOk, WccAttr
from nfsclient.xdr import replace
from nfsmutants.bending import amend, amend_refusal
from nfsmutants.form import mutant
from nfsmutants.nfs3.bending import with_old_times
from nfsmutants.nfs3.calls import Setattr

# ---------------------------------------------------------------- SETATTR


@mutant(SETATTR)
def setattr3_before_has_another_size(call: Setattr) -> Setattr3Res:
    """SETATTR returns a wrong size in before"""
    return amend(call.proceed(), "obj_wcc.before", size=lambda it: it.size + 1)


@mutant(SETATTR)
def setattr3_after_is_of_another_object(call: Setattr) -> Setattr3Res:
    """SETATTR returns a wrong fileid in after"""
    return amend(call.proceed(), "obj_wcc.after", fileid=lambda it: it.fileid + 1)


@mutant(SETATTR)
def setattr3_after_has_old_times(call: Setattr) -> Setattr3Res:
    """SETATTR returns the old times in after"""
    return amend(call.proceed(), obj_wcc=lambda it: with_old_times(it.obj_wcc))


@mutant(SETATTR)
def setattr3_refusals_have_another_size(call: Setattr) -> Setattr3Res:
    """A refused SETATTR returns a wrong size in before"""
    return amend_refusal(call.proceed(), "obj_wcc.before", size=lambda it: it.size + 1)


# ---------------------------------------------------------------- attributes before and after


@mutant(SETATTR)
def setattr3_before_is_after(call: Setattr) -> Setattr3Res:
    """The pre-operation attributes of SETATTR are taken after the operation"""
    reply = call.proceed()
    after = None if reply.resok is None else reply.resok.obj_wcc.after
    if reply.resok is None or after is None:
        return reply
    before = WccAttr(after.size, after.mtime, after.ctime)
    return replace(reply, resok=Setattr3ResOk(replace(reply.resok.obj_wcc, before=before)))
