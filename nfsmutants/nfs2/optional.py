# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs2/test_optional.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs2 import LINK, SYMLINK, Nfsstat2
from nfsclient.rpc.messages import AcceptStat
from nfsclient.rpc.service import Refused
from nfsmutants.form import AnyCall, mutant
from nfsmutants.nfs2.bending import refuse
from nfsmutants.rules import RFC1094_PROCEDURES, RFC1094_STATUS


@mutant((SYMLINK, LINK), breaks=RFC1094_STATUS)
def nfs2_optional_is_an_io_error(call: AnyCall) -> t.Any:
    """What the server does not support answers NFSERR_IO: SYMLINK, LINK"""
    return refuse(call, Nfsstat2.NFSERR_IO)


@mutant((SYMLINK, LINK), breaks=RFC1094_PROCEDURES)
def nfs2_optional_is_a_system_error(_call: AnyCall) -> t.Any:
    """What the server does not support answers SYSTEM_ERR of RPC: SYMLINK, LINK"""
    raise Refused(accept_stat=AcceptStat.SYSTEM_ERR)
