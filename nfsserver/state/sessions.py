# SPDX-License-Identifier: MIT
"""Sessions: slots, their reply cache, and the connections of the backchannel (RFC 5661 sections 2.10 and 18.46).

What SEQUENCE compares is the sequence id of the request with that of the slot:

    the same          a retry: what the cache has
    one more          a new request
    anything else     SEQ_MISORDERED

The life of a slot:

    free            fingerprint None         no request yet: its sequence id is 0, and there is nothing to repeat
    answered        reply, or none kept      a retry gets the reply, or RETRY_UNCACHED_REP; one more begins a request
    in progress     `in_progress`            its compound waits for a recall: a retry is DELAY, one more SEQ_MISORDERED

What must stay true:

- The slot takes a new sequence id when SEQUENCE succeeds, before anything else of the compound runs: what fails later
  was executed, and a retry must not execute it again. When SEQUENCE is refused, nothing of the slot changes (section
  2.10.6.1.2).
- The fingerprint of a request stays with its sequence id. A retry by another principal or with other operations is
  SEQ_FALSE_RETRY and gets no reply of the cache (section 2.10.6.1.3.1).
- The reply caches of all sessions are counted by what was granted, not by what is used (`cache_size`): a client
  cannot make the server keep more than CREATE_SESSION has promised.
- Slots are retired only when the client has shown that it uses them no more: it may repeat a request in any other.
- A session that has ended has no slots (`Session.is_destroyed`); a compound that waited notices by that.

The backchannel is the other way round: the server is the client of the slots. A slot of it is busy until its callback
is answered, and stays so if nobody knows its fate. What cannot be sent waits in `Session.unsent` (no connection) or
`Client.unsent` (no session), and goes out when the client binds a connection or uses a session.

`nfs4/sessions.py` has the handlers that decide, `nfs4/in_session.py` what is kept of a reply.
"""

from __future__ import annotations

from nfsserver.bounds import MOST
from nfsserver.state.records import WRAP, Client, Limits4, Session, Slot
from nfsserver.state.stateids import StateError


def is_retry(slot: Slot, sequence_id: int) -> bool:
    """Whether a request repeats the last one of its slot; False: it is a new one. Raises SEQ_MISORDERED.

    A slot that was never used has sequence id 0, and nothing to repeat.
    """
    if sequence_id == (slot.sequence_id + 1) % WRAP:
        return False
    if sequence_id == slot.sequence_id and slot.fingerprint is not None:
        return True
    raise StateError("SEQ_MISORDERED")


def slot_size(cached: int) -> int:
    """Bytes that a slot may keep: a reply of as many bytes, and what a reply of SEQUENCE alone takes."""
    return cached + MOST.slot_bytes


def _kept_of(fore: Limits4) -> int:
    return slot_size(fore.cached) * fore.slots


class Sessions:
    """The sessions of one instance of the server, by id. `prefix` (8 bytes) makes its ids differ from others'."""

    def __init__(self, prefix: bytes) -> None:
        self._prefix = prefix
        self._last = 0
        self._by_id: dict[bytes, Session] = {}
        self._cache_size = 0

    def __len__(self) -> int:
        return len(self._by_id)

    def require(self, number: bytes) -> Session:
        """The session of an id. Raises BADSESSION."""
        session = self._by_id.get(number)
        if session is None:
            raise StateError("BADSESSION")
        return session

    @property
    def cache_size(self) -> int:
        """Bytes that the reply caches of all sessions may take."""
        return self._cache_size

    def add(self, client: Client, fore: Limits4, back: Limits4, program: int) -> Session:
        """A new session. Raises NOSPC."""
        if len(self._by_id) >= MOST.sessions:
            raise StateError("NOSPC")
        self._last += 1
        session = Session(self._prefix + self._last.to_bytes(8, "big"), client, fore, back, program)
        session.slots = [Slot() for _ in range(fore.slots)]
        session.callback_slots = [0] * min(back.slots, MOST.callback_slots)
        self._by_id[session.id] = session
        client.sessions[session.id] = session
        self._cache_size += _kept_of(fore)
        return session

    def retire(self, session: Session, highest: int) -> None:
        """Forget the slots above `highest`, which the client does not use any more (section 2.10.6.1)."""
        self._cache_size -= _kept_of(session.fore)
        session.fore = session.fore._replace(slots=highest + 1)
        self._cache_size += _kept_of(session.fore)
        del session.slots[highest + 1 :]

    def remove(self, session: Session) -> None:
        """End a session. Callbacks that the client has not answered go on over another one."""
        if self._by_id.pop(session.id, None) is not None:
            self._cache_size -= _kept_of(session.fore)
        session.client.sessions.pop(session.id, None)
        session.slots = []
        unanswered, session.unanswered, session.unsent = session.unanswered, {}, []
        for move in unanswered.values():
            move()
