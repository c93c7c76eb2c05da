# SPDX-License-Identifier: MIT
"""A second beginning of compounds for the embedded server: NFSv4.0 as far as opens and locks need it (RFC 7530).

It is what a test needs to see that the engine depends on no session. It is no server of 4.0: sequence ids are ignored,
nothing is confirmed but client IDs, and there are no callbacks.
"""

from __future__ import annotations

import typing as t
from collections.abc import Iterator

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.rpc.program import AnyOperation
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import XdrType
from nfsserver.handlers import Handler, ServerApi, answers
from nfsserver.nfs4.common import CompoundState, compound_of, principal_of
from nfsserver.state.records import Client
from nfsserver.state.stateids import StateError

_OK: t.Final = Nfsstat4.NFS4_OK


class WithoutSession:
    """Whose a compound is follows from its owners and stateids, operation by operation."""

    def __init__(self) -> None:
        self._client_of: dict[bytes, int] = {}
        """`other` of a stateid -> client ID."""

    def begin(self, state: CompoundState, context: CallContext, args: p.Compound4Args) -> None:
        """Nothing comes first."""

    def go_on(self, state: CompoundState) -> None:
        """No slot waits for it."""

    def wait(self, state: CompoundState) -> None:
        """No slot waits for it."""

    def admit(self, state: CompoundState, operation: p.AnyOperation) -> None:
        """Any operation may stand anywhere."""

    def identify(self, state: CompoundState, operation: p.AnyOperation, args: XdrType) -> None:
        """By the client ID of an owner, or by a stateid."""
        clientid = _clientid_in(args)
        if clientid is None:
            known = [
                self._client_of[other] for other in _stateids_in(operation, args) if other in self._client_of
            ]
            clientid = known[0] if known else None
        if clientid is None:
            return
        client = state.states.clients.require(clientid)
        if not client.is_confirmed:
            raise StateError("STALE_CLIENTID")
        state.sender = client
        state.states.renew(client)

    def after(self, state: CompoundState, args: p.Compound4Args, result: XdrType) -> None:
        """Note whose the stateids are that an operation has given."""
        for place in p.operation_of(result).gives_stateid:
            given = _at(result, place)
            if given is not None and state.sender is not None:
                self._client_of[bytes(given.other)] = state.sender.id

    def end(self, server: ServerApi, state: CompoundState, reply: p.Compound4Res) -> None:
        """There is no reply cache."""


def _clientid_in(args: XdrType) -> int | None:
    match args:
        case p.Open4Args() | p.Lockt4Args():
            return args.owner.clientid
        case p.Renew4Args():
            return args.clientid
    return None


def _stateids_in(operation: p.AnyOperation, args: XdrType) -> Iterator[bytes]:
    for place in operation.stateids:
        given = _at(args, place)
        if given is not None:
            yield bytes(given.other)


def _at(value: t.Any, place: str) -> t.Any:
    for name in place.split("."):
        value = getattr(value, name, None)
    return value


# ---------------------------------------------------------------- the operations that 4.0 has for it


def _verifier(client: Client) -> bytes:
    return client.id.to_bytes(8, "big")


def _setclientid(_: ServerApi, context: CallContext, args: p.Setclientid4Args) -> p.Setclientid4Res:
    states, who = compound_of(context).states, args.client
    client = states.clients.add(bytes(who.id), bytes(who.verifier), principal_of(context), states.now())
    return p.Setclientid4Res(_OK, p.Setclientid4ResOk(client.id, _verifier(client)))


def _confirm(_: ServerApi, context: CallContext, args: p.SetclientidConfirm4Args) -> p.SetclientidConfirm4Res:
    states = compound_of(context).states
    client = states.clients.require(args.clientid)
    if bytes(args.setclientid_confirm) != _verifier(client):
        raise StateError("STALE_CLIENTID")
    states.confirm(client)
    states.complete(client)  # 4.0 has no RECLAIM_COMPLETE
    return p.SetclientidConfirm4Res(_OK)


def _renew(_: ServerApi, __: CallContext, ___: p.Renew4Args) -> p.Renew4Res:
    return p.Renew4Res(_OK)


OPERATIONS: t.Final[dict[AnyOperation, Handler]] = dict(
    [
        answers(p.SETCLIENTID, _setclientid),
        answers(p.SETCLIENTID_CONFIRM, _confirm),
        answers(p.RENEW, _renew),
    ]
)
