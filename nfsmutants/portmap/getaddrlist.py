# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/portmap/test_getaddrlist.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import rpcbind as rb
from nfsclient.protocol.rpcbind import Rpcb, RpcbEntry, RpcbEntryList
from nfsclient.xdr import replace
from nfsmutants.form import Call, mutant

GetaddrList: t.TypeAlias = Call[Rpcb, RpcbEntryList]
_PIGEON = RpcbEntry(b"127.0.0.1.18.103", b"pigeon", 1, b"inet", b"pigeon")


# ---------------------------------------------------------------- GETADDRLIST and GETSTAT


@mutant(rb.GETADDRLIST4)
def getaddrlist4_omits_the_transport_of_the_call(call: GetaddrList) -> RpcbEntryList:
    """GETADDRLIST does not list the transport of the call"""
    netid = call.context.transport.encode()
    return RpcbEntryList([each for each in call.proceed().entries if each.r_nc_netid != netid])


@mutant(rb.GETADDRLIST4)
def getaddrlist4_lists_an_unregistered_transport(call: GetaddrList) -> RpcbEntryList:
    """GETADDRLIST lists a transport on which the program is not registered"""
    entries = call.proceed().entries
    return RpcbEntryList([*entries, _PIGEON] if entries else [])


@mutant(rb.GETADDRLIST4)
def getaddrlist4_lists_unregistered_programs(call: GetaddrList) -> RpcbEntryList:
    """GETADDRLIST of a program that is not registered lists an address"""
    return RpcbEntryList(call.proceed().entries or [_PIGEON])


@mutant(rb.GETADDRLIST4)
def getaddrlist4_lists_inet6_for_inet(call: GetaddrList) -> RpcbEntryList:
    """GETADDRLIST lists inet6 instead of inet"""
    return RpcbEntryList([replace(each, r_nc_protofmly=b"inet6") for each in call.proceed().entries])


@mutant(rb.GETADDRLIST4)
def getaddrlist4_lists_udp_as_connections(call: GetaddrList) -> RpcbEntryList:
    """GETADDRLIST lists UDP with the semantics of connections"""
    return RpcbEntryList([replace(each, r_nc_semantics=3) for each in call.proceed().entries])
