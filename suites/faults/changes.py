# SPDX-License-Identifier: MIT
"""Requests of NFSv4 that are not idempotent: each with what makes a second execution visible.

They are those of the catalogue (`suites/nfs4/calls.py`) that change something, so an operation that is added there is
replayed here; `_VARIANTS` has more of OPEN, CREATE, REMOVE and SETATTR than the one that the catalogue has.
"""

from __future__ import annotations

import secrets
import typing as t
from collections.abc import Callable

from fixtures.checks.dialects.nfs4 import Nfs4Scratch, new_state_owner
from nfsclient.clients.nfs4 import Session
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Fattr4
from nfsclient.sessions.session import READ_ONLY
from nfsclient.xdr import XdrType
from nfsjudge import expect
from suites.nfs4.calls import CALLS, Call, Operands, named
from suites.nfs4.opens import BOTH, READ, open_file


class Change(t.NamedTuple):
    """A request, and what another client does after it."""

    operations: list[XdrType]
    meddle: Callable[[], object] | None = None
    """Makes a second execution succeed: it takes the change back, or changes the same thing."""
    file: bytes | None = None
    """A file that the change is about."""
    with_data: bool = False
    """Whether it is about the data."""


Arrange: t.TypeAlias = Callable[[Session, Nfs4Scratch], Change]
Meddle: t.TypeAlias = Callable[[Nfs4Scratch], object]

# ---------------------------------------------------------------- of the catalogue

_AGAIN_IS_THE_SAME: t.Final = frozenset({"commit", "openattr", "reclaim_complete"})
"""Nothing shows that they are executed again; the last one has a separate check."""
_IDS: t.Final = {"create": "mkdir", "locku": "unlock", "open_downgrade": "open-downgrade"}
"""Names in ids of checks, where they are not those of the operations."""


def _removes(name: bytes) -> Meddle:
    return lambda scratch: expect(scratch.run(op.putfh(scratch.handle), op.remove(name))).ok()


def _overwrites(scratch: Nfs4Scratch) -> None:
    file = scratch.lookup(b"file")
    assert file is not None
    expect(scratch.run(op.putfh(file), op.write(op.ANONYMOUS, 0, b"overwritten"))).ok()


def _sets_the_mode(scratch: Nfs4Scratch) -> None:
    file = scratch.lookup(b"file")
    assert file is not None
    expect(scratch.run(op.putfh(file), op.setattr(Fattr4(mode=0o640)))).ok()


_MEDDLES: t.Final[dict[str, Meddle]] = {
    "remove": lambda scratch: scratch.file("file"),
    "rename": lambda scratch: scratch.file("file"),
    "link": _removes(b"made"),
    "setattr": _sets_the_mode,
    "write": _overwrites,
}
"""What another client does after a request, so that a second execution succeeds, and others see it."""
_WITH_DATA: t.Final = frozenset({"write"})


def _changes(call: Call) -> bool:
    name = call.operation.name
    return call.succeeds and name not in READ_ONLY and call.name not in _AGAIN_IS_THE_SAME


def _of_catalogue(name: str) -> Arrange:
    def arrange(session: Session, scratch: Nfs4Scratch) -> Change:
        call = CALLS[name]
        made, meddle = call.arranged(session, scratch), _MEDDLES.get(name)
        file = scratch.lookup(b"file") if "file" in {call.on, call.saved} and meddle is not None else None
        return Change(
            made.operations, None if meddle is None else lambda: meddle(scratch), file, name in _WITH_DATA
        )

    return arrange


# ---------------------------------------------------------------- other forms of the same operations


def _put(scratch: Nfs4Scratch, *operations: XdrType) -> list[XdrType]:
    return [op.putfh(scratch.handle), *operations]


def _create_guarded(_session: Session, scratch: Nfs4Scratch) -> Change:
    opening = op.open(b"made", BOTH, owner=new_state_owner(), how=op.guarded())
    return Change(_put(scratch, opening, op.getfh()))


def _create_exclusive(_session: Session, scratch: Nfs4Scratch) -> Change:
    how = op.exclusive4_1(secrets.token_bytes(p.NFS4_VERIFIER_SIZE))
    return Change(_put(scratch, op.open(b"made", BOTH, owner=new_state_owner(), how=how), op.getfh()))


def _open_more(session: Session, scratch: Nfs4Scratch) -> Change:
    file, owner = scratch.file("file", b"data"), new_state_owner()
    open_file(session, file, READ, owner=owner)
    return Change([op.putfh(file), op.open(None, BOTH, owner=owner)], file=file)


def _symlink(_session: Session, scratch: Nfs4Scratch) -> Change:
    return Change(_put(scratch, op.symlink(b"made", b"target")), lambda: _removes(b"made")(scratch))


def _rmdir(_session: Session, scratch: Nfs4Scratch) -> Change:
    scratch.directory("name")
    return Change(_put(scratch, op.remove(b"name")), lambda: scratch.directory("name"))


def _truncate(_session: Session, scratch: Nfs4Scratch) -> Change:
    file = scratch.file("file", b"0123456789")
    change: list[XdrType] = [op.putfh(file), op.setattr(Fattr4(size=3))]
    return Change(change, lambda: _overwrites(scratch), file, with_data=True)


_VARIANTS: t.Final[dict[str, Arrange]] = {
    "open-guarded": _create_guarded,
    "open-exclusive": _create_exclusive,
    "open-more": _open_more,
    "symlink": _symlink,
    "rmdir": _rmdir,
    "truncate": _truncate,
}
CHANGES: t.Final[dict[str, Arrange]] = {
    **{_IDS.get(name, name): _of_catalogue(name) for name in named(_changes)},
    **_VARIANTS,
}
VISIBLE: t.Final = (*_MEDDLES, "symlink", "rmdir", "truncate")
"""Those whose second execution changes something that another client sees."""


# ---------------------------------------------------------------- pairs


class Pair(t.NamedTuple):
    """Two requests with the same operations, of which only the first is to be executed."""

    first: list[XdrType]
    other: list[XdrType]
    file: bytes | None = None


Two: t.TypeAlias = tuple[XdrType, XdrType]
_NAMED: t.Final[dict[str, tuple[Operands, Operands]]] = {
    "remove": (Operands(name=b"first"), Operands(name=b"second")),
    "rename": (Operands(name=b"first", new_name=b"new"), Operands(name=b"second", new_name=b"other")),
    "create": (Operands(new_name=b"new"), Operands(new_name=b"other")),
    "link": (Operands(new_name=b"new"), Operands(new_name=b"other")),
}
"""Operations that differ in names."""
_VALUED: t.Final[dict[str, Two]] = {
    "setattr": (op.setattr(Fattr4(size=7)), op.setattr(Fattr4(size=3))),
    "write": (op.write(op.ANONYMOUS, 0, b"ABCDE"), op.write(op.ANONYMOUS, 0, b"abcde")),
}
"""Those that differ in values."""


def _pair(name: str) -> Callable[[Nfs4Scratch], Pair]:
    call = CALLS[name]
    two = _VALUED.get(name) or t.cast("Two", tuple(map(call.arguments, _NAMED[name])))

    def arrange(scratch: Nfs4Scratch) -> Pair:
        scratch.file("second")
        made = {"directory": scratch.handle, "file": scratch.file("first", b"0123456789")}
        before: list[XdrType] = []
        if call.saved is not None:
            before += [op.putfh(made[call.saved]), op.savefh()]
        if call.on is not None and call.on != call.saved:
            before.append(op.putfh(made[call.on]))
        file = made["file"] if "file" in {call.on, call.saved} else None
        return Pair([*before, two[0]], [*before, two[1]], file)

    return arrange


PAIRS: t.Final = {_IDS.get(name, name): _pair(name) for name in (*_NAMED, *_VALUED)}
