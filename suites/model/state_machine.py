# SPDX-License-Identifier: MIT
"""One program of opens, share reservations, locks and I/O on a server: its calls, and whether the model allows them.

What must stay true: the model changes only by calls that were answered with success, and a claim is made only where
the text leaves no choice. What a server may refuse, and how the program goes on then:

    step             refusals that are legal                        then
    OPEN             any, if share reservations are in the way:     nothing has changed
                     those of others must be, own ones may be
    LOCK             any, if a lock of another is in the way        nothing has changed
    LOCK, LOCKU      LOCK_RANGE, LOCK_NOTSUPP where the owner       nothing has changed
                     has locks already (section 9.3)
    CLOSE            LOCKS_HELD while there are locks               they are unlocked, and it is closed
    READ, WRITE      LOCKED, where another has a lock of the bytes  nothing has changed: locks may be mandatory
    any              BAD_STATEID, OLD_STATEID: never, while the     the program ends
                     client is active
    any              any other error                                such steps are left out from now on

After each step a third party asks what there is: LOCKT at the edges of the range, and OPEN for reading and for writing.
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Sequence

from fixtures.checks.dialects.nfs4 import through_grace
from nfsclient.clients.nfs4 import CompoundReply, Session
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import NfsLockType4, Nfsstat4
from nfsclient.xdr import XdrEnum, XdrType
from nfsjudge import show
from suites.model.judging import Broken
from suites.model.machine import Experience
from suites.model.players import Inconclusive
from suites.model.state_claims import CLAIMS, StateProperty
from suites.model.state_steps import StateStep, possible
from suites.model.state_things import END, READ, SIZE, WRITE, File, Opening, Owner, end_of

OBSERVER: t.Final = Owner(2, 2)
"""An owner that never keeps anything."""
_IDLE: t.Final = 2.0
"""Seconds between two calls of a client within which no lease ends."""
LATER: t.Final[frozenset[int]] = frozenset({Nfsstat4.NFS4ERR_DELAY, Nfsstat4.NFS4ERR_GRACE})
UNKNOWN: t.Final[frozenset[int]] = frozenset({Nfsstat4.NFS4ERR_BAD_STATEID, Nfsstat4.NFS4ERR_OLD_STATEID})
_OF_RANGES: t.Final = frozenset({Nfsstat4.NFS4ERR_LOCK_RANGE, Nfsstat4.NFS4ERR_LOCK_NOTSUPP})


class Answered(t.Protocol):
    """A reply of whichever version."""

    @property
    def status(self) -> XdrEnum: ...


class StatePlayer:
    """One client, with a session on a separate connection."""

    def __init__(self, session: Session, salt: str, clock: Callable[[], float]) -> None:
        self.session = session
        self._salt = salt
        """Owners of programs that run one after the other are different."""
        self._clock = clock
        self._active = clock()
        self.was_idle = False
        """Whether its lease may have run out since the program began."""

    def copies_sent(self) -> int:
        """None: a session has exactly-once semantics."""
        return 0

    def name_of(self, owner: Owner, program: str) -> bytes:
        """The open-owner, which is the lock-owner as well."""
        return f"{self._salt} {program} {owner.number}".encode()

    def note_call(self) -> None:
        """A call was made, which has renewed the lease."""
        now = self._clock()
        self.was_idle |= now - self._active > _IDLE
        self._active = now

    def run(self, *operations: XdrType) -> CompoundReply:
        """A compound. Raises `Inconclusive` if the server asks to come back until all patience is used up."""
        reply = through_grace(self.session, *operations)
        self.note_call()
        if reply.status in LATER:
            raise Inconclusive
        return reply


class StateMachine:
    """Runs one program on a new file of `SIZE` zeros."""

    def __init__(
        self,
        players: Sequence[StatePlayer],
        file: bytes,
        name: str,
        experience: Experience,
        judged: frozenset[StateProperty],
        *,
        is_over: Callable[[], bool],
    ) -> None:
        self._players = players
        self._handle = file
        self._name = name
        self._experience = experience
        self._judged = judged
        self._is_over = is_over
        self._file = self._new_file()
        self._stateids: dict[Owner, p.Stateid4] = {}
        self._lock_stateids: dict[Owner, p.Stateid4] = {}
        self.weak: dict[StateProperty, Broken] = {}
        """What is only NONSTRICT."""
        self.done: list[StateStep] = []
        """The steps that were made."""

    def run(self, program: Sequence[StateStep]) -> None:
        """Make the steps, and close what is open then. Raises `Broken` for what is binding; see `weak`."""
        try:
            for step in program:
                if self._is_over():
                    break
                if self._is_possible(step) and not self._experience.is_hopeless(step):
                    self.done.append(step)
                    self._do(step)
                    self._look(step)
            self._look_at_the_end()
        except Inconclusive:
            return
        finally:
            self._close_all()

    def _new_file(self) -> File:
        return File()

    def _is_possible(self, step: StateStep) -> bool:
        return possible(self._file, step)

    # ------------------------------------------------------------ calls and claims

    def _run(self, owner: Owner, *operations: XdrType) -> CompoundReply:
        self._experience.calls += 1
        return self._players[owner.client - 1].run(op.putfh(self._handle), *operations)

    def _claim(self, holds: bool, which: StateProperty, what: str, expected: str, reply: Answered) -> None:
        if holds or which not in self._judged or which in self.weak:
            return
        broken = Broken(which, CLAIMS[which], what, expected, show(reply.status))
        broken.subject, broken.field = getattr(reply, "res", reply), "status"
        if broken.is_red:
            raise broken
        self.weak[which] = broken

    def _refused(self, step: StateStep, reply: Answered) -> None:
        """The server does not do what nothing is in the way of: whether it may is not the business of this model.

        But it must know the stateids that are in effect.
        """
        self._experience.refused[step.verb, step.how] += 1
        if reply.status in UNKNOWN:
            if not self._players[step.owner.client - 1].was_idle:
                self._claim(False, StateProperty.STATE_STAYS, step.words(), "no error of the stateid", reply)
            raise Inconclusive

    def _do(self, step: StateStep) -> None:
        {
            "OPEN": self._open,
            "CLOSE": self._close,
            "OPEN_DOWNGRADE": self._downgrade,
            "LOCK": self._lock,
            "LOCKU": self._unlock,
            "LOCKT": self._test,
            "READ": self._read,
            "WRITE": self._write,
        }[step.verb](step)

    # ------------------------------------------------------------ opens

    def _name_of(self, owner: Owner) -> bytes:
        return self._players[owner.client - 1].name_of(owner, self._name)

    def _opening(self, owner: Owner, access: int, deny: int) -> p.Open4Args:
        wanted = access | p.OPEN4_SHARE_ACCESS_WANT_NO_DELEG
        return op.open(None, wanted, deny, owner=self._name_of(owner))

    def _open(self, step: StateStep) -> None:
        self._opened(step, self._run(step.owner, self._opening(step.owner, step.access, step.deny)))

    def _opened(self, step: StateStep, reply: CompoundReply) -> None:
        """Judge the reply to OPEN, and note what it has opened."""
        owner, file = step.owner, self._file
        is_denied, is_ok = file.is_denied(owner, step.access, step.deny), reply.status == Nfsstat4.NFS4_OK
        if is_denied:
            self._claim(not is_ok, StateProperty.SHARES, step.words(), "NFS4ERR_SHARE_DENIED", reply)
        elif file.may_deny_itself(owner, step.deny):
            is_denied = not is_ok
        elif reply.status == Nfsstat4.NFS4ERR_SHARE_DENIED:
            self._claim(False, StateProperty.SHARES_END, step.words(), "success", reply)
        if not is_ok:
            if not is_denied:
                self._refused(step, reply)
            return
        result = reply.of(p.OPEN).resok4
        assert result is not None
        known = self._stateids.get(owner)
        self._stateids[owner] = result.stateid
        file.opens.setdefault(owner, Opening([])).parts.append((step.access, step.deny))
        self._granted(step, result.delegation, reply)
        if known is not None and known.other != result.stateid.other:
            raise Inconclusive  # a server that keeps each OPEN of an owner apart

    def _granted(self, _step: StateStep, delegation: p.OpenDelegation4, _reply: CompoundReply) -> None:
        if delegation.read is not None or delegation.write is not None:
            raise Inconclusive  # it would be in the way of the others

    def _downgrade(self, step: StateStep) -> None:
        owner = step.owner
        reply = self._run(owner, op.open_downgrade(self._stateids[owner], step.access, step.deny))
        if reply.status != Nfsstat4.NFS4_OK:
            self._refused(step, reply)
            return
        self._stateids[owner] = reply.stateid
        self._file.opens[owner].parts = [(step.access, step.deny)]

    def _close(self, step: StateStep) -> None:
        owner, opening = step.owner, self._file.opens[step.owner]
        reply = self._run(owner, op.close(self._stateids[owner]))
        if reply.status == Nfsstat4.NFS4ERR_LOCKS_HELD and opening.locks:
            self._unlock_all(owner)
            reply = self._run(owner, op.close(self._stateids[owner]))
        if reply.status != Nfsstat4.NFS4_OK:
            self._refused(step, reply)
            raise Inconclusive
        self._forget(owner)

    def _forget(self, owner: Owner) -> None:
        self._file.opens.pop(owner, None)
        self._stateids.pop(owner, None)
        self._lock_stateids.pop(owner, None)

    def _unlock_all(self, owner: Owner) -> None:
        for lock in self._file.opens[owner].locks:
            length = END if lock.end == END else lock.end - lock.start
            reply = self._run(owner, op.locku(self._lock_stateids[owner], lock.start, length))
            if reply.status == Nfsstat4.NFS4_OK:
                self._lock_stateids[owner] = reply.stateid

    def _close_all(self) -> None:
        """After the program, also after one that broke: the next one has the file for itself."""
        for owner in list(self._file.opens):
            try:
                self._unlock_all(owner)
                self._run(owner, op.close(self._stateids[owner]))
            except Inconclusive:
                continue

    # ------------------------------------------------------------ locks

    def _lock(self, step: StateStep) -> None:
        owner, opening = step.owner, self._file.opens[step.owner]
        start, end = step.offset, end_of(step.offset, step.length)
        locktype = NfsLockType4.WRITE_LT if step.is_write else NfsLockType4.READ_LT
        known = self._lock_stateids.get(owner)
        reply = self._run(
            owner,
            op.lock(self._stateids[owner], locktype, start, step.length, owner=self._name_of(owner))
            if known is None
            else op.lock_more(known, locktype, start, step.length),
        )
        is_denied = self._file.has_conflict(owner, start, end, is_write=step.is_write)
        is_ok = reply.status == Nfsstat4.NFS4_OK
        if is_denied:
            self._claim(not is_ok, StateProperty.LOCKS, step.words(), "NFS4ERR_DENIED", reply)
        elif reply.status == Nfsstat4.NFS4ERR_DENIED:
            self._claim(False, StateProperty.LOCKS_END, step.words(), "success", reply)
        if is_ok:
            self._lock_stateids[owner] = reply.stateid
            opening.lock(start, end, is_write=step.is_write)
        elif not is_denied and not (reply.status in _OF_RANGES and opening.locks):
            self._refused(step, reply)

    def _unlock(self, step: StateStep) -> None:
        owner, opening = step.owner, self._file.opens[step.owner]
        known = self._lock_stateids.get(owner)
        if known is None:
            return
        reply = self._run(owner, op.locku(known, step.offset, step.length))
        if reply.status == Nfsstat4.NFS4_OK:
            self._lock_stateids[owner] = reply.stateid
            opening.unlock(step.offset, end_of(step.offset, step.length))
        elif reply.status not in _OF_RANGES:
            self._refused(step, reply)

    def _test(self, step: StateStep) -> None:
        self._ask(step.owner, step.offset, step.length, is_write=step.is_write, what=step.words())

    def _ask(self, owner: Owner, offset: int, length: int, *, is_write: bool, what: str) -> None:
        """LOCKT, which finds the locks of others, and nothing else."""
        locktype = NfsLockType4.WRITE_LT if is_write else NfsLockType4.READ_LT
        reply = self._run(owner, op.lockt(locktype, offset, length, owner=self._name_of(owner)))
        is_denied = self._file.has_conflict(owner, offset, end_of(offset, length), is_write=is_write)
        if is_denied:
            self._claim(
                reply.status == Nfsstat4.NFS4ERR_DENIED,
                StateProperty.LOCKS_ARE_FOUND,
                what,
                "NFS4ERR_DENIED",
                reply,
            )
        elif reply.status == Nfsstat4.NFS4ERR_DENIED:
            self._claim(False, StateProperty.LOCKS_END, what, "success", reply)

    # ------------------------------------------------------------ data

    def _read(self, step: StateStep) -> None:
        if step.length <= 0:
            return
        self._was_read(
            step, self._run(step.owner, op.read(self._stateid_for(step), step.offset, step.length))
        )

    def _was_read(self, step: StateStep, reply: CompoundReply) -> None:
        if self._is_done(step, reply, is_write=False):
            result = reply.of(p.READ).resok4
            assert result is not None
            self._compare(step, bytes(result.data), StateProperty.DATA, reply, is_end=result.eof)

    def _compare(
        self, step: StateStep, seen: bytes, which: StateProperty, reply: Answered, *, is_end: bool
    ) -> None:
        """The bytes of a READ, which may be short."""
        wanted = bytes(self._file.data[step.offset : step.offset + step.length])
        if wanted.startswith(seen) and (len(seen) == len(wanted) or not is_end):
            return
        broken = Broken(
            which, CLAIMS[which], step.words(), wanted.hex() or "no bytes", seen.hex() or "no bytes"
        )
        broken.subject, broken.field = getattr(reply, "res", reply), None
        if which in self._judged:
            raise broken

    def _stateid_for(self, step: StateStep) -> p.Stateid4:
        return self._stateids[step.owner]

    def _write(self, step: StateStep) -> None:
        if step.length <= 0:
            return
        writing = op.write(self._stateid_for(step), step.offset, step.data, p.StableHow4.FILE_SYNC4)
        self._was_written(step, self._run(step.owner, writing))

    def _was_written(self, step: StateStep, reply: CompoundReply) -> None:
        if self._is_done(step, reply, is_write=True):
            result = reply.of(p.WRITE).resok4
            assert result is not None
            self._file.write(step.offset, step.data[: result.count])

    def _is_done(self, step: StateStep, reply: CompoundReply, *, is_write: bool) -> bool:
        """Whether I/O was done. LOCKED is wrong where nobody else has locked the bytes."""
        if reply.status == Nfsstat4.NFS4ERR_LOCKED:
            end = step.offset + step.length
            if not self._file.has_conflict(step.owner, step.offset, end, is_write=is_write):
                self._claim(False, StateProperty.LOCKS_END, step.words(), "success", reply)
        elif reply.status != Nfsstat4.NFS4_OK:
            self._refused(step, reply)
        return reply.status == Nfsstat4.NFS4_OK

    # ------------------------------------------------------------ what there is

    def _look_at_the_end(self) -> None:
        """After the last step, while everything is still open."""

    def _look(self, step: StateStep) -> None:
        """Ask as somebody who has nothing, and keeps nothing."""
        if step.verb in {"LOCK", "LOCKU", "CLOSE"}:
            end = end_of(step.offset, step.length)
            for byte in sorted({max(step.offset - 1, 0), step.offset, min(end - 1, SIZE), min(end, SIZE)}):
                for is_write in (True, False):
                    kind = "WRITE_LT" if is_write else "READ_LT"
                    what = f"LOCKT {kind} of byte {byte} by another after {step.words()}"
                    self._ask(OBSERVER, byte, 1, is_write=is_write, what=what)
        if step.verb in {"OPEN", "CLOSE", "OPEN_DOWNGRADE"}:
            for access, name in ((READ, "reading"), (WRITE, "writing")):
                self._look_at_shares(access, f"OPEN for {name} by another after {step.words()}")

    def _look_at_shares(self, access: int, what: str) -> None:
        reply = self._run(OBSERVER, self._opening(OBSERVER, access, 0), op.close(op.CURRENT))
        opened = next((result.resok4 for result in reply if isinstance(result, p.Open4Res)), None)
        is_ok = opened is not None  # whatever CLOSE answers
        if opened is not None and reply.status != Nfsstat4.NFS4_OK:
            self._run(OBSERVER, op.close(opened.stateid))
        if self._file.is_denied(OBSERVER, access, 0):
            self._claim(not is_ok, StateProperty.SHARES, what, "NFS4ERR_SHARE_DENIED", reply)
        elif reply.status == Nfsstat4.NFS4ERR_SHARE_DENIED:
            self._claim(False, StateProperty.SHARES_END, what, "success", reply)
