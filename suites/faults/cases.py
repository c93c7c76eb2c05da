# SPDX-License-Identifier: MIT
"""The changes of names of NFSv2 and NFSv3 in one form, and how to take each of them back."""

from __future__ import annotations

import typing as t

import pytest

from fixtures.checks.scratch import Scratch
from fixtures.checks.wire import PROC_UNAVAIL, SUCCESS, Answer, RawCall, Wire
from nfsclient.clients import Nfs2, Nfs3
from nfsjudge import skip, unsupported
from suites.catalogue import Call, Operands, second_name
from suites.nfs2.calls import CALLS as CALLS2
from suites.nfs3.calls import CALLS as CALLS3

NAME: t.Final = b"a name"
_CHANGES: t.Final = ("create", "mkdir", "symlink", "mknod", "link", "remove", "rmdir", "rename")
CHANGES: t.Final = [
    (version, name)
    for version, calls in (("v2", CALLS2), ("v3", CALLS3))
    for name in _CHANGES
    if name in calls
]
"""(version, procedure) of each."""
EACH_CHANGE = pytest.mark.parametrize(("nfs_version", "procedure"), CHANGES)
EACH_VERSION = pytest.mark.parametrize("nfs_version", ["v2", "v3"])
_NOTSUPP: t.Final = 10004
_JUKEBOX: t.Final = 10008
_UNDOES: t.Final = {
    "create": "remove",
    "mkdir": "rmdir",
    "symlink": "remove",
    "mknod": "remove",
    "link": "remove",
    "rename": "rename",
}
"""Change -> the procedure that takes it back; REMOVE and RMDIR are taken back by a new object."""


class Case:
    """A change of names in the scratch directory, which is made once for a check."""

    def __init__(self, nfs_version: str, procedure: str, scratch: Scratch[t.Any, t.Any]) -> None:
        self.version = int(nfs_version[1:])
        self._calls = CALLS2 if self.version == 2 else CALLS3
        self._kind: type[Nfs2 | Nfs3] = Nfs2 if self.version == 2 else Nfs3
        self._scratch = scratch
        self.call: Call = self._calls[procedure]
        self.name = self.call.procedure.name

    def arrange(self, peer: Wire) -> RawCall:
        """Make what the change needs; the call that makes the change."""
        args = self.call.arranged(self._scratch, NAME)
        return peer.make(self.call.procedure.number, args.to_xdr())

    @property
    def before(self) -> list[bytes]:
        """The names before the change."""
        return [] if self.call.needs == "nothing" else [NAME]

    @property
    def after(self) -> list[bytes]:
        """The names after it."""
        return self.call.names_after(NAME)

    def take_back(self, client: Nfs2 | Nfs3) -> None:
        """Change the names back to those before, with other calls. SKIP if that fails."""
        here = self._scratch.handle
        if self.call.name == "remove":
            self._scratch.file(NAME, b"data")
        elif self.call.name == "rmdir":
            self._scratch.directory(NAME)
        else:
            name = second_name(NAME) if self.call.name in {"link", "rename"} else NAME
            back = self._calls[_UNDOES[self.call.name]]
            operands = Operands(directory=here, name=name, to_directory=here, to_name=NAME)
            status = back.make(client, operands).status
            if status != 0:
                skip(f"{self.name} cannot be taken back: {back.procedure.name} answers {status}")

    def status(self, answer: Answer) -> int:
        """The status of an answer with results."""
        return int(answer.decode(self.call.procedure.res).status)

    def need(self, answer: Answer) -> None:
        """End the check unless this answer shows that the change was made."""
        if answer.outcome == PROC_UNAVAIL:
            unsupported(f"the server answers PROC_UNAVAIL to {self.name}")
        if answer.outcome != SUCCESS:
            skip(f"{self.name} fails: the answer is {answer.outcome}")
        status = self.status(answer)
        if status == _NOTSUPP:
            unsupported(f"the server answers NOTSUPP to {self.name}")
        if status != 0:
            skip(f"{self.name} with valid arguments fails: it answers {status}")

    @property
    def full_name(self) -> str:
        """The procedure with its mode, as in the profile of duplicates."""
        return f"{self.name} GUARDED" if self.version == 3 and self.call.name == "create" else self.name

    def is_second(self, answer: Answer) -> bool:
        """Whether only a second execution answers so."""
        return answer.outcome == SUCCESS and self.status(answer) in {
            int(status) for status in self.call.again
        }

    def text_of(self, answer: Answer) -> str:
        """What a server did with a copy, as far as its answer tells it."""
        if answer.outcome != SUCCESS:
            return answer.outcome
        status = self.status(answer)
        if status == 0:
            return (
                "answered with success" if self.call.again else "answered with success, as each execution is"
            )
        return "answered JUKEBOX" if status == _JUKEBOX else f"answered with status {status}"
