# SPDX-License-Identifier: MIT
"""Operations that take a stateid: where it is in their arguments, and what they answer when they have done it."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.rpc.program import AnyOperation
from nfsmutants.form import AnyCall

_NAMES: t.Final[dict[AnyOperation, str]] = {
    p.CLOSE: "open_stateid",
    p.OPEN_DOWNGRADE: "open_stateid",
    p.LOCKU: "lock_stateid",
    p.DELEGRETURN: "deleg_stateid",
    p.FREE_STATEID: "fsa_stateid",
}
"""How an operation calls its stateid; the others: `stateid`."""
_OK: t.Final = Nfsstat4.NFS4_OK
TAKING: t.Final[tuple[AnyOperation, ...]] = (p.READ, p.WRITE, p.SETATTR, p.LOCK, *_NAMES)


def stateid_of(call: AnyCall) -> p.Stateid4:
    """The stateid in the arguments; of LOCK that of the open, or that of the lock-owner."""
    if call.operation is p.LOCK:
        opened = call.args.locker.open_owner
        stateid: p.Stateid4 = (
            opened.open_stateid if opened is not None else call.args.locker.lock_owner.lock_stateid
        )
        return stateid
    return t.cast("p.Stateid4", getattr(call.args, _NAMES.get(call.operation, "stateid")))


def kind_of(call: AnyCall) -> str | None:
    """What the stateid in the arguments stands for, whichever client has it: open, lock or delegation."""
    found = call.server.states.held.stateids._states.get(bytes(stateid_of(call).other))
    return None if found is None else found.kind


def proceed_with(call: AnyCall, stateid: p.Stateid4) -> t.Any:
    """The server's answer to the same operation with another stateid."""
    if call.operation is not p.LOCK:
        return call.proceed_with(**{_NAMES.get(call.operation, "stateid"): stateid})
    if call.args.locker.open_owner is not None:
        return call.proceed_with("locker.open_owner", open_stateid=stateid)
    return call.proceed_with("locker.lock_owner", lock_stateid=stateid)


SUCCESS: t.Final[dict[t.Any, t.Callable[[AnyCall], t.Any]]] = {
    p.READ: lambda _call: p.Read4Res(_OK, p.Read4ResOk(True, b"")),
    p.WRITE: lambda call: p.Write4Res(
        _OK, p.Write4ResOk(len(call.args.data), p.StableHow4.FILE_SYNC4, bytes(8))
    ),
    p.SETATTR: lambda call: p.Setattr4Res(_OK, list(call.args.obj_attributes.attrmask)),
    p.LOCK: lambda call: p.Lock4Res(_OK, resok4=p.Lock4ResOk(stateid_of(call))),
    p.OPEN_DOWNGRADE: lambda call: p.OpenDowngrade4Res(_OK, p.OpenDowngrade4ResOk(stateid_of(call))),
    p.CLOSE: lambda call: p.Close4Res(_OK, stateid_of(call)),
    p.LOCKU: lambda call: p.Locku4Res(_OK, stateid_of(call)),
    p.DELEGRETURN: lambda _call: p.Delegreturn4Res(_OK),
    p.FREE_STATEID: lambda _call: p.FreeStateid4Res(_OK),
}
"""What an operation answers that has done it."""
