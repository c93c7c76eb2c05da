# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs2/test_null.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs2 import NULL
from nfsclient.rpc.auth import AuthSys
from nfsclient.rpc.messages import AuthStat
from nfsclient.rpc.service import Refused
from nfsclient.xdr import Void
from nfsmutants.form import mutant
from nfsmutants.nfs2.bending import _Word
from nfsmutants.nfs2.calls import Null

if t.TYPE_CHECKING:
    from nfsclient.rpc.sockets import Address


@mutant(NULL)
def null2_returns_results(call: Null) -> Void:
    """NULL returns a word although it has no results, from the second call on a connection on"""
    callers: set[Address] = call.state.setdefault("callers", set())
    if call.peer in callers:
        return _Word()
    callers.add(call.peer)
    return call.proceed()


@mutant(NULL)
def null2_requires_authentication(call: Null) -> Void:
    """NULL is refused if it comes without authentication"""
    if not isinstance(call.context.credential, AuthSys):
        raise Refused(auth_stat=AuthStat.AUTH_TOOWEAK)
    return call.proceed()
