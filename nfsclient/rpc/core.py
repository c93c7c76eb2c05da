# SPDX-License-Identifier: MIT
"""The connection core: bytes and `now` come in; bytes, events and the next deadline go out. No I/O, no clock.

`StreamCore` frames messages as records, `DatagramCore` sends each as a datagram and repeats it until it is answered.
Both match replies to calls by XID and hand calls of the peer to their driver.

A driver (`blocking`, `aio`) owns the socket and the clock. It calls

    submit(...)            -> a `Pending`; the bytes of the call are among the output
    data received          -> events: `Pending`s that are done, `CallReceived` for calls that the peer makes
    handle_timeout(now)    -> the `Pending`s whose deadline has passed; over UDP also messages to send again
    fail_all(cause)        -> the connection is gone: everything that is under way ends with `ConnectionLost`

and asks `next_deadline` how long it may sleep.

The life of a call:

    state          where it is             what ends it
    under way      in `pending`, by XID    its reply, its deadline, `cancel`, `fail_all`, `settle`
    done           nowhere                 - (`result` or `error` is set, and only one of them)

- A call leaves `pending` before it becomes done, and becomes done once. A reply that comes later answers no call: it
  is a stray, and kept for callers that judge strays. So a duplicate reply never overwrites a result.
- `then` of a call is called when the core has done its work on what ended it, so that it may make new calls.
- An XID is in `pending` once. A caller that chooses its own XID gets ValueError for one that is under way.
- Over a stream a call is sent once. Over UDP it is sent again after growing intervals, with the same XID and, under a
  `Security`, with a new sequence number each time: `seals` has what opens the reply to any of them.
- `may_be_unread` marks calls that were sent first after the connection had been idle. The server may have closed it
  at the same moment (RFC 1831 allows that at any time), so a close before any reply is no unanswered call: the driver
  may send them once more on a new connection. The first reply clears the mark of all (`_note_read`).
- Windows (`rpc.window`) keep their own books for calls in bulk. The core gives them replies that another reader has
  received; a call is in `pending` or in one window, never in both.
- Strays are bounded in number and in bytes: the peer decides how many it sends.
- Whatever does not decode is an error of its call, with the exchange attached, and the connection goes on; only bytes
  that cannot be framed end the connection, because nobody knows where the next message begins.
"""

from __future__ import annotations

import abc
import itertools
import secrets
import struct
import typing as t
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from nfsclient.errors import BadReply, ConnectionLost, NfsClientError, RpcTimeout, XdrError
from nfsclient.rpc.auth import Credential
from nfsclient.rpc.exchange import Exchange, RawRecorder, Recorder
from nfsclient.rpc.messages import parse_reply
from nfsclient.rpc.plan import Plans
from nfsclient.rpc.program import Procedure
from nfsclient.rpc.record import DEFAULT_MAX_RECORD, Record, RecordAssembler, fragment, frame
from nfsclient.rpc.security import Security, open_reply
from nfsclient.xdr import Buffer, XdrType

A = t.TypeVar("A", bound=XdrType)
R = t.TypeVar("R", bound=XdrType)

USUAL_REPLY = struct.pack(">IIIII", 1, 0, 0, 0, 0)
"""What follows the XID in nearly every reply: REPLY, MSG_ACCEPTED, AUTH_NONE, empty verifier, SUCCESS."""
USUAL_REPLY_SIZE = 4 + len(USUAL_REPLY)
_TWO_WORDS = struct.Struct(">II")
_KEPT_STRAYS = 64
_KEPT_STRAY_BYTES = 16 << 20
_XIDS = 1 << 32


def random_xids() -> Iterator[int]:
    """XIDs that count up from a random start, so that two clients are unlikely to share one."""
    start = secrets.randbits(32)
    rounds = itertools.repeat(range(_XIDS))
    return itertools.chain(range(start, _XIDS), itertools.chain.from_iterable(rounds))


class Pending(t.Generic[R]):
    """A call that is under way, or done: then `result` or `error` is set."""

    __slots__ = (
        "args",
        "bulk",
        "call",
        "credential",
        "deadline",
        "done",
        "error",
        "interval",
        "into",
        "may_be_unread",
        "procedure",
        "resend_at",
        "resent",
        "result",
        "seals",
        "sent_at",
        "then",
        "timeout",
        "xid",
    )

    def __init__(self, xid: int, procedure: Procedure[t.Any, R], args: t.Any, credential: Credential) -> None:
        self.xid = xid
        self.procedure = procedure
        self.args = args
        self.credential = credential
        self.bulk = procedure.bulk_for(args)
        self.into: memoryview | None = None
        self.call: bytes = b""
        self.seals: list[object] | None = None
        """What opens the reply to a call that was sealed, for each time that it was sent."""
        self.done = False
        self.result: R | None = None
        self.error: NfsClientError | None = None
        self.sent_at = self.deadline = self.timeout = 0.0
        self.interval = self.resend_at = 0.0
        self.resent = 0
        self.may_be_unread = False
        """Whether it went out on a connection that had been idle: the server may have closed that at the same time."""
        self.then: Callable[[Pending[R]], None] | None = None
        """Called once the call is over, from within whatever waits for the connection: it must not wait."""


@dataclass(frozen=True, slots=True)
class CallReceived:
    """The peer made a call on this connection: a whole RPC message."""

    message: bytes


Event: t.TypeAlias = Pending[t.Any] | CallReceived


class Window(t.Protocol):
    """Calls in bulk that keep their own books by XID (`RpcClient.pipeline`)."""

    inflight: dict[int, t.Any]

    def release(self) -> None:
        """Give received bytes that it still holds to the core, because others follow."""
        ...

    def deliver(self, xid: int, record: Record) -> None:
        """Take a reply that another reader of the connection received."""
        ...


class CallCore(abc.ABC):
    """Calls, replies and deadlines; what streams and datagrams share."""

    transport: t.Literal["tcp", "udp"]

    def __init__(
        self, *, peer: str = "", xids: Iterator[int] | None = None, recorder: Recorder | None = None
    ) -> None:
        self.peer = peer
        self.local = ""
        """Our own address, for records; whoever owns the socket says it."""
        self.recorder = recorder
        self.raw_recorder: RawRecorder | None = None
        """Called for messages that belong to no call."""
        self.pending: dict[int, Pending[t.Any]] = {}
        self.windows: list[Window] = []
        self.is_quiet = False
        """Whether the connection was idle, and no reply to a call that was sent after that has come."""
        self.plans = Plans()
        self.strays: deque[bytes] = deque(maxlen=_KEPT_STRAYS)
        """Messages that answer no call of this client; the newest are kept, for callers that judge them."""
        self._ended: deque[Pending[t.Any]] = deque()
        """Calls that are over, and whose `then` is to be called when the core has done its work."""
        self.next_xid: Callable[[], int] = (xids if xids is not None else random_xids()).__next__
        """Gives a fresh XID."""

    def submit(
        self,
        procedure: Procedure[A, R],
        args: A,
        now: float,
        *,
        credential: Credential,
        timeout: float,
        xid: int | None = None,
        into: memoryview | None = None,
    ) -> Pending[R]:
        """Start a call; its bytes are among the output from now on. Raises `XdrError` for bad arguments."""
        number = self.next_xid() if xid is None else xid
        plan = self.plans.plan(procedure, credential)
        if plan.security is None:
            message: list[Buffer] = [number.to_bytes(4, "big"), plan.header]
            args.pack(message)
            pending = self.expect(procedure, args, number, credential, now, timeout)
        else:
            encoded = args.to_xdr()
            pending = self.expect(procedure, args, number, credential, now, timeout)
            message = [self._seal(plan.security, plan.prefix, encoded, pending)]
        pending.into = into
        if self.recorder is not None:
            pending.call = b"".join(message)
        self._send(pending, message)
        return pending

    def expect(
        self,
        procedure: Procedure[A, R],
        args: A,
        xid: int,
        credential: Credential,
        now: float,
        timeout: float,
    ) -> Pending[R]:
        """Note that a call was made at `now`, whose bytes are or will be sent, so that its reply is known."""
        if xid in self.pending:
            raise ValueError(f"a call with xid {xid:#x} is under way on this connection; use another xid")
        pending: Pending[R] = Pending(xid, procedure, args, credential)
        pending.sent_at = now
        pending.timeout = timeout
        pending.deadline = now + timeout
        self.pending[xid] = pending
        return pending

    def _seal(self, security: Security, prefix: bytes, args: bytes, pending: Pending[t.Any]) -> bytes:
        """A call with the next number of its context. It is kept, since no other encoding of it is the same."""
        head = pending.xid.to_bytes(4, "big") + prefix
        sealed = security.seal(head, args)
        if pending.seals is None:
            pending.seals = []
        pending.seals.append(sealed.token)
        pending.call = head + b"".join(sealed.after_head)
        return pending.call

    @abc.abstractmethod
    def _send(self, pending: Pending[t.Any], message: list[Buffer]) -> None:
        """Put the message of a new call among the output."""

    def settle(self, xid: int, result: object) -> None:
        """End a call whose reply was received and decoded outside of the core (`nfsclient.rpc.bulk`)."""
        pending = self.pending.pop(xid)
        pending.result = result
        pending.done = True
        if pending.may_be_unread:
            self._note_read()
        if pending.then is not None:
            pending.then(pending)

    def _report_ended(self) -> None:
        """Call who waits for the end of calls. Nothing of the core is half done by now: they may make new ones."""
        while self._ended:
            pending = self._ended.popleft()
            if pending.then is not None:
                pending.then(pending)

    def _note_read(self) -> None:
        """The server reads what came after the idle time: a close is not one of an idle connection any more."""
        self.is_quiet = False
        for pending in self.pending.values():
            pending.may_be_unread = False

    def cancel(self, pending: Pending[t.Any], error: NfsClientError) -> None:
        """End a call that is not answered."""
        self.pending.pop(pending.xid, None)
        pending.error = error
        self._finish(pending, None, None)

    def fail_all(self, cause: str) -> None:
        """End every call: the connection is gone."""
        for pending in list(self.pending.values()):
            self.cancel(pending, ConnectionLost(pending.procedure.label, cause))
        self._report_ended()

    def next_deadline(self) -> float | None:
        """When `handle_timeout` wants to be called, if nothing arrives before."""
        return min((pending.deadline for pending in self.pending.values()), default=None)

    def handle_timeout(self, now: float) -> list[Event]:
        """End the calls whose deadline has passed."""
        late = [pending for pending in self.pending.values() if pending.deadline <= now]
        for pending in late:
            self.cancel(pending, RpcTimeout(pending.procedure.label, pending.timeout))
        self._report_ended()
        return list(late)

    def take_message(self, record: Record, now: float) -> Event | None:
        """Match one whole message; the event it makes, if it makes one."""
        buf, start, end = record
        if end - start < 8:
            self.keep_stray(record.payload())
            return None
        xid, mtype = _TWO_WORDS.unpack_from(buf, start)
        if mtype == 0:
            return CallReceived(record.payload())
        pending = self.pending.pop(xid, None)
        if pending is None:
            self._take_stray(xid, record)
            return None
        if pending.may_be_unread:
            self._note_read()
        try:
            if pending.seals is None:
                pending.result = decode_reply(pending.procedure, record)
            else:
                pending.result = _open_reply(pending, record)
        except NfsClientError as error:
            pending.error = error
        if pending.into is not None and pending.result is not None:
            self._place(pending)
        self._finish(pending, record, now)
        return pending

    def _take_stray(self, xid: int, record: Record) -> None:
        for window in self.windows:
            if xid in window.inflight:
                window.deliver(xid, record)
                return
        self.keep_stray(record.payload())

    def keep_stray(self, message: bytes) -> None:
        """Put a message among the strays; the oldest give way when they become too many or too large."""
        if self.raw_recorder is not None:
            self.raw_recorder(False, message)
        self.strays.append(message)
        while len(self.strays) > 1 and sum(map(len, self.strays)) > _KEPT_STRAY_BYTES:
            self.strays.popleft()

    def _place(self, pending: Pending[t.Any]) -> None:
        """Copy bulk data that was received elsewhere to where the caller wants it."""
        bulk, into = pending.bulk, pending.into
        data = None if bulk is None else bulk.data(pending.result)
        if bulk is None or into is None or data is None or len(data) > len(into):
            return
        into[: len(data)] = data
        bulk.place(pending.result, into[: len(data)])

    def _finish(self, pending: Pending[t.Any], record: Record | None, now: float | None) -> None:
        pending.done = True
        if pending.then is not None:
            self._ended.append(pending)
        if self.recorder is None and pending.error is None:
            return
        exchange = Exchange(
            xid=pending.xid,
            procedure=pending.procedure,
            args=pending.args,
            credential=pending.credential,
            call=pending.call or self._encode_again(pending),
            sent_at=pending.sent_at,
            peer=self.peer,
            transport=self.transport,
            reply=None if record is None else record.payload(),
            result=pending.result,
            error=pending.error,
            received_at=now,
            local=self.local,
            resent=pending.resent,
        )
        if pending.error is not None:
            pending.error.exchange = exchange
        if self.recorder is not None:
            self.recorder(exchange)

    def _encode_again(self, pending: Pending[t.Any]) -> bytes:
        """The call message of a call that went out when nobody recorded."""
        header = self.plans.plan(pending.procedure, pending.credential).header
        message: list[Buffer] = [pending.xid.to_bytes(4, "big"), header]
        pending.args.pack(message)
        return b"".join(message)


def decode_reply(procedure: Procedure[t.Any, R], record: Record) -> R:
    """The results in a reply. Raises `RpcError` where there are none, `XdrError` when they do not decode."""
    buf, start, end = record
    if buf[start + 4 : min(end, start + USUAL_REPLY_SIZE)] == USUAL_REPLY:
        pos = start + USUAL_REPLY_SIZE
    else:
        message = record.payload()
        offset, error = parse_reply(message, 0, procedure.label)
        if error is not None:
            if offset != len(message) and not isinstance(error, BadReply):
                raise BadReply(f"{len(message) - offset} bytes follow a reply without results", message)
            raise error
        pos = start + offset
    try:
        result, stop = procedure.res.unpack_from(buf, pos)
        if stop == end:
            return result
    except XdrError:
        pass
    # In place, the decoder may have run into the next record: judge this record by its own bytes.
    return procedure.res.from_xdr(bytes(buf[pos:end]))


def _open_reply(pending: Pending[R], record: Record) -> R:
    """The results in the reply to a sealed call. Raises as `decode_reply` does, or what `Security.open` raises."""
    assert isinstance(pending.credential, Security)
    assert pending.seals is not None
    results, error = open_reply(pending.credential, pending.seals, record.payload(), pending.procedure.label)
    if error is not None:
        raise error
    return pending.procedure.res.from_xdr(results)


class StreamCore(CallCore):
    """Calls over a byte stream, with record marking."""

    transport = "tcp"

    def __init__(
        self,
        *,
        peer: str = "",
        xids: Iterator[int] | None = None,
        recorder: Recorder | None = None,
        max_record: int = DEFAULT_MAX_RECORD,
        fragment_sizes: Sequence[int] | None = None,
    ) -> None:
        super().__init__(peer=peer, xids=xids, recorder=recorder)
        self.assembler = RecordAssembler(max_record)
        self.fragment_sizes = fragment_sizes
        """How calls are cut into fragments from now on; None for one fragment each."""
        self._output: list[Buffer] = []

    def _send(self, pending: Pending[t.Any], message: list[Buffer]) -> None:  # noqa: ARG002
        self.send_message(message)

    def send_message(self, message: list[Buffer]) -> None:
        """Put a whole message among the output, as a record."""
        if self.fragment_sizes is None:
            self._output += frame(message)
        else:
            self._output.append(fragment(b"".join(message), self.fragment_sizes))

    def take_output(self) -> list[Buffer]:
        """The bytes to send, as buffers; they are the driver's from now on."""
        output, self._output = self._output, []
        return output

    def receive(self, data: bytes, now: float) -> list[Event]:
        """Take bytes that arrived; the events they make. Raises `BadReply` when the stream cannot go on."""
        events = [self.take_message(record, now) for record in self.assembler.feed(data)]
        self._report_ended()
        if self.assembler.broken is not None:
            raise self.assembler.broken
        return [event for event in events if event is not None]


class DatagramCore(CallCore):
    """Calls over datagrams, each sent again until it is answered, with the pause doubled each time."""

    transport = "udp"

    def __init__(
        self,
        *,
        peer: str = "",
        xids: Iterator[int] | None = None,
        recorder: Recorder | None = None,
        first_interval: float = 0.7,
        longest_interval: float = 30.0,
    ) -> None:
        super().__init__(peer=peer, xids=xids, recorder=recorder)
        self.first_interval = first_interval
        self.longest_interval = longest_interval
        self.retransmissions = 0
        self._output: list[bytes] = []
        self._datagrams: dict[int, bytes] = {}

    def _send(self, pending: Pending[t.Any], message: list[Buffer]) -> None:
        datagram = b"".join(message)
        self._datagrams = {xid: data for xid, data in self._datagrams.items() if xid in self.pending}
        self._datagrams[pending.xid] = datagram
        pending.interval = self.first_interval
        pending.resend_at = pending.sent_at + pending.interval
        self._output.append(datagram)

    def send_message(self, message: list[Buffer]) -> None:
        """Put a whole message among the output, as a datagram."""
        self._output.append(b"".join(message))

    def take_output(self) -> list[bytes]:
        """The datagrams to send."""
        output, self._output = self._output, []
        return output

    def next_deadline(self) -> float | None:
        """When a call is to be repeated or given up."""
        times = (min(pending.deadline, pending.resend_at) for pending in self.pending.values())
        return min(times, default=None)

    def handle_timeout(self, now: float) -> list[Event]:
        """Give up what is overdue, repeat what is due."""
        late = super().handle_timeout(now)
        for pending in self.pending.values():
            if pending.resend_at <= now:
                self._output.append(self._again(pending))
                self.retransmissions += 1
                pending.resent += 1
                pending.interval = min(pending.interval * 2, self.longest_interval)
                pending.resend_at = now + pending.interval
        return late

    def _again(self, pending: Pending[t.Any]) -> bytes:
        security = self.plans.plan(pending.procedure, pending.credential).security
        if security is None:
            return self._datagrams[pending.xid]
        return self._seal(security, pending.call[4:24], pending.args.to_xdr(), pending)

    def receive(self, data: bytes, now: float) -> list[Event]:
        """Take one datagram; the event it makes, if any."""
        event = self.take_message(Record(data, 0, len(data)), now)
        self._report_ended()
        return [] if event is None else [event]
