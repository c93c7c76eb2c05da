# SPDX-License-Identifier: MIT
"""Makes the packets of a plan with scapy: bytes and actions go in, Ethernet frames come out. No sockets.

A plan touches few packets. For each of those the bridge asks here, and gets frames that differ from what came in what
the actions say, and in nothing else: scapy computes all lengths and checksums that no action has set. Actions apply in
this order:

    change-packet, function, split-segment     in the order of the rule
    bad-checksum of UDP or TCP                 of the whole datagram, or of each segment
    ip-fragments                               then whatever is longer than the MTU is divided, as a sender does
    bad-checksum of IP                         of each fragment

Records and messages are dissected only if an action or a selector looks into them: a rule that only damages a checksum
costs a fifth of a millisecond, one that reads fields about one.
"""

from __future__ import annotations

import socket
import typing as t
from collections.abc import Sequence

from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Packet, Raw

from nfsclient.similar import similar_text
from nfsclient.xdr.kinds import FixedOpaqueNode, OpaqueNode
from nfsfaults import actions as a
from nfsfaults.bridge.frames import Heading
from nfsfaults.functions import CannotMake, PacketFunction
from nfsfaults.messages import Heading as Message
from nfsfaults.names import BadPlan
from nfsfaults.packet import RecordMark, RpcMessage, bind_port
from nfsfaults.packet import rpc as rpc_layers
from nfsfaults.packet.programs import LAYERS

MTU: t.Final = 1500
MOST_DATA: t.Final = 65_507
"""Bytes of a datagram of UDP."""
_WRONG: t.Final = 0x5555
_NO_CHECKSUM_LEFT: t.Final = 0x1234
"""Instead of 0, which says that a datagram has no checksum."""
_LONGEST: t.Final = 65_535
_BELOW: t.Final[dict[str, type[Packet]]] = {"IP": IP, "TCP": TCP, "UDP": UDP, "RecordMark": RecordMark}
"""Layers by name, besides those of `nfsfaults.packet`."""


# ---------------------------------------------------------------- what is made


def datagram(heading: Heading, data: bytes, identification: int, actions: Sequence[a.Action]) -> list[bytes]:
    """The frames of a datagram after the actions. Raises `CannotMake`."""
    if len(data) > MOST_DATA:
        raise CannotMake(f"a datagram of {len(data)} bytes; {MOST_DATA} at most")
    source, destination = heading.ports
    packet: Packet = _addressed(heading, identification) / UDP(sport=source, dport=destination) / Raw(data)
    if any(isinstance(action, a.ChangePacket | a.CallFunction) for action in actions):
        packet = _computed(IP(bytes(packet)))
    return _finished(heading.ethernet, _changed([packet], actions), actions)


def segment(frame: bytes, actions: Sequence[a.Action]) -> list[bytes]:
    """The frames of a segment of TCP after the actions. Raises `CannotMake`."""
    whole = Ether(frame)
    return _finished(frame[:14], _changed([_computed(whole[IP])], actions), actions)


def reset(heading: Heading, number: int, identification: int) -> bytes:
    """The frame of a RST with this sequence number (RFC 9293 section 3.5.2)."""
    source, destination = heading.ports
    sent = TCP(sport=source, dport=destination, seq=number, flags="R", window=0)
    return _frame(heading.ethernet, _addressed(heading, identification) / sent)


def _addressed(heading: Heading, identification: int) -> IP:
    return IP(
        src=socket.inet_ntoa(heading.source), dst=socket.inet_ntoa(heading.destination), id=identification
    )


def _frame(ethernet: bytes, packet: Packet) -> bytes:
    return ethernet + bytes(packet)  # no layer looks at the one below it


def _computed(packet: Packet) -> Packet:
    """The packet with lengths and checksums that follow from its content when it is built."""
    for layer in (IP, UDP, TCP):
        found = packet.getlayer(layer)
        for name in ("len", "chksum"):
            if found is not None and name in found.fields:
                del found.fields[name]
    packet.clear_cache()
    return packet


# ---------------------------------------------------------------- actions


def _changed(packets: list[Packet], actions: Sequence[a.Action]) -> list[Packet]:
    """The packets after the actions that look into them, in their order."""
    for action in actions:
        match action:
            case a.ChangePacket(field, value):
                for packet in packets:
                    _set(packet, field, value)
            case a.CallFunction(name, function):
                packets = [new for packet in packets for new in _returned(function, name, packet, needs=IP)]
            case a.SplitSegment(sizes, overlap, reverse):
                pieces = [piece for packet in packets for piece in _divided(packet, sizes, overlap)]
                packets = pieces[::-1] if reverse else pieces
            case _:
                pass
    return packets


def _set(packet: Packet, path: str, value: t.Any) -> None:
    name, _, field = path.partition(".")
    layer = packet.getlayer(name)
    kind = None if layer is None else layer.fieldtype.get(field)
    if layer is None or kind is None:
        return
    if isinstance(value, bytes) and not isinstance(getattr(kind, "node", None), OpaqueNode | FixedOpaqueNode):
        value = value.decode(errors="replace")  # a word of an enumeration, an address or flags
    try:
        setattr(layer, field, value)
        packet.copy().build()
    except Exception as error:
        raise CannotMake(f"change-packet of {path} in {packet.summary()}: {_said(error)}") from error


def _divided(packet: Packet, sizes: Sequence[int], overlap: int) -> list[Packet]:
    """A segment as several with the same bytes; each begins `overlap` bytes before the end of the one before it."""
    stream = bytes(packet[TCP].payload)
    pieces: list[Packet] = []
    end = 0
    while end < len(stream) or not pieces:
        at, end = end, min(end + sizes[min(len(pieces), len(sizes) - 1)], len(stream))
        start = max(0, at - overlap)
        piece = packet.copy()
        piece[TCP].remove_payload()
        piece[TCP].seq = (packet[TCP].seq + start) & 0xFFFF_FFFF
        if end < len(stream):
            piece[TCP].flags = int(piece[TCP].flags) & ~0x09  # FIN and PSH belong to the last one
        pieces.append(piece / Raw(stream[start:end]))
    return pieces


def _finished(ethernet: bytes, packets: list[Packet], actions: Sequence[a.Action]) -> list[bytes]:
    """The packets as frames: checksums that are to be wrong, fragments, and what the MTU asks for."""
    wrong = {action.layer for action in actions if isinstance(action, a.BadChecksum)}
    if "transport" in wrong:
        for packet in packets:
            _spoil_transport(packet)
    fragmenting = next((action for action in actions if isinstance(action, a.IpFragments)), None)
    frames: list[bytes] = []
    for packet in packets:
        built = bytes(packet)  # which scapy takes a while for
        if not wrong and fragmenting is None and len(built) <= MTU:
            frames.append(ethernet + built)
            continue
        for piece in _fragmented(packet, fragmenting):
            if "network" in wrong:
                piece.chksum = int.from_bytes(bytes(piece)[10:12], "big") ^ _WRONG
            frames.append(_frame(ethernet, piece))
    return frames


def _spoil_transport(packet: Packet) -> None:
    layer = packet.getlayer(UDP) or packet.getlayer(TCP)
    if layer is None:
        return
    built = bytes(packet)
    at = (built[0] & 15) * 4 + (6 if isinstance(layer, UDP) else 16)
    layer.chksum = int.from_bytes(built[at : at + 2], "big") ^ _WRONG or _NO_CHECKSUM_LEFT


def _fragmented(packet: Packet, wanted: a.IpFragments | None) -> list[Packet]:
    """The packet in fragments: as an action says, and of what fits the MTU in any case."""
    if wanted is None:
        return _pieces(packet, MTU - 20, 0) if len(packet) > MTU else [packet]
    pieces = _pieces(packet, wanted.size, wanted.overlap)
    if wanted.lose is not None:
        del pieces[min(wanted.lose, len(pieces)) - 1]
    return pieces[::-1] if wanted.reverse else pieces


def _pieces(packet: Packet, size: int, overlap: int) -> list[Packet]:
    """Fragments of `size` bytes (a multiple of 8), which share `overlap` bytes; itself, if it fits."""
    payload = bytes(packet)[(bytes(packet)[0] & 15) * 4 :]
    if len(payload) <= size:
        return [packet]
    head = packet.copy()
    head.proto = packet.proto  # which otherwise follows from the payload that is taken away
    head.remove_payload()
    pieces: list[Packet] = []
    for start in range(0, len(payload) - overlap, size - overlap):
        piece = head.copy()
        piece.frag = start // 8
        piece.flags = "MF" if start + size < len(payload) else 0
        pieces.append(piece / Raw(payload[start : start + size]))
    return pieces


# ---------------------------------------------------------------- functions of the user's


def _returned(
    function: PacketFunction | None, name: str, packet: Packet, needs: type[Packet] | None = None
) -> list[Packet]:
    """What a function makes of a packet. Raises `CannotMake`."""
    what = f"{name} with {packet.summary()}"
    assert function is not None
    try:
        result = function(packet)
    except Exception as error:
        raise CannotMake(f"{what}: {_said(error)}") from error
    found = [] if result is None else list(result) if isinstance(result, list | tuple) else [result]
    if len(found) > a.MOST_COPIES:
        raise CannotMake(f"{what}: {len(found)} packets; {a.MOST_COPIES} at most")
    for made in found:
        if not isinstance(made, Packet) or (needs is not None and not made.haslayer(needs)):
            kind = "a packet" if needs is None else f"a packet with {needs.__name__}"
            raise CannotMake(f"{what}: expected {kind}, a list of them or None, seen {type(made).__name__}")
        try:
            size = len(bytes(made))
        except Exception as error:
            raise CannotMake(
                f"{what}: the packet that it returned cannot be built: {_said(error)}"
            ) from error
        if needs is not None and size > _LONGEST:
            raise CannotMake(f"{what}: a packet of {size} bytes; {_LONGEST} at most")
    return found if needs is None else [made[needs] for made in found]


def _said(error: Exception) -> str:
    """An error in one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


def messages_by(function: PacketFunction, name: str, data: bytes, call: Message | None) -> list[bytes]:
    """What a function makes of one message of RPC, without anything below it. `call` is what a reply answers.

    Raises `CannotMake`.
    """
    if call is not None:
        found = rpc_layers.procedure_of(call.program, call.version, call.procedure)
        if found is not None:
            rpc_layers.note_call((call.xid,), found)
    return [bytes(packet) for packet in _returned(function, name, RpcMessage(data))]


# ---------------------------------------------------------------- what is read


class Fields:
    """A packet as a selector reads it: ``packet.TCP.window``, ``packet.Write3Args.offset``."""

    def __init__(self, packet: Packet) -> None:
        self._packet = packet

    def __getattr__(self, name: str) -> t.Any:
        layer = self._packet.getlayer(name)
        if layer is None:
            raise AttributeError(name)
        return layer


def read_datagram(heading: Heading, data: bytes) -> Fields:
    """The fields of a datagram, whole also if it came in fragments."""
    source, destination = heading.ports
    return Fields(IP(bytes(_addressed(heading, 0) / UDP(sport=source, dport=destination) / Raw(data))))


def read_frame(frame: bytes) -> Fields:
    """The fields of a segment; of its record there is as much as the segment has."""
    return Fields(Ether(frame))


def note_call(heading: Heading, transport: t.Literal["tcp", "udp"], call: Message) -> None:
    """A call passes: its reply can be dissected."""
    found = rpc_layers.procedure_of(call.program, call.version, call.procedure)
    if found is not None:
        source, destination = (socket.inet_ntoa(address) for address in (heading.source, heading.destination))
        ends = ((source, heading.ports[0]), (destination, heading.ports[1]))
        rpc_layers.note_call((UDP if transport == "udp" else TCP, *ends, call.xid), found)


def expect_rpc_on(port: int) -> None:
    """Have RPC dissected on this port of a server."""
    bind_port(port)


def check_field(path: str) -> None:
    """Raises `BadPlan` with near matches unless this is LAYER.FIELD of a layer that packets may have."""
    name, _, field = path.partition(".")
    layer = _layer(name)
    if layer is None:
        known = f"there are {', '.join(_BELOW)}, RpcCall, RpcReply, and those of docs/packets.md"
        raise BadPlan(f"field: packets have no layer {name!r}{similar_text(name, [*_BELOW, *LAYERS], known)}")
    fields = [field.name for field in layer.fields_desc]
    field = field.partition(".")[0].partition("[")[0]
    if field not in fields:
        near = similar_text(field, fields, f"there are {', '.join(fields)}")
        raise BadPlan(f"field: {name} has no field {field!r}{near}")


def _layer(name: str) -> type[Packet] | None:
    from nfsfaults import packet as layers

    if name in _BELOW:
        return _BELOW[name]
    try:
        found = getattr(layers, name)
    except AttributeError:
        return None
    return found if isinstance(found, type) and issubclass(found, Packet) else None
