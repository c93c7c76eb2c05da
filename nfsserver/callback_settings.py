# SPDX-License-Identifier: MIT
"""The knobs of delegations, and of what a server may call its clients for; `nfsserver.settings` has them all."""

from __future__ import annotations

from dataclasses import dataclass

from nfsserver import declaring

_knob = declaring.knob


@dataclass(frozen=True, slots=True)
class CallbackSettings:
    """Choices of a server that calls its clients."""

    delegations: str = _knob(
        "write",
        "which delegations OPEN grants to clients with a backchannel",
        "RFC 5661 section 10.4",
        choices=("none", "read", "write"),
        draws=("none", "read"),
        of_nfs4=True,
    )
    conflicts: str = _knob(
        "delay",
        "what becomes of a call that a delegation is in the way of: DELAY (JUKEBOX in NFSv3, silence in NFSv2), or it "
        "waits until the delegation is returned (not over UDP)",
        "RFC 5661 section 10.2",
        choices=("delay", "wait"),
        draws=("wait",),
        of_nfs4=True,
    )
    asks_holders: bool = _knob(
        True,
        "GETATTR of a file of which another client has a write delegation asks that client by CB_GETATTR; otherwise it "
        "recalls the delegation",
        "RFC 5661 section 10.4.3",
        "RFC 5661 section 18.7.4",
        draws=(False,),
        of_nfs4=True,
    )
    delegations_kept: int = _knob(
        0,
        "delegations of a client above which CB_RECALL_ANY asks it to return some of its choice; 0: any number",
        "RFC 5661 section 20.6.3",
        least=0,
        draws=(1, 3),
        of_nfs4=True,
    )
    lock_notices: bool = _knob(
        True,
        "CB_NOTIFY_LOCK comes when a lock may be had that was denied to READW_LT or WRITEW_LT, and OPEN sets "
        "OPEN4_RESULT_MAY_NOTIFY_LOCK",
        "RFC 5661 section 20.11.3",
        draws=(False,),
        of_nfs4=True,
    )
    slots_kept: int = _knob(
        0,
        "slots that CB_RECALL_SLOT leaves a session that has a backchannel, at its first request; 0: all",
        "RFC 5661 section 20.8.3",
        "RFC 5661 section 2.10.6.1",
        least=0,
        most=1024,
        draws=(1, 2),
        of_nfs4=True,
    )
