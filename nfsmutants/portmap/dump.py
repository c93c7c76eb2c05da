# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/portmap/test_dump.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import portmap as pm
from nfsclient.protocol import rpcbind as rb
from nfsclient.protocol.portmap import Mapping
from nfsclient.protocol.rpcbind import Rpcb, from_universal, to_universal
from nfsclient.xdr import Void, replace
from nfsmutants.form import AnyCall, Call, mutant
from nfsmutants.portmap.bending import _MOUNT, _program_of, _with_colon
from nfsmutants.rules import RFC5665_ADDRESSES

DUMPS = (pm.DUMP, rb.DUMP3, rb.DUMP4)


# ---------------------------------------------------------------- DUMP


def _with_entries(reply: t.Any, entries: list[t.Any]) -> t.Any:
    """A list of any version with other entries."""
    return type(reply)(entries)


def _with_another_port(entry: Mapping | Rpcb) -> Mapping | Rpcb:
    if isinstance(entry, Mapping):
        return replace(entry, port=entry.port + 1)
    host, port = from_universal(entry.r_addr.decode())
    return replace(entry, r_addr=to_universal(host, port + 1).encode())


@mutant(DUMPS)
def portmap_dump_lists_another_port_for_mount(call: AnyCall) -> t.Any:
    """DUMP lists MOUNT at the port after that of GETPORT and GETADDR"""
    reply = call.proceed()
    return _with_entries(
        reply, [_with_another_port(each) if _program_of(each) == _MOUNT else each for each in reply.entries]
    )


@mutant(DUMPS)
def portmap_dump_omits_itself(call: AnyCall) -> t.Any:
    """DUMP does not list portmap and rpcbind"""
    reply = call.proceed()
    return _with_entries(reply, [each for each in reply.entries if _program_of(each) != pm.PROGRAM])


@mutant(DUMPS)
def portmap_dump_repeats_an_entry(call: AnyCall) -> t.Any:
    """DUMP repeats its first entry"""
    reply = call.proceed()
    return _with_entries(reply, reply.entries + reply.entries[:1])


@mutant((rb.DUMP3, rb.DUMP4), breaks=RFC5665_ADDRESSES)
def rpcbind_dump_lists_host_colon_port(call: Call[Void, rb.Rpcblist]) -> rb.Rpcblist:
    """DUMP of rpcbind lists the address of portmap itself as host:port"""
    entries = call.proceed().entries
    return rb.Rpcblist(
        [
            replace(each, r_addr=_with_colon(each.r_addr)) if each.r_prog == pm.PROGRAM else each
            for each in entries
        ]
    )
