# SPDX-License-Identifier: MIT
"""The connection core: bytes and times in, bytes and events out; no sockets, no waiting."""

from __future__ import annotations

import itertools
import struct
import typing as t

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nfsclient.errors import BadPadding, BadReply, ConnectionLost, ProcUnavail, RpcTimeout, XdrError
from nfsclient.rpc.auth import AuthNone, AuthSys, Credential, RawCredential
from nfsclient.rpc.core import CallReceived, DatagramCore, Pending, StreamCore
from nfsclient.rpc.exchange import Exchange
from nfsclient.rpc.program import Procedure
from nfsclient.rpc.record import RecordAssembler, fragment
from nfsclient.xdr import Opaque, Struct, u32


class EchoArgs(Struct):
    number: u32
    text: t.Annotated[bytes, Opaque(100)] = b""


class EchoRes(Struct):
    number: u32
    text: t.Annotated[bytes, Opaque(100)] = b""


ECHO: Procedure[EchoArgs, EchoRes] = Procedure(0x2000_0000, 7, 1, "ECHO", EchoArgs, EchoRes)
FIRST_XID = 100


def words(*values: int) -> bytes:
    return struct.pack(f">{len(values)}I", *values)


def success(xid: int, number: int = 0, text: bytes = b"") -> bytes:
    return words(xid, 1, 0, 0, 0, 0) + EchoRes(number, text).to_xdr()


def marked(message: bytes) -> bytes:
    return fragment(message, [])


def stream_core(**options: t.Any) -> StreamCore:
    return StreamCore(peer="peer", xids=itertools.count(FIRST_XID), **options)


def submit(
    core: StreamCore | DatagramCore, number: int = 0, now: float = 0.0, **options: t.Any
) -> Pending[EchoRes]:
    chosen: dict[str, t.Any] = {"credential": AuthNone(), "timeout": 5.0} | options
    return core.submit(ECHO, EchoArgs(number), now, **chosen)


def sent(core: StreamCore) -> list[bytes]:
    """The messages among the output."""
    return [record.payload() for record in RecordAssembler().feed(b"".join(core.take_output()))]


# ---------------------------------------------------------------- calls out


def test_a_call_on_the_wire() -> None:
    core = stream_core()
    core.submit(ECHO, EchoArgs(9, b"abc"), 0.0, credential=AuthNone(), timeout=5.0)
    message = words(FIRST_XID, 0, 2, 0x2000_0000, 7, 1, 0, 0, 0, 0, 9, 3) + b"abc\0"
    assert b"".join(core.take_output()) == words(0x8000_0000 | len(message)) + message
    assert core.take_output() == []


def test_each_credential_goes_out_as_it_is() -> None:
    core = stream_core()
    credentials: list[Credential] = [
        AuthSys(1, 2),
        RawCredential(9, bytes(401)),
        AuthSys(1, 3),
        AuthNone(),
        AuthSys(1, 2),
    ]
    for credential in credentials:
        submit(core, credential=credential)
    for message, credential in zip(sent(core), credentials, strict=True):
        assert message[24:-8] == b"".join(credential.opaque())


def test_xids_are_those_of_the_source_or_as_chosen() -> None:
    core = stream_core()
    pendings = [submit(core), submit(core, xid=5), submit(core)]
    assert [pending.xid for pending in pendings] == [100, 5, 101]
    assert [message[:4] for message in sent(core)] == [words(100), words(5), words(101)]


def test_xids_wrap_at_32_bits() -> None:
    core = StreamCore()
    assert all(0 <= core.next_xid() < 2**32 for _ in range(1000))


def test_calls_are_cut_into_fragments_as_asked() -> None:
    core = stream_core(fragment_sizes=[4, 0])
    submit(core)
    output = b"".join(core.take_output())
    assert output.startswith(words(4, FIRST_XID, 0))


def test_arguments_that_cannot_be_encoded_leave_nothing() -> None:
    core = stream_core()
    with pytest.raises(XdrError, match="number"):
        submit(core, -1)
    assert not core.pending
    assert core.take_output() == []


# ---------------------------------------------------------------- replies


def test_a_reply_ends_its_call() -> None:
    core = stream_core()
    pending = submit(core)
    assert core.receive(marked(success(pending.xid, 7, b"hello")), 1.0) == [pending]
    assert pending.done
    assert pending.result == EchoRes(7, b"hello")
    assert pending.error is None
    assert not core.pending


def test_every_split_of_the_stream_gives_the_same() -> None:
    stream = (
        marked(success(100, 1, b"x"))
        + fragment(success(101, 2), [3, 0, 9])
        + marked(words(102, 1, 0, 0, 0, 3))
    )
    for place in range(len(stream) + 1):
        core = stream_core()
        first, second, third = [submit(core) for _ in range(3)]
        core.receive(stream[:place], 1.0)
        core.receive(stream[place:], 1.0)
        assert (first.result, second.result) == (EchoRes(1, b"x"), EchoRes(2))
        assert isinstance(third.error, ProcUnavail)


@given(st.permutations(range(8)), st.lists(st.integers(0, 500), max_size=10))
def test_replies_match_in_any_order(order: list[int], places: list[int]) -> None:
    core = stream_core()
    pendings = [submit(core, number) for number in range(8)]
    stream = b"".join(marked(success(pendings[index].xid, index)) for index in order)
    edges = sorted({0, len(stream), *(min(place, len(stream)) for place in places)})
    events = [
        event for start, end in itertools.pairwise(edges) for event in core.receive(stream[start:end], 1.0)
    ]
    assert events == [pendings[index] for index in order]
    assert [pending.result for pending in pendings] == [EchoRes(number) for number in range(8)]


def test_a_verifier_of_another_flavour_is_passed_over() -> None:
    core = stream_core()
    pending = submit(core)
    core.receive(marked(words(pending.xid, 1, 0, 2, 3) + b"abc\0" + words(0, 7, 0)), 1.0)
    assert pending.result == EchoRes(7)


@pytest.mark.parametrize(
    ("message", "kind", "text"),
    [
        (words(100, 1, 2, 0, 0, 0), BadReply, "reply_stat"),
        (words(100, 5, 0, 0, 0, 0), BadReply, "type"),
        (words(100, 1, 0, 0, 404) + bytes(404) + words(0, 0, 0), BadReply, "404"),
        (words(100, 1, 0, 0, 0, 77), BadReply, "77"),
        (words(100, 1, 0, 0, 0, 3) + b"more", BadReply, "4 bytes"),
        (words(100, 1, 1, 1, 1) + b"more", BadReply, "4 bytes"),
        (words(100, 1, 0, 0, 0, 0, 1), XdrError, "text"),
        (words(100, 1, 0, 0, 0, 0, 1, 0) + b"more", XdrError, "left over"),
        (words(100, 1, 0, 0, 0, 0, 1, 3) + b"abc\1", BadPadding, "padding"),
        (words(100, 1, 0, 0, 0, 0, 1, 101) + bytes(104), XdrError, "101"),
    ],
    ids=[
        "unknown-reply-stat",
        "wrong-mtype",
        "long-verifier",
        "unknown-accept-stat",
        "refusal-with-trailing-bytes",
        "denial-with-trailing-bytes",
        "results-cut-short",
        "results-with-trailing-bytes",
        "dirty-padding",
        "over-the-limit",
    ],
)
def test_replies_that_break_rules_end_their_call_with_an_error(
    message: bytes, kind: type[Exception], text: str
) -> None:
    for following in (b"", marked(success(101, 1))):
        core = stream_core()
        pending, other = submit(core), submit(core)
        core.receive(marked(message) + following, 1.0)
        assert type(pending.error) is kind
        assert text in str(pending.error)
        assert other.done == bool(following)


def test_messages_that_answer_nothing_are_kept() -> None:
    core = stream_core()
    pending = submit(core)
    assert core.receive(marked(success(7)) + marked(b"") + marked(b"1234567"), 1.0) == []
    core.receive(marked(success(pending.xid)) * 2, 1.0)
    assert list(core.strays) == [success(7), b"", b"1234567", success(pending.xid)]


def test_the_kept_messages_are_bounded() -> None:
    core = stream_core()
    for xid in range(1000):
        core.receive(marked(success(xid)), 1.0)
    assert len(core.strays) <= 100
    assert core.strays[-1] == success(999)


def test_the_memory_of_the_kept_messages_is_bounded() -> None:
    core = stream_core()
    for xid in range(10):
        core.receive(marked(words(xid, 1) + bytes(4 << 20)), 1.0)
    assert sum(map(len, core.strays)) <= 16 << 20


def test_a_call_of_the_peer_is_an_event() -> None:
    core = stream_core()
    pending = submit(core)
    message = words(pending.xid, 0, 2, 0x4000_0000, 1, 0, 0, 0, 0, 0)
    assert core.receive(marked(message), 1.0) == [CallReceived(message)]
    assert not pending.done


def test_a_record_beyond_the_bound_breaks_the_stream() -> None:
    core = stream_core(max_record=1000)
    submit(core)
    with pytest.raises(BadReply, match="1000"):
        core.receive(words(0x8000_0000 | 1001), 1.0)


def test_replies_in_front_of_a_broken_record_still_count() -> None:
    core = stream_core(max_record=1000)
    answered, other = submit(core), submit(core)
    with pytest.raises(BadReply, match="1000"):
        core.receive(marked(success(answered.xid, 3)) + words(0x8000_0000 | 1001), 1.0)
    assert answered.result == EchoRes(3)
    assert not other.done
    with pytest.raises(BadReply):
        core.receive(b"more", 1.0)


@given(st.lists(st.one_of(st.binary(max_size=40), st.binary(max_size=60).map(marked)), max_size=10))
def test_hostile_bytes_raise_nothing_but_bad_reply(chunks: list[bytes]) -> None:
    core = stream_core(max_record=1000)
    submit(core, xid=0)
    for chunk in chunks:
        try:
            core.receive(chunk, 1.0)
        except BadReply:
            return


# ---------------------------------------------------------------- deadlines


def test_a_call_ends_at_its_deadline() -> None:
    core = stream_core()
    early, late = submit(core, timeout=2.0), submit(core, now=1.0, timeout=5.0)
    assert core.next_deadline() == 2.0
    assert core.handle_timeout(1.9) == []
    assert core.handle_timeout(2.0) == [early]
    assert isinstance(early.error, RpcTimeout)
    assert core.next_deadline() == 6.0
    assert core.handle_timeout(6.5) == [late]
    assert core.next_deadline() is None


def test_a_reply_after_the_deadline_is_kept_among_the_strays() -> None:
    core = stream_core()
    pending = submit(core, timeout=2.0)
    core.handle_timeout(2.0)
    assert core.receive(marked(success(pending.xid)), 3.0) == []
    assert isinstance(pending.error, RpcTimeout)
    assert list(core.strays) == [success(pending.xid)]


def test_the_end_of_the_connection_ends_all_calls() -> None:
    core = stream_core()
    pendings = [submit(core) for _ in range(3)]
    core.fail_all("reset by peer")
    assert all(isinstance(pending.error, ConnectionLost) for pending in pendings)
    assert "reset by peer" in str(pendings[0].error)


# ---------------------------------------------------------------- datagrams


def datagram_core(**options: t.Any) -> DatagramCore:
    return DatagramCore(peer="peer", xids=itertools.count(FIRST_XID), **options)


def test_a_datagram_is_repeated_with_doubled_pauses_until_it_is_answered() -> None:
    core = datagram_core(first_interval=1.0, longest_interval=4.0)
    pending = submit(core, timeout=60.0)
    (first,) = core.take_output()
    times = []
    for _ in range(6):
        due = core.next_deadline()
        assert due is not None
        core.handle_timeout(due - 0.01)
        assert core.take_output() == []
        core.handle_timeout(due)
        assert core.take_output() == [first]
        times.append(due)
    assert times == [1.0, 3.0, 7.0, 11.0, 15.0, 19.0]
    core.receive(success(pending.xid, 5), 20.0)
    assert pending.result == EchoRes(5)
    assert core.next_deadline() is None


def test_a_datagram_call_is_given_up_at_its_deadline() -> None:
    core = datagram_core(first_interval=1.0)
    pending = submit(core, timeout=2.5)
    core.take_output()
    core.handle_timeout(1.0)
    assert core.next_deadline() == 2.5
    assert core.handle_timeout(2.5) == [pending]
    assert isinstance(pending.error, RpcTimeout)
    assert len(core.take_output()) == 1


def test_a_second_answer_to_a_repeated_datagram_is_kept_among_the_strays() -> None:
    core = datagram_core()
    pending = submit(core)
    assert core.receive(success(pending.xid), 1.0) == [pending]
    assert core.receive(success(pending.xid), 1.1) == []
    assert list(core.strays) == [success(pending.xid)]


@given(st.lists(st.binary(max_size=60), max_size=10))
def test_hostile_datagrams_raise_nothing(datagrams: list[bytes]) -> None:
    core = datagram_core()
    submit(core, xid=0)
    for datagram in datagrams:
        core.receive(datagram, 1.0)


# ---------------------------------------------------------------- recording


def test_an_exchange_is_recorded_when_it_is_over() -> None:
    seen: list[Exchange] = []
    core = stream_core(recorder=seen.append)
    pending = submit(core, 3, now=10.0)
    (message,) = sent(core)
    assert seen == []
    core.receive(marked(success(pending.xid, 4)), 11.0)
    (exchange,) = seen
    assert exchange.xid == pending.xid
    assert (exchange.procedure, exchange.args, exchange.result) == (ECHO, EchoArgs(3), EchoRes(4))
    assert (exchange.call, exchange.reply) == (message, success(pending.xid, 4))
    assert (exchange.sent_at, exchange.received_at) == (10.0, 11.0)
    assert (exchange.peer, exchange.transport, exchange.error) == ("peer", "tcp", None)


def test_an_exchange_without_answer_is_recorded_with_its_error() -> None:
    seen: list[Exchange] = []
    core = datagram_core(recorder=seen.append)
    pending = submit(core, timeout=1.0)
    core.handle_timeout(1.0)
    (exchange,) = seen
    assert exchange.error is pending.error
    assert (exchange.reply, exchange.received_at, exchange.transport) == (None, None, "udp")
    assert pending.error is not None
    assert pending.error.exchange is exchange


def test_an_error_carries_its_exchange() -> None:
    seen: list[Exchange] = []
    core = stream_core(recorder=seen.append)
    pending = submit(core)
    core.receive(marked(words(pending.xid, 1, 0, 0, 0, 0) + b"\0\0\0"), 1.0)
    assert isinstance(pending.error, XdrError)
    assert pending.error.exchange is seen[0]
    assert seen[0].reply is not None


# ---------------------------------------------------------------- who waits for the end of a call


def test_who_waits_for_the_end_of_a_call_is_called_when_the_core_has_done_its_work() -> None:
    """It may make further calls: the other replies of the same bytes are taken in by then."""
    core = stream_core()
    first, second = submit(core, 1), submit(core, 2)
    core.take_output()
    seen: list[bool] = []

    def then(pending: Pending[EchoRes]) -> None:
        seen.extend((pending.done, second.done))
        submit(core, 3)

    first.then = then
    core.receive(marked(success(first.xid, 1)) + marked(success(second.xid, 2)), 0.5)
    assert seen == [True, True]
    assert len(sent(core)) == 1


@pytest.mark.parametrize("how", ["late", "lost", "settled"])
def test_it_is_called_however_a_call_ends(how: str) -> None:
    core = stream_core()
    pending = submit(core)
    seen: list[Pending[EchoRes]] = []
    pending.then = seen.append
    if how == "late":
        core.handle_timeout(6.0)
    elif how == "lost":
        core.fail_all("for the test")
    else:
        core.settle(pending.xid, EchoRes(0))
    assert seen == [pending]
