# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/rpc/test_arguments.py catch."""

from __future__ import annotations

from collections.abc import Iterator

from nfsclient.errors import XdrError
from nfsclient.protocol import nfs3
from nfsclient.protocol.nfs3 import WRITE, StableHow, Write3Args, Write3Res
from nfsclient.rpc.messages import AcceptStat, accepted
from nfsclient.xdr import XdrType
from nfsmutants.bending import amend
from nfsmutants.form import Call, Message, mutant, wire_mutant
from nfsmutants.rpc.headers import head_of, header_of, joined
from nfsserver.middleware import Answer

_GARBAGE = accepted(0, AcceptStat.GARBAGE_ARGS).to_xdr()[4:]
_SUCCESS = accepted(0, AcceptStat.SUCCESS).to_xdr()[4:]


def _fail(message: bytes) -> Answer:
    return accepted(head_of(message)[0], AcceptStat.SYSTEM_ERR).to_buffers()


def _called(message: bytes) -> tuple[int, int] | None:
    """The procedure number of a call of NFSv3, and the offset of its arguments."""
    found = header_of(message)
    if found is None or head_of(message)[3:5] != (nfs3.NFS3.number, 3):
        return None
    return head_of(message)[5], found[1]


def _repeat(message: Message, *, shorter: bool) -> Answer:
    """The last successful reply of the procedure instead of GARBAGE_ARGS."""
    answer, data = message.proceed(), message.data
    if answer is None:
        return None
    reply = joined(answer)
    kept: dict[int, tuple[int, bytes]] = message.state.setdefault("kept", {})
    called = _called(data)
    if called is None:
        return [reply]
    if reply[4:24] == _SUCCESS and reply[24:28] == bytes(4):
        kept[called[0]] = (len(data) - called[1], reply[4:])
    elif reply[4:] == _GARBAGE and called[0] in kept:
        size, good = kept[called[0]]
        if (len(data) - called[1] < size) is shorter:
            return [data[:4] + good]
    return [reply]


@wire_mutant(only_raw=True)
def rpc_repeats_a_reply_to_short_arguments(message: Message) -> Answer:
    """Truncated arguments get the reply to the valid ones before them"""
    return _repeat(message, shorter=True)


@wire_mutant(only_raw=True)
def rpc_repeats_a_reply_to_wrong_lengths(message: Message) -> Answer:
    """Arguments that are long enough but do not decode get the reply to the valid ones before them"""
    return _repeat(message, shorter=False)


@wire_mutant(only_raw=True)
def rpc_pads_short_arguments(message: Message) -> Answer:
    """Arguments that are truncated in their last three words are padded with zeros and executed"""
    reply = message.proceed()
    called = _called(message.data)
    changing = called is not None and called[0] in {2, 7, 8, 9, 10, 11}
    if joined(reply)[4:] != _GARBAGE or not changing or not len(message.data) % 4:
        return reply
    for filled in _filled(message.data):
        retried = message.proceed(filled)
        if joined(retried)[4:] != _GARBAGE:
            return retried
    return reply


def _filled(message: bytes) -> Iterator[bytes]:
    """A message followed by zeros: to the end of its word, and a word or two more."""
    whole = message + bytes(-len(message) % 4)
    return (whole + bytes(4 * more) for more in range(3))


@wire_mutant(only_raw=True)
def rpc_missing_arguments_are_system_err(message: Message) -> Answer:
    """A procedure of NFS without its arguments answers SYSTEM_ERR"""
    called = _called(message.data)
    return (
        _fail(message.data)
        if called is not None and called[0] and called[1] == len(message.data)
        else message.proceed()
    )


@wire_mutant(only_raw=True)
def rpc_surplus_arguments_are_system_err(message: Message) -> Answer:
    """Zeros after the arguments cause SYSTEM_ERR"""
    reply = message.proceed()
    called = _called(message.data)
    if called is None or joined(reply)[4:] != _GARBAGE or message.data[-4:] != bytes(4):
        return reply
    if called[0] == 0:
        return _fail(message.data)
    args = nfs3.NFS3.by_number[called[0]].args
    return _fail(message.data) if _decodes(args, message.data[called[1] : -8]) else reply


def _decodes(kind: type[XdrType], data: bytes) -> bool:
    try:
        kind.from_xdr(data)
    except XdrError:
        return False
    return True


@wire_mutant(only_raw=True)
def rpc_treats_padding_as_data(message: Message) -> Answer:
    """LOOKUP, MKDIR and WRITE treat padding other than zeros as a part of the name or data"""
    reply = message.proceed()
    called = _called(message.data)
    if called is None or joined(reply)[4:] != _GARBAGE or called[0] not in {3, 7, 9}:
        return reply
    number, at = called
    handle = int.from_bytes(message.data[at : at + 4], "big")
    place = at + 4 + handle + -handle % 4 + (16 if number == 7 else 0)
    longer = message.data[:place] + (8).to_bytes(4, "big") + message.data[place + 4 :]
    if number == 7:
        longer = longer[: place - 8] + (8).to_bytes(4, "big") + longer[place - 4 :]
    return message.proceed(longer)


def _after_name(message: bytes, at: int) -> int:
    """The offset of the arguments that follow a handle and a name."""
    for _ in range(2):
        length = int.from_bytes(message[at : at + 4], "big")
        at += 4 + length + -length % 4
    return at


def _with_enum(message: bytes, number: int, known: range, value: int) -> bytes:
    """The call with `value` instead of an undefined value of the enum that follows a name."""
    called = _called(message)
    if called is None or called[0] != number:
        return message
    at = _after_name(message, called[1])
    if int.from_bytes(message[at : at + 4], "big") in known:
        return message
    return message[:at] + value.to_bytes(4, "big") + message[at + 4 :]


@wire_mutant()
def create3_treats_unknown_modes_as_unchecked(message: Message) -> Answer:
    """CREATE treats a mode that createmode3 does not define as UNCHECKED"""
    return message.proceed(_with_enum(message.data, 8, range(3), 0))


@wire_mutant()
def mknod3_treats_unknown_types_as_fifo(message: Message) -> Answer:
    """MKNOD treats a type that ftype3 does not define as NF3FIFO"""
    return message.proceed(_with_enum(message.data, 11, range(1, 8), 7))


@mutant(WRITE)
def write3_echoes_unknown_stable_how(call: Call[Write3Args, Write3Res]) -> Write3Res:
    """WRITE with a stability that stable_how does not define returns the same value in committed"""
    if call.args.stable.is_known:
        return call.proceed()
    return amend(call.proceed_with(stable=StableHow.FILE_SYNC), committed=call.args.stable)


@wire_mutant()
def setattr3_treats_unknown_time_how_as_epoch(message: Message) -> Answer:
    """SETATTR of mtime with a value that time_how does not define sets it to 0"""
    called = _called(message.data)
    if called is None or called[0] != 2:
        return message.proceed()
    length = int.from_bytes(message.data[called[1] : called[1] + 4], "big")
    at = called[1] + 4 + length + -length % 4
    if message.data[at : at + 20] != bytes(20) or int.from_bytes(message.data[at + 20 : at + 24], "big") < 3:
        return message.proceed()
    return message.proceed(
        message.data[: at + 20] + (2).to_bytes(4, "big") + bytes(8) + message.data[at + 24 :]
    )


@wire_mutant(only_raw=True)
def rpc_undefined_booleans_are_system_err(message: Message) -> Answer:
    """SETATTR answers SYSTEM_ERR to a guard with an undefined boolean"""
    called = _called(message.data)
    is_other = int.from_bytes(message.data[-12:-8], "big") > 1 and message.data[-8:] == b"\0\0\0\1" * 2
    return _fail(message.data) if called is not None and called[0] == 2 and is_other else message.proceed()
