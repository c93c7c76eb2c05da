# SPDX-License-Identifier: MIT
"""What a client of NFSv4.0 fills into operations, without I/O (RFC 7530 sections 9.1 and 16).

`fill` takes operations as checks write them and gives those to send; `learn` takes the same and their results.

- Each open-owner and each lock-owner has a sequence id, which every OPEN, OPEN_CONFIRM, OPEN_DOWNGRADE, CLOSE, LOCK and
  LOCKU of it carries and advances, whether it succeeds or not. Eight errors do not advance it (section 9.1.7).
  A LOCK that brings a new lock-owner into an open carries two. A number other than 0 that the caller gives stays.
- A stateid belongs to the owner whose operation returned it first: its `other` field tells the owner.
- The first OPEN of an owner may have to be confirmed (section 16.18). The stateid that OPEN gave is old after that: the
  caller must get that of OPEN_CONFIRM instead (`replaced`).
- 4.0 opens by directory and name, not by handle (CLAIM_FH since 4.1). So `names` has the name under which a handle was
  found: that of a LOOKUP, CREATE or OPEN whose GETFH followed at once. Clients of one server may share it.
- What 4.0 has no way to say raises `Lacking`.
"""

from __future__ import annotations

import typing as t
from collections.abc import Sequence
from dataclasses import dataclass, field

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.protocol.nfs4.operations import operation_of, status_of
from nfsclient.xdr import Unread, XdrType, replace

Owner: t.TypeAlias = tuple[t.Literal["open", "lock"], bytes]
Names: t.TypeAlias = dict[bytes, tuple[bytes, bytes]]
"""Handle -> handle of the directory, and name."""

NOT_COUNTED: t.Final = frozenset(
    {
        Nfsstat4.NFS4ERR_STALE_CLIENTID,
        Nfsstat4.NFS4ERR_STALE_STATEID,
        Nfsstat4.NFS4ERR_BAD_STATEID,
        Nfsstat4.NFS4ERR_BAD_SEQID,
        Nfsstat4.NFS4ERR_BADXDR,
        Nfsstat4.NFS4ERR_RESOURCE,
        Nfsstat4.NFS4ERR_NOFILEHANDLE,
        Nfsstat4.NFS4ERR_MOVED,
    }
)
"""After these the sequence id is the same again (section 9.1.7)."""
_WANTS: t.Final = (
    p.OPEN4_SHARE_ACCESS_WANT_DELEG_MASK
    | p.OPEN4_SHARE_ACCESS_WANT_SIGNAL_DELEG_WHEN_RESRC_AVAIL
    | p.OPEN4_SHARE_ACCESS_WANT_PUSH_DELEG_WHEN_UNCONTENDED
)
"""Bits of `share_access` that 4.0 does not have."""


class Lacking(Exception):
    """NFSv4.0 has no such thing."""


@dataclass(slots=True)
class Unconfirmed:
    """An open-owner whose OPEN has to be confirmed: where the file is, and the stateid that OPEN gave."""

    owner: Owner
    directory: bytes
    name: bytes
    stateid: p.Stateid4


@dataclass(slots=True)
class Owners:
    """The owners of one client id."""

    clientid: int
    names: Names = field(default_factory=dict)
    _next: dict[Owner, int] = field(default_factory=dict)
    _owner_of: dict[bytes, Owner] = field(default_factory=dict)
    """By the `other` field of a stateid."""

    # ------------------------------------------------------------ requests

    def fill(self, operations: Sequence[XdrType]) -> list[XdrType]:
        """The operations to send. Raises `Lacking`."""
        ahead = dict(self._next)  # numbers are taken when a result has come
        return [self._filled(operation, ahead) for operation in self._by_name(operations)]

    def confirm(self, what: Unconfirmed) -> list[XdrType]:
        """The operations that confirm an open-owner."""
        number = self._number(what.owner)
        return [
            p.Putfh4Args(what.directory),
            p.Lookup4Args(what.name),
            p.OpenConfirm4Args(what.stateid, number),
        ]

    def _number(self, owner: Owner, ahead: dict[Owner, int] | None = None) -> int:
        numbers = self._next if ahead is None else ahead
        number = numbers.get(owner, 1)
        if ahead is not None:
            ahead[owner] = number % 0xFFFF_FFFF + 1
        return number

    def _by_name(self, operations: Sequence[XdrType]) -> list[XdrType]:
        """PUTFH and OPEN of its file become PUTFH of the directory and OPEN of the name."""
        found = list(operations)
        for at, filled in enumerate(found):
            if not isinstance(filled, p.Open4Args) or filled.claim.claim != p.OpenClaimType4.CLAIM_FH:
                continue
            before = found[at - 1] if at else None
            place = self.names.get(before.object) if isinstance(before, p.Putfh4Args) else None
            if place is None:
                raise Lacking("OPEN by filehandle (CLAIM_FH)")
            found[at - 1] = p.Putfh4Args(place[0])
            found[at] = replace(filled, claim=p.OpenClaim4(p.OpenClaimType4.CLAIM_NULL, file=place[1]))
        return found

    def _filled(self, value: XdrType, ahead: dict[Owner, int]) -> XdrType:
        if isinstance(value, Unread):  # bytes that the caller has made
            return value
        operation = operation_of(value)
        if not operation.is_implementable(0):
            raise Lacking(operation.name)
        if any(_at(value, place) == p.CURRENT_STATEID for place in operation.stateids):
            raise Lacking("the current stateid")
        match value:
            case p.Open4Args():
                return self._opening(value, ahead)
            case p.Lockt4Args(owner=p.StateOwner4(clientid=0)):
                return replace(value, owner=p.StateOwner4(self.clientid, value.owner.owner))
            case p.Lock4Args():
                return self._locking(value, ahead)
            case p.OpenDowngrade4Args(seqid=0) | p.Close4Args(seqid=0) | p.Locku4Args(seqid=0):
                owner = self._owner_of.get(_stateid_of(value).other)
                return value if owner is None else replace(value, seqid=self._number(owner, ahead))
        return value

    def _opening(self, operation: p.Open4Args, ahead: dict[Owner, int]) -> XdrType:
        how = operation.openhow.how
        if how is not None and how.mode == p.Createmode4.EXCLUSIVE4_1:
            raise Lacking("EXCLUSIVE4_1")
        clientid = operation.owner.clientid or self.clientid
        number = operation.seqid or self._number(("open", operation.owner.owner), ahead)
        owner = p.StateOwner4(clientid, operation.owner.owner)
        return replace(operation, seqid=number, owner=owner, share_access=operation.share_access & ~_WANTS)

    def _locking(self, operation: p.Lock4Args, ahead: dict[Owner, int]) -> XdrType:
        new, known = operation.locker.open_owner, operation.locker.lock_owner
        if known is not None:
            owner = self._owner_of.get(known.lock_stateid.other)
            if owner is None or known.lock_seqid:
                return operation
            known = replace(known, lock_seqid=self._number(owner, ahead))
            return replace(operation, locker=replace(operation.locker, lock_owner=known))
        assert new is not None
        opener = self._owner_of.get(new.open_stateid.other)
        name = new.lock_owner.owner
        new = replace(
            new,
            open_seqid=new.open_seqid or (0 if opener is None else self._number(opener, ahead)),
            lock_seqid=new.lock_seqid or self._number(("lock", name), ahead),
            lock_owner=p.StateOwner4(new.lock_owner.clientid or self.clientid, name),
        )
        return replace(operation, locker=replace(operation.locker, open_owner=new))

    # ------------------------------------------------------------ results

    def learn(self, sent: Sequence[XdrType], results: Sequence[XdrType]) -> list[Unconfirmed]:
        """Take the results of operations that were sent; the open-owners that must be confirmed now."""
        open_again: list[Unconfirmed] = []
        current: bytes | None = None
        found: tuple[bytes, bytes] | None = None
        for operation, result in zip(sent, results, strict=False):
            self._count(operation, result)
            if status_of(result) != Nfsstat4.NFS4_OK:
                break
            match operation, result:
                case p.Putfh4Args(), _:
                    current, found = operation.object, None
                case ((p.Lookup4Args() | p.Create4Args() | p.Open4Args()), _):
                    name = _name_of(operation)
                    if isinstance(result, p.Open4Res) and result.resok4 is not None:
                        open_again += self._opened(
                            t.cast("p.Open4Args", operation), result.resok4, current, name
                        )
                    found = None if current is None or name is None else (current, name)
                    current = None
                case _, p.Getfh4Res(resok4=p.Getfh4ResOk() as got):
                    if found is not None:
                        self.names[bytes(got.object)] = found
                    current, found = bytes(got.object), None
                case (p.Lock4Args(), p.Lock4Res(resok4=p.Lock4ResOk() as locked)):
                    new = operation.locker.open_owner
                    if new is not None:
                        self._owner_of[bytes(locked.lock_stateid.other)] = ("lock", new.lock_owner.owner)
                case _:
                    if operation_of(result).filehandle in {"replaces", "restores", "consumes"}:
                        current, found = None, None
        return open_again

    def _opened(
        self, operation: p.Open4Args, result: p.Open4ResOk, directory: bytes | None, name: bytes | None
    ) -> list[Unconfirmed]:
        owner: Owner = ("open", operation.owner.owner)
        self._owner_of[bytes(result.stateid.other)] = owner
        if not result.rflags & p.OPEN4_RESULT_CONFIRM:
            return []
        if directory is None or name is None:
            raise Lacking("OPEN_CONFIRM of a file whose directory or name is not known")
        return [Unconfirmed(owner, directory, name, result.stateid)]

    def _count(self, operation: XdrType, result: XdrType) -> None:
        """Advance the sequence ids that the operation carried."""
        if status_of(result) in NOT_COUNTED:
            return
        for owner in self._carriers(operation):
            self._number(owner, self._next)

    def _carriers(self, operation: XdrType) -> list[Owner]:
        stateids: list[bytes] = []
        owners: list[Owner] = []
        match operation:
            case p.Open4Args():
                owners = [("open", operation.owner.owner)]
            case p.Lock4Args(locker=p.Locker4(open_owner=p.OpenToLockOwner4() as new)):
                stateids, owners = [bytes(new.open_stateid.other)], [("lock", new.lock_owner.owner)]
            case p.Lock4Args(locker=p.Locker4(lock_owner=p.ExistLockOwner4() as known)):
                stateids = [bytes(known.lock_stateid.other)]
            case p.OpenConfirm4Args():
                stateids = [bytes(operation.open_stateid.other)]
            case p.OpenDowngrade4Args() | p.Close4Args() | p.Locku4Args():
                stateids = [bytes(_stateid_of(operation).other)]
        return owners + [self._owner_of[stateid] for stateid in stateids if stateid in self._owner_of]


def _stateid_of(operation: p.OpenDowngrade4Args | p.Close4Args | p.Locku4Args) -> p.Stateid4:
    return operation.lock_stateid if isinstance(operation, p.Locku4Args) else operation.open_stateid


def _name_of(operation: XdrType) -> bytes | None:
    match operation:
        case p.Lookup4Args() | p.Create4Args():
            return operation.objname
        case p.Open4Args():
            return operation.claim.file
    return None


def _at(value: t.Any, place: str) -> t.Any:
    for name in place.split("."):
        value = getattr(value, name, None)
    return value


def replaced(res: p.Compound4Res, confirmed: p.Stateid4) -> p.Compound4Res:
    """A reply to OPEN in which the stateid is that of its confirmation."""
    results = [
        replace(result, resok4=replace(result.resok4, stateid=confirmed))
        if isinstance(result, p.Open4Res)
        and result.resok4 is not None
        and result.resok4.stateid.other == confirmed.other
        else result
        for result in res.resarray
    ]
    return replace(res, resarray=results)
