# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/portmap/test_set.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import portmap as pm
from nfsclient.protocol import rpcbind as rb
from nfsclient.protocol.portmap import Mapping
from nfsclient.protocol.rpcbind import Rpcb, to_universal
from nfsmutants.form import Call, mutant
from nfsmutants.rules import RFC1833_VERSION_4
from nfsserver.binding import OF_PROTOCOL, SUPERUSER

# ---------------------------------------------------------------- registrations


def _as_rpcb(args: Mapping | Rpcb) -> Rpcb:
    if isinstance(args, Rpcb):
        return args
    address = to_universal("127.0.0.1", args.port & 0xFFFF).encode()
    return Rpcb(args.prog, args.vers, OF_PROTOCOL[args.prot][0], address, SUPERUSER)


@mutant((pm.SET, rb.SET3, rb.SET4), breaks=RFC1833_VERSION_4)
def portmap_set_accepts_remote_callers(call: Call[Mapping | Rpcb, t.Any]) -> pm.BoolRes:
    """SET is accepted from other machines"""
    reply: pm.BoolRes = call.proceed()
    return reply if reply.value else pm.BoolRes(call.server.registry.set(_as_rpcb(call.args)))
