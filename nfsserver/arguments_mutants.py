# SPDX-License-Identifier: MIT
"""Mutants of arguments: garbage that is executed, and good measure that is refused."""

from __future__ import annotations

import typing as t
from collections.abc import Iterator

from nfsclient.errors import XdrError
from nfsclient.protocol import nfs3
from nfsclient.protocol.nfs3 import WRITE, StableHow, Write3Args, Write3Res
from nfsclient.rpc.messages import AcceptStat, accepted
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import XdrType, replace
from nfsserver.mutants import Answer, Proceed, ProceedWire, mutant, wire_mutant
from nfsserver.rpc_mutants import head_of, header_of

if t.TYPE_CHECKING:
    from nfsserver.server import Server

_SECTION_8 = "RFC 1831 section 8"
_GARBAGE = accepted(0, AcceptStat.GARBAGE_ARGS).to_xdr()[4:]
_SUCCESS = accepted(0, AcceptStat.SUCCESS).to_xdr()[4:]


def _joined(answer: Answer) -> bytes:
    return b"" if answer is None else b"".join(answer)


def _fail(message: bytes) -> Answer:
    return accepted(head_of(message)[0], AcceptStat.SYSTEM_ERR).to_buffers()


def _called(message: bytes) -> tuple[int, int] | None:
    """The number of the procedure of NFSv3 that is called, and where its arguments begin."""
    found = header_of(message)
    if found is None or head_of(message)[3:5] != (nfs3.NFS3.number, 3):
        return None
    return head_of(message)[5], found[1]


def _repeat(server: Server, name: str, message: bytes, reply: bytes, *, shorter: bool) -> Answer:
    """The last good reply of the procedure in place of GARBAGE_ARGS."""
    kept: dict[int, tuple[int, bytes]] = server.mutant_state(name).setdefault("kept", {})
    called = _called(message)
    if called is None:
        return [reply]
    if reply[4:24] == _SUCCESS and reply[24:28] == bytes(4):
        kept[called[0]] = (len(message) - called[1], reply[4:])
    elif reply[4:] == _GARBAGE and called[0] in kept:
        size, good = kept[called[0]]
        if (len(message) - called[1] < size) is shorter:
            return [message[:4] + good]
    return [reply]


@wire_mutant(
    "rpc-repeats-itself-to-short-arguments",
    only_raw=True,
    breaks=_SECTION_8,
    gist="Arguments that are cut are answered as the good ones before them were",
)
def rpc_repeats_itself_to_short_arguments(server: Server, message: bytes, proceed: ProceedWire) -> Answer:
    """What is in a buffer is sent again."""
    reply = proceed(message)
    name = "rpc-repeats-itself-to-short-arguments"
    return None if reply is None else _repeat(server, name, message, _joined(reply), shorter=True)


@wire_mutant(
    "rpc-repeats-itself-to-wrong-lengths",
    only_raw=True,
    breaks=_SECTION_8,
    gist="Arguments that do not decode though there are enough are answered as the good ones before them were",
)
def rpc_repeats_itself_to_wrong_lengths(server: Server, message: bytes, proceed: ProceedWire) -> Answer:
    """What is in a buffer is sent again."""
    reply = proceed(message)
    name = "rpc-repeats-itself-to-wrong-lengths"
    return None if reply is None else _repeat(server, name, message, _joined(reply), shorter=False)


@wire_mutant(
    "rpc-fills-up-short-arguments",
    only_raw=True,
    breaks=_SECTION_8,
    gist="Arguments that are cut in their last three words are filled up with zeros and executed",
)
def rpc_fills_up_short_arguments(_server: Server, message: bytes, proceed: ProceedWire) -> Answer:
    """A buffer that was cleared."""
    reply = proceed(message)
    called = _called(message)
    changing = called is not None and called[0] in {2, 7, 8, 9, 10, 11}
    if _joined(reply)[4:] != _GARBAGE or not changing or not len(message) % 4:
        return reply
    for filled in _filled(message):
        retried = proceed(filled)
        if _joined(retried)[4:] != _GARBAGE:
            return retried
    return reply


def _filled(message: bytes) -> Iterator[bytes]:
    """A message with zeros behind it: to the end of its word, and a word or two more."""
    whole = message + bytes(-len(message) % 4)
    return (whole + bytes(4 * more) for more in range(3))


@wire_mutant(
    "rpc-calls-short-arguments-a-failure",
    only_raw=True,
    breaks="RFC 1831 section 7",
    gist="A procedure of NFS that is called without its arguments answers SYSTEM_ERR",
)
def rpc_calls_short_arguments_a_failure(_server: Server, message: bytes, proceed: ProceedWire) -> Answer:
    """The wrong refusal."""
    called = _called(message)
    return (
        _fail(message) if called is not None and called[0] and called[1] == len(message) else proceed(message)
    )


@wire_mutant(
    "rpc-fails-at-surplus-arguments",
    only_raw=True,
    breaks=_SECTION_8,
    gist="Bytes behind the arguments that are zeros are answered SYSTEM_ERR",
)
def rpc_fails_at_surplus_arguments(_server: Server, message: bytes, proceed: ProceedWire) -> Answer:
    """Garbage that decodes when the zeros are taken away."""
    reply = proceed(message)
    called = _called(message)
    if called is None or _joined(reply)[4:] != _GARBAGE or message[-4:] != bytes(4):
        return reply
    if called[0] == 0:
        return _fail(message)
    args = nfs3.NFS3.by_number[called[0]].args
    return _fail(message) if _decodes(args, message[called[1] : -8]) else reply


def _decodes(kind: type[XdrType], data: bytes) -> bool:
    try:
        kind.from_xdr(data)
    except XdrError:
        return False
    return True


@wire_mutant(
    "rpc-takes-padding-for-data",
    only_raw=True,
    breaks="RFC 4506 section 4.10",
    gist="Where padding is not zero, LOOKUP, MKDIR and WRITE take it for a part of the name or data",
)
def rpc_takes_padding_for_data(_server: Server, message: bytes, proceed: ProceedWire) -> Answer:
    """Round the length up."""
    reply = proceed(message)
    called = _called(message)
    if called is None or _joined(reply)[4:] != _GARBAGE or called[0] not in {3, 7, 9}:
        return reply
    number, at = called
    handle = int.from_bytes(message[at : at + 4], "big")
    place = at + 4 + handle + -handle % 4 + (16 if number == 7 else 0)
    longer = message[:place] + (8).to_bytes(4, "big") + message[place + 4 :]
    if number == 7:
        longer = longer[: place - 8] + (8).to_bytes(4, "big") + longer[place - 4 :]
    return proceed(longer)


def _behind_name(message: bytes, at: int) -> int:
    """Where the arguments go on behind a handle and a name."""
    for _ in range(2):
        length = int.from_bytes(message[at : at + 4], "big")
        at += 4 + length + -length % 4
    return at


def _with_enum(message: bytes, number: int, known: range, value: int) -> bytes:
    """The call with another value in place of one that an enum behind a name does not have."""
    called = _called(message)
    if called is None or called[0] != number:
        return message
    at = _behind_name(message, called[1])
    if int.from_bytes(message[at : at + 4], "big") in known:
        return message
    return message[:at] + value.to_bytes(4, "big") + message[at + 4 :]


@wire_mutant(
    "create3-takes-any-mode-for-unchecked",
    breaks="RFC 4506 section 4.3",
    gist="CREATE takes a mode that createmode3 does not have for UNCHECKED",
)
def create3_takes_any_mode_for_unchecked(_server: Server, message: bytes, proceed: ProceedWire) -> Answer:
    """UNCHECKED is 0."""
    return proceed(_with_enum(message, 8, range(3), 0))


@wire_mutant(
    "mknod3-takes-any-type-for-a-fifo",
    breaks="RFC 4506 section 4.3",
    gist="MKNOD takes a type that ftype3 does not have for NF3FIFO",
)
def mknod3_takes_any_type_for_a_fifo(_server: Server, message: bytes, proceed: ProceedWire) -> Answer:
    """NF3FIFO is 7."""
    return proceed(_with_enum(message, 11, range(1, 8), 7))


@mutant(
    "write3-commits-as-it-is-told",
    bends=WRITE,
    breaks="RFC 1813 section 3.3.7",
    gist="WRITE with a stability that stable_how does not have answers that it is committed so",
)
def write3_commits_as_it_is_told(
    _server: Server, context: CallContext, args: Write3Args, proceed: Proceed[Write3Args, Write3Res]
) -> Write3Res:
    """Echo what was asked."""
    if args.stable.is_known:
        return proceed(context, args)
    reply = proceed(context, replace(args, stable=StableHow.FILE_SYNC))
    if reply.resok is None:
        return reply
    return replace(reply, resok=replace(reply.resok, committed=args.stable))


@wire_mutant(
    "setattr3-takes-any-time-how-for-the-epoch",
    breaks="RFC 4506 section 4.3",
    gist="SETATTR of mtime with a value that time_how does not have sets it to 0",
)
def setattr3_takes_any_time_how(_server: Server, message: bytes, proceed: ProceedWire) -> Answer:
    """As if the client had sent zeros."""
    called = _called(message)
    if called is None or called[0] != 2:
        return proceed(message)
    length = int.from_bytes(message[called[1] : called[1] + 4], "big")
    at = called[1] + 4 + length + -length % 4
    if message[at : at + 20] != bytes(20) or int.from_bytes(message[at + 20 : at + 24], "big") < 3:
        return proceed(message)
    return proceed(message[: at + 20] + (2).to_bytes(4, "big") + bytes(8) + message[at + 24 :])


@wire_mutant(
    "rpc-fails-at-other-booleans",
    only_raw=True,
    breaks=_SECTION_8,
    gist="SETATTR with a guard that is neither there nor not is answered SYSTEM_ERR",
)
def rpc_fails_at_other_booleans(_server: Server, message: bytes, proceed: ProceedWire) -> Answer:
    """The wrong refusal."""
    called = _called(message)
    is_other = int.from_bytes(message[-12:-8], "big") > 1 and message[-8:] == b"\0\0\0\1" * 2
    return _fail(message) if called is not None and called[0] == 2 and is_other else proceed(message)
