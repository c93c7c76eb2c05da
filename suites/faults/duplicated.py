# SPDX-License-Identifier: MIT
"""Calls that change something, in one form: make the change, undo it, and see whether a duplicate made it again."""

from __future__ import annotations

import typing as t

from fixtures.checks.scratch import Scratch
from fixtures.checks.wire import CLOSED, SILENCE, SUCCESS, Answer, RawCall, Wire
from nfsclient.clients import Nfs2, Nfs3
from nfsclient.protocol import nfs3 as p3
from nfsclient.rpc.program import Procedure
from nfsclient.xdr import XdrType
from nfsjudge import duplicates, expect, expect_that, show, skip
from suites.catalogue import Call, Operands
from suites.faults.cases import NAME, Case
from suites.faults.writes import FILES, call_of, procedure_of
from suites.nfs3.calls import create_arguments

Either: t.TypeAlias = Nfs2 | Nfs3
OTHER_NAME: t.Final = b"another"
_VERIFIER: t.Final = b"duplicat"
_OLD, _NEW, _OTHER = b"old data", b"new data", b"any data"


def _exclusive(on: Operands) -> XdrType:
    how = p3.Createhow3(p3.CreateMode3.EXCLUSIVE, verf=_VERIFIER)
    return p3.Create3Args(p3.Diropargs3(on.directory, on.name), how)


def _unchecked(on: Operands) -> XdrType:
    return create_arguments(on, p3.CreateMode3.UNCHECKED)


MODES: t.Final = {
    "create-unchecked": Call(p3.CREATE, _unchecked),
    "create-exclusive": Call(p3.CREATE, _exclusive),
}
"""CREATE in its other modes; that of the catalogue is GUARDED."""


class Change(t.Protocol):
    """A call that changes something in the scratch directory."""

    name: str
    """For the profile: the procedure, with its mode."""
    version: int

    def arrange(self, peer: Wire) -> RawCall:
        """Make what the call needs; the call."""
        ...

    def need(self, answer: Answer) -> None:
        """End the check unless this answer shows that the change was made."""
        ...

    def undo(self, client: Either) -> None:
        """Undo the change with other calls. SKIP if that fails."""
        ...

    def is_made(self) -> bool:
        """Whether the change is there. FAIL if neither it nor the state before it is."""
        ...

    def is_second(self, answer: Answer) -> bool:
        """Whether only a second execution answers so."""
        ...

    def other_call(self, peer: Wire, first: RawCall) -> RawCall:
        """A call of the same procedure with the XID of the first and other arguments."""
        ...

    def is_other_made(self) -> bool:
        """Whether that call had its effect. FAIL if the state is none that such calls leave."""
        ...


def absent_entry(version: int, directory: bytes) -> bytes:
    """The arguments of REMOVE of a name that is not there."""
    return call_of(FILES[version].remove(directory, b"absent")).args.to_xdr()


class NameChange:
    """A change of names."""

    def __init__(self, nfs_version: str, change: str, scratch: Scratch[t.Any, t.Any]) -> None:
        self._scratch = scratch
        self._case = Case(nfs_version, change.partition("-")[0], scratch)
        self._case.call = MODES.get(change, self._case.call)
        self.version = self._case.version
        mode = change.partition("-")[2].upper()
        self.name = f"{self._case.name} {mode}" if mode else self._case.full_name
        self.need, self.arrange, self.undo = self._case.need, self._case.arrange, self._case.take_back

    def _matches(self, *legal: list[bytes]) -> list[bool]:
        """Which of the legal lists of names the directory has. FAIL if none."""
        names = sorted(self._scratch.names())
        found = [names == sorted(allowed) for allowed in legal]
        texts = [", ".join(show(name) for name in sorted(allowed)) or "none" for allowed in (*legal, names)]
        expect_that(any(found), " or ".join(texts[:-1]), texts[-1], f"names after a duplicate of {self.name}")
        return found

    def is_made(self) -> bool:
        return self._matches(self._case.after, self._case.before)[0]

    def is_second(self, answer: Answer) -> bool:
        return self._case.is_second(answer)

    def other_call(self, peer: Wire, first: RawCall) -> RawCall:
        args = self._case.call.arranged(self._scratch, OTHER_NAME)
        return peer.make(first.proc, args.to_xdr(), xid=first.xid)

    def is_other_made(self) -> bool:
        call, first = self._case.call, self._case.after
        without = [] if call.needs == "nothing" else [OTHER_NAME]
        return self._matches([*first, *call.names_after(OTHER_NAME)], [*first, *without])[0]


class DataChange:
    """WRITE, or SETATTR with a guard that sets the size: changes of the data of a file."""

    def __init__(self, nfs_version: str, change: str, scratch: Scratch[t.Any, t.Any]) -> None:
        self._scratch = scratch
        self.version = int(nfs_version[1:])
        self._is_write = change == "write"
        self.name = "WRITE" if self._is_write else "SETATTR GUARDED"
        self._file = b""

    @property
    def _procedure(self) -> Procedure[t.Any, t.Any]:
        return procedure_of(self.version) if self._is_write else p3.SETATTR

    def _args(self, data: bytes) -> XdrType:
        if not self._is_write:
            guard = self._scratch.attributes(self._file).ctime
            return p3.Setattr3Args(self._file, p3.Sattr3(size=len(data) // 2), guard)
        return call_of(FILES[self.version].write(self._file, 0, data)).args

    def arrange(self, peer: Wire) -> RawCall:
        self._file = self._scratch.file(NAME, _OLD)
        return peer.make(self._procedure.number, self._args(_NEW).to_xdr())

    def _status(self, answer: Answer) -> int:
        return int(answer.decode(self._procedure.res).status)

    def need(self, answer: Answer) -> None:
        if answer.outcome != SUCCESS or self._status(answer) != 0:
            skip(f"{self.name} with valid arguments fails")

    def undo(self, client: Either) -> None:
        if isinstance(client, Nfs2):
            expect(client.write(self._file, 0, _OLD)).ok()
            return
        at = 0
        while at < len(_OLD):  # a server may accept less
            at += max(1, expect(client.write(self._file, at, _OLD[at:], p3.StableHow.FILE_SYNC)).ok().count)

    def _was(self, made: bytes, *others: bytes) -> bool:
        """Whether the data are those that the last change makes of one of `others`. A WRITE may write a part only."""
        data = self._scratch.read(self._file)
        done = _parts(made, others) if self._is_write else [made]
        expect_that(
            data in (*done, *others),
            " or ".join(map(show, (made, *others))),
            show(data),
            f"data after a duplicate of {self.name}",
        )
        return data in done

    @property
    def _after(self) -> bytes:
        return _NEW if self._is_write else _OLD[: len(_NEW) // 2]

    def is_made(self) -> bool:
        return self._was(self._after, _OLD)

    def is_second(self, answer: Answer) -> bool:
        is_guarded = answer.outcome == SUCCESS and not self._is_write
        return is_guarded and self._status(answer) == p3.Nfsstat3.NFS3ERR_NOT_SYNC

    def other_call(self, peer: Wire, first: RawCall) -> RawCall:
        data = _OTHER if self._is_write else _OTHER[:4]
        return peer.make(first.proc, self._args(data).to_xdr(), xid=first.xid)

    def is_other_made(self) -> bool:
        before = _parts(_NEW, [_OLD]) if self._is_write else [self._after]
        return self._was(_OTHER if self._is_write else _OLD[:2], *before)


def _parts(written: bytes, before: t.Iterable[bytes]) -> list[bytes]:
    """What a WRITE makes of data that were there before, whatever part of it the server accepts."""
    return [written[:size] + earlier[size:] for earlier in before for size in range(1, len(written) + 1)]


def make_change(nfs_version: str, change: str, scratch: Scratch[t.Any, t.Any]) -> Change:
    """The change with this name."""
    kind = DataChange if change in {"write", "setattr"} else NameChange
    return kind(nfs_version, change, scratch)


def outcome_of(answer: Answer, *, is_made: bool | None, is_second: bool, is_alike: bool = False) -> str:
    """What the server did with a duplicate: one of `duplicates.ANSWERS`.

    `is_made`: whether the duplicate had its effect, None if nothing tells; `is_second`: whether only a second
    execution answers so; `is_alike`: whether a second execution answers as the first did.
    """
    if is_made or is_second:
        return duplicates.EXECUTED
    if answer.outcome in {SILENCE, CLOSED}:
        return duplicates.DROPPED
    if answer.outcome == SUCCESS and answer.results[:4] == bytes(4):
        return duplicates.ALIKE if is_alike and is_made is None else duplicates.CACHED
    return duplicates.REFUSED
