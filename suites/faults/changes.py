# SPDX-License-Identifier: MIT
"""Requests of NFSv4 that are not idempotent: each with what makes a second execution visible."""

from __future__ import annotations

import secrets
import typing as t
from collections.abc import Callable

from fixtures.checks.dialects.nfs4 import Nfs4Scratch, new_state_owner
from nfsclient.clients.nfs4 import Session
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Fattr4
from nfsclient.xdr import XdrType
from nfsjudge import expect
from suites.nfs4.locks import WRITE_LT, lock_range
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


def _put(scratch: Nfs4Scratch, *operations: XdrType) -> list[XdrType]:
    return [op.putfh(scratch.handle), *operations]


def _removal(scratch: Nfs4Scratch, name: bytes) -> Callable[[], object]:
    return lambda: expect(scratch.run(op.putfh(scratch.handle), op.remove(name))).ok()


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


def _mkdir(_session: Session, scratch: Nfs4Scratch) -> Change:
    return Change(_put(scratch, op.mkdir(b"made"), op.getfh()))


def _symlink(_session: Session, scratch: Nfs4Scratch) -> Change:
    return Change(_put(scratch, op.symlink(b"made", b"target")), _removal(scratch, b"made"))


def _remove(_session: Session, scratch: Nfs4Scratch) -> Change:
    scratch.file("name")
    return Change(_put(scratch, op.remove(b"name")), lambda: scratch.file("name"))


def _rmdir(_session: Session, scratch: Nfs4Scratch) -> Change:
    scratch.directory("name")
    return Change(_put(scratch, op.remove(b"name")), lambda: scratch.directory("name"))


def _rename(_session: Session, scratch: Nfs4Scratch) -> Change:
    scratch.file("old")
    renaming = _put(scratch, op.savefh(), op.rename(b"old", b"new"))
    return Change(renaming, lambda: scratch.file("old"))


def _link(_session: Session, scratch: Nfs4Scratch) -> Change:
    file = scratch.file("file")
    linking = [op.putfh(file), op.savefh(), *_put(scratch, op.link(b"made"))]
    return Change(linking, _removal(scratch, b"made"), file)


def _setattr(_session: Session, scratch: Nfs4Scratch) -> Change:
    file = scratch.file("file", b"0123456789")
    change: list[XdrType] = [op.putfh(file), op.setattr(Fattr4(size=3))]
    return Change(change, lambda: _overwrite(scratch, file), file, with_data=True)


def _write(session: Session, scratch: Nfs4Scratch) -> Change:
    file = scratch.file("file", b"0123456789")
    stateid = open_file(session, file, BOTH).stateid
    writing: list[XdrType] = [op.putfh(file), op.write(stateid, 0, b"ABCDE")]
    return Change(writing, lambda: _overwrite(scratch, file), file, with_data=True)


def _overwrite(scratch: Nfs4Scratch, file: bytes) -> None:
    reply = expect(scratch.run(op.putfh(file), op.write(op.ANONYMOUS, 0, b"overwritten"))).ok()
    result = reply.of(p.WRITE).resok4
    assert result is not None


def _lock(session: Session, scratch: Nfs4Scratch) -> Change:
    opened = open_file(session, scratch.file("file"), BOTH)
    locking = op.lock(opened.stateid, WRITE_LT, 0, 10, owner=new_state_owner())
    return Change([op.putfh(opened.handle), locking])


def _unlock(session: Session, scratch: Nfs4Scratch) -> Change:
    opened = open_file(session, scratch.file("file"), BOTH)
    stateid = lock_range(session, opened)
    return Change([op.putfh(opened.handle), op.locku(stateid, 0, 10)])


def _downgrade(session: Session, scratch: Nfs4Scratch) -> Change:
    file, owner = scratch.file("file"), new_state_owner()
    open_file(session, file, READ, owner=owner)
    stateid = open_file(session, file, BOTH, owner=owner).stateid
    return Change([op.putfh(file), op.open_downgrade(stateid, p.OPEN4_SHARE_ACCESS_READ)])


def _close(session: Session, scratch: Nfs4Scratch) -> Change:
    opened = open_file(session, scratch.file("file"), BOTH)
    return Change([op.putfh(opened.handle), op.close(opened.stateid)])


CHANGES: t.Final[dict[str, Arrange]] = {
    "open-guarded": _create_guarded,
    "open-exclusive": _create_exclusive,
    "open-more": _open_more,
    "open-downgrade": _downgrade,
    "close": _close,
    "mkdir": _mkdir,
    "symlink": _symlink,
    "remove": _remove,
    "rmdir": _rmdir,
    "rename": _rename,
    "link": _link,
    "setattr": _setattr,
    "write": _write,
    "lock": _lock,
    "unlock": _unlock,
}
VISIBLE: t.Final = ("symlink", "remove", "rmdir", "rename", "link", "setattr", "write")
"""Those whose second execution changes something that another client sees."""


class Pair(t.NamedTuple):
    """Two requests with the same operations, of which only the first is to be executed."""

    first: list[XdrType]
    other: list[XdrType]
    file: bytes | None = None


def _two_names(scratch: Nfs4Scratch) -> bytes:
    scratch.file("second")
    return scratch.file("first", b"0123456789")


def _remove_either(scratch: Nfs4Scratch) -> Pair:
    _two_names(scratch)
    return Pair(_put(scratch, op.remove(b"first")), _put(scratch, op.remove(b"second")))


def _rename_either(scratch: Nfs4Scratch) -> Pair:
    _two_names(scratch)
    first, other = op.rename(b"first", b"new"), op.rename(b"second", b"other")
    return Pair(_put(scratch, op.savefh(), first), _put(scratch, op.savefh(), other))


def _mkdir_either(scratch: Nfs4Scratch) -> Pair:
    return Pair(_put(scratch, op.mkdir(b"first")), _put(scratch, op.mkdir(b"second")))


def _link_either(scratch: Nfs4Scratch) -> Pair:
    file = _two_names(scratch)
    before: list[XdrType] = [op.putfh(file), op.savefh()]
    first, other = (_put(scratch, op.link(name)) for name in (b"new", b"other"))
    return Pair([*before, *first], [*before, *other], file)


def _setattr_either(scratch: Nfs4Scratch) -> Pair:
    file = _two_names(scratch)
    first, other = op.setattr(Fattr4(size=7)), op.setattr(Fattr4(size=3))
    return Pair([op.putfh(file), first], [op.putfh(file), other], file)


def _write_either(scratch: Nfs4Scratch) -> Pair:
    file = _two_names(scratch)
    first, other = op.write(op.ANONYMOUS, 0, b"ABCDE"), op.write(op.ANONYMOUS, 0, b"abcde")
    return Pair([op.putfh(file), first], [op.putfh(file), other], file)


PAIRS: t.Final[dict[str, Callable[[Nfs4Scratch], Pair]]] = {
    "remove": _remove_either,
    "rename": _rename_either,
    "mkdir": _mkdir_either,
    "link": _link_either,
    "setattr": _setattr_either,
    "write": _write_either,
}
