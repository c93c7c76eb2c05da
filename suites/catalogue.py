# SPDX-License-Identifier: MIT
"""The classes of a catalogue of calls: one call of each procedure, and how to build its arguments.

`nfs3/calls.py` and `nfs2/calls.py` are the catalogues. A check of a rule that holds for many procedures selects calls
by name, and says with `Operands` which handles and names they get.
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable

from fixtures.checks.scratch import Scratch
from nfsclient.clients import Nfs2, Nfs3
from nfsclient.rpc.program import Procedure
from nfsclient.xdr import XdrType

Needs: t.TypeAlias = t.Literal["nothing", "file", "directory", "symlink"]
"""The object that must exist for a call to succeed."""


class Operands(t.NamedTuple):
    """The handles and names in the arguments of a call. Each call takes those that it needs."""

    object: bytes = b""
    """The handle of a call that takes no name; for LINK, the file."""
    directory: bytes = b""
    """The directory of `name`; for RENAME, from.dir."""
    name: bytes = b""
    to_directory: bytes = b""
    """The directory of `to_name`, where LINK and RENAME put it."""
    to_name: bytes = b""
    attributes: t.Any = None
    """The initial attributes of a new object; None for those of the catalogue."""


class Call(t.NamedTuple):
    """One procedure, how to build its arguments, and what they need to succeed."""

    procedure: Procedure[t.Any, t.Any]
    arguments: Callable[[Operands], XdrType]
    needs: Needs = "nothing"
    """What must exist: with the handle `Operands.object`, or as `Operands.name`."""
    leaves: tuple[str, ...] = ("name",)
    """Which of the names in `Operands` exist after the call."""
    again: tuple[t.Any, ...] = ()
    """What a second execution returns; empty if it succeeds like the first."""

    @property
    def name(self) -> str:
        """The name of the procedure in lower case, as in ids of checks."""
        return self.procedure.name.lower()

    def make(self, client: Nfs2 | Nfs3, operands: Operands) -> t.Any:
        """Make the call and return the reply."""
        return client.call(self.procedure, self.arguments(operands))

    def arranged(self, scratch: Scratch[t.Any, t.Any], name: bytes) -> XdrType:
        """Create the object that the call needs as `name`, and return arguments with which it succeeds once."""
        handle = _create(scratch, self.needs, name)
        return self.arguments(Operands(handle, scratch.handle, name, scratch.handle, second_name(name)))

    def names_after(self, name: bytes) -> list[bytes]:
        """The names in the scratch directory after the call with the arguments of `arranged`."""
        names = Operands(name=name, to_name=second_name(name))
        return [getattr(names, field) for field in self.leaves]


def second_name(name: bytes) -> bytes:
    """The target of LINK and RENAME in the arguments of `Call.arranged`."""
    return name + b" 2"


def _create(scratch: Scratch[t.Any, t.Any], what: Needs, name: bytes) -> bytes:
    match what:
        case "file":
            return scratch.file(name, b"data")
        case "directory":
            return scratch.directory(name)
        case "symlink":
            return scratch.symlink(name, b"target")
        case "nothing":
            return b""


def by_name(*calls: Call) -> dict[str, Call]:
    """A catalogue: the name of each procedure in lower case, and its call."""
    return {call.name: call for call in calls}
