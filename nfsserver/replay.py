# SPDX-License-Identifier: MIT
"""The duplicate request cache: a retransmitted call gets its first reply again (RFC 1813 section 4.5).

It is for NFSv2, NFSv3 and rpcbind, whose calls have no sequence ids. A client whose reply was lost sends the same
bytes again; without the cache, a REMOVE that succeeded would then fail with NOENT. NFSv4.1 has slots instead
(`state/sessions.py`).

    unknown --the call is executed, and answered--> known --more than `MOST.replays` newer ones, a restart--> unknown

What must stay true:

- A call is the same only if its caller, its transport and all its bytes are, XID included: clients reuse XIDs, and a
  wrong answer from the cache is worse than a second execution. Equal bytes are compared by a digest.
- Only procedures that must not run twice are covered. For the others a fresh answer is better: READ shows the data of
  now.
- What is kept is the reply of the dispatcher: with what middleware and knobs did to the operation, and without what
  middleware around messages does, which sees the retransmission as well.
- A reply that was lost on purpose is known if the call was executed (`Messages.keep_silent(done=True)`), and unknown
  otherwise.
- It is bounded by number and by the size of each reply, because callers choose both; a reply that is too large is not
  kept.
"""

from __future__ import annotations

import hashlib
import struct
import typing as t
from collections import OrderedDict

from nfsclient.rpc.program import AnyOperation
from nfsclient.rpc.sockets import Address
from nfsclient.xdr import Buffer
from nfsserver.bounds import MOST

_PROCEDURE = struct.Struct(">III")
_PROCEDURE_AT = 12
"""Position of program, version and procedure in a call."""


class ReplayCache:
    """Replies to calls that must not run twice, by caller and by the bytes of the call, xid included.

    A call with the same xid and other bytes is another call. The cache is volatile: a restart empties it.
    """

    def __init__(self) -> None:
        self.knows_ports = True
        """Whether a call from another port is another call; a proxy calls from another port than its client."""
        self._keys: set[tuple[int, int, int]] = set()
        self._always: set[tuple[int, int, int]] = set()
        self._replies: OrderedDict[tuple[Address, str, bytes], bytes] = OrderedDict()

    def add(self, procedures: t.Iterable[AnyOperation], always: t.Iterable[AnyOperation] = ()) -> None:
        """Cover these procedures too; those in `always` also where a server does without the cache."""
        self._keys.update((each.program, each.version, each.number) for each in procedures)
        self._always.update((each.program, each.version, each.number) for each in always)

    def covers(self, message: Buffer, *, is_used: bool = True) -> bool:
        """Whether a message calls one of the procedures; unless the cache `is_used`, one that must not run twice."""
        if len(message) < _PROCEDURE_AT + _PROCEDURE.size:
            return False
        keys = self._keys if is_used else self._always
        return _PROCEDURE.unpack_from(message, _PROCEDURE_AT) in keys

    def key(self, message: Buffer, peer: Address, transport: str) -> tuple[Address, str, bytes]:
        """The key of a call."""
        return peer if self.knows_ports else (peer[0], 0), transport, hashlib.blake2s(message).digest()

    def find(self, key: tuple[Address, str, bytes]) -> bytes | None:
        """The reply that this call had before."""
        reply = self._replies.get(key)
        if reply is not None:
            self._replies.move_to_end(key)
        return reply

    def remember(self, key: tuple[Address, str, bytes], reply: bytes) -> None:
        """Keep the reply of a call that was executed."""
        if len(reply) > MOST.replay_bytes:
            return
        self._replies[key] = reply
        if len(self._replies) > MOST.replays:
            self._replies.popitem(last=False)

    def clear(self) -> None:
        """Forget everything, as a restart does."""
        self._replies.clear()
