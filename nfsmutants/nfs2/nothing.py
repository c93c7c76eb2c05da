# SPDX-License-Identifier: MIT
"""Mutants of NULL, ROOT and WRITECACHE."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs2 import NULL, ROOT, WRITECACHE
from nfsclient.rpc.auth import AuthSys
from nfsclient.rpc.messages import AuthStat
from nfsclient.rpc.service import Refused
from nfsclient.xdr import Void, u32
from nfsmutants.form import mutant
from nfsmutants.nfs2.calls import Null, Root, Writecache
from nfsmutants.rules import RFC1094_NULL, RFC1094_ROOT, RFC1094_TRANSPORT, RFC1094_WRITECACHE

if t.TYPE_CHECKING:
    from nfsclient.rpc.sockets import Address


class _Word(Void):
    """Results of a procedure that has none."""

    word: u32 = 0


@mutant(NULL, RFC1094_NULL)
def null2_returns_results(call: Null) -> Void:
    """NULL returns a word where there are no results, from the second call on a connection on"""
    callers: set[Address] = call.state.setdefault("callers", set())
    if call.peer in callers:
        return _Word()
    callers.add(call.peer)
    return call.proceed()


@mutant(NULL, RFC1094_TRANSPORT)
def null2_asks_for_authentication(call: Null) -> Void:
    """NULL is refused when it comes without authentication"""
    if not isinstance(call.context.credential, AuthSys):
        raise Refused(auth_stat=AuthStat.AUTH_TOOWEAK)
    return call.proceed()


@mutant(ROOT, RFC1094_ROOT)
def root2_returns_a_status(_call: Root) -> Void:
    """ROOT returns a status where there are no results"""
    return _Word()


@mutant(WRITECACHE, RFC1094_WRITECACHE)
def writecache2_returns_a_status(_call: Writecache) -> Void:
    """WRITECACHE returns a status where there are no results"""
    return _Word()
