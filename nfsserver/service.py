# SPDX-License-Identifier: MIT
"""One version of a program as the server answers it. The module of a protocol registers its own here."""

from __future__ import annotations

import typing as t

from nfsclient.rpc.auth import AuthSys
from nfsclient.rpc.messages import AuthStat
from nfsclient.rpc.program import AnyOperation, Program
from nfsclient.rpc.service import CallContext, Refused
from nfsserver.freedom import Freedom
from nfsserver.handlers import Handlers


class Service(t.NamedTuple):
    """One version of a program, as a server answers it."""

    program: Program
    handlers: Handlers
    authenticated: t.Collection[AnyOperation] = ()
    """Procedures that ask for AUTH_SYS or better."""
    freedoms: t.Sequence[Freedom] = ()
    """What it does where knobs are turned, the innermost first."""
    not_repeatable: t.Collection[AnyOperation] = ()
    """Procedures that must not run twice for a retransmitted call."""
    run_once: t.Collection[AnyOperation] = ()
    """Those of them that do harm if they do: never, whatever the knob `replay_cache` says."""


_REGISTERED: t.Final[dict[tuple[int, int], Service]] = {}


def register(*services: Service) -> None:
    """Let every server answer to them. Raises ValueError for a version that is there already."""
    for service in services:
        key = service.program.number, service.program.version
        if key in _REGISTERED:
            raise ValueError(f"{service.program.name} version {service.program.version} is registered twice")
        _REGISTERED[key] = service


def registered() -> tuple[Service, ...]:
    """Those that were registered until now."""
    return tuple(_REGISTERED.values())


def require_user(context: CallContext, auth_stat: int) -> Refused | None:
    """The refusal of a caller without AUTH_SYS: what `Service.authenticated` means."""
    has_user = isinstance(context.credential, AuthSys)
    return None if has_user else Refused(auth_stat=AuthStat(auth_stat))
