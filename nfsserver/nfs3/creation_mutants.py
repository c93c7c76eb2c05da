# SPDX-License-Identifier: MIT
"""Mutants of CREATE, MKDIR, SYMLINK and MKNOD."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import CREATE, Create3Args, Create3Res, CreateMode3
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import replace
from nfsserver.mutants import Proceed, mutant

if t.TYPE_CHECKING:
    from nfsserver.server import Server


@mutant(
    "create3-guarded-takes-existing",
    bends=CREATE,
    breaks="RFC 1813 section 3.3.8",
    gist="CREATE in mode GUARDED succeeds on a name that exists",
)
def create3_guarded_takes_existing(
    _server: Server, context: CallContext, args: Create3Args, proceed: Proceed[Create3Args, Create3Res]
) -> Create3Res:
    """Treat GUARDED as UNCHECKED."""
    if args.how.mode == CreateMode3.GUARDED:
        args = replace(args, how=replace(args.how, mode=CreateMode3.UNCHECKED))
    return proceed(context, args)
