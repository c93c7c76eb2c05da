# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/portmap/test_unset.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import portmap as pm
from nfsclient.protocol import rpcbind as rb
from nfsclient.protocol.portmap import Mapping
from nfsclient.protocol.rpcbind import Rpcb
from nfsmutants.form import Call, mutant
from nfsmutants.rules import RFC1833_VERSION_4
from nfsserver.binding import SUPERUSER

# ---------------------------------------------------------------- registrations


@mutant((pm.UNSET, rb.UNSET3, rb.UNSET4), breaks=RFC1833_VERSION_4)
def portmap_unset_accepts_remote_callers(call: Call[Mapping | Rpcb, t.Any]) -> pm.BoolRes:
    """UNSET is accepted from other machines"""
    reply: pm.BoolRes = call.proceed()
    prog, vers = (
        (call.args.prog, call.args.vers)
        if isinstance(call.args, Mapping)
        else (call.args.r_prog, call.args.r_vers)
    )
    return (
        reply
        if reply.value
        else pm.BoolRes(call.server.registry.unset(prog, vers, (b"tcp", b"udp"), SUPERUSER))
    )
