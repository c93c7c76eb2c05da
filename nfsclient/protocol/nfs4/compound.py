# SPDX-License-Identifier: MIT
"""COMPOUND and CB_COMPOUND: lists of operations in one call, and the two programs (RFC 5661 sections 16 and 20).

In Python an operation of a compound is the object of its arguments or results:
``Compound4Args(b"", 1, [Putrootfh4Args(), Getfh4Args()])``. Arguments of a number that no minor version has decode to
an `Unread`, with which the list ends: a server answers ILLEGAL there, and cannot tell where the next operation would
begin. In results such a number is an error.
"""

from __future__ import annotations

import functools
import itertools
import typing as t
from collections.abc import Sequence
from dataclasses import dataclass

from nfsclient.protocol.nfs4.files import Read4Args, Read4Res
from nfsclient.protocol.nfs4.operations import (
    ARGOPS,
    BY_CLASS,
    CALLBACK_PROGRAM,
    CALLBACK_VERSION,
    CALLBACKS,
    CB_ARGOPS,
    CB_ILLEGAL,
    CB_RESOPS,
    ILLEGAL,
    OPERATIONS,
    PROGRAM,
    RESOPS,
    VERSION,
    AnyOperation,
    operation_of,
    status_of,
)
from nfsclient.protocol.nfs4.types import Nfsstat4, Utf8strCs
from nfsclient.rpc import program
from nfsclient.rpc.program import BulkResult, Procedure, Program
from nfsclient.xdr import (
    Array,
    Buffer,
    Choice,
    Struct,
    Union,
    Unread,
    Void,
    XdrType,
    encoded_size,
    fields_of,
    shape_of,
    u32,
)
from nfsclient.xdr.kinds import ChoiceNode

NfsArgop4 = t.Annotated[XdrType, Choice(ARGOPS, keeps_rest=True)]
"""nfs_argop4: the arguments of an operation, with its number in front."""
NfsResop4 = t.Annotated[XdrType, Choice(RESOPS)]
"""nfs_resop4: the results of one."""
CALL_NODE: t.Final = ChoiceNode(ARGOPS, keeps_rest=True)
RESULT_NODE: t.Final = ChoiceNode(RESOPS, keeps_rest=False)
"""Both as tools walk them."""
NfsCbArgop4 = t.Annotated[XdrType, Choice(CB_ARGOPS, keeps_rest=True)]
"""nfs_cb_argop4."""
NfsCbResop4 = t.Annotated[XdrType, Choice(CB_RESOPS)]
"""nfs_cb_resop4."""


class Compound4Args(Struct):
    """COMPOUND4args (section 16.2)."""

    tag: Utf8strCs
    minorversion: u32
    argarray: t.Annotated[list[NfsArgop4], Array()]


class Compound4Res(Struct):
    """COMPOUND4res: the results up to the operation that failed, whose status is that of the whole (section 16.2)."""

    status: Nfsstat4
    tag: Utf8strCs
    resarray: t.Annotated[list[NfsResop4], Array()]


class CbCompound4Args(Struct):
    """CB_COMPOUND4args (section 20)."""

    tag: Utf8strCs
    minorversion: u32
    callback_ident: u32
    """Of SETCLIENTID in 4.0; ignored since 4.1."""
    argarray: t.Annotated[list[NfsCbArgop4], Array()]


class CbCompound4Res(Struct):
    """CB_COMPOUND4res (section 20)."""

    status: Nfsstat4
    tag: Utf8strCs
    resarray: t.Annotated[list[NfsCbResop4], Array()]


@dataclass(slots=True, eq=False)
class Step(program.Step):
    """One operation of a compound, with the filehandles that it found, as far as the call and its reply show them."""

    current: bytes | None = None
    """None where there is none, and where no operation of the compound shows it."""
    saved: bytes | None = None
    after: bytes | None = None
    """The current one when the operation was over."""
    minor: int | None = None
    """That of the compound; None if its call was not seen."""

    @property
    def status(self) -> Nfsstat4 | None:
        """None where the server did not come to this operation."""
        return None if self.result is None else status_of(self.result)


def _steps(illegal: AnyOperation, args: t.Any, res: t.Any) -> Sequence[Step]:
    calls: list[XdrType] = [] if args is None else args.argarray
    results: list[XdrType] = [] if res is None else res.resarray
    steps: list[Step] = []
    for index, (call, result) in enumerate(itertools.zip_longest(calls, results)):
        given = None if result is None else operation_of(result)
        operation: t.Any = given
        if call is not None:
            operation = _unread(call, given, illegal) if isinstance(call, Unread) else operation_of(call)
        fits = given is not None and (given is operation or given is illegal)
        found = Step(operation, call, result if fits else None, f"resarray[{index}]")
        found.minor = None if args is None else args.minorversion
        steps.append(found)
    _follow_filehandles(steps, 1 if args is None else args.minorversion)
    return steps


def _unread(call: Unread, given: AnyOperation | None, illegal: AnyOperation) -> AnyOperation:
    """The operation whose arguments nobody could decode, where the server names it; else the illegal one."""
    return given if given is not None and given.number == call.number else illegal


class _Handle:
    """An object of which GETFH may tell the filehandle later than it became the current one."""

    __slots__ = ("handle",)

    def __init__(self, handle: bytes | None = None) -> None:
        self.handle = handle


def _follow_filehandles(steps: Sequence[Step], minor: int) -> None:
    current = saved = _Handle()
    found: list[tuple[Step, _Handle, _Handle, _Handle]] = []
    for step in steps:
        before, kept = current, saved
        result = step.result
        if result is not None and not status_of(result):
            operation = t.cast("AnyOperation", step.operation)
            moves = operation.filehandle
            if moves == "replaces":
                current = _Handle(getattr(step.args, "object", None))
            elif moves == "saves":
                saved = current
            elif moves == "restores":
                current = saved
            elif moves == "consumes" and minor:
                current = _Handle()
            elif operation.name == "GETFH":
                current.handle = result.resok4.object
        found.append((step, before, kept, current))
    for step, before, kept, after in found:
        step.current, step.saved, step.after = before.handle, kept.handle, after.handle


def compound_steps(args: Compound4Args | None, res: Compound4Res | None) -> Sequence[Step]:
    """The operations of a COMPOUND as `Step`: those of the arguments, with the results that there are.

    A result that belongs to another operation is left out, ILLEGAL excepted. Results without arguments make steps too.
    """
    return _steps(ILLEGAL, args, res)


def callback_steps(args: CbCompound4Args | None, res: CbCompound4Res | None) -> Sequence[Step]:
    """The same for a CB_COMPOUND."""
    return _steps(CB_ILLEGAL, args, res)


@functools.cache
def result_size(operation: AnyOperation) -> int | None:
    """Bytes of the results of an operation that succeeds; None where they differ."""
    cls = operation.res
    if not issubclass(cls, Union):
        sizes = [encoded_size(field.node) for field in fields_of(cls)]
        return None if None in sizes else sum(size for size in sizes if size is not None)
    arm = shape_of(cls).arm_for(Nfsstat4.NFS4_OK)
    if arm is None or arm.node is None:
        return 4
    size = encoded_size(arm.node)
    return None if size is None else 4 + size


def _last_read(res: Compound4Res) -> Read4Res | None:
    last = res.resarray[-1] if res.resarray else None
    return last if isinstance(last, Read4Res) and last.resok4 is not None else None


def _read_data(res: Compound4Res) -> Buffer | None:
    read = _last_read(res)
    return None if read is None or read.resok4 is None else read.resok4.data


def _place_read_data(res: Compound4Res, data: Buffer) -> None:
    read = _last_read(res)
    if read is not None and read.resok4 is not None:
        read.resok4.data = data


def _asked(args: Compound4Args) -> int:
    last = args.argarray[-1] if args.argarray else None
    return last.count if isinstance(last, Read4Args) else 0


@functools.lru_cache(maxsize=256)
def _bulk_at(at: int) -> BulkResult[Compound4Args, Compound4Res]:
    return BulkResult(at, _asked, _read_data, _place_read_data)


@functools.lru_cache(maxsize=256)
def _bulk_after(tag: int, *calls: type[XdrType]) -> BulkResult[Compound4Args, Compound4Res] | None:
    """`bulk_of` a compound with a tag of that length and these operations before READ."""
    at = 4 + 4 + tag + (-tag & 3) + 4
    for cls in calls:
        size = None if cls is Unread else result_size(BY_CLASS[cls])
        if size is None:
            return None
        at += 4 + size
    return _bulk_at(at + 4 + 4 + 4)  # the number of READ, its status, eof


def bulk_of(args: Compound4Args) -> BulkResult[Compound4Args, Compound4Res] | None:
    """Where the data of a compound that ends with READ stand, if every operation succeeds and the tag comes back.

    None for other compounds, and where an operation before READ has results whose size nobody knows beforehand. Of two
    compounds of the same form it is the same object.
    """
    calls = args.argarray
    if not calls or not isinstance(calls[-1], Read4Args):
        return None
    return _bulk_after(len(args.tag), *map(type, calls[:-1]))


NULL = Procedure(PROGRAM, VERSION, 0, "NULL", Void, Void)
COMPOUND = Procedure(
    PROGRAM,
    VERSION,
    1,
    "COMPOUND",
    Compound4Args,
    Compound4Res,
    bulk_of=bulk_of,
    steps=compound_steps,
)
NFS4 = Program(PROGRAM, VERSION, "NFS", (NULL, COMPOUND), OPERATIONS)
"""Program 100003, version 4, with the operations of all minor versions."""
CB_NULL = Procedure(CALLBACK_PROGRAM, CALLBACK_VERSION, 0, "CB_NULL", Void, Void)
CB_COMPOUND = Procedure(
    CALLBACK_PROGRAM,
    CALLBACK_VERSION,
    1,
    "CB_COMPOUND",
    CbCompound4Args,
    CbCompound4Res,
    steps=callback_steps,
)
NFS4_CALLBACK = Program(
    CALLBACK_PROGRAM, CALLBACK_VERSION, "NFS callback", (CB_NULL, CB_COMPOUND), CALLBACKS, is_callback=True
)
"""What a server calls at a client."""
