# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs3/test_null.py catch."""

from __future__ import annotations

from nfsclient.protocol.nfs3 import NULL
from nfsclient.rpc.auth import AuthSys
from nfsclient.rpc.messages import AuthStat
from nfsclient.rpc.service import Refused
from nfsclient.rpc.sockets import Address
from nfsclient.xdr import Void, u32
from nfsmutants.form import mutant
from nfsmutants.nfs3.calls import Null


class _Word(Void):
    """Results of NULL, which should have none."""

    word: u32 = 0


@mutant(NULL)
def null3_returns_results(call: Null) -> Void:
    """NULL returns a word although it has no results, from the second call on a connection on"""
    callers: set[Address] = call.state.setdefault("callers", set())
    if call.peer in callers:
        return _Word()
    callers.add(call.peer)
    return call.proceed()


@mutant(NULL)
def null3_requires_authentication(call: Null) -> Void:
    """NULL is refused with AUTH_TOOWEAK if it comes without authentication"""
    if not isinstance(call.context.credential, AuthSys):
        raise Refused(auth_stat=AuthStat.AUTH_TOOWEAK)
    return call.proceed()
