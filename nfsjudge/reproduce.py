# SPDX-License-Identifier: MIT
"""From the exchanges of a check to a script that sends the same messages, on `nfsclient` alone.

Values from the server are not sent as recorded: a handle, cookie or verifier of an earlier reply is taken
from the new reply, the root's handle from MOUNT, and a name that the check invented is invented again.
Everything else is written as it was recorded: as constructor calls where it was typed, as bytes where it was not.

Anything that came from a server, or may have, is in the script as the `repr` of bytes or the `ascii` of text, so it can
only be data. Comments and names in the script are of this module.
"""

from __future__ import annotations

import bisect
import dataclasses
import re
import typing as t
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from nfsclient.protocol import mount, nfs2, nfs3, portmap, rpcbind
from nfsclient.replay import SILENCE, Story
from nfsclient.rpc.auth import AuthNone, AuthSys, Credential, RawCredential
from nfsclient.rpc.exchange import Exchange, RawBytes
from nfsclient.rpc.program import Procedure
from nfsclient.xdr import Void, XdrEnum, XdrType, fields_of, shape_of
from nfsclient.xdr.kinds import (
    ArrayNode,
    EnumNode,
    FixedArrayNode,
    FixedOpaqueNode,
    IntNode,
    LinkedListNode,
    Node,
    OpaqueNode,
    OptionalNode,
)
from nfsjudge.messages import Mark

MOST_CHARACTERS = 8 << 20
"""Of a script; what would be longer is not made."""
_PROTOCOLS: t.Final = {"nfs3": nfs3, "nfs2": nfs2, "mount": mount, "portmap": portmap, "rpcbind": rpcbind}
_SERVICES: t.Final = {mount.PROGRAM: "mount", portmap.PROGRAM: "portmap"}
_VERSIONS: t.Final = {(nfs2.PROGRAM, 2): 2, (mount.PROGRAM, 1): 2, (mount.PROGRAM, 2): 2}
"""Program and version -> the version of NFS that it is, or goes with."""
_LONGEST_GIVEN = 64
"""Bytes of the longest handle: longer opaque values are data."""
_SHORTEST_IN_BYTES = 8
_MADE_UP = re.compile(rb"nfsproof-[0-9a-f]{12}")
_GIVEN_TIMES: t.Final = frozenset({"guard"})
"""Fields for a time that must be the server's own."""
_MARK = 0x8000_0000

_HEAD = """\
#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Made by nfsproof. Sends what one check sent, prints every answer, and marks the one that deviated.
# It needs nfsclient, a part of nfsproof, and nothing else. The server: python THIS_FILE nfs://HOST/EXPORT
{imports}

replay = Replay.of_arguments(
    {url},
    {story},
)
"""


class CannotWrite(Exception):
    """No script can be made of it; the text says why."""


@dataclasses.dataclass(frozen=True, slots=True)
class Setting:
    """What the exchanges refer to."""

    url: str
    """The server on which they were recorded."""
    root: bytes | None = None
    """The handle in which the check worked, by NFSv3."""
    root2: bytes | None = None
    path: bytes = b"/"
    """The path of `root`."""
    export: bytes = b"/"
    credential: Credential | None = None
    """That of the URL."""
    services: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """A client's own address -> the service that it was connected to."""
    fragments: Mapping[str, Sequence[int]] = dataclasses.field(default_factory=dict)
    """A client's own address -> the sizes of fragments into which it cuts its calls."""


def write_script(
    story: Story,
    setting: Setting,
    exchanges: Sequence[Exchange],
    raw: Sequence[RawBytes] = (),
    *,
    happened: Sequence[tuple[float, str]] = (),
    marks: Sequence[Mark] = (),
) -> str:
    """The text of the script. `happened` is (time, what) of what was done to the server outside the protocol.

    Raises `CannotWrite`.
    """
    writer = _Writer(setting, exchanges, marks)
    for _, _, write in sorted(writer.steps(raw, happened), key=lambda step: step[:2]):
        write()
        if writer.size > MOST_CHARACTERS:
            raise CannotWrite(f"a script would have more than {MOST_CHARACTERS} characters")
    writer.finish()
    head = _HEAD.format(imports=writer.imports(), url=ascii(setting.url), story=_story(story))
    return head + "\n".join([*writer.lines, "replay.end()", ""])


def _story(story: Story) -> str:
    values = {one.name: getattr(story, one.name) for one in dataclasses.fields(story)}
    return f"Story({', '.join(f'{name}={value!a}' for name, value in values.items() if value)})"


Step: t.TypeAlias = "tuple[float, int, t.Callable[[], None]]"


class _Writer:
    """The lines of one script, as they come."""

    def __init__(self, setting: Setting, exchanges: Sequence[Exchange], marks: Sequence[Mark]) -> None:
        self.setting = setting
        self.exchanges = exchanges
        self.marks = marks
        self.lines: list[str] = []
        self.size = 0
        self.given = _Given(self)
        self._used: set[str] = set()
        self._connections: dict[tuple[str, str, str], str] = {}
        self._listening: dict[str, bool] = {}
        """Variable of a connection -> whether bare bytes were sent last, with nothing received since."""
        self._names: dict[bytes, str] = {}
        self._xids = Counter((one.xid, one.local) for one in exchanges if one.procedure is not None)
        self._replies = {one.reply: one for one in exchanges if one.procedure is None and one.reply}

    def put(self, line: str) -> None:
        self.lines.append(line)
        self.size += len(line)

    def imports(self) -> str:
        """What the lines use."""
        auth = sorted(self._used & {"AuthNone", "AuthSys", "RawCredential"})
        protocols = sorted(self._used & set(_PROTOCOLS))
        replay = ["Replay", "Story", *(["opaque"] if "opaque" in self._used else [])]
        return "\n".join(
            [
                *([f"from nfsclient.protocol import {', '.join(protocols)}"] if protocols else []),
                f"from nfsclient.replay import {', '.join(replay)}",
                *([f"from nfsclient.rpc.auth import {', '.join(auth)}"] if auth else []),
                *(["from nfsclient.xdr import Void"] if "Void" in self._used else []),
            ]
        )

    # ------------------------------------------------------------ what happens when

    def steps(self, raw: Sequence[RawBytes], happened: Sequence[tuple[float, str]]) -> Iterator[Step]:
        """(time, order, what writes it) of each message and of what lies between them."""
        sends = sorted(one.sent_at for one in self.exchanges if one.procedure is not None)
        for number, one in enumerate(self.exchanges, 1):
            yield from self._steps_of(number, one, sends)
        for order, other in enumerate(self._raw_and_lonely(raw), len(self.exchanges) * 2):
            yield other.at, order, lambda it=other: self._raw(it)  # type: ignore[misc]
        for at, what in happened:
            yield at, 0, lambda text=what: self.put(f"replay.happened({text!a})")  # type: ignore[misc]

    def _steps_of(self, number: int, one: Exchange, sends: Sequence[float]) -> Iterator[Step]:
        if one.procedure is None:
            return
        done = one.sent_at if one.received_at is None else one.received_at
        is_alone = not any(one.sent_at < at < done for at in sends[_right_of(sends, one.sent_at) :][:1])
        if self._constant(one.procedure) is None:
            call = RawBytes(one.sent_at, True, one.call, one.peer, one.transport, one.local)
            yield one.sent_at, number * 2, lambda: self._unknown(call, one)
        elif is_alone:
            yield one.sent_at, number * 2, lambda: self._call(number, one)
        else:
            yield one.sent_at, number * 2, lambda: self._submit(number, one)
            yield done, number * 2 + 1, lambda: self._wait(number, one)

    def _raw_and_lonely(self, raw: Sequence[RawBytes]) -> list[RawBytes]:
        """Raw bytes, and the calls of exchanges without a procedure that are not among them."""
        seen = {one.data for one in raw} | {one.data[4:] for one in raw}
        lonely = [
            RawBytes(one.sent_at, True, one.call, one.peer, one.transport, one.local)
            for one in self.exchanges
            if one.procedure is None and one.call and one.call not in seen
        ]
        return [*raw, *lonely]

    # ------------------------------------------------------------ calls

    def _call(self, number: int, one: Exchange) -> None:
        words = self._words(number, one)
        self.put(f"r{number} = replay.call({', '.join([*words, *self._deviation(one)])})")
        self.given.learn(one, f"r{number}")

    def _submit(self, number: int, one: Exchange) -> None:
        self.put(f"p{number} = replay.submit({', '.join(self._words(number, one))})")

    def _wait(self, number: int, one: Exchange) -> None:
        words = [str(number), self._connection(one), f"p{number}", *self._deviation(one)]
        self.put(f"r{number} = replay.wait({', '.join(words)})")
        self.given.learn(one, f"r{number}")

    def _words(self, number: int, one: Exchange) -> list[str]:
        assert one.procedure is not None
        words = [str(number), self._connection(one), str(self._constant(one.procedure))]
        self.given.version = _VERSIONS.get((one.procedure.program, one.procedure.version), 3)
        words.append(self.value(one.args))
        if one.credential is not None and one.credential != self.setting.credential:
            words.append(f"credential={self._credential(one.credential)}")
        if self._xids[one.xid, one.local] > 1:
            words.append(f"xid={one.xid:#010x}")
        return words

    def _deviation(self, one: Exchange) -> list[str]:
        mark = next((mark for mark in self.marks if mark.is_of(one)), None)
        if mark is None:
            return []
        return [f"deviates={mark.field_in(one) or ''!a}", *([f"note={mark.note!a}"] if mark.note else [])]

    def _constant(self, procedure: Procedure[t.Any, t.Any]) -> str | None:
        """The name of a procedure in a script; None for one that no protocol declares."""
        found = _constants().get(procedure)
        if found is not None:
            self._used.add(found.partition(".")[0])
        return found

    def _credential(self, credential: Credential) -> str:
        if not isinstance(credential, AuthNone | AuthSys | RawCredential):
            raise CannotWrite(f"{type(credential).__name__} has a context that no script can have")
        self._used.add(type(credential).__name__)
        fields = dataclasses.fields(credential)
        words = [f"{one.name}={getattr(credential, one.name)!a}" for one in fields]
        return f"{type(credential).__name__}({', '.join(words)})"

    # ------------------------------------------------------------ bytes

    def _unknown(self, call: RawBytes, one: Exchange) -> None:
        """A call of a procedure that no protocol declares goes out as bytes."""
        self.put(f"replay.send_record({self._connection(call)}, {self.bare(call.data)})")
        self.put(f"replay.receive_record({', '.join([self._connection(call), *self._received(one)])})")

    def _raw(self, raw: RawBytes) -> None:
        name = self._connection(raw)
        if not raw.sent:
            one = self._replies.get(raw.data)
            self.put(
                f"replay.receive_record({', '.join([name, *(self._received(one) if one is not None else [])])})"
            )
            self._listening[name] = False
            return
        message = _message_in(raw)
        if message is None:
            self.put(f"replay.send_raw({name}, {self.bare(raw.data)})")
        else:
            self.put(f"replay.send_record({name}, {self.bare(message)})")
        self._listening[name] = True

    def _received(self, one: Exchange) -> list[str]:
        if not any(mark.is_of(one) for mark in self.marks):
            return []
        note = next(mark.note for mark in self.marks if mark.is_of(one))
        return ["deviates=True", f"note={note!a}"]

    def bare(self, data: bytes) -> str:
        """Bytes of a check's own, with what the server gave, and what was made up, replaced in them."""
        known = sorted(self.given.in_bytes(), key=len, reverse=True)
        pattern = b"|".join([_MADE_UP.pattern, *(re.escape(value) for value in known)])
        parts, at = [], 0
        for found in re.finditer(pattern, data):
            value = found[0]
            begin, end, text = found.start(), found.end(), self.given.expression(value) or self.made_up(value)
            padded = value + bytes(-len(value) % 4)
            is_opaque = data[max(at, begin - 4) : begin] == len(value).to_bytes(4, "big")
            if is_opaque and data[begin : begin + len(padded)] == padded:
                begin, end, text = begin - 4, begin + len(padded), f"opaque({text})"
                self._used.add("opaque")
            parts += [_literal(data[at:begin])] if begin > at else []
            parts.append(text)
            at = end
        parts += [_literal(data[at:])] if at < len(data) or not parts else []
        return " + ".join(parts)

    # ------------------------------------------------------------ connections and names

    def _connection(self, one: Exchange | RawBytes) -> str:
        """The variable of a connection, which is made where it is first used."""
        key = (one.transport, one.peer, one.local)
        if key not in self._connections:
            name = self._connections[key] = f"c{len(self._connections) + 1}"
            words = [ascii(self.setting.services.get(one.local) or _service_of(one))]
            words += ["proto='udp'"] if one.transport == "udp" else []
            sizes = self.setting.fragments.get(one.local)
            words += [f"fragment_sizes={[int(size) for size in sizes]!a}"] if sizes else []
            self.put(f"{name} = replay.connect({', '.join(words)})")
        return self._connections[key]

    def made_up(self, name: bytes) -> str:
        """The variable of a name that the check made up."""
        if name not in self._names:
            variable = self._names[name] = f"name{len(self._names) + 1}"
            self.put(f"{variable} = replay.fresh_name()")
        return self._names[name]

    def finish(self) -> None:
        """Bare bytes without a reply: wait for one for a while."""
        for name, is_waiting in self._listening.items():
            if is_waiting:
                self.put(f"replay.receive_record({name}, {SILENCE})")

    # ------------------------------------------------------------ values

    def value(self, value: t.Any) -> str:
        """A typed value as it is constructed."""
        if isinstance(value, Void):
            self._used.add("Void")
            return "Void()"
        pairs = _pairs(value)
        defaults = type(value).__xdr_defaults__
        words = [
            f"{name}={self._field(name, node, part)}"
            for name, node, part in pairs
            if not (name in defaults and _is_plain(part) and defaults[name] == part)
        ]
        return f"{self._class(type(value))}({', '.join(words)})"

    def _class(self, cls: type) -> str:
        for name, module in _PROTOCOLS.items():
            if getattr(module, cls.__name__, None) is cls:
                self._used.add(name)
                return f"{name}.{cls.__name__}"
        raise CannotWrite(f"{cls.__name__} is no type of a protocol")

    def _field(self, name: str, node: Node, value: t.Any) -> str:
        if isinstance(node, OptionalNode):
            if value is None:
                return "None"
            node = node.inner
        if isinstance(value, XdrType):
            given = self.given.of_time(value) if name in _GIVEN_TIMES else None
            return given or self.value(value)
        match node:
            case ArrayNode() | FixedArrayNode() | LinkedListNode():
                return f"[{', '.join(self._field('', node.element, item) for item in value)}]"
            case EnumNode(cls) if isinstance(value, XdrEnum):
                return f"{self._class(cls)}" + (f".{value.name}" if value.is_known else f"({int(value)})")
            case OpaqueNode() | FixedOpaqueNode():
                return self._octets(node, bytes(value))
            case IntNode() if name == "cookie" and value:
                return self.given.of_cookie(int(value)) or str(int(value))
            case _:
                return ascii(bool(value)) if isinstance(value, bool) else str(int(value))

    def _octets(self, node: OpaqueNode | FixedOpaqueNode, value: bytes) -> str:
        if is_given(node, value):
            return self.given.expression(value) or _literal(value)
        if isinstance(node, OpaqueNode) and node.style == "string":
            return self._name(value)
        return _literal(value)

    def _name(self, value: bytes) -> str:
        """A name or a path, with the export and names that were made up taken out of it."""
        parts: list[str] = []
        path = self.setting.path
        if path != b"/" and (value == path or value.startswith(path + b"/")):
            parts, value = ["replay.path"], value[len(path) :]
        at = 0
        for found in _MADE_UP.finditer(value):
            parts += [_literal(value[at : found.start()])] if found.start() > at else []
            parts.append(self.made_up(found[0]))
            at = found.end()
        parts += [_literal(value[at:])] if at < len(value) or not parts else []
        return " + ".join(parts)


class _Given:
    """What the server has given so far, and by which expression a script has it."""

    def __init__(self, writer: _Writer) -> None:
        self._writer = writer
        self._places: dict[object, tuple[str, str]] = {}
        """A value -> (variable of the reply, path in it) where it stood first."""
        self._variables: dict[object, str] = {}
        self.version = 3
        """Of NFS, for which the handle of the root is wanted where both versions have the same."""

    def learn(self, one: Exchange, variable: str) -> None:
        """Note what is in a reply."""
        if isinstance(one.result, XdrType):
            for path, key in _given_in(one.result, ""):
                self._places.setdefault(key, (variable, path))

    def in_bytes(self) -> list[bytes]:
        """What may be found in bare bytes."""
        known = [self._writer.setting.root, self._writer.setting.root2, *self._places]
        return [
            one for one in known if isinstance(one, bytes) and len(one) >= _SHORTEST_IN_BYTES and any(one)
        ]

    def expression(self, value: bytes) -> str | None:
        """A handle or a verifier; None for one that was not given."""
        setting = self._writer.setting
        roots = {3: setting.root, 2: setting.root2}
        for version in (self.version, 5 - self.version):
            if value == roots[version]:
                variable = f"root{version}"
                if variable not in self._variables:
                    self._variables[variable] = variable
                    self._writer.put(f"{variable} = replay.root({version})")
                return variable
        return self._variable(value, value)

    def of_cookie(self, value: int) -> str | None:
        """The same for a cookie."""
        return self._variable(("cookie", value), value)

    def of_time(self, value: XdrType) -> str | None:
        """The same for a time."""
        return self._variable(_key_of_time(value), None)

    def _variable(self, key: object, recorded: object) -> str | None:
        if key not in self._variables:
            if key not in self._places:
                return None
            name = self._variables[key] = f"g{len(self._variables) + 1}"
            reply, path = self._places[key]
            literal = _literal(recorded) if isinstance(recorded, bytes) else ascii(recorded)
            self._writer.put(f"{name} = replay.take({reply}, {path!a}, {literal})")
        return self._variables[key]


def is_given(node: Node, value: bytes) -> bool:
    """Whether a value is of the kinds that a server gives: a handle, a verifier, a cookie of NFSv2."""
    if not any(value):
        return False
    if isinstance(node, FixedOpaqueNode):
        return True
    return isinstance(node, OpaqueNode) and node.style == "opaque" and node.maximum <= _LONGEST_GIVEN


def _given_in(value: XdrType, prefix: str) -> Iterator[tuple[str, object]]:
    """(path, key) of what a reply gives that a later call may have to send back."""
    for name, node, part in _pairs(value):
        yield from _given_at(f"{prefix}{name}", name, node, part)


def _given_at(path: str, name: str, node: Node, value: t.Any) -> Iterator[tuple[str, object]]:
    if isinstance(node, OptionalNode):
        node = node.inner
    if value is None:
        return
    if isinstance(value, XdrType):
        if type(value).__xdr_fields__ in {("seconds", "nseconds"), ("seconds", "useconds")}:
            yield path, _key_of_time(value)
        else:
            yield from _given_in(value, f"{path}.")
    elif isinstance(value, list) and isinstance(node, ArrayNode | FixedArrayNode | LinkedListNode):
        for index, item in enumerate(value):
            yield from _given_at(f"{path}[{index}]", name, node.element, item)
    elif isinstance(node, OpaqueNode | FixedOpaqueNode) and is_given(node, bytes(value)):
        yield path, bytes(value)
    elif name == "cookie" and isinstance(node, IntNode) and value:
        yield path, ("cookie", int(value))


def _key_of_time(value: XdrType) -> tuple[object, ...]:
    return ("time", *(getattr(value, name) for name in value.__xdr_fields__))


def _pairs(value: XdrType) -> list[tuple[str, Node, t.Any]]:
    """(name, node, value) of the fields that are there."""
    if type(value).__xdr_role__ == "struct":  # type: ignore[attr-defined]
        return [(one.name, one.node, getattr(value, one.name)) for one in fields_of(type(value))]
    shape = shape_of(type(value))
    chosen = getattr(value, shape.discriminant.name)
    arm = shape.arm_for(int(chosen))
    pairs: list[tuple[str, Node, t.Any]] = [(shape.discriminant.name, shape.discriminant.node, chosen)]
    if arm is not None and arm.name is not None and arm.node is not None:
        pairs.append((arm.name, arm.node, getattr(value, arm.name)))
    return pairs


def _is_plain(value: object) -> bool:
    return value is None or isinstance(value, int | bytes | XdrType)


def _literal(data: bytes) -> str:
    """Bytes as an expression; what repeats itself is written shorter."""
    if len(data) > 64:
        for period in (1, 2, 4, 8, 16, 64, 251, 256):
            times = len(data) // period
            if times > 2 and data[:period] * times == data[: period * times]:
                rest = data[period * times :]
                return f"{data[:period]!r} * {times}" + (f" + {rest!r}" if rest else "")
    text = repr(data)
    return text if len(text) <= 2 * len(data) + 20 else f"bytes.fromhex({data.hex()!r})"


def _right_of(times: Sequence[float], at: float) -> int:
    return bisect.bisect_right(times, at)


def _message_in(raw: RawBytes) -> bytes | None:
    """The message, where what was sent is exactly one in one fragment."""
    if raw.transport == "udp":
        return raw.data
    if len(raw.data) >= 4 and int.from_bytes(raw.data[:4], "big") == _MARK | len(raw.data) - 4:
        return raw.data[4:]
    return None


def _service_of(one: Exchange | RawBytes) -> str:
    """By the program that is called, where nothing is known of the connection."""
    if isinstance(one, Exchange) and one.procedure is not None:
        program = one.procedure.program
    else:
        data = one.call if isinstance(one, Exchange) else _message_in(one) or b""
        program = int.from_bytes(data[12:16], "big")
    return _SERVICES.get(program, "nfs")


_CONSTANTS: dict[Procedure[t.Any, t.Any], str] = {}


def _constants() -> Mapping[Procedure[t.Any, t.Any], str]:
    """Procedure -> the name by which a script has it."""
    if not _CONSTANTS:
        for name, module in _PROTOCOLS.items():
            for constant, value in vars(module).items():
                if isinstance(value, Procedure):
                    _CONSTANTS.setdefault(value, f"{name}.{constant}")
    return _CONSTANTS
