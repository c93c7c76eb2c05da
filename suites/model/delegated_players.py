# SPDX-License-Identifier: MIT
"""The clients of a program with delegations: each sends a request, and takes the reply when it has come."""

from __future__ import annotations

import typing as t
from collections.abc import Callable
from dataclasses import dataclass

from nfsclient.clients.nfs4 import CompoundReply, Session
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs3
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs3 import Diropargs3, Sattr3
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.rpc.auth import AuthSys
from nfsclient.rpc.blocking import RpcClient
from nfsclient.rpc.core import Pending
from nfsclient.xdr import XdrType
from suites.model.state_machine import StatePlayer
from suites.model.state_steps import StateStep
from suites.replies import copies_sent


@dataclass(frozen=True, slots=True)
class Patience:
    """How long something is waited for, in seconds. A server in this process needs next to none."""

    recall: float
    """Until a recall has come, or a reply."""
    reply: float
    """After the recall, for a reply that is on its way."""
    end: float
    """After the return of a delegation, until what it was in the way of is done."""
    pause: float
    """Between two attempts."""
    call: float
    """The time limit of a call that the server may hold."""
    renew: Callable[[], object]
    """Renews the lease of the check, which makes the files."""


@dataclass(frozen=True, slots=True)
class Place:
    """The file of a program, and the directory that its names are in."""

    name: bytes
    directory: bytes
    file: bytes
    directory3: bytes = b""
    file3: bytes = b""
    """The same as NFSv3 has them."""


class Attempt:
    """A request that was sent. Its reply is taken when it has come."""

    def __init__(self, pending: Pending[t.Any], finish: Callable[[t.Any], t.Any]) -> None:
        self._pending = pending
        self._finish = finish
        self._reply: t.Any = None

    def is_over(self) -> bool:
        """Whether the reply has come, or will never come."""
        return self._pending.done

    def reply(self) -> t.Any:
        """The reply; None while there is none. Raises what ended the call without one."""
        if self._pending.error is not None:
            raise self._pending.error
        if self._reply is None and self._pending.result is not None:
            self._reply = self._finish(self._pending.result)
        return self._reply


class DelegatedPlayer(StatePlayer):
    """A client of NFSv4.1 with a backchannel."""

    def __init__(self, session: Session, salt: str, clock: Callable[[], float]) -> None:
        super().__init__(session, salt, clock)
        session.callbacks.on(p.CB_RECALL, Nfsstat4.NFS4_OK)

    @property
    def rpc(self) -> RpcClient:
        """The connection."""
        return t.cast("RpcClient", self.session.nfs4.rpc)

    def begin(self, limit: float, *operations: XdrType) -> Attempt:
        """Send a compound."""
        request = self.session.state.begin(list(operations))
        pending = self.rpc.submit(
            p.COMPOUND, request.args, credential=self.session.nfs4.credential, timeout=limit
        )
        self.note_call()
        return Attempt(pending, lambda result: self.session.state.finish(request, result))

    def once(self, limit: float, *operations: XdrType) -> CompoundReply:
        """The reply to a compound, which may be DELAY."""
        attempt = self.begin(limit, *operations)
        loop = self.rpc.loop
        loop.run_until(attempt.is_over, loop.clock() + 2 * limit)
        return t.cast("CompoundReply", attempt.reply())

    def is_recalled(self, stateid: p.Stateid4) -> bool:
        """Whether a CB_RECALL of a delegation has come."""
        return any(
            isinstance(each.args, p.CbRecall4Args) and each.args.stateid.other == stateid.other
            for each in self.session.callbacks.received
        )


class Nfs3Player:
    """A client of NFSv3."""

    was_idle = False

    def __init__(self, rpc: RpcClient, user: AuthSys) -> None:
        self.rpc = rpc
        self._user = user

    def copies_sent(self) -> int:
        """How many calls this client has sent again."""
        return copies_sent(self.rpc)

    def begin(self, limit: float, step: StateStep, place: Place, name: bytes, new: bytes) -> Attempt:
        """Send the call of a step. `name` is one of the file, `new` another one."""
        entry, other = Diropargs3(place.directory3, name), Diropargs3(place.directory3, new)
        file = place.file3
        procedure: t.Any
        args: XdrType
        match step.verb:
            case "READ":
                procedure, args = nfs3.READ, nfs3.Read3Args(file, step.offset, step.length)
            case "WRITE":
                level = nfs3.StableHow.FILE_SYNC
                procedure = nfs3.WRITE
                args = nfs3.Write3Args(file, step.offset, step.length, level, step.data)
            case "SETATTR":
                procedure, args = nfs3.SETATTR, nfs3.Setattr3Args(file, Sattr3(size=step.length))
            case "CREATE":
                how = nfs3.Createhow3(nfs3.CreateMode3.UNCHECKED, obj_attributes=Sattr3(size=0))
                procedure, args = nfs3.CREATE, nfs3.Create3Args(entry, how)
            case "LINK":
                procedure, args = nfs3.LINK, nfs3.Link3Args(file, other)
            case "RENAME":
                procedure, args = nfs3.RENAME, nfs3.Rename3Args(entry, other)
            case "REPLACE":
                procedure, args = nfs3.RENAME, nfs3.Rename3Args(other, entry)
            case _:
                procedure, args = nfs3.REMOVE, nfs3.Remove3Args(entry)
        return self._begin(limit, procedure, args)

    def size(self, limit: float, file: bytes) -> int | None:
        """The size that GETATTR returns."""
        reply = self._once(limit, nfs3.GETATTR, nfs3.Getattr3Args(file))
        return None if reply.resok is None else t.cast("int", reply.resok.obj_attributes.size)

    def look_up(self, limit: float, directory: bytes, name: bytes) -> t.Any:
        """The reply to LOOKUP."""
        return self._once(limit, nfs3.LOOKUP, nfs3.Lookup3Args(Diropargs3(directory, name)))

    def _once(self, limit: float, procedure: t.Any, args: XdrType) -> t.Any:
        attempt, loop = self._begin(limit, procedure, args), self.rpc.loop
        loop.run_until(attempt.is_over, loop.clock() + 2 * limit)
        return attempt.reply()

    def _begin(self, limit: float, procedure: t.Any, args: XdrType) -> Attempt:
        pending = self.rpc.submit(procedure, args, credential=self._user, timeout=limit)
        return Attempt(pending, lambda result: result)


def operations_of(step: StateStep, place: Place, name: bytes, new: bytes) -> tuple[XdrType, ...]:
    """What a client of NFSv4.1 sends for a step that needs no open."""
    file, directory = op.putfh(place.file), op.putfh(place.directory)
    match step.verb:
        case "READ":
            return file, op.read(op.ANONYMOUS, step.offset, step.length)
        case "WRITE":
            return file, op.write(op.ANONYMOUS, step.offset, step.data, p.StableHow4.FILE_SYNC4)
        case "SETATTR":
            return file, op.setattr(p.Fattr4(mode=(0o666, 0o660, 0o606)[step.salt % 3]))
        case "LINK":
            return file, op.savefh(), directory, op.link(new)
        case "RENAME":
            return directory, op.savefh(), op.rename(name, new)
        case "REPLACE":
            return directory, op.savefh(), op.rename(new, name)
        case _:
            return directory, op.remove(name)
