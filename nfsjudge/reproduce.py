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
from collections.abc import Collection, Iterator, Mapping, Sequence

from nfsclient.protocol import nfs4
from nfsclient.protocol.registry import modules, protocol_of, protocol_of_version
from nfsclient.replay import SILENCE, Story
from nfsclient.rpc.auth import AuthNone, AuthSys, Credential, RawCredential
from nfsclient.rpc.exchange import Exchange, RawBytes, Segment
from nfsclient.rpc.program import AnyOperation, Procedure
from nfsclient.rpc.record import fragment
from nfsclient.xdr import Unread, Void, XdrEnum, XdrType, parts_of
from nfsclient.xdr.kinds import (
    ArrayNode,
    ChoiceNode,
    EnumNode,
    FixedArrayNode,
    FixedOpaqueNode,
    LinkedListNode,
    Node,
    OpaqueNode,
    OptionalNode,
)
from nfsjudge.given import CHANGING, CLIENTIDS, Given, is_given, literal_of
from nfsjudge.messages import Mark
from nfsjudge.placing import fragment_sizes, records
from nfsjudge.sends import Batch, Closing, besides

MOST_CHARACTERS = 8 << 20
"""Of a script; what would be longer is not made."""
_MADE_UP = re.compile(rb"nfsproof-[0-9a-f]{12}|nfsproof [0-9a-f]{16}")
"""Names of objects, and of clients of NFSv4, that a check made up."""
_OWNER: t.Final = b"nfsproof "
_COMPARED: t.Final = (nfs4.Verify4Args, nfs4.Nverify4Args)
_MOST_SLOTS = 1024
_SEQUENCE_IDS: t.Final = 1 << 32
_GIVEN_TIMES: t.Final = frozenset({"guard"})
"""Fields for a time that must be the server's own."""

_HEAD = """\
#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Made by nfsproof. Sends what one check sent, prints every answer, and marks the one that deviated.
# It needs nfsclient, a part of nfsproof, and nothing else. The server: python THIS_FILE nfs://HOST/EXPORT
try:
{imports}
except ImportError as error:
    raise SystemExit(f"{{error}}: {missing}") from error

replay = Replay.of_arguments(
    {url},
    {story},{more}
)
"""


MISSING = (
    "nfsclient is a part of nfsproof: run this with the Python that has it (.venv/bin/python of a checkout), "
    "or install it here (python -m pip install CHECKOUT_OR_WHEEL_OF_NFSPROOF)"
)


class CannotWrite(Exception):
    """No script can be made of it; the text says why."""


@dataclasses.dataclass(frozen=True, slots=True)
class Setting:
    """What the exchanges refer to."""

    url: str
    """The server on which they were recorded."""
    started: str = ""
    """The name of the target, if it was started for the run: its URL means nothing afterwards."""
    root: bytes | None = None
    """The handle in which the check worked, by NFSv3."""
    root2: bytes | None = None
    root4: bytes | None = None
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
    segments: Sequence[Segment] = (),
    leave_out: Collection[str] = (),
    happened: Sequence[tuple[float, str]] = (),
    marks: Sequence[Mark] = (),
) -> str:
    """The text of the script. `happened` is (time, what) of what was done to the server outside the protocol.

    `raw` are messages that answer no call, and bytes that a check sent; `segments` is all that passed, in which those
    bytes are as they were sent. What passed for the reasons `leave_out` is not in the script. Raises `CannotWrite`.
    """
    writer = _Writer(setting, exchanges, marks)
    for _, _, write in sorted(writer.steps(raw, segments, leave_out, happened), key=lambda step: step[:2]):
        write()
        if writer.size > MOST_CHARACTERS:
            raise CannotWrite(f"a script would have more than {MOST_CHARACTERS} characters")
    writer.finish()
    more = f"\n    started={setting.started!a}," if setting.started else ""
    url = "" if setting.started else setting.url
    head = _HEAD.format(
        imports=writer.imports(), missing=MISSING, url=ascii(url), story=_story(story), more=more
    )
    return head + "\n".join([*writer.lines, "replay.end()", ""])


def _story(story: Story) -> str:
    values = {field.name: getattr(story, field.name) for field in dataclasses.fields(story)}
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
        self.given = Given({3: setting.root, 2: setting.root2, 4: setting.root4}, self.put)
        self._used: set[str] = set()
        self._connections: dict[tuple[str, str, str], str] = {}
        self._opened = 0
        self._listening: dict[str, bool] = {}
        """Variable of a connection -> whether bare bytes were sent last, with nothing received since."""
        self._names: dict[bytes, str] = {}
        self._found = found_sessions(exchanges)
        self._sessions = 0
        self._base = 0
        """What the sequence id of the SEQUENCE that is written has more than that in the script."""
        self._is_compared = False
        """Whether the attributes that are written are those of VERIFY or NVERIFY."""
        self._clientid = 0
        """Of the CREATE_SESSION that is written."""
        typed = [
            exchange for exchange in exchanges if exchange.procedure is not None and not exchange.is_callback
        ]
        self._xids = Counter((exchange.xid, exchange.local) for exchange in typed)
        self._replies = {
            exchange.reply: exchange
            for exchange in exchanges
            if exchange.procedure is None and exchange.reply
        }

    def put(self, line: str) -> None:
        self.lines.append(line)
        self.size += len(line)

    def imports(self) -> str:
        """What the lines use."""
        auth = sorted(self._used & {"AuthNone", "AuthSys", "RawCredential"})
        protocols: dict[str, list[str]] = {}
        for name, module in sorted(modules().items()):
            if name in self._used:
                protocols.setdefault(module.__name__.rpartition(".")[0], []).append(name)
        plain = sorted(self._used & {"Unread", "Void"})
        replay = ["Replay", "Story", *(["opaque"] if "opaque" in self._used else [])]
        return "\n".join(
            f"    {line}"
            for line in [
                *(f"from {package} import {', '.join(names)}" for package, names in protocols.items()),
                f"from nfsclient.replay import {', '.join(replay)}",
                *([f"from nfsclient.rpc.auth import {', '.join(auth)}"] if auth else []),
                *([f"from nfsclient.xdr import {', '.join(plain)}"] if plain else []),
            ]
        )

    # ------------------------------------------------------------ what happens when

    def steps(
        self,
        raw: Sequence[RawBytes],
        segments: Sequence[Segment],
        leave_out: Collection[str],
        happened: Sequence[tuple[float, str]],
    ) -> Iterator[Step]:
        """(time, order, what writes it) of each message and of what lies between them."""
        typed = [
            exchange
            for exchange in self.exchanges
            if exchange.procedure is not None and not exchange.is_callback
        ]
        sends = sorted(exchange.sent_at for exchange in typed)
        for number, exchange in enumerate(self.exchanges, 1):
            yield from self._steps_of(number, exchange, sends)
        own = {raw_bytes.local for raw_bytes in raw if raw_bytes.sent}
        others = besides(self.exchanges, segments, own, leave_out) if segments else ()
        # Of segments, those that were sent are in `raw` as well.
        messages = [message for message in raw if not (message.sent and segments)]
        for order, other in enumerate([*messages, *others], len(self.exchanges) * 2):
            yield other.at, order, lambda it=other: self._other(it)  # type: ignore[misc]
        for at, what in happened:
            yield at, 0, lambda text=what: self.put(f"replay.happened({text!a})")  # type: ignore[misc]

    def _steps_of(self, number: int, exchange: Exchange, sends: Sequence[float]) -> Iterator[Step]:
        if exchange.procedure is None:
            return
        if exchange.is_callback:
            yield exchange.sent_at, number * 2, lambda: self._callback(number, exchange)
            return
        done = exchange.sent_at if exchange.received_at is None else exchange.received_at
        is_alone = not any(
            exchange.sent_at < at < done for at in sends[_right_of(sends, exchange.sent_at) :][:1]
        )
        if self._constant(exchange.procedure) is None:
            call = RawBytes(
                exchange.sent_at, True, exchange.call, exchange.peer, exchange.transport, exchange.local
            )
            yield exchange.sent_at, number * 2, lambda: self._unknown(call, exchange)
        elif is_alone:
            yield exchange.sent_at, number * 2, lambda: self._call(number, exchange)
        else:
            yield exchange.sent_at, number * 2, lambda: self._submit(number, exchange)
            yield done, number * 2 + 1, lambda: self._wait(number, exchange)

    def _other(self, raw_bytes: RawBytes | Batch | Closing) -> None:
        if isinstance(raw_bytes, Batch):
            self._batch(raw_bytes)
        elif isinstance(raw_bytes, Closing):
            self._closing(raw_bytes)
        else:
            self._raw(raw_bytes)

    def _batch(self, batch: Batch) -> None:
        """Calls of which no record was kept."""
        first = batch.args[0]
        constant = self._constant(batch.procedure)
        if constant is None:
            raise CannotWrite(f"{batch.procedure.label} is no procedure of a protocol")
        self.given.version = _nfs_version(batch.procedure)
        words = [self._connection(batch.like), constant, self.value(first)]
        if batch.path:
            values = [self._leaf(args, batch.path) for args in batch.args]
            words += [ascii(batch.path), f"[{', '.join(values)}]"]
        if batch.credential is not None and batch.credential != self.setting.credential:
            words.append(f"credential={self._credential(batch.credential)}")
        self.put(f"replay.many({', '.join(words)})")

    def _leaf(self, value: XdrType, path: str) -> str:
        """The field at a path, as it is constructed."""
        name, _, rest = path.partition(".")
        node, part = next((node, part) for path, node, part in parts_of(value) if path == name)
        return self._leaf(part, rest) if rest else self._field(name, node, part)

    def _closing(self, closing: Closing) -> None:
        key = (closing.like.transport, closing.like.peer, closing.like.local)
        if closing.by_server:
            if self._listening.get(self._connections.get(key, "")):
                self.put(f"replay.receive_record({self._connections[key]}, {SILENCE})")
                self._listening[self._connections[key]] = False
            return
        name = self._connection(closing.like)
        if closing.is_half:
            self.put(f"replay.half_close({name})")
            return
        self.put(f"replay.close({name})")
        self._listening.pop(name, None)
        del self._connections[key]

    # ------------------------------------------------------------ calls

    def _call(self, number: int, exchange: Exchange) -> None:
        words = self._words(number, exchange)
        self.put(f"r{number} = replay.call({', '.join([*words, *self._deviation(exchange)])})")
        self.given.learn(exchange, f"r{number}")

    def _submit(self, number: int, exchange: Exchange) -> None:
        self.put(f"p{number} = replay.submit({', '.join(self._words(number, exchange))})")

    def _wait(self, number: int, exchange: Exchange) -> None:
        words = [str(number), self._connection(exchange), f"p{number}", *self._deviation(exchange)]
        self.put(f"r{number} = replay.wait({', '.join(words)})")
        self.given.learn(exchange, f"r{number}")

    def _callback(self, number: int, exchange: Exchange) -> None:
        """A script cannot make the server call: it waits for that, and answers as any client does."""
        names = [step.operation.name for step in exchange.steps]
        words = [str(number), self._connection(exchange), ascii(", ".join(names)), *self._deviation(exchange)]
        self.put(f"replay.callback({', '.join(words)})")

    def _words(self, number: int, exchange: Exchange) -> list[str]:
        assert exchange.procedure is not None
        words = [str(number), self._connection(exchange), str(self._constant(exchange.procedure))]
        self.given.version = _nfs_version(exchange.procedure)
        words.append(self.value(exchange.args))
        if exchange.credential is not None and exchange.credential != self.setting.credential:
            words.append(f"credential={self._credential(exchange.credential)}")
        if self._xids[exchange.xid, exchange.local] > 1:
            words.append(f"xid={exchange.xid:#010x}")
        return words

    def _deviation(self, exchange: Exchange) -> list[str]:
        mark = next((mark for mark in self.marks if mark.is_of(exchange)), None)
        if mark is None:
            return []
        return [
            f"deviates={mark.field_in(exchange) or ''!a}",
            *([f"note={mark.note!a}"] if mark.note else []),
        ]

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
        words = [f"{field.name}={getattr(credential, field.name)!a}" for field in fields]
        return f"{type(credential).__name__}({', '.join(words)})"

    # ------------------------------------------------------------ bytes

    def _unknown(self, call: RawBytes, exchange: Exchange) -> None:
        """A call of a procedure that no protocol declares goes out as bytes."""
        self.put(f"replay.send_record({self._connection(call)}, {self.bare(call.data)})")
        self.put(f"replay.receive_record({', '.join([self._connection(call), *self._received(exchange)])})")

    def _raw(self, raw: RawBytes) -> None:
        name = self._connection(raw)
        if not raw.sent:
            exchange = self._replies.get(raw.data)
            more = self._received(exchange) if exchange is not None else []
            self.put(f"replay.receive_record({', '.join([name, *more])})")
            self._listening[name] = False
            return
        sizes = fragment_sizes(raw.data) if raw.transport == "tcp" else []
        message = raw.data if raw.transport == "udp" else b"".join(piece for _, _, piece in records(raw.data))
        if sizes is None or (raw.transport == "tcp" and fragment(message, sizes) != raw.data):
            self.put(f"replay.send_raw({name}, {self.bare(raw.data)})")
        else:
            words = [name, self.bare(message), *([f"{sizes}"] if sizes else [])]
            self.put(f"replay.send_record({', '.join(words)})")
        self._listening[name] = True

    def _received(self, exchange: Exchange) -> list[str]:
        if not any(mark.is_of(exchange) for mark in self.marks):
            return []
        note = next(mark.note for mark in self.marks if mark.is_of(exchange))
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
            parts += [literal_of(data[at:begin])] if begin > at else []
            parts.append(text)
            at = end
        parts += [literal_of(data[at:])] if at < len(data) or not parts else []
        return " + ".join(parts)

    # ------------------------------------------------------------ connections and names

    def _connection(self, exchange: Exchange | RawBytes) -> str:
        """The variable of a connection, which is made where it is first used."""
        key = (exchange.transport, exchange.peer, exchange.local)
        if key not in self._connections:
            self._opened += 1
            name = self._connections[key] = f"c{self._opened}"
            words = [ascii(self.setting.services.get(exchange.local) or _service_of(exchange))]
            words += ["proto='udp'"] if exchange.transport == "udp" else []
            sizes = self.setting.fragments.get(exchange.local)
            words += [f"fragment_sizes={[int(size) for size in sizes]!a}"] if sizes else []
            self.put(f"{name} = replay.connect({', '.join(words)})")
        return self._connections[key]

    def made_up(self, name: bytes) -> str:
        """The variable of a name that the check made up."""
        if name not in self._names:
            kind, fresh = ("owner", "fresh_owner") if name.startswith(_OWNER) else ("name", "fresh_name")
            variable = self._names[name] = f"{kind}{len(self._names) + 1}"
            self.put(f"{variable} = replay.{fresh}()")
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
        self._is_compared = isinstance(value, _COMPARED) or (
            self._is_compared and isinstance(value, nfs4.Fattr4)
        )
        if isinstance(value, nfs4.CreateSession4Args):
            self._clientid = value.csa_clientid
        elif isinstance(value, nfs4.Sequence4Args):
            self._need_session(value)
        pairs = parts_of(value)
        defaults = type(value).__xdr_defaults__
        words = [
            f"{name}={self._field(name, node, part)}"
            for name, node, part in pairs
            if not (name in defaults and _is_plain(part) and defaults[name] == part)
        ]
        return f"{self._class(type(value))}({', '.join(words)})"

    def _need_session(self, sequence: nfs4.Sequence4Args) -> None:
        """A session that was there before the check makes way for a new one, in which nothing was sent yet."""
        found = self._found.get(bytes(sequence.sa_sessionid))
        self._base = 0 if found is None else found.bases.get(sequence.sa_slotid, 0)
        if found is not None and not self.given.is_replaced(sequence.sa_sessionid):
            self._sessions += 1
            variable = f"s{self._sessions}"
            minor = "" if found.minor == 1 else f"minor={found.minor}"
            self.put(f"{variable} = replay.session({minor})")
            self.given.stands_for(sequence.sa_sessionid, variable)

    def _class(self, cls: type) -> str:
        if cls is Unread:
            self._used.add("Unread")
            return "Unread"
        for name, module in modules().items():
            is_own = cls.__module__ == module.__name__ or cls.__module__.startswith(f"{module.__name__}.")
            if is_own and getattr(module, cls.__name__, None) is cls:
                self._used.add(name)
                return f"{name}.{cls.__name__}"
        raise CannotWrite(f"{cls.__name__} is no type of a protocol")

    def _field(self, name: str, node: Node, value: t.Any) -> str:
        if isinstance(node, OptionalNode):
            if value is None:
                return "None"
            node = node.inner
        if isinstance(value, XdrType):
            if self._is_compared and name in CHANGING:
                return self._compared(name, value, self.value(value))
            given = self.given.of_time(value) if name in _GIVEN_TIMES else None
            return given or self.value(value)
        match node:
            case ArrayNode(ChoiceNode()):
                lines = [f"\n    {self._field('', node.element, item)}," for item in value]
                return f"[{''.join(lines)}\n]"
            case ArrayNode() | FixedArrayNode() | LinkedListNode():
                return f"[{', '.join(self._field('', node.element, item) for item in value)}]"
            case EnumNode(cls) if isinstance(value, XdrEnum):
                return f"{self._class(cls)}" + (f".{value.name}" if value.is_known else f"({int(value)})")
            case OpaqueNode() | FixedOpaqueNode():
                return self._octets(node, bytes(value))
            case _:
                return ascii(value) if isinstance(value, bool) else self._number(name, int(value))

    def _number(self, name: str, value: int) -> str:
        literal = str(value)
        if name == "cookie" and value:
            return self.given.of_cookie(value) or literal
        if name in CLIENTIDS and value:
            return self.given.of_clientid(value) or literal
        if name == "sa_sequenceid" and self._base:
            return str((value - self._base) % _SEQUENCE_IDS)
        if name == "csa_sequence":
            return self.given.of_sequence(self._clientid, value) or literal
        return self._compared(name, value, literal) if self._is_compared and name in CHANGING else literal

    def _compared(self, name: str, value: object, literal: str) -> str:
        return self.given.of_attribute(name, value, literal) or literal

    def _octets(self, node: OpaqueNode | FixedOpaqueNode, value: bytes) -> str:
        if is_given(node, value):
            return self.given.expression(value) or literal_of(value)
        if isinstance(node, OpaqueNode) and (node.style == "string" or _MADE_UP.search(value)):
            return self._name(value)
        return literal_of(value)

    def _name(self, value: bytes) -> str:
        """A name or a path, with the export and names that were made up taken out of it."""
        parts: list[str] = []
        path = self.setting.path
        if path != b"/" and (value == path or value.startswith(path + b"/")):
            parts, value = ["replay.path"], value[len(path) :]
        at = 0
        for found in _MADE_UP.finditer(value):
            parts += [literal_of(value[at : found.start()])] if found.start() > at else []
            parts.append(self.made_up(found[0]))
            at = found.end()
        parts += [literal_of(value[at:])] if at < len(value) or not parts else []
        return " + ".join(parts)


class FoundSession(t.NamedTuple):
    """A session of before the exchanges. A script makes a new one, in which only RECLAIM_COMPLETE was sent."""

    minor: int
    bases: dict[int, int]
    """Slot -> by how much its sequence ids are larger than in the new session."""


def found_sessions(exchanges: Sequence[Exchange]) -> dict[bytes, FoundSession]:
    """Sessions of NFSv4 that were there before the exchanges."""
    made: set[bytes] = set()
    found: dict[bytes, FoundSession] = {}
    for exchange in sorted(exchanges, key=lambda each: each.sent_at):
        if not isinstance(exchange.args, nfs4.Compound4Args):
            continue
        for step in exchange.steps:
            match step.result:
                case nfs4.CreateSession4Res(csr_resok4=nfs4.CreateSession4ResOk() as created):
                    made.add(bytes(created.csr_sessionid))
                case nfs4.Sequence4Res(sr_resok4=nfs4.Sequence4ResOk()):
                    args = step.args
                    if args.sa_sessionid not in made and args.sa_slotid < _MOST_SLOTS:
                        new = FoundSession(exchange.args.minorversion, {})
                        session = found.setdefault(bytes(args.sa_sessionid), new)
                        first = 1 if args.sa_slotid else 2
                        session.bases.setdefault(args.sa_slotid, args.sa_sequenceid - first)
    return found


def _is_plain(value: object) -> bool:
    return value is None or isinstance(value, int | bytes | XdrType)


def _right_of(times: Sequence[float], at: float) -> int:
    return bisect.bisect_right(times, at)


def _service_of(exchange: Exchange | RawBytes) -> str:
    """By the program that is called, where nothing is known of the connection."""
    if isinstance(exchange, Exchange) and exchange.procedure is not None:
        program = exchange.procedure.program
    else:
        data = exchange.call if isinstance(exchange, Exchange) else exchange.data
        if isinstance(exchange, RawBytes) and exchange.transport == "tcp":
            data = next((message for _, _, message in records(exchange.data)), b"")
        program = int.from_bytes(data[12:16], "big")
    protocol = protocol_of(program)
    return "nfs" if protocol is None else protocol.service


def _nfs_version(procedure: AnyOperation) -> int:
    """The version of NFS that a procedure is of, or goes with."""
    protocol = protocol_of_version(procedure.program, procedure.version)
    return 3 if protocol is None else protocol.nfs_versions.get(procedure.version, 3)


_CONSTANTS: dict[Procedure[t.Any, t.Any], str] = {}


def _constants() -> Mapping[Procedure[t.Any, t.Any], str]:
    """Procedure -> the name by which a script has it."""
    if not _CONSTANTS:
        for name, module in modules().items():
            for constant, value in vars(module).items():
                if isinstance(value, Procedure):
                    _CONSTANTS.setdefault(value, f"{name}.{constant}")
    return _CONSTANTS
