# SPDX-License-Identifier: MIT
"""One program with delegations: what the holder of one is served, and what others are not, until it is returned.

Whatever a delegation of another client is in the way of (`DelegatedFile.in_the_way`) may be answered as follows:

    answer                        what follows
    success                       never: unless the server has revoked the delegation, which its holder asks
    DELAY                         nothing was done. The program goes on, or it is sent again after the return
    JUKEBOX                       it may be done later (RFC 1813 section 2.6), so it is sent again after the return
    none                          the server holds it: its reply comes after the return
    any other error               nothing was done

After DELEGRETURN it is done, or refused for what opens and locks say. A server may recall, or answer DELAY, at any
time without a reason: then all delegations are returned, and if that does not help, the program ends.

Calls of NFSv3 have no open, and no share reservation binds them: success is legal, and so is refusal, where an open of
NFSv4 denies it or has locked the bytes. Which of the two has come decides what the data are from then on.
"""

from __future__ import annotations

import typing as t
from collections import Counter
from collections.abc import Callable, Sequence

from nfsclient.clients.nfs4 import CompoundReply
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs3 import Nfsstat3
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.xdr import XdrType
from suites.model.delegated_players import (
    Attempt,
    DelegatedPlayer,
    Nfs3Player,
    Patience,
    Place,
    operations_of,
)
from suites.model.delegated_things import OF_NAMES, DelegatedFile, Delegation, may_do
from suites.model.machine import Experience
from suites.model.players import Inconclusive
from suites.model.state_claims import StateProperty
from suites.model.state_machine import LATER, OBSERVER, UNKNOWN, Answered, StateMachine
from suites.model.state_steps import ANONYMOUS, DELEGATION, NFS3, StateStep
from suites.model.state_things import END, NFS3_CLIENT, READ, WRITE, File, Owner

_REVOKED: t.Final = frozenset(
    {Nfsstat4.NFS4ERR_DELEG_REVOKED, Nfsstat4.NFS4ERR_EXPIRED, Nfsstat4.NFS4ERR_ADMIN_REVOKED}
)
_RENEWAL: t.Final = 1.0
"""Seconds after which leases are renewed while something is waited for."""
_NOENT: t.Final = 2
_MOST_GONE: t.Final = 3
"""Names that are gone, and looked for."""
_HANDLE_IS_GONE: t.Final = frozenset({70, 10001, 10014})
"""STALE, BADHANDLE, FHEXPIRED: a server may say so after a RENAME."""
_DONE_BEFORE: t.Final = {
    "LINK": Nfsstat3.NFS3ERR_EXIST,
    "REMOVE": Nfsstat3.NFS3ERR_NOENT,
    "RENAME": Nfsstat3.NFS3ERR_NOENT,
    "REPLACE": Nfsstat3.NFS3ERR_NOENT,
}
"""What a call of NFSv3 gets that is made again, and was done after JUKEBOX."""


class DelegatedMachine(StateMachine):
    """Runs one program on a new file."""

    _file: DelegatedFile

    def __init__(
        self,
        players: Sequence[DelegatedPlayer],
        other: Nfs3Player | None,
        place: Place,
        make_another: Callable[[bytes], None],
        patience: Patience,
        experience: Experience,
        judged: frozenset[StateProperty],
        granted: Counter[str],
        *,
        links_count: bool,
        is_over: Callable[[], bool],
    ) -> None:
        """`make_another`: creates another file of this name; `granted` counts delegations by kind.

        `links_count`: whether LINK changes an attribute of the file.
        """
        super().__init__(players, place.file, place.name.decode(), experience, judged, is_over=is_over)
        self._clients = players
        self._other = other
        self._place = place
        self._make_another = make_another
        self._patience = patience
        self._counted = granted
        self._links_count = links_count
        self._attempts: list[Attempt] = []
        self._claimed: list[Owner] = []
        """Who has opened the file by the claim of a delegation that is not returned yet."""
        self._unknown: set[int] = set()
        """Bytes that a call of NFSv3 may still write."""
        self._is_repeated = False
        """Whether the call of NFSv3 that has just ended was made more than once."""

    def _new_file(self) -> File:
        return DelegatedFile()

    def _is_possible(self, step: StateStep) -> bool:
        return may_do(self._file, step)

    @property
    def _loop(self) -> t.Any:
        return self._clients[0].rpc.loop

    # ------------------------------------------------------------ calls

    def _run(self, owner: Owner, *operations: XdrType) -> CompoundReply:
        """A compound that nothing is in the way of. DELAY is an answer while there are delegations."""
        self._experience.calls += 1
        player, everything = self._clients[owner.client - 1], (op.putfh(self._handle), *operations)
        reply = player.once(self._patience.call, *everything)
        if reply.status in LATER and not self._file.delegations:
            reply = player.run(*everything)
        if reply.status in _HANDLE_IS_GONE:
            raise Inconclusive
        return reply

    def _do(self, step: StateStep) -> None:
        if step.verb == "OPEN":
            self._open_or_wait(step)
        elif step.verb == "DELEGRETURN":
            found = self._file.of_client(step.owner.client)
            assert found is not None
            self._give_back(found, step.words())
        elif step.how in {NFS3, ANONYMOUS} or step.verb in {"SETATTR", *OF_NAMES}:
            self._do_without_open(step)
        else:
            super()._do(step)
        self._use_claimed()

    def _look(self, step: StateStep) -> None:
        """Nobody looks: it would recall what is delegated."""

    # ------------------------------------------------------------ what a delegation is in the way of

    def _contest(self, step: StateStep, begin: Callable[[], Attempt]) -> t.Any:
        """The reply to what delegations may be in the way of; None if it was put off, and nothing was done."""
        in_the_way = self._file.in_the_way(step)
        if step.verb == "LINK" and not self._links_count:
            in_the_way = []
        self._is_repeated = False
        attempt = self._send(begin, in_the_way)
        reply = self._judge(step, attempt, in_the_way)
        if reply is not None:
            return reply
        if step.late < 0 and attempt.is_over() and step.how != NFS3 and self._file.delegations:
            return None
        for number in range(max(step.late, 0)):
            self._serve(step, number, in_the_way)
            if attempt.is_over():
                attempt = self._send(begin, in_the_way)
            reply = self._judge(step, attempt, in_the_way)
            if reply is not None:
                return reply
        for each in in_the_way or list(self._file.delegations):
            self._give_back(each, f"DELEGRETURN of {each}, which is recalled")
        return self._last(step, begin, attempt, is_due=bool(in_the_way))

    def _send(self, begin: Callable[[], Attempt], in_the_way: Sequence[Delegation]) -> Attempt:
        """Send it, and wait until the reply has come, or the recalls."""
        self._experience.calls += 1
        attempt, clock = begin(), self._loop.clock
        self._attempts.append(attempt)

        def are_recalled() -> bool:
            return bool(in_the_way) and all(self._is_recalled(each) for each in in_the_way)

        self._loop.run_until(lambda: attempt.is_over() or are_recalled(), clock() + self._patience.recall)
        self._loop.run_until(attempt.is_over, clock() + self._patience.reply)
        return attempt

    def _judge(self, step: StateStep, attempt: Attempt, in_the_way: Sequence[Delegation]) -> t.Any:
        """The reply, None if there is none, or only that it is to be sent again. Success is wrong."""
        reply = attempt.reply() if attempt.is_over() else None
        if reply is not None and reply.status in LATER and self._is_denied(step):
            return reply
        if reply is None or reply.status in LATER:
            self._is_repeated = self._is_repeated or reply is not None
            return None
        if reply.status in _HANDLE_IS_GONE:
            raise Inconclusive
        if reply.status == 0 and in_the_way and self._has_changed(step):
            for each in in_the_way:
                self._need_alive(each)
            which, expected = StateProperty.EXCLUDES, "NFS4ERR_DELAY"
            if step.how == NFS3:
                which = StateProperty.EXCLUDES_READ3 if step.verb == "READ" else StateProperty.EXCLUDES_NFS3
                expected = "NFS3ERR_JUKEBOX"
            self._claim(False, which, f"{step.words()}, against {in_the_way[0]}", expected, reply)
            raise Inconclusive
        return reply

    def _is_denied(self, step: StateStep) -> bool:
        """Whether JUKEBOX may be how a server refuses what opens or locks deny."""
        return step.how == NFS3 and not self._file.delegations and self._file.excludes(step)

    def _has_changed(self, step: StateStep) -> bool:
        """CREATE of a file that exists may leave it as it is, and then needs no recall."""
        if step.verb != "CREATE" or self._other is None:
            return True
        return self._other.size(self._patience.call, self._place.file3) == 0

    def _last(
        self, step: StateStep, begin: Callable[[], Attempt], attempt: Attempt, *, is_due: bool
    ) -> t.Any:
        """Now that the delegations are returned, the reply; it must come."""
        loop = self._loop
        deadline = loop.clock() + (self._patience.end if is_due else self._patience.recall)
        was_jukebox, reply = False, None
        while loop.clock() < deadline:
            if not loop.run_until(attempt.is_over, min(deadline, loop.clock() + _RENEWAL)):
                self._renew()
                continue
            reply = attempt.reply()
            if reply is not None and reply.status not in LATER:
                return reply
            was_jukebox = step.how == NFS3 and reply is not None
            self._is_repeated = self._is_repeated or reply is not None
            loop.run_until(lambda: False, min(deadline, loop.clock() + self._patience.pause))
            self._renew()
            attempt = self._send(begin, ())
        if is_due:
            which = StateProperty.ENDS_NFS3 if was_jukebox else StateProperty.ENDS
            what = f"{step.words()}, after the delegation in its way was returned"
            answered = reply if reply is not None else _Silence()
            self._claim(False, which, what, "an end", answered)
        raise Inconclusive

    def _renew(self) -> None:
        """Keep the leases of all clients while something is waited for."""
        self._patience.renew()
        for player in self._clients:
            player.once(self._patience.call)

    # ------------------------------------------------------------ delegations

    def _is_recalled(self, delegation: Delegation) -> bool:
        return self._clients[delegation.client - 1].is_recalled(delegation.stateid)

    def _need_alive(self, delegation: Delegation) -> None:
        """Nothing is claimed of a delegation that the server has revoked, or whose client it has forgotten."""
        player = self._clients[delegation.client - 1]
        reply = player.once(self._patience.call, op.test_stateid(delegation.stateid))
        if reply.status != Nfsstat4.NFS4_OK:
            raise Inconclusive
        tested = reply.of(p.TEST_STATEID).tsr_resok4
        codes = [] if tested is None else list(tested.tsr_status_codes)
        if not codes or codes[0] in _REVOKED or (codes[0] != Nfsstat4.NFS4_OK and player.was_idle):
            raise Inconclusive

    def _granted(self, step: StateStep, delegation: p.OpenDelegation4, reply: CompoundReply) -> None:
        found = delegation.write or delegation.read
        if found is None:
            return
        client, file = step.owner.client, self._file
        made = Delegation(client, delegation.write is not None, found.stateid)
        self._counted["write" if made.is_write else "read"] += 1
        # One that is recalled at once is none that anybody relies on.
        if not found.recall and file.refuses(client, is_write=made.is_write):
            for each in file.delegations:
                self._need_alive(each)
            self._claim(False, StateProperty.GRANTS, f"{step.words()}: {made}", "none", reply)
        known = file.of_client(client)
        if known is not None:
            file.delegations.remove(known)
            if known.stateid.other != made.stateid.other:
                raise Inconclusive  # two delegations of one client
        file.delegations.append(made)

    def _give_back(self, delegation: Delegation, what: str) -> None:
        """DELEGRETURN."""
        reply = self._run(Owner(delegation.client, 0), op.delegreturn(delegation.stateid))
        if reply.status == Nfsstat4.NFS4ERR_DELAY:
            raise Inconclusive
        self._file.delegations.remove(delegation)
        if reply.status != Nfsstat4.NFS4_OK:
            self._need_alive(delegation)
            if reply.status in UNKNOWN:
                self._claim(False, StateProperty.RETURNED, what, "success", reply)
            raise Inconclusive

    def _serve(self, step: StateStep, number: int, in_the_way: Sequence[Delegation]) -> None:
        """A call of who has a delegation, before it is returned: READ, WRITE, LOCK, or OPEN by its claim."""
        if not in_the_way:
            return
        delegation = in_the_way[number % len(in_the_way)]
        owner, salt = Owner(delegation.client, number % 2), step.salt + number
        made = StateStep(
            owner=owner,
            verb="READ",
            how=DELEGATION,
            offset=salt % 40,
            length=1 + salt % 20,
            salt=1 + salt % 255,
            is_write=True,
        )
        opening = self._file.opens.get(owner)
        match salt % 4:
            case 0 if delegation.is_write:
                self._write(_as(made, "WRITE"))
            case 1 if delegation.is_write and opening is not None and opening.access & WRITE:
                self._lock(_as(made, "LOCK", ""))
            case 2 if not self._file.is_denied(owner, READ, 0) and opening is None:
                self._claim_open(_as(made, "OPEN"), delegation)
            case _:
                self._read(made)

    def _claim_open(self, step: StateStep, delegation: Delegation) -> None:
        claiming = op.claim_deleg_cur_fh(delegation.stateid)
        wanted = READ | p.OPEN4_SHARE_ACCESS_WANT_NO_DELEG
        opening = op.open(claiming, wanted, 0, owner=self._name_of(step.owner))
        self._opened(_as(step, "OPEN", DELEGATION, READ), self._run(step.owner, opening))
        self._claimed.append(step.owner)

    def _use_claimed(self) -> None:
        """What was opened by the claim of a delegation is open after its return (section 10.4).

        The step that has recalled the delegation is done by then, so it is known what the data are.
        """
        claimed, self._claimed = self._claimed, []
        for owner in claimed:
            if owner in self._file.opens:
                self._read(StateStep(owner=owner, verb="READ", length=8))

    def _stateid_for(self, step: StateStep) -> p.Stateid4:
        if step.how == DELEGATION:
            found = self._file.of_client(step.owner.client)
            assert found is not None
            return found.stateid
        return super()._stateid_for(step)

    def _refused(self, step: StateStep, reply: Answered) -> None:
        """DELAY refuses nothing. What a delegation is for must be served while it is out, and not revoked."""
        if reply.status in LATER:
            return
        for each in self._file.delegations:
            if each.client == step.owner.client:
                self._need_alive(each)
        if step.how == DELEGATION:
            found = self._file.of_client(step.owner.client)
            if step.verb == "WRITE" and found is not None and not found.is_write:
                return  # as it must be
            is_recalled = found is not None and self._is_recalled(found)
            which = StateProperty.FLUSHED if is_recalled and step.verb == "WRITE" else StateProperty.SERVED
            which = StateProperty.CLAIMED if step.verb == "OPEN" else which
            if reply.status in UNKNOWN or reply.status == Nfsstat4.NFS4ERR_OPENMODE:
                self._claim(False, which, step.words(), "success", reply)
            raise Inconclusive
        super()._refused(step, reply)

    def _close_all(self) -> None:
        """After the program: all is returned and closed, and what is still under way is waited for."""
        file = self._file
        for each in list(file.delegations):
            file.delegations.remove(each)
            self._clients[each.client - 1].once(
                self._patience.call, op.putfh(self._handle), op.delegreturn(each.stateid)
            )
        for attempt in self._attempts:
            if attempt.is_over():
                continue
            self._loop.run_until(attempt.is_over, self._loop.clock() + self._patience.end)
            if attempt.is_over():
                self._discard(attempt.reply())
        super()._close_all()

    def _discard(self, reply: t.Any) -> None:
        """A late OPEN that nobody waits for any more."""
        opened = reply.of(p.OPEN).resok4 if reply.status == 0 and p.OPEN in _operations(reply) else None
        if opened is not None:
            for player in self._clients:  # of one of them it is; the other is refused
                player.once(self._patience.call, op.putfh(self._handle), op.close(opened.stateid))

    # ------------------------------------------------------------ steps

    def _open_or_wait(self, step: StateStep) -> None:
        player = self._clients[step.owner.client - 1]
        opening = op.open(None, step.access | step.want, step.deny, owner=self._name_of(step.owner))

        def begin() -> Attempt:
            return player.begin(self._patience.call, op.putfh(self._handle), opening)

        reply = self._contest(step, begin)
        if reply is not None:
            self._opened(step, reply)

    def _do_without_open(self, step: StateStep) -> None:
        """Calls on the file and on its names by who has it not open."""
        file, place = self._file, self._place
        name, new = place.name + file.names[0], b""
        if step.verb in OF_NAMES:
            new = file.new_name()
            if step.verb == "REPLACE":
                self._make_another(place.name + new)

        def begin() -> Attempt:
            if step.owner.client == NFS3_CLIENT:
                assert self._other is not None
                return self._other.begin(self._patience.call, step, place, name, place.name + new)
            player = self._clients[step.owner.client - 1]
            return player.begin(self._patience.call, *operations_of(step, place, name, place.name + new))

        reply = self._contest(step, begin)
        if reply is None:
            return
        was_done = step.how == NFS3 and self._is_repeated and reply.status == _DONE_BEFORE.get(step.verb)
        if step.verb in {"READ", "WRITE"} and step.how == ANONYMOUS:
            (self._was_read if step.verb == "READ" else self._was_written)(step, reply)
        elif reply.status == 0 or was_done:
            self._was_done(step, reply, new)
        elif step.how == NFS3 and reply.status in LATER:
            self._may_be_done_later(step)
        elif not (file.opens and (file.excludes(step) or step.verb in OF_NAMES)):
            self._refused(step, reply)
            if step.how == NFS3:
                raise Inconclusive  # a part may be done (RFC 1813 section 3.3.2)

    def _was_done(self, step: StateStep, reply: t.Any, new: bytes) -> None:
        """What a call without an open has done, to the data or the names."""
        file = self._file
        if step.verb in OF_NAMES:
            file.apply_to_names(step, new)
        if step.how != NFS3:
            return
        match step.verb:
            case "READ":
                found = reply.resok
                self._compare(step, bytes(found.data), StateProperty.DATA_NFS3, reply, is_end=found.eof)
            case "WRITE":
                file.write(step.offset, step.data[: reply.resok.count])
            case "SETATTR":
                file.data = file.data[: step.length].ljust(step.length, b"\0")
            case "CREATE":
                assert self._other is not None
                size = self._other.size(self._patience.call, self._place.file3)
                if size not in {0, len(file.data)}:
                    raise Inconclusive
                if size == 0:
                    file.data.clear()

    def _may_be_done_later(self, step: StateStep) -> None:
        """A server that answers JUKEBOX may go on with the call, at any time (RFC 1813 section 2.6)."""
        if step.verb == "WRITE" and step.offset + step.length <= len(self._file.data):
            self._unknown |= set(range(step.offset, step.offset + step.length))
        elif step.verb != "READ":
            raise Inconclusive

    def _compare(
        self, step: StateStep, seen: bytes, which: StateProperty, reply: Answered, *, is_end: bool
    ) -> None:
        known = bytearray(seen)
        for at in self._unknown & set(range(step.offset, step.offset + len(seen))):
            known[at - step.offset : at - step.offset + 1] = self._file.data[at : at + 1]
        super()._compare(step, bytes(known), which, reply, is_end=is_end)

    def _was_written(self, step: StateStep, reply: CompoundReply) -> None:
        found = self._file.of_client(step.owner.client)
        if step.how == DELEGATION and found is not None and not found.is_write and reply.status == 0:
            self._need_alive(found)
            self._claim(False, StateProperty.READ_ONLY, step.words(), "NFS4ERR_OPENMODE", reply)
        super()._was_written(step, reply)

    def _is_done(self, step: StateStep, reply: CompoundReply, *, is_write: bool) -> bool:
        """Without an open, a share reservation or a lock of whomever may be in the way."""
        if step.how == ANONYMOUS and reply.status != Nfsstat4.NFS4_OK and self._file.excludes(step):
            return False
        return super()._is_done(step, reply, is_write=is_write)

    # ------------------------------------------------------------ at the end

    def _look_at_the_end(self) -> None:
        """Data and names by both versions, when nothing is delegated any more."""
        for each in list(self._file.delegations):
            self._give_back(each, f"DELEGRETURN of {each} at the end")
        whole = StateStep(owner=OBSERVER, verb="READ", how=ANONYMOUS, length=max(1, len(self._file.data)) + 1)
        self._do_without_open(whole)
        if self._other is not None:
            self._do_without_open(
                StateStep(owner=Owner(NFS3_CLIENT, 0), verb="READ", how=NFS3, length=whole.length)
            )
            self._look_at_names(self._other)

    def _look_at_names(self, other: Nfs3Player) -> None:
        file, limit = self._file, self._patience.call
        for number, suffix in enumerate((*file.names, *file.replaced, *file.gone[-_MOST_GONE:])):
            name = self._place.name + suffix
            by3 = other.look_up(limit, self._place.directory3, name)
            by4 = self._clients[0].once(limit, op.putfh(self._place.directory), op.lookup(name))
            seen = [(StateProperty.NAMES_NFS3, by3), (StateProperty.NAMES, by4)]
            for which, reply in seen if number % 2 else reversed(seen):
                if int(reply.status) in {0, _NOENT}:
                    is_there = suffix not in file.gone
                    expected = "success" if is_there else "NOENT"
                    what = f"LOOKUP of {name.decode()} after all steps"
                    self._claim((reply.status == 0) is is_there, which, what, expected, reply)


class _Silence:
    """No reply."""

    status = Nfsstat4.NFS4ERR_DELAY


def _operations(reply: CompoundReply) -> set[t.Any]:
    return {p.OPEN} if any(isinstance(each, p.Open4Res) for each in reply) else set()


def _as(step: StateStep, verb: t.Any, how: str = DELEGATION, access: int = 0) -> StateStep:
    length = END if verb == "LOCK" and step.salt % 5 == 0 else step.length
    return StateStep(
        owner=step.owner,
        verb=verb,
        how=how,
        access=access,
        offset=step.offset,
        length=length,
        is_write=step.is_write,
        salt=step.salt,
    )
