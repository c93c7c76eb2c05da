# SPDX-License-Identifier: MIT
"""An RPC message as a plan sees it: where it goes, what it is, and its decoded fields if a rule asks for them.

Replies name no procedure, so a `Tracker` keeps the calls of a connection by XID. Calls go in both directions (NFSv4.1's
backchannel has separate XIDs), so it keeps them by direction. A reply does not remove its call: after a duplicated
call a second reply comes. The table is bounded; the oldest call goes first.
"""

from __future__ import annotations

import struct
import typing as t
from collections import OrderedDict
from collections.abc import Callable
from functools import cached_property

from nfsclient.errors import NfsClientError
from nfsclient.protocol.registry import callback_of, procedure_of, programs
from nfsclient.rpc.messages import CallHeader, ReplyHeader, parse_reply
from nfsclient.rpc.program import AnyOperation, Procedure, Step
from nfsclient.xdr import XdrType

Toward: t.TypeAlias = t.Literal["server", "client"]
"""Which way a message goes."""
Kind: t.TypeAlias = t.Literal["call", "reply"]

_XID_TYPE = struct.Struct(">II")
_CALL = struct.Struct(">IIIIII")
_KEPT_CALLS = 1024
_KEPT_BYTES = 64 << 10
"""Longer calls are remembered without their arguments."""


class Heading(t.NamedTuple):
    """The first words of a message: all that a proxy needs to know whether a rule wants the rest."""

    xid: int
    kind: Kind
    program: int
    """0 for a reply to a call that nobody saw, as for the next two."""
    version: int
    procedure: int


class Message:
    """One RPC message without record marks.

    Fields are decoded when they are first read. A message that does not decode has no fields (`args` and `result` are
    None): it can still be selected by its heading, and changed byte by byte.
    """

    def __init__(self, data: bytes, toward: Toward, heading: Heading, call: Message | None = None) -> None:
        self.data = data
        self.toward: Toward = toward
        self.heading = heading
        self.call = call
        """The call that a reply answers, if its bytes were kept."""
        self.read_packet: Callable[[], t.Any] | None = None
        """Reads the packet that the message came in, where there are packets."""

    @cached_property
    def packet(self) -> t.Any:
        """The packet by names of layers and fields: ``packet.IP.ttl``; None where there are no packets."""
        return None if self.read_packet is None else self.read_packet()

    @property
    def kind(self) -> Kind:
        return self.heading.kind

    @cached_property
    def procedure(self) -> Procedure[t.Any, t.Any] | None:
        """None for programs and numbers that are not declared here."""
        heading = self.heading
        program = programs().get((heading.program, heading.version))
        if program is None and self.toward == ("client" if self.kind == "call" else "server"):
            program = callback_of(heading.version)
        if program is None:
            return None
        known = program.by_number.get(heading.procedure)
        return known or procedure_of(heading.program, heading.version, heading.procedure)

    @cached_property
    def header(self) -> CallHeader | ReplyHeader | None:
        """Up to the arguments or results; None if it does not decode."""
        cls = CallHeader if self.kind == "call" else ReplyHeader
        try:
            return cls.unpack_from(self.data, 0)[0]
        except NfsClientError:
            return None

    @cached_property
    def body_at(self) -> int | None:
        """Where the arguments or results begin; None if there are none."""
        try:
            if self.kind == "call":
                return CallHeader.unpack_from(self.data, 0)[1]
            end, refusal = parse_reply(self.data, 0, "the call")
        except NfsClientError:
            return None
        return end if refusal is None else None

    @cached_property
    def body(self) -> XdrType | None:
        """The decoded arguments or results."""
        if self.procedure is None or self.body_at is None:
            return None
        cls = self.procedure.args if self.kind == "call" else self.procedure.res
        try:
            return t.cast("XdrType", cls.from_xdr(self.data[self.body_at :]))
        except NfsClientError:
            return None

    @property
    def args(self) -> t.Any:
        """The arguments: of this call, or of the call that this reply answers."""
        if self.kind == "call":
            return self.body
        return None if self.call is None else self.call.body

    @property
    def result(self) -> t.Any:
        return self.body if self.kind == "reply" else None

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """The operations of the call, with their results if this is a reply."""
        if self.procedure is None:
            return ()
        if self.procedure.steps is None:
            return (Step(self.procedure, self.args, self.result),)
        return tuple(self.procedure.steps(self.args, self.result))

    @cached_property
    def operations(self) -> frozenset[AnyOperation]:
        """The procedure, and what a compound carries."""
        if self.procedure is None:
            return frozenset()
        return frozenset({self.procedure, *(step.operation for step in self.steps)})

    @property
    def label(self) -> str:
        """What it is, for the record of what happened: ``REMOVE call, xid 0x12ab34cd``."""
        heading = self.heading
        if self.procedure is None:
            name = f"program {heading.program} version {heading.version} procedure {heading.procedure}"
        elif self.procedure.steps is None:
            name = self.procedure.name
        else:
            name = f"{self.procedure.name} of {', '.join(step.operation.name for step in self.steps) or 'nothing'}"
        return f"{name} {self.kind}, xid 0x{heading.xid:08x}"


class Tracker:
    """The calls that passed on one connection, to know what its replies answer."""

    def __init__(self) -> None:
        self._calls: dict[Toward, OrderedDict[int, tuple[Heading, bytes | None]]] = {
            "server": OrderedDict(),
            "client": OrderedDict(),
        }

    def heading(self, data: bytes, toward: Toward) -> Heading | None:
        """What a message is, from its first 24 bytes. None: it is no RPC message."""
        if len(data) < _XID_TYPE.size:
            return None
        xid, mtype = _XID_TYPE.unpack_from(data)
        if mtype == 0:
            if len(data) < _CALL.size:
                return None
            _, _, _, program, version, procedure = _CALL.unpack_from(data)
            return Heading(xid, "call", program, version, procedure)
        if mtype != 1:
            return None
        called = self._calls["client" if toward == "server" else "server"].get(xid)
        known = (0, 0, 0) if called is None else called[0][2:]
        return Heading(xid, "reply", *known)

    def note(self, heading: Heading, toward: Toward, data: bytes | None) -> None:
        """Remember a call; `data` is None where it passes without being kept."""
        if heading.kind != "call":
            return
        calls = self._calls[toward]
        calls[heading.xid] = (heading, data if data is not None and len(data) <= _KEPT_BYTES else None)
        calls.move_to_end(heading.xid)
        if len(calls) > _KEPT_CALLS:
            calls.popitem(last=False)

    def message(self, data: bytes, toward: Toward) -> Message | None:
        """A whole message, and remember it if it is a call. None: it is no RPC message."""
        heading = self.heading(data, toward)
        if heading is None:
            return None
        self.note(heading, toward, data)
        call: Message | None = None
        if heading.kind == "reply":
            other: Toward = "client" if toward == "server" else "server"
            called = self._calls[other].get(heading.xid)
            if called is not None and called[1] is not None:
                call = Message(called[1], other, called[0])
        return Message(data, toward, heading, call)
