# SPDX-License-Identifier: MIT
"""Malformed arguments (RFC 1831 section 7.1, RFC 4506), with the procedures of NFSv3.

If the arguments do not decode, the server may answer GARBAGE_ARGS or an error, drop the call, or close the connection.
It may accept or refuse trailing bytes, padding other than zeros, and values that an enum does not define.
It must not do anything that the arguments do not ask for.
"""

from __future__ import annotations

import pytest

from fixtures.checks.announcing import Announced
from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from fixtures.checks.wire import CLOSED, GARBAGE_ARGS, SILENCE, SUCCESS, MakeWire, opaque, words
from nfsclient.clients import Nfs3
from nfsclient.protocol import nfs3 as v3
from nfsclient.xdr import XdrEnum
from nfsjudge import (
    Harm,
    expect,
    expect_names,
    expect_that,
    observe,
    proves,
    should,
    show,
    stated,
)
from suites.catalogue import Call
from suites.nfs3.calls import CALLS
from suites.rpc.damaged_calls import (
    NAME,
    each_call,
    executed_calls,
    expect_no_success,
    need,
    need_success,
    oversized_lengths,
    succeeded,
    truncated_encodings,
    with_lengths,
)
from suites.rpc.parameters import HIGHEST, short

REFUSES_UNDECODABLE_ARGUMENTS = stated(
    "RFC 1831",
    "8",
    "a server does not answer SUCCESS to a call whose arguments it cannot decode",
    harm=Harm.SUCCESS,
)
REPORTS_GARBAGE_ARGS = should(
    "RFC 1831", "7", "a server should answer GARBAGE_ARGS when it cannot decode the arguments"
)
TOLERATES_ODD_ARGUMENTS = should(
    "RFC 1831",
    "8",
    "a server should either accept surplus bytes and odd booleans in arguments or answer GARBAGE_ARGS",
)
EXCLUDES_PADDING = stated(
    "RFC 4506",
    "4.10",
    "opaque data have exactly as many bytes as their length says; padding is not part of them",
    harm=Harm.DATA,
)
REFUSES_UNDEFINED_ENUM_VALUES = should(
    "RFC 4506", "4.3", "a server should treat a value that the enum does not define as an error"
)
WRITE_RETURNS_STABLE_HOW = stated(
    "RFC 1813", "3.3.7", "WRITE returns one of the three values of stable_how in committed"
)
MODE_ONLY = v3.Sattr3(mode=0o755).to_xdr()
UNDEFINED = [77, 2**31, 2**32 - 1]
"""Values that no enum of NFSv3 defines."""


# ---------------------------------------------------------------- truncated and oversized arguments


@each_call()
@proves(REFUSES_UNDECODABLE_ARGUMENTS, killed_by="rpc-repeats-a-reply-to-short-arguments")
def test_truncated_no_success(wire: MakeWire, scratch: Nfs3Scratch, call: Call) -> None:
    """A call with truncated arguments does not succeed."""
    need_success(wire(), scratch, call)
    malformed = truncated_encodings(call.arranged(scratch, NAME))
    executed = executed_calls(wire, call, malformed)
    expect_no_success(executed, f"{call.procedure.name} with truncated arguments")


@each_call()
@proves(REFUSES_UNDECODABLE_ARGUMENTS, killed_by="rpc-repeats-a-reply-to-wrong-lengths")
def test_length_too_large(wire: MakeWire, scratch: Nfs3Scratch, announced: Announced, call: Call) -> None:
    """A call with a length larger than its data or its limit does not succeed."""
    need_success(wire(), scratch, call)
    args = call.arranged(scratch, NAME)
    malformed = list(oversized_lengths(args))
    executed = []
    for length in announced(HIGHEST):
        executed += executed_calls(wire, call, with_lengths(args, malformed, length))
    expect_no_success(executed, f"{call.procedure.name} with a length that is too large")


@each_call("setattr", "write", "create", "mkdir", "symlink", "mknod")
@proves(REFUSES_UNDECODABLE_ARGUMENTS, killed_by="rpc-pads-short-arguments")
def test_truncated_no_effect(wire: MakeWire, scratch: Nfs3Scratch, call: Call) -> None:
    """A call with truncated arguments changes nothing in the directory."""
    malformed = list(truncated_encodings(call.arranged(scratch, NAME)))
    before = [_facts(scratch, name) for name in scratch.names()]
    executed_calls(wire, call, iter(malformed))
    after = [_facts(scratch, name) for name in scratch.names()]
    what = f"directory after {len(malformed)} truncated calls of {call.procedure.name}"
    expect(after, what).equals(before)


def _facts(scratch: Nfs3Scratch, name: bytes) -> str:
    attributes = scratch.attributes(scratch.lookup(name))
    return f"{show(name)} with mode {show(attributes.mode, 'mode')} and {attributes.size} bytes"


@each_call("getattr", "lookup", "read", "create", "fsinfo")
@proves(REPORTS_GARBAGE_ARGS, killed_by="rpc-missing-arguments-are-system-err", needs="nfs3")
def test_missing(wire: MakeWire, call: Call) -> None:
    """The server answers a call without arguments with GARBAGE_ARGS, or not at all."""
    peer = wire()
    answer = peer.try_message(peer.make(call.procedure.number, b"").message())
    expect(answer.outcome, f"answer to {call.procedure.name} without arguments", of=answer).one_of(
        GARBAGE_ARGS, SILENCE, CLOSED
    )


# ---------------------------------------------------------------- surplus arguments


@pytest.mark.parametrize("size", [4, 400, 60_000])
@proves(TOLERATES_ODD_ARGUMENTS, killed_by="rpc-surplus-arguments-are-system-err")
def test_null_with_arguments(wire: MakeWire, size: int) -> None:
    """The server answers NULL with surplus arguments, or refuses it with GARBAGE_ARGS."""
    peer = wire()
    answer = peer.try_message(peer.make(0, bytes(size)).message())
    observe("answer", answer.outcome)
    expect(answer.outcome, f"answer to NULL with {size} bytes of arguments", of=answer).one_of(
        SUCCESS, GARBAGE_ARGS, SILENCE, CLOSED
    )


@each_call("getattr", "lookup", "access", "read", "write", "create", "fsinfo")
@proves(TOLERATES_ODD_ARGUMENTS, killed_by="rpc-surplus-arguments-are-system-err")
def test_trailing_bytes(wire: MakeWire, scratch: Nfs3Scratch, call: Call) -> None:
    """The server ignores trailing bytes after the arguments, or answers GARBAGE_ARGS."""
    peer = wire()
    arguments = call.arranged(scratch, NAME).to_xdr()
    answer = peer.try_message(peer.make(call.procedure.number, arguments + bytes(8)).message())
    observe("answer", answer.outcome)
    expect(
        answer.outcome, f"answer to {call.procedure.name} with 8 bytes after its arguments", of=answer
    ).one_of(SUCCESS, GARBAGE_ARGS, SILENCE, CLOSED)


# ---------------------------------------------------------------- padding


@proves(EXCLUDES_PADDING, killed_by="rpc-treats-padding-as-data")
def test_padding_in_lookup(wire: MakeWire, scratch: Nfs3Scratch) -> None:
    """LOOKUP does not take XDR padding for a part of the name."""
    scratch.file(b"abcde")
    peer = wire()
    answer = peer.try_message(
        peer.make(3, opaque(scratch.handle) + opaque(b"abcde", padding=b"\x01\x02\x03")).message()
    )
    observe("answer", answer.outcome)
    status = answer.decode(v3.Lookup3Res).status if answer.outcome == SUCCESS else None
    expect(status, "status of LOOKUP of an existing name with nonzero padding").differs_from(
        v3.Nfsstat3.NFS3ERR_NOENT
    )


@proves(EXCLUDES_PADDING, killed_by="rpc-treats-padding-as-data")
def test_padding_in_mkdir(wire: MakeWire, scratch: Nfs3Scratch) -> None:
    """MKDIR does not take XDR padding for a part of the name."""
    peer = wire()
    name = opaque(b"abcde", padding=b"xyz")
    answer = peer.try_message(peer.make(9, opaque(scratch.handle) + name + MODE_ONLY).message())
    observe("answer", answer.outcome)
    expect(scratch.names(), "names after MKDIR of 'abcde' with nonzero padding", field="entries").one_of(
        [], [b"abcde"]
    )


@proves(EXCLUDES_PADDING, killed_by="rpc-treats-padding-as-data")
def test_padding_in_write(wire: MakeWire, scratch: Nfs3Scratch) -> None:
    """WRITE does not write XDR padding into the file."""
    peer = wire()
    file = scratch.file("f")
    arguments = opaque(file) + words(0, 0, 5, 2) + opaque(b"abcde", padding=b"xyz")
    answer = peer.try_message(peer.make(7, arguments).message())
    observe("answer", answer.outcome)
    expect(scratch.read(file), "data after WRITE of 'abcde' with nonzero padding", field="data").satisfies(
        b"abcde".startswith, "'abcde' or its beginning"
    )


# ---------------------------------------------------------------- undefined values


@pytest.mark.parametrize("mode", [3, *UNDEFINED], ids=short)
@proves(REFUSES_UNDEFINED_ENUM_VALUES, killed_by="create3-treats-unknown-modes-as-unchecked")
def test_unknown_create_mode(wire: MakeWire, scratch: Nfs3Scratch, mode: int) -> None:
    """CREATE with an undefined createmode3 creates nothing."""
    peer = wire()
    name = opaque(scratch.handle) + opaque(NAME)
    answer = peer.try_message(peer.make(8, name + words(mode) + MODE_ONLY).message())
    observe("answer", answer.outcome)
    expect_names(scratch.names(), [], f"names after CREATE with createmode3 {mode}")


@pytest.mark.parametrize("kind", [0, 8, *UNDEFINED], ids=short)
@proves(REFUSES_UNDEFINED_ENUM_VALUES, killed_by="mknod3-treats-unknown-types-as-fifo", needs="mknod")
def test_unknown_mknod_type(wire: MakeWire, scratch: Nfs3Scratch, kind: int) -> None:
    """MKNOD of an undefined file type creates nothing."""
    # Once with the attributes of a FIFO, once with no data at all, as in the default arm of the union.
    for rest in (MODE_ONLY, b""):
        peer = wire()
        name = opaque(scratch.handle) + opaque(NAME)
        answer = peer.try_message(peer.make(11, name + words(kind) + rest).message())
        observe("answer", answer.outcome)
    expect_names(scratch.names(), [], f"names after MKNOD of type {kind}")


@pytest.mark.parametrize("stable", [3, *UNDEFINED], ids=short)
@proves(WRITE_RETURNS_STABLE_HOW, killed_by="write3-echoes-unknown-stable-how")
def test_unknown_stable_how(wire: MakeWire, scratch: Nfs3Scratch, stable: int) -> None:
    """WRITE with an undefined stable_how is refused, or returns a defined value in committed."""
    peer = wire()
    arguments = opaque(scratch.file("f")) + words(0, 0, 4, stable) + opaque(b"data")
    answer = peer.try_message(peer.make(7, arguments).message())
    observe("answer", answer.outcome)
    if not succeeded(CALLS["write"], answer):
        return
    observe("answer", "success")
    reply = answer.decode(v3.Write3Res)
    committed: XdrEnum = reply.resok.committed if reply.resok is not None else v3.StableHow.UNSTABLE
    expect_that(committed.is_known, "a value of stable_how", str(int(committed)), "committed", reply=answer)


@pytest.mark.parametrize("how", [3, *UNDEFINED], ids=short)
@proves(REFUSES_UNDEFINED_ENUM_VALUES, killed_by="setattr3-treats-unknown-time-how-as-epoch")
def test_unknown_time_how(wire: MakeWire, nfs3: Nfs3, scratch: Nfs3Scratch, how: int) -> None:
    """SETATTR with an undefined time_how does not change mtime."""
    peer = wire()
    file = scratch.file("f")
    before = scratch.attributes(file).mtime
    # A decoder with a default arm reads no time and continues with the guard, so the guard comes next here.
    answer = peer.try_message(peer.make(2, opaque(file) + words(0, 0, 0, 0, 0, how, 0)).message())
    observe("answer", answer.outcome)
    expect(scratch.attributes(file)).field("mtime", f"mtime after SETATTR with time_how {how}").equals(before)


@pytest.mark.parametrize("check", [2, 2**31, 2**32 - 1], ids=short)
@proves(TOLERATES_ODD_ARGUMENTS, killed_by="rpc-undefined-booleans-are-system-err")
def test_invalid_boolean(wire: MakeWire, scratch: Nfs3Scratch, check: int) -> None:
    """The server accepts a boolean other than 0 and 1, or answers GARBAGE_ARGS."""
    peer = wire()
    file = scratch.file("f")
    arguments = opaque(file) + v3.Sattr3(mode=0o600).to_xdr() + words(check, 1, 1)
    answer = peer.try_message(peer.make(2, arguments).message())
    done = scratch.attributes(file).mode & 0o777 == 0o600
    observe("answer", f"{answer.outcome}, {'mode set' if done else 'mode not set'}")
    expect(answer.outcome, f"answer to SETATTR with a guard of {check}", of=answer).one_of(
        SUCCESS, GARBAGE_ARGS, SILENCE, CLOSED
    )


@proves(REFUSES_UNDECODABLE_ARGUMENTS, killed_by="rpc-repeats-a-reply-to-wrong-lengths")
def test_oversized_handle(wire: MakeWire, scratch: Nfs3Scratch) -> None:
    """A file handle of 65 bytes is refused, not truncated."""
    peer = wire()
    need(CALLS["fsstat"], peer.call(peer.make(18, opaque(scratch.handle))))
    handle = scratch.handle + bytes(65 - len(scratch.handle))
    answer = peer.try_message(peer.make(18, opaque(handle)).message())
    observe("answer", answer.outcome)
    done = succeeded(CALLS["fsstat"], answer)
    expect_that(not done, "an error", "success", "FSSTAT with a handle of 65 bytes", reply=answer)
