# SPDX-License-Identifier: MIT
"""A client of NFSv4.1 and 4.2: `Nfs4` for single compounds, `Session` for compounds in a session.

`Compounds` is what code needs that runs compounds in any minor version: a `Session` is one.
"""

from __future__ import annotations

from nfsclient.clients.nfs4.client import Client, Nfs4, new_owner
from nfsclient.clients.nfs4.compounds import Compounds
from nfsclient.clients.nfs4.session import Session
from nfsclient.sessions.reply import CompoundError, CompoundReply
from nfsclient.sessions.session import Request, SessionState, SessionViolation
from nfsclient.sessions.slots import NoFreeSlot, Slot, SlotTable

__all__ = [
    "Client",
    "CompoundError",
    "CompoundReply",
    "Compounds",
    "Nfs4",
    "NoFreeSlot",
    "Request",
    "Session",
    "SessionState",
    "SessionViolation",
    "Slot",
    "SlotTable",
    "new_owner",
]
