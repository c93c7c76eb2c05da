# SPDX-License-Identifier: MIT
"""What a rule does to a message: one class for each action, with its values and what it needs of an executor.

Seconds are floats, sizes are bytes. An action says nothing about how it is carried out: `matcher` makes writes with
times of it, and an executor writes them.
"""

from __future__ import annotations

import re
import typing as t
from dataclasses import dataclass, field, fields

from nfsfaults.functions import PacketFunction
from nfsfaults.names import BadPlan

Need: t.TypeAlias = t.Literal["messages", "stream", "connections", "packets"]
"""What an executor must be able to do: send whole messages at a time of its choice; write a piece of a TCP stream, or
end it; open connections, from a port of its choice; make packets itself."""
Via: t.TypeAlias = t.Literal["same", "same-port", "other-port", "forged"]
"""How a replay goes out: on the same connection; on a new one from the same source port, which replaces it; on one more
connection from another port; from a forged sender."""
End: t.TypeAlias = t.Literal["", "close", "reset"]


def _at_least(name: str, value: float, least: float = 0) -> None:
    if isinstance(value, bool) or not value >= least or value == float("inf"):
        raise BadPlan(f"{name}: expected a number, {least:g} or more, seen {value!r}")


def _one_of(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise BadPlan(f"{name}: expected one of {', '.join(repr(word) for word in known)}, seen {value!r}")


@dataclass(frozen=True)
class Drop:
    """The message is lost. `then` ends the connection at its place, since NFSv4 forbids a client to retransmit on a
    living one (RFC 5661 section 2.9.2)."""

    then: End = ""
    need: t.ClassVar[Need] = "messages"

    def __post_init__(self) -> None:
        _one_of("then", self.then, t.get_args(End))


@dataclass(frozen=True)
class Delay:
    """The message goes `seconds` later; those after it pass it."""

    seconds: float
    need: t.ClassVar[Need] = "messages"

    def __post_init__(self) -> None:
        _at_least("seconds", self.seconds)


@dataclass(frozen=True)
class Duplicate:
    """The message goes once more, `copies` times, each `gap` seconds after the one before."""

    copies: int = 1
    gap: float = 0.0
    need: t.ClassVar[Need] = "messages"

    def __post_init__(self) -> None:
        _at_least("copies", self.copies, 1)
        _at_least("gap", self.gap)
        if self.copies > MOST_COPIES:
            raise BadPlan(f"copies: {self.copies}; {MOST_COPIES} at most")


@dataclass(frozen=True)
class Hold:
    """The message waits until `messages` others have gone the same way, or `seconds` have passed: reordering."""

    messages: int = 1
    seconds: float = 1.0
    need: t.ClassVar[Need] = "messages"

    def __post_init__(self) -> None:
        _at_least("messages", self.messages, 1)
        _at_least("seconds", self.seconds)


@dataclass(frozen=True)
class Replay:
    """The message passes, and a copy of the same bytes goes `seconds` later."""

    seconds: float = 0.0
    via: Via = "same"

    def __post_init__(self) -> None:
        _at_least("seconds", self.seconds)
        _one_of("via", self.via, t.get_args(Via))

    @property
    def need(self) -> Need:
        """What the executor must be able to do."""
        return {"same": "messages", "forged": "packets"}.get(self.via, "connections")  # type: ignore[return-value]


@dataclass(frozen=True)
class SetField:
    """A field gets another value: ``args.count``, ``result.resok.attributes.size``, ``header.prog``.

    A message without the field passes unchanged, and the rule has not fired.
    """

    field: str
    value: t.Any
    need: t.ClassVar[Need] = "messages"

    def __post_init__(self) -> None:
        if self.field.partition(".")[0] not in {"header", "args", "result"}:
            raise BadPlan(f"field: expected header.NAME, args.NAME or result.NAME, seen {self.field!r}")


@dataclass(frozen=True)
class SetBytes:
    """Bytes of the message without its record mark: `cut` bytes at `at` become `data`. A negative `at` is from the end.

    `flip` is combined with the bytes there by exclusive or, instead.
    """

    at: int
    data: bytes = b""
    cut: int | None = None
    """None: as many as `data` has."""
    flip: bytes = b""
    need: t.ClassVar[Need] = "messages"

    def __post_init__(self) -> None:
        if self.flip and (self.data or self.cut):
            raise BadPlan("flip: excludes data and cut")
        if not (self.flip or self.data or self.cut):
            raise BadPlan("data: nothing is changed; give data, cut or flip")


@dataclass(frozen=True)
class Truncate:
    """Only the first `at` bytes of the record go out, its mark included, and the connection ends.

    A datagram is cut to `at` bytes.
    """

    at: int
    then: End = "close"
    need: t.ClassVar[Need] = "stream"

    def __post_init__(self) -> None:
        _at_least("at", self.at)
        _one_of("then", self.then, ("close", "reset"))


@dataclass(frozen=True)
class Segments:
    """The record goes in writes of these sizes, `gap` seconds apart; the last size is repeated to the end."""

    sizes: tuple[int, ...] = (1,)
    gap: float = 0.0
    need: t.ClassVar[Need] = "stream"

    def __post_init__(self) -> None:
        if not self.sizes:
            raise BadPlan("sizes: expected at least one size")
        for size in self.sizes:
            _at_least("sizes", size, 1)
        _at_least("gap", self.gap)


@dataclass(frozen=True)
class Fragments:
    """The record is divided into RPC fragments of these sizes (0 is an empty one), `gap` seconds apart."""

    sizes: tuple[int, ...]
    gap: float = 0.0
    need: t.ClassVar[Need] = "stream"

    def __post_init__(self) -> None:
        for size in self.sizes:
            _at_least("sizes", size)
        _at_least("gap", self.gap)


@dataclass(frozen=True)
class Stall:
    """The stream stands still for `seconds` after the first `at` bytes of the record."""

    seconds: float
    at: int = 0
    need: t.ClassVar[Need] = "stream"

    def __post_init__(self) -> None:
        _at_least("seconds", self.seconds)
        _at_least("at", self.at)


@dataclass(frozen=True)
class Reset:
    """The connection is reset after the first `at` bytes of the record."""

    at: int = 0
    need: t.ClassVar[Need] = "stream"

    def __post_init__(self) -> None:
        _at_least("at", self.at)


@dataclass(frozen=True)
class Blackhole:
    """Nothing passes for `seconds` from this message on, neither way or in the direction of the message only."""

    seconds: float
    both: bool = True
    need: t.ClassVar[Need] = "messages"

    def __post_init__(self) -> None:
        _at_least("seconds", self.seconds)


@dataclass(frozen=True)
class LosePackets:
    """The packets of the message are lost: a datagram, or the segment in which the record begins.

    TCP sends its segment again: `times` counts the first sending and the next ones.
    """

    times: int = 1
    need: t.ClassVar[Need] = "packets"

    def __post_init__(self) -> None:
        _at_least("times", self.times, 1)


@dataclass(frozen=True)
class DoublePackets:
    """The packets of the message go once more, `copies` times."""

    copies: int = 1
    need: t.ClassVar[Need] = "packets"

    def __post_init__(self) -> None:
        _at_least("copies", self.copies, 1)
        if self.copies > MOST_COPIES:
            raise BadPlan(f"copies: {self.copies}; {MOST_COPIES} at most")


@dataclass(frozen=True)
class LatePackets:
    """The packets of the message go after the next `packets` in their direction, or after `seconds`."""

    packets: int = 1
    seconds: float = 1.0
    need: t.ClassVar[Need] = "packets"

    def __post_init__(self) -> None:
        _at_least("packets", self.packets, 1)
        _at_least("seconds", self.seconds)


@dataclass(frozen=True)
class BadChecksum:
    """The packets have a wrong checksum: of UDP or TCP (`transport`), or of the IP header (`network`)."""

    layer: t.Literal["transport", "network"] = "transport"
    need: t.ClassVar[Need] = "packets"

    def __post_init__(self) -> None:
        _one_of("layer", self.layer, ("transport", "network"))


@dataclass(frozen=True)
class SplitSegment:
    """The segment in which the record begins goes as segments of these sizes; the last size is repeated.

    Each begins `overlap` bytes before the end of the one before it, with the same bytes there. Over TCP only.
    """

    sizes: tuple[int, ...]
    overlap: int = 0
    reverse: bool = False
    """Whether the last goes first."""
    need: t.ClassVar[Need] = "packets"

    def __post_init__(self) -> None:
        if not self.sizes:
            raise BadPlan("sizes: expected at least one size")
        for size in self.sizes:
            _at_least("sizes", size, 1)
        _at_least("overlap", self.overlap)


@dataclass(frozen=True)
class IpFragments:
    """The datagram goes in IP fragments of `size` bytes, a multiple of 8. Over UDP only."""

    size: int = 512
    lose: int | None = None
    """The number of a fragment that is lost, counted from 1; the last, if there are fewer."""
    overlap: int = 0
    """Bytes of each fragment that the one before it has, too: a multiple of 8, and less than `size`."""
    reverse: bool = False
    need: t.ClassVar[Need] = "packets"

    def __post_init__(self) -> None:
        _at_least("size", self.size, 8)
        _at_least("overlap", self.overlap)
        if self.lose is not None:
            _at_least("lose", self.lose, 1)
        if self.size % 8 or self.overlap % 8:
            raise BadPlan("size: size and overlap must be multiples of 8 (RFC 791 section 3.2)")
        if self.overlap >= self.size:
            raise BadPlan(f"overlap: {self.overlap}; a fragment has {self.size} bytes")


@dataclass(frozen=True)
class ForgeReset:
    """After the segment in which the record begins, a RST goes to one side as if the other side had sent it.

    `number` says whether its sequence number is the `next` one, another one inside of the window, or `outside` of it
    (RFC 9293 section 3.5.3). Over TCP only.
    """

    toward: t.Literal["server", "client"] = "server"
    number: t.Literal["next", "inside", "outside"] = "next"
    need: t.ClassVar[Need] = "packets"

    def __post_init__(self) -> None:
        _one_of("toward", self.toward, ("server", "client"))
        _one_of("number", self.number, ("next", "inside", "outside"))


@dataclass(frozen=True)
class ChangePacket:
    """A field of a layer of the packet gets another value: ``IP.ttl``, ``TCP.window``, ``UDP.len``.

    Layers and fields are those of scapy (docs/packets.md). Lengths and checksums of the others follow.
    """

    field: str
    value: t.Any
    need: t.ClassVar[Need] = "packets"

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[A-Za-z]\w*\.[A-Za-z_]\w*", self.field):
            raise BadPlan(f"field: expected LAYER.FIELD such as IP.ttl, seen {self.field!r}")


@dataclass(frozen=True)
class CallFunction:
    """A function of the user's gets the packet, and returns one, a list of them, or None to lose it.

    Where messages pass rather than packets, it is the message of RPC alone.
    """

    name: str
    """``module:function``."""
    function: PacketFunction | None = field(default=None, repr=False)
    need: t.ClassVar[Need] = "messages"

    def __post_init__(self) -> None:
        if self.function is None:
            raise BadPlan("name: no function was found for it")


MOST_COPIES: t.Final = 1000
PacketAction: t.TypeAlias = (
    LosePackets
    | DoublePackets
    | LatePackets
    | BadChecksum
    | SplitSegment
    | IpFragments
    | ForgeReset
    | ChangePacket
    | CallFunction
)
MAKING: t.Final = (BadChecksum, SplitSegment, IpFragments, ChangePacket, CallFunction)
"""What changes packets: they are made. All others pass as they came, whenever and how often they pass."""
READING: t.Final = (ChangePacket, CallFunction)
"""What looks into packets."""
ON_TCP_ONLY: t.Final = (SplitSegment, ForgeReset)
ON_UDP_ONLY: t.Final = (IpFragments,)
Action: t.TypeAlias = (
    Drop
    | Delay
    | Duplicate
    | Hold
    | Replay
    | SetField
    | SetBytes
    | Truncate
    | Segments
    | Fragments
    | Stall
    | Reset
    | Blackhole
    | PacketAction
)
ACTIONS: t.Final[dict[str, type[Action]]] = {
    "drop": Drop,
    "delay": Delay,
    "duplicate": Duplicate,
    "hold": Hold,
    "replay": Replay,
    "set-field": SetField,
    "set-bytes": SetBytes,
    "truncate": Truncate,
    "segments": Segments,
    "fragments": Fragments,
    "stall": Stall,
    "reset": Reset,
    "blackhole": Blackhole,
    "lose-packets": LosePackets,
    "double-packets": DoublePackets,
    "late-packets": LatePackets,
    "bad-checksum": BadChecksum,
    "split-segment": SplitSegment,
    "ip-fragments": IpFragments,
    "forge-reset": ForgeReset,
    "change-packet": ChangePacket,
    "function": CallFunction,
}
"""Name in a plan -> action."""
_NAMES: t.Final = {cls: name for name, cls in ACTIONS.items()}


def name_of(action: Action) -> str:
    """The name of an action in a plan, with its values: ``delay(seconds=0.5)``."""
    values = [
        f"{field.name}={getattr(action, field.name)!r}"
        for field in fields(action)
        if field.repr and getattr(action, field.name) != field.default
    ]
    return f"{_NAMES[type(action)]}({', '.join(values)})" if values else _NAMES[type(action)]
