# SPDX-License-Identifier: MIT
"""The plan at the level of packets: a bridge between two private networks, on the loop of client and server.

Of UDP it sees whole datagrams: a `Flow` does with them what it does in the other executors. Of TCP it sees segments:
what a rule is about is the segment in which the record begins, and the kernels of both sides do the rest. A message is
known as far as that segment has it.

A message that leaves as it came, at whatever time and how often, leaves in the frames that came. All others are made
by scapy, as are copies from other senders and resets (`nfsfaults.packet.making`).
"""

from __future__ import annotations

import contextlib
import heapq
import itertools
import socket
import sys
import typing as t
from collections import OrderedDict
from dataclasses import dataclass, replace

from nfsclient.rpc.loop import Loop
from nfsfaults import actions as a
from nfsfaults import with_scapy
from nfsfaults.bridge import frames as f
from nfsfaults.bridge.keeper import SERVER_MAC
from nfsfaults.bridge.networks import Networks, Proto
from nfsfaults.bridge.streams import Connection
from nfsfaults.functions import CannotMake
from nfsfaults.matcher import Event, Finish, Flow, Matcher, SendElsewhere, Write
from nfsfaults.messages import Message, Toward
from nfsfaults.plan import Firing, Link, Plan, Rule

_OTHER_PORTS: t.Final = range(61_000, 65_000)
_MOST_FLOWS: t.Final = 1024
_MOST_WAITING: t.Final = 4096
"""Packets that wait for their time or their turn; more are lost, as in a full queue."""
_EVERYBODY: t.Final = b"\xff" * 6
_RESET_OFFSETS: t.Final = {"next": 0, "inside": 100, "outside": 0x4000_0000}
_FRAMES_AT_ONCE: t.Final = 64
_LONGEST: t.Final = 65_535
_MOST_NOTES: t.Final = socket.CMSG_SPACE(20)
"""Room for a struct tpacket_auxdata; its first word is the status."""
_CHECKSUM_NOT_READY: t.Final = 8
_MOST_CAME: t.Final = 256
"""Datagrams whose frames are kept while their messages wait; of more, the oldest are made again."""


def unable(plan: Plan, proto: Proto) -> str:
    """Why a plan cannot be carried out with packets over a transport; empty: it can."""
    for rule in plan.rules:
        for action in rule.actions:
            if proto == "udp" and (isinstance(action, a.ON_TCP_ONLY) or action.need == "stream"):
                return f"{a.name_of(action)} needs TCP"
            if proto == "tcp" and isinstance(action, a.Replay) and action.via == "forged":
                return "a replay with a forged sender needs UDP"
            if proto == "tcp" and not _is_on_segments(action):
                return f"{a.name_of(action)} is no action on segments of TCP"
    return ""


def _other(side: Toward) -> Toward:
    return "client" if side == "server" else "server"


@dataclass(frozen=True, slots=True)
class _Ends:
    """Addresses and ports of a conversation: those of the client come first."""

    client: tuple[bytes, int]
    server: tuple[bytes, int]

    @classmethod
    def of(cls, packet: f.IpPacket, ports: f.Ports, toward: Toward) -> _Ends:
        source, destination = (packet.source, ports.source), (packet.destination, ports.destination)
        return cls(source, destination) if toward == "server" else cls(destination, source)

    def heading(self, toward: Toward, macs: dict[Toward, bytes]) -> f.Heading:
        """Of a packet that goes this way."""
        source, destination = (self.client, self.server) if toward == "server" else (self.server, self.client)
        ethernet = macs[toward] + macs[_other(toward)] + f.IPV4.to_bytes(2, "big")
        return f.Heading(ethernet, source[0], destination[0], f.Ports(source[1], destination[1]))


@dataclass(slots=True)
class _Late:
    """Packets that others are to pass."""

    frames: list[bytes]
    left: int
    until: float


class _Way:
    """What leaves toward one side: in its order, at the rate of its link."""

    def __init__(self, toward: Toward, tap: socket.socket, link: Link | None) -> None:
        self.toward: Toward = toward
        self.link = link
        self.late: list[_Late] = []
        self.waiting: list[tuple[float, int, bytes]] = []
        self._tap = tap
        self._order = itertools.count()
        self._tokens = float(link.burst) if link is not None else 0.0
        self._at = 0.0
        """Until when tokens have been counted."""

    def put(self, frame: bytes, now: float, latency: float = 0.0) -> None:
        """Send a frame at its time."""
        at = max(now + latency, self._by_rate(len(frame), now))
        if at <= now and not self.waiting:
            self._send(frame)
        elif len(self.waiting) < _MOST_WAITING:
            heapq.heappush(self.waiting, (at, next(self._order), frame))
        for late in list(self.late):
            late.left -= 1
            if late.left <= 0:
                self._release(late, now)

    def _by_rate(self, size: int, now: float) -> float:
        """When the token bucket lets a packet pass; it may owe tokens, which later packets wait for."""
        if self.link is None or self.link.rate is None:
            return now
        gained = (now - self._at) * self.link.rate if self._at else 0.0
        self._tokens = min(self._tokens + gained, self.link.burst) - size
        self._at = now
        return now + max(0.0, -self._tokens / self.link.rate)

    def _release(self, late: _Late, now: float) -> None:
        self.late.remove(late)
        for frame in late.frames:
            self.put(frame, now)

    def run(self, now: float) -> None:
        """Send what is due."""
        for late in [late for late in self.late if late.until <= now]:
            self._release(late, now)
        while self.waiting and self.waiting[0][0] <= now:
            self._send(heapq.heappop(self.waiting)[2])

    @property
    def deadline(self) -> float | None:
        times = [late.until for late in self.late] + [entry[0] for entry in self.waiting[:1]]
        return min(times, default=None)

    def _send(self, frame: bytes) -> None:
        with contextlib.suppress(OSError):  # a full buffer loses packets, as a real one does
            self._tap.send(frame)


class _Port:
    """The bridge's device toward one side, as a member of the loop."""

    def __init__(self, bridge: Bridge, side: Toward, tap: socket.socket) -> None:
        self._bridge = bridge
        self._side: Toward = side
        self._tap = tap

    def fileno(self) -> int:
        return self._tap.fileno()

    def wants_to_read(self) -> bool:
        return True

    def wants_to_write(self) -> bool:
        return False

    def on_writable(self) -> None:
        """Nothing waits for room."""

    def on_readable(self) -> None:
        for _ in range(_FRAMES_AT_ONCE):
            try:
                frame, notes, _, address = self._tap.recvmsg(_LONGEST, _MOST_NOTES)
            except OSError:
                return
            if address[2] != socket.PACKET_OUTGOING:
                lacks_checksum = any(
                    int.from_bytes(note[2][:4], sys.byteorder) & _CHECKSUM_NOT_READY for note in notes
                )
                self._bridge.received(f.with_checksum(frame) if lacks_checksum else frame, _other(self._side))

    def next_deadline(self) -> float | None:
        """One of the two has the deadline of the bridge."""
        return self._bridge.deadline if self._side == "server" else None

    def on_deadline(self, now: float) -> None:  # noqa: ARG002  (the bridge looks at the clock itself)
        self._bridge.run()


class Bridge:
    """Carries a plan out on all packets between the two networks."""

    def __init__(self, plan: Plan, networks: Networks, loop: Loop) -> None:
        """Raises `NoScapy`."""
        self._making = with_scapy.making()
        self.matcher = Matcher(plan)
        self.failures = self.matcher.failures
        """What of the plan could not be carried out, and why."""
        self.lost_syns: dict[Toward, int] = {"server": 0, "client": 0}
        """How many SYN segments were lost."""
        self._loop = loop
        links = {link.toward: link for link in plan.links}
        taps = networks.taps
        self._ways: dict[Toward, _Way] = {
            side: _Way(side, taps[side], links.get(side)) for side in ("client", "server")
        }
        self._place = networks.place
        self._macs: dict[Toward, bytes] = {"client": self._place.client_mac, "server": SERVER_MAC}
        self._flows: dict[_Ends, Flow] = {}
        self._came: OrderedDict[int, tuple[bytes, tuple[bytes, ...]]] = OrderedDict()
        """Identity of a message -> the message and its frames."""
        self._connections: dict[_Ends, Connection] = {}
        self._reassembler = f.Reassembler()
        self._identifications = itertools.count(1)
        self._other_ports = itertools.cycle(_OTHER_PORTS)
        self._ports = [_Port(self, side, taps[side]) for side in ("client", "server")]
        for port in self._ports:
            loop.add(port)
        self._timed = self._ports[1]
        """The one that has the deadline."""

    @property
    def unfired(self) -> list[str]:
        """The rules and links that had to act and did not."""
        missed = [
            f"the SYN toward the {link.toward} was not lost"
            for link in self.matcher.plan.links
            if link.lost_syns and not self.lost_syns[link.toward]
        ]
        return [rule.label for rule in self.matcher.unfired] + missed

    def close(self) -> None:
        """Stop bridging; what waits is lost."""
        for port in self._ports:
            self._loop.remove(port)
        self._ports.clear()

    # ------------------------------------------------------------ what comes

    def received(self, frame: bytes, toward: Toward) -> None:
        """A frame from one side, for the other."""
        if self._place.device and not self._is_ours(frame, toward):
            return
        self._loop.changed(self._timed)
        kind = int.from_bytes(frame[12:14], "big")
        if kind not in {f.IPV4, f.ARP}:
            return  # IPv6 looks for routers, of which there are none
        packet = f.read_ip(frame)
        if packet is None or packet.protocol not in {f.UDP, f.TCP}:
            self._ways[toward].put(frame, self._loop.clock())
            return
        whole = self._reassembler.feed(packet)
        if whole is None:
            return
        if whole.protocol == f.UDP:
            self._datagram(whole, toward)
        else:
            self._segment(whole, toward)
        self.run()

    def _is_ours(self, frame: bytes, toward: Toward) -> bool:
        """Whether a frame on a device that others use too is between client and server; learns the server's address."""
        if toward == "client":
            return frame[:6] in {self._place.client_mac, _EVERYBODY}
        if frame[:6] != _EVERYBODY:
            self._macs["server"] = frame[:6]
        return True

    def run(self) -> None:
        """Do what is due."""
        now = self._loop.clock()
        for ends, flow in self._flows.items():
            for event in flow.events(now):
                self._carry_out(ends, event)
        for way in self._ways.values():
            way.run(now)

    @property
    def deadline(self) -> float | None:
        """When something is to be done next."""
        times = [flow.deadline for flow in self._flows.values()] + [
            way.deadline for way in self._ways.values()
        ]
        return min((time for time in times if time is not None), default=None)

    # ------------------------------------------------------------ datagrams

    def _datagram(self, packet: f.IpPacket, toward: Toward) -> None:
        found = f.read_udp(packet)
        if found is None:
            return
        ports, data = found
        ends = _Ends.of(packet, ports, toward)
        flow = self._flows.get(ends)
        if flow is None:
            if len(self._flows) >= _MOST_FLOWS:
                self._flows.pop(next(iter(self._flows)))
            flow = self._flows[ends] = self.matcher.flow("udp", has_packets=True)
        heading = flow.tracker.heading(data, toward)
        now = self._loop.clock()
        if heading is not None and flow.is_clear(heading, toward):
            flow.pass_by(heading, toward, data)
            self._pass(packet.frames, toward, now)
            return
        where = ends.heading(toward, self._macs)
        if heading is not None and heading.kind == "call" and self.matcher.plan.reads_packets:
            self._making.note_call(where, "udp", heading)
        self._came[id(data)] = data, packet.frames
        if len(self._came) > _MOST_CAME:
            self._came.popitem(last=False)
        flow.receive(now, data, toward, (), lambda: self._making.read_datagram(where, data))

    def _pass(self, frames: tuple[bytes, ...], toward: Toward, now: float) -> None:
        """Frames go on as they came."""
        for frame in frames:
            self._ways[toward].put(frame, now)

    def _carry_out(self, ends: _Ends, event: Event) -> None:
        match event:
            case Write(_, toward, data, packets):
                self._send_datagram(ends, toward, data, packets)
            case SendElsewhere(_, toward, data, via):
                elsewhere = self._elsewhere(ends, toward, via)
                self._send_datagram(elsewhere, toward, data, is_elsewhere=True)
            case Finish():
                pass  # a datagram has no connection

    def _elsewhere(self, ends: _Ends, toward: Toward, via: a.Via) -> _Ends:
        """The conversation of a replay: of the sender, its port or its address is another one."""
        host, port = ends.client if toward == "server" else ends.server
        if via == "forged":
            host = socket.inet_aton(self._place.forged)
        elif via == "other-port":
            port = next(self._other_ports)
        return (
            replace(ends, client=(host, port)) if toward == "server" else replace(ends, server=(host, port))
        )

    def _send_datagram(
        self,
        ends: _Ends,
        toward: Toward,
        data: bytes,
        packets: tuple[a.PacketAction, ...] = (),
        *,
        is_elsewhere: bool = False,
    ) -> None:
        came = None if is_elsewhere else self._came.pop(id(data), None)
        frames = None if came is None else list(came[1])
        if frames is None or any(isinstance(packet, a.MAKING) for packet in packets):
            heading, number = ends.heading(toward, self._macs), next(self._identifications) & 0xFFFF
            frames = self._made(lambda: self._making.datagram(heading, data, number, packets), frames)
        self._send(self._ways[toward], frames, packets)

    def _made(self, make: t.Callable[[], list[bytes]], came: list[bytes] | None) -> list[bytes]:
        """The frames that scapy makes; those that came if a function of the user's fails."""
        try:
            return make()
        except CannotMake as error:
            self.matcher.fail(str(error))
            return came or []

    # ------------------------------------------------------------ segments

    def _segment(self, packet: f.IpPacket, toward: Toward) -> None:
        segment = f.read_tcp(packet)
        if segment is None:
            return
        ends = _Ends.of(packet, segment.ports, toward)
        way = self._ways[toward]
        if segment.flags & f.SYN and toward == "server":
            known = self._connections.get(ends)
            if known is None or known.halves["server"].next != segment.end:
                self._remember(ends)
        connection = self._connections.get(ends)
        if connection is None:
            self._pass(packet.frames, toward, self._loop.clock())
            return
        half = connection.halves[toward]
        if self._is_lost_syn(connection, segment, toward) or half.is_lost_again(segment):
            half.messages_in(segment)
            return
        actions = self._actions_on(connection, half.messages_in(segment), toward, packet, ends)
        lost = next((action for action in actions if isinstance(action, a.LosePackets)), None)
        if lost is not None:
            half.losing[segment.number] = lost.times - 1
        frames = list(packet.frames)
        if any(isinstance(action, a.MAKING) for action in actions):
            (frame,) = packet.frames
            frames = self._made(lambda: self._making.segment(frame, actions), frames)
        self._send(way, frames, actions, segment)
        for action in actions:
            if isinstance(action, a.ForgeReset):
                self._reset(ends, connection, action, segment if lost else None)

    def _remember(self, ends: _Ends) -> None:
        if len(self._connections) >= _MOST_FLOWS:
            self._connections.pop(next(iter(self._connections)))
        self._connections[ends] = Connection(self.matcher)

    def _is_lost_syn(self, connection: Connection, segment: f.Segment, toward: Toward) -> bool:
        if not segment.flags & f.SYN or not connection.syns_to_lose[toward]:
            return False
        connection.syns_to_lose[toward] -= 1
        self.lost_syns[toward] += 1
        return True

    def _actions_on(
        self,
        connection: Connection,
        messages: list[bytes],
        toward: Toward,
        packet: f.IpPacket,
        ends: _Ends,
    ) -> tuple[a.PacketAction, ...]:
        """What is to happen to the segment in which these messages begin."""
        actions: list[a.PacketAction] = []
        for data in messages:
            message = connection.tracker.message(data, toward)
            if message is None:
                continue
            self._let_read(message, packet, ends)
            self.matcher.count(message.heading)
            index = self.matcher.acting_rule(message)
            if index is None:
                continue
            rule = self.matcher.plan.rules[index]
            possible = [
                t.cast("a.PacketAction", action) for action in rule.actions if _is_on_segments(action)
            ]
            if len(possible) < len(rule.actions):
                self.failures.append(f"{rule.label}: not every action can be done to a segment of TCP")
            actions += possible
            self.matcher.note(index, Firing(self._loop.clock(), rule, message.label, data))
        return tuple(actions)

    def _let_read(self, message: Message, packet: f.IpPacket, ends: _Ends) -> None:
        """Rules may look at the segment in which a message begins."""
        message.read_packet = lambda: self._making.read_frame(packet.frames[0])
        if message.kind == "call" and self.matcher.plan.reads_packets:
            self._making.note_call(ends.heading(message.toward, self._macs), "tcp", message.heading)

    def _reset(
        self, ends: _Ends, connection: Connection, action: a.ForgeReset, lost: f.Segment | None
    ) -> None:
        """Send a RST to one side, as if the other had sent it after all that came so far."""
        number = connection.halves[action.toward].next
        if lost is not None and action.toward == "server":
            number = lost.number  # what was lost did not come
        if number is None:
            self.failures.append("a RST could not be forged: the connection began before")
            return
        number = (number + _RESET_OFFSETS[action.number]) & 0xFFFF_FFFF
        heading = ends.heading(action.toward, self._macs)
        frame = self._making.reset(heading, number, next(self._identifications) & 0xFFFF)
        self._ways[action.toward].put(frame, self._loop.clock())

    # ------------------------------------------------------------ what goes

    def _send(
        self,
        way: _Way,
        frames: list[bytes],
        actions: tuple[a.PacketAction, ...],
        segment: f.Segment | None = None,
    ) -> None:
        """Send the packets of a message, as the actions say."""
        now = self._loop.clock()
        for action in actions:
            match action:
                case a.LosePackets():
                    return
                case a.DoublePackets(copies):
                    frames = [frame for frame in frames for _ in range(copies + 1)]
                case _:
                    pass
        late = next((action for action in actions if isinstance(action, a.LatePackets)), None)
        if late is not None:
            way.late.append(_Late(frames, late.packets, now + late.seconds))
            return
        latency = 0.0
        if segment is not None and way.link is not None:  # of datagrams, the flow has done it
            latency = way.link.latency
            if way.link.loss and self.matcher.random.random() < way.link.loss:
                return
        for frame in frames:
            way.put(frame, now, latency)


def _is_on_segments(action: a.Action) -> bool:
    if isinstance(action, a.CallFunction):
        return True
    return action.need == "packets" and not isinstance(action, (a.Replay, *a.ON_UDP_ONLY))


__all__ = ["Bridge", "Plan", "Rule", "unable"]
