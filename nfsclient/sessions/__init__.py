# SPDX-License-Identifier: MIT
"""Sessions and state of NFSv4.1 and 4.2 without I/O: what a client must remember, and what it may do next (RFC 5661).

`slots` has the slot table, `session` the fore channel of a session. Requests go in as lists of operations and come out
with SEQUENCE in front; replies go in as they came. The drivers are in `nfsclient.clients.nfs4`.
"""

from __future__ import annotations

from nfsclient.sessions.reply import CompoundReply
from nfsclient.sessions.session import Request, SessionState
from nfsclient.sessions.slots import NoFreeSlot, Slot, SlotTable

__all__ = ["CompoundReply", "NoFreeSlot", "Request", "SessionState", "Slot", "SlotTable"]
