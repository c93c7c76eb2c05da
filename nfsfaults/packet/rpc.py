# SPDX-License-Identifier: MIT
"""The layers of RPC: record marks, calls and replies. A reply is dissected by the call that it answers.

Replies name no procedure. So each call that is dissected or built leaves its procedure in a bounded table, by the
addresses and ports of both sides and its XID; NFSv4.1's calls to clients have other keys, since they go the other way.
Messages without UDP or TCP below them are matched by their XID alone.
"""

from __future__ import annotations

import struct
import typing as t
from collections import OrderedDict

from scapy.config import conf
from scapy.fields import Field
from scapy.layers.inet import TCP, UDP
from scapy.packet import Packet, bind_bottom_up, bind_top_down

from nfsclient.errors import XdrError
from nfsclient.protocol.registry import procedure_of as declared
from nfsclient.rpc.auth import AuthSysParms
from nfsclient.rpc.messages import AcceptStat, AuthFlavor, CallHeader, MsgType, OpaqueAuth, ReplyHeader
from nfsclient.rpc.program import Procedure
from nfsclient.rpc.record import DEFAULT_MAX_RECORD, LAST_FRAGMENT
from nfsclient.xdr import Void, XdrType, fields_of
from nfsfaults.packet.wire_types import BLANK, REFINED, XdrField, XdrLayer, guarded, make_field, packet_of

AnyProcedure: t.TypeAlias = Procedure[t.Any, t.Any]
_Key: t.TypeAlias = tuple[t.Any, ...]
_MOST_CALLS: t.Final = 4096
_MOST_FRAGMENTS: t.Final = 65_536
_MARK = struct.Struct(">I")
_LENGTH: t.Final = 0x7FFF_FFFF

_calls: OrderedDict[_Key, AnyProcedure] = OrderedDict()
CALL_LAYERS: t.Final[dict[AnyProcedure, type[XdrLayer]]] = {}
"""Procedure -> the layer of its arguments. Filled by `programs`."""
REPLY_LAYERS: t.Final[dict[AnyProcedure, type[XdrLayer]]] = {}
"""Procedure -> the layer of its results."""


def procedure_of(program: int, version: int, number: int) -> AnyProcedure | None:
    """The declaration of a procedure. A transient program of version 1 is taken for NFSv4's callback program."""
    return declared(program, version, number)


def forget_calls() -> None:
    """Empty the table of calls: replies to earlier calls are not dissected any more."""
    _calls.clear()


def _key(packet: Packet, xid: int, *, is_reply: bool) -> _Key:
    """What a call and its reply have in common."""
    transport = packet.underlayer
    while transport is not None and not isinstance(transport, UDP | TCP):
        transport = transport.underlayer
    if transport is None:
        return (xid,)
    network = transport.underlayer
    hosts = (None, None) if network is None else (network.src, network.dst)
    ends = ((hosts[0], transport.sport), (hosts[1], transport.dport))
    return (type(transport), *(reversed(ends) if is_reply else ends), xid)


def _note(packet: Packet, xid: int, procedure: AnyProcedure) -> None:
    note_call(_key(packet, xid, is_reply=False), procedure)


def note_call(key: _Key, procedure: AnyProcedure) -> None:
    """Remember a call by its transport, both ends and XID, or by the XID alone."""
    _calls[key] = procedure
    _calls.move_to_end(key)
    if len(_calls) > _MOST_CALLS:
        _calls.popitem(last=False)


# ---------------------------------------------------------------- messages


def _header_fields(cls: type[t.Any], **fixed: int) -> list[XdrField]:
    """The fields of a header; those of `fixed` keep their value under `fuzz()`."""
    fields = [make_field(name, node, fixed.get(name, BLANK)) for name, node in fields_of(cls)]
    for field in fields:
        field.is_fixed = field.name in fixed
    return fields


class RpcMessage(XdrLayer):
    """What calls and replies share. From bytes it becomes `RpcCall`, `RpcReply`, or `Raw` if it is none."""

    xid: int
    wire: t.ClassVar[type[XdrType]] = Void

    @classmethod
    def dispatch_hook(cls, _pkt: bytes = b"", *_: t.Any, **__: t.Any) -> type[Packet]:
        if not _pkt:
            return cls
        kind = RpcReply if _pkt[4:8] == b"\0\0\0\1" else RpcCall
        return guarded(kind, _pkt)

    def hashret(self) -> bytes:
        return _MARK.pack(int(self.xid) & 0xFFFF_FFFF)

    def _body_layer(self) -> type[XdrLayer] | None:
        """The layer of the arguments or results; None: nobody knows, or there are none."""
        raise NotImplementedError

    def do_dissect_payload(self, s: bytes) -> None:
        layer = self._body_layer()
        if layer is None or (not s and layer.wire.__xdr_fields__):
            super().do_dissect_payload(s)
        else:  # arguments and results of no bytes are there, too
            self.add_payload(layer(s, _internal=1, _underlayer=self))

    def guess_payload_class(self, payload: bytes) -> type[Packet]:
        return conf.raw_layer


class RpcCall(RpcMessage):
    """A call, up to its arguments: program, version and procedure follow from the layer above it."""

    name = "RPC call"
    wire = CallHeader
    fields_desc = _header_fields(CallHeader, mtype=MsgType.CALL, rpcvers=2)  # type: ignore[assignment]

    @classmethod
    def dispatch_hook(cls, _pkt: bytes = b"", *_: t.Any, **__: t.Any) -> type[Packet]:
        return guarded(cls, _pkt)

    @property
    def procedure(self) -> AnyProcedure | None:
        """What is called; None if it is not declared here."""
        return procedure_of(int(self.prog), int(self.vers), int(self.proc))

    def _body_layer(self) -> type[XdrLayer] | None:
        procedure = self.procedure
        if procedure is None:
            return None
        _note(self, int(self.xid), procedure)
        return CALL_LAYERS[procedure]

    def post_build(self, pkt: bytes, pay: bytes) -> bytes:
        procedure = self.procedure
        if procedure is not None:
            _note(self, int(self.xid), procedure)
        return pkt + pay

    def answers(self, other: Packet) -> int:
        return 0

    def mysummary(self) -> str:
        procedure = self.procedure
        what = f"{self.prog}/{self.vers}/{self.proc}" if procedure is None else procedure.label
        return f"call of {what}, xid 0x{int(self.xid):08x}"


class RpcReply(RpcMessage):
    """A reply, up to its results."""

    name = "RPC reply"
    wire = ReplyHeader
    fields_desc = _header_fields(ReplyHeader, mtype=MsgType.REPLY)  # type: ignore[assignment]

    @classmethod
    def dispatch_hook(cls, _pkt: bytes = b"", *_: t.Any, **__: t.Any) -> type[Packet]:
        return guarded(cls, _pkt)

    @property
    def procedure(self) -> AnyProcedure | None:
        """What was called, if the call was seen."""
        return _calls.get(_key(self, int(self.xid), is_reply=True))

    @property
    def succeeded(self) -> bool:
        """Whether there are results."""
        body = self.body
        if int(body.reply_stat) != 0:
            return False
        return int(body.areply.reply_data.stat) == AcceptStat.SUCCESS

    def _body_layer(self) -> type[XdrLayer] | None:
        procedure = self.procedure
        return REPLY_LAYERS[procedure] if procedure is not None and self.succeeded else None

    def answers(self, other: Packet) -> int:
        return int(isinstance(other, RpcCall) and int(other.xid) == int(self.xid))

    def mysummary(self) -> str:
        procedure = self.procedure
        return f"reply to {'an unknown call' if procedure is None else procedure.label}, xid 0x{int(self.xid):08x}"


def _with_auth_sys(fields: dict[str, t.Any]) -> None:
    """The body of an AUTH_SYS credential is a layer, too."""
    if fields["flavor"] == AuthFlavor.AUTH_SYS:
        try:
            fields["body"] = packet_of(AuthSysParms.from_xdr(fields["body"]))
        except XdrError:
            return


REFINED[OpaqueAuth] = _with_auth_sys


# ---------------------------------------------------------------- record marks


class _Sizes(Field[t.Any, t.Any]):
    """Sizes of fragments: they say how the record is divided, and stand nowhere else in the bytes."""

    islist = 1

    def any2i(self, pkt: Packet | None, x: t.Any) -> t.Any:
        return list(x)

    def randval(self) -> t.Any:
        return None


class _Computed(Field[t.Any, t.Any]):
    """A number that follows from the payload while it is None."""

    def i2repr(self, pkt: Packet | None, x: t.Any) -> str:
        return repr(x)


class RecordMark(Packet):
    """A record (RFC 5531 section 11): its fragments come together as one message, and are divided again.

    `sizes` are those of the fragments before the last one. `length` and `last` are None: they follow from the message.
    A record that is not whole has the `length` and `last` of its first mark, and `Raw`. What follows a whole record in
    the same bytes is `Padding`, which `TCPSession` gives back as the next record.
    """

    name = "RPC record mark"
    match_subclass = True
    fields_desc: t.ClassVar[list[t.Any]] = [
        _Sizes("sizes", []),
        _Computed("last", None, "I"),
        _Computed("length", None, "I"),
    ]
    __slots__ = ("_message",)

    @classmethod
    def dispatch_hook(cls, _pkt: bytes = b"", *_: t.Any, **__: t.Any) -> type[Packet]:
        return conf.raw_layer if _pkt and len(_pkt) < 4 else cls

    def do_dissect(self, s: bytes) -> bytes:
        self.explicit = 1
        found = _record_in(s)
        if found is None:
            (mark,) = _MARK.unpack_from(s)
            self.fields |= {"sizes": [], "last": mark >> 31, "length": mark & _LENGTH}
            self._message = len(s) - 4
            return s[4:]
        message, sizes, end = found
        self.fields["sizes"] = sizes
        self._message = len(message)
        return message + s[end:]

    def extract_padding(self, s: bytes) -> tuple[bytes, bytes | None]:
        return s[: self._message], s[self._message :] or None

    def guess_payload_class(self, payload: bytes) -> type[Packet]:
        return RpcMessage if self.length is None else conf.raw_layer

    def self_build(self) -> bytes:
        return b""

    def post_build(self, pkt: bytes, pay: bytes) -> bytes:
        if self.last is not None or self.length is not None:
            last = 1 if self.last is None else int(self.last)
            length = len(pay) if self.length is None else int(self.length)
            return _MARK.pack(((last & 1) << 31) | (length & _LENGTH)) + pay
        marked = bytearray()
        at = 0
        for size in self.sizes:
            piece = pay[at : at + size]
            marked += _MARK.pack(len(piece)) + piece
            at += len(piece)
        return bytes(marked) + _MARK.pack(LAST_FRAGMENT | len(pay) - at) + pay[at:]

    @classmethod
    def tcp_reassemble(cls, data: bytes, metadata: dict[str, t.Any], session: t.Any) -> Packet | None:
        """For `TCPSession`: the first whole record of a stream; None to wait. Longer ones than 64 MiB are `Raw`."""
        found = _record_in(data)
        if found is None and _announced(data) <= DEFAULT_MAX_RECORD and not metadata.get("tcp_end"):
            return None
        segment = metadata.get("original")
        return cls(data, _underlayer=None if segment is None else segment[TCP])


def _record_in(data: bytes) -> tuple[bytes, list[int], int] | None:
    """Of the first record the message, the sizes of all fragments but the last, and its end. None: it is not whole."""
    at = 0
    sizes: list[int] = []
    parts: list[bytes] = []
    while at + 4 <= len(data) and len(sizes) < _MOST_FRAGMENTS:
        (mark,) = _MARK.unpack_from(data, at)
        size, at = mark & _LENGTH, at + 4
        if at + size > len(data):
            return None
        parts.append(data[at : at + size])
        at += size
        if mark & LAST_FRAGMENT:
            return b"".join(parts), sizes, at
        sizes.append(size)
    return None


def _announced(data: bytes) -> int:
    """How long the first record is at least."""
    at, fragments = 0, 0
    while at + 4 <= len(data):
        fragments += 1
        at += 4 + (_MARK.unpack_from(data, at)[0] & _LENGTH)
    return at if fragments < _MOST_FRAGMENTS else DEFAULT_MAX_RECORD + 1


def bind_port(port: int) -> None:
    """Let RPC on another port of TCP and UDP be dissected."""
    for lower, layer in ((UDP, RpcMessage), (TCP, RecordMark)):
        bind_bottom_up(lower, layer, dport=port)
        bind_bottom_up(lower, layer, sport=port)


for _port in (2049, 111):
    bind_port(_port)
bind_top_down(UDP, RpcCall, dport=2049)
bind_top_down(UDP, RpcReply, sport=2049)
bind_top_down(TCP, RecordMark, dport=2049)
