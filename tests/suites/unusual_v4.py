# SPDX-License-Identifier: MIT
"""An NFSv4.1 server that uses freedoms of RFC 5661 for which the embedded server has no knob. All of it is right."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.rpc.loop import Loop
from nfsclient.rpc.program import AnyOperation
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import bits_of, mask_of
from nfsmutants.nfs4.bending import amend4
from nfsserver import Server
from nfsserver.handlers import ServerApi
from nfsserver.middleware import AnyAroundCall, AroundMessage
from nfsserver.nfs4.common import compound_of, failed
from nfsserver.serve import serve
from nfsserver.transport import TransportMiddleware
from tests.suites.one_at_a_time import announce

_DOTS: t.Final = 1 << 62
"""Cookies of "." and ".." are the next ones."""
_OWNERS: t.Final = ("owner", "owner_group")


class Unusual:
    """What is done differently, around the calls of each operation."""

    def __init__(self) -> None:
        self._locked: set[tuple[int, int]] = set()
        self._moved: set[int] = set()
        self._read_once: set[int] = set()
        self._around: dict[AnyOperation, AnyAroundCall] = {
            p.LOCK: self._lock,
            p.LOCKU: self._unlock,
            p.VERIFY: self._verify,
            p.NVERIFY: self._verify,
            p.OPEN: self._open,
            p.CREATE_SESSION: self._create_session,
            p.SETATTR: self._verify,
            p.READ: self._read,
            p.READDIR: self._readdir,
            p.ACCESS: self._access,
        }

    def around_calls(self, operation: AnyOperation, /) -> list[AnyAroundCall]:
        return [self._around[operation]] if operation in self._around else []

    def around_messages(self) -> list[AroundMessage]:
        return []

    def below_messages(self) -> list[TransportMiddleware]:
        return []

    def _lock(self, _server: ServerApi, context: CallContext, args: t.Any, proceed: t.Any) -> t.Any:
        self._locked.add((args.offset, args.length))
        return proceed(context, args)

    def _unlock(self, _server: ServerApi, context: CallContext, args: t.Any, proceed: t.Any) -> t.Any:
        """Only ranges as they were locked (section 18.12.4)."""
        if (args.offset, args.length) not in self._locked:
            return p.Locku4Res(Nfsstat4.NFS4ERR_LOCK_RANGE)
        return proceed(context, args)

    def _verify(self, _server: ServerApi, context: CallContext, args: t.Any, proceed: t.Any) -> t.Any:
        """Owners without "@" say nothing (section 5.9); `change` moves once by itself when a file settles."""
        sent = args.obj_attributes
        if any(name is not None and b"@" not in name for name in (sent.owner, sent.owner_group)):
            return failed(t.cast("t.Any", context.operation), Nfsstat4.NFS4ERR_BADOWNER)
        inode = compound_of(context).current
        if sent.change is not None and inode is not None and inode.fileid not in self._moved:
            self._moved.add(inode.fileid)
            inode.change += 1
        return proceed(context, args)

    def _open(self, _server: ServerApi, context: CallContext, args: t.Any, proceed: t.Any) -> t.Any:
        """All that was set counts in attrset (section 18.16.3); exclusive creation is not supported (18.16.4)."""
        how = args.openhow.how
        if how is not None and how.mode is p.Createmode4.EXCLUSIVE4_1:
            return p.Open4Res(Nfsstat4.NFS4ERR_NOTSUPP)
        result = proceed(context, args)
        if result.resok4 is not None and args.openhow.how is not None:
            words = mask_of({*bits_of(result.resok4.attrset), p.NUMBERS["owner"]})
            return amend4(result, attrset=list(words))
        return result

    def _read(self, _server: ServerApi, context: CallContext, args: t.Any, proceed: t.Any) -> t.Any:
        """The time of a WRITE is another one once its data has arrived, which is seen at the first READ."""
        result, inode = proceed(context, args), compound_of(context).current
        if result.resok4 is not None and inode is not None and inode.fileid not in self._read_once:
            self._read_once.add(inode.fileid)
            inode.mtime += 1_000_000
        return result

    def _readdir(self, _server: ServerApi, context: CallContext, args: t.Any, proceed: t.Any) -> t.Any:
        """ "." and ".." are listed, which a server SHOULD NOT do (section 18.23.3)."""
        result = proceed(context, args)
        if args.cookie or result.resok4 is None:
            return result
        dots = [p.Entry4(_DOTS + at, b"." * at, p.Fattr4()) for at in (1, 2)]
        return amend4(result, "reply", entries=lambda it: [*dots, *it.entries])

    def _access(self, _server: ServerApi, context: CallContext, args: t.Any, proceed: t.Any) -> t.Any:
        """No right can be verified reliably (section 18.1.3)."""
        return amend4(proceed(context, args), supported=0, access=0)

    def _create_session(self, _server: ServerApi, context: CallContext, args: t.Any, proceed: t.Any) -> t.Any:
        """A channel of some KiB is too small (section 18.36.3)."""
        least = min(args.csa_fore_chan_attrs.ca_maxrequestsize, args.csa_fore_chan_attrs.ca_maxresponsesize)
        if least <= 8192:
            return p.CreateSession4Res(Nfsstat4.NFS4ERR_TOOSMALL)
        return proceed(context, args)


if __name__ == "__main__":
    made = Server()
    made.surround(Unusual())
    serve(made, Loop(), announce=announce)
