# SPDX-License-Identifier: MIT
"""NFSv2 or NFSv3 in one form, for claims that hold for both: the parameter `nfs_version` says which."""

from __future__ import annotations

import typing as t

import pytest

from fixtures.checks.scratch import Scratch, need
from fixtures.checks.target import TargetView
from nfsclient.clients import Nfs2, Nfs3
from nfsclient.protocol.nfs2 import IGNORED, Sattr, Timeval
from nfsclient.protocol.nfs3 import CreateMode3, Nfstime3, Sattr3
from nfsjudge import Harm, Requirement, expect, expect_that, should, show, skip, stated
from suites.catalogue import Operands
from suites.nfs2.calls import CALLS as CALLS2
from suites.nfs3.calls import CALLS as CALLS3
from suites.nfs3.times import at_client_time
from suites.recovery.after_crash import names_again

EACH_VERSION = pytest.mark.parametrize("nfs_version", ["v2", "v3"])
ENDINGS = pytest.mark.parametrize("ending", ["crash", "restart"])
"""With `across("ending")`."""
V2_IS_SYNCHRONOUS = stated(
    "RFC 1094",
    "2.2",
    "when a procedure returns, the operation is complete and its data is on stable storage",
    harm=Harm.DATA,
)
V3_NAMES_ARE_SYNCHRONOUS = stated(
    "RFC 1813",
    "1.6",
    "CREATE, MKDIR, SYMLINK, MKNOD, REMOVE, RMDIR, RENAME and LINK are on stable storage before they return",
    harm=Harm.DATA,
)
V2_HANDLE_IS_OF_ONE_FILE = stated(
    "RFC 1094",
    "2.3.1",
    "the handle of a removed file is STALE and never refers to another file",
    harm=Harm.DATA,
)
V2_READDIR_RESUMES = should(  # the section does not say how long a cookie is good
    "RFC 1094", "2.2.17", "READDIR continues a listing after the entry whose cookie it gets"
)


class Either:
    """The calls that both versions have. What is arranged with it may end the check as SKIP or UNSUPPORTED."""

    def __init__(self, version: str, scratch: Scratch[t.Any, t.Any], target: TargetView) -> None:
        self.is_v2 = version == "v2"
        self.scratch = scratch
        self.target = target
        self.kind: type[Nfs2 | Nfs3] = Nfs2 if self.is_v2 else Nfs3

    @property
    def client(self) -> t.Any:
        """A client as the user of the run."""
        return self.target.client(self.kind)

    def rule(self, of_v2: Requirement, of_v3: Requirement) -> Requirement:
        """The clause of this version."""
        return of_v2 if self.is_v2 else of_v3

    @property
    def names_rule(self) -> Requirement:
        """What makes changes of names stable."""
        return self.rule(V2_IS_SYNCHRONOUS, V3_NAMES_ARE_SYNCHRONOUS)

    def attributes(self, mode: int | None = None, size: int | None = None) -> t.Any:
        """The attributes of a new object."""
        if not self.is_v2:
            return Sattr3(mode=mode, size=size)
        return Sattr(mode=IGNORED if mode is None else mode, size=IGNORED if size is None else size)

    # ------------------------------------------------------------ changes

    def do(self, procedure: str, operands: Operands) -> t.Any:
        """Make a change, which must succeed. Returns the reply."""
        call = (CALLS2 if self.is_v2 else CALLS3)[procedure]
        reply = call.make(self.client, operands)
        need(reply, "the change before the crash", call.procedure.name)
        return reply

    def create(self, name: bytes, **attributes: int) -> None:
        where, made = self.scratch.handle, self.attributes(**attributes)
        if self.is_v2:
            reply = self.client.create(where, name, made)
        else:
            reply = self.client.create(where, name, CreateMode3.UNCHECKED, made)
        need(reply, "the change before the crash", "CREATE")

    def rename(self, name: bytes, to: bytes, where: bytes = b"", to_where: bytes = b"") -> None:
        here = self.scratch.handle
        self.do("rename", Operands(b"", where or here, name, to_where or here, to))

    def remove(self, name: bytes) -> None:
        self.do("remove", Operands(directory=self.scratch.handle, name=name))

    def set_mtime(self, file: bytes, seconds: int) -> None:
        """Set mtime by SETATTR, if the server does that."""
        asked = (
            Sattr(mtime=Timeval(seconds)) if self.is_v2 else Sattr3(mtime=at_client_time(Nfstime3(seconds)))
        )
        self.client.setattr(file, asked)

    # ------------------------------------------------------------ after the crash

    def again(self) -> None:
        """Go on with new connections. SKIP if the directory of the check is lost, which another check judges."""
        client, root = self.client, self.target.root(self.kind)
        self.scratch.move_to(client, root)
        if client.getattr(self.scratch.handle).resok is not None:
            return
        found = client.lookup(root, self.scratch.name)
        if found.resok is None:
            skip(f"the directory of the check did not survive: LOOKUP answers {found.status}")
        self.scratch.handle = found.resok.file if self.is_v2 else found.resok.object

    def found(
        self, name: bytes, directory: bytes | None = None, *, because: Requirement | None = None
    ) -> bytes:
        """Expect LOOKUP to find a name; its handle."""
        __tracebackhide__ = True
        handle = self.scratch.lookup(name, directory=directory)
        what = f"LOOKUP of {show(name)} after the crash"
        expect_that(handle is not None, "a handle", "no such name", what, because=because or self.names_rule)
        assert handle is not None
        return handle

    def names(self, name: bytes = b"") -> list[bytes]:
        """The names in the directory of the check, or in one inside it."""
        __tracebackhide__ = True
        root = self.target.root(self.kind)

        def find() -> bytes:
            if name:
                return self.found(name)
            return self.scratch.lookup(self.scratch.name, directory=root) or self.scratch.handle

        return names_again(self.scratch, find, self.names_rule)

    def link_text(self, handle: bytes) -> bytes:
        """The data of a symbolic link."""
        __tracebackhide__ = True
        resok = expect(self.client.readlink(handle), because=self.names_rule).ok()
        return bytes(resok if isinstance(resok, bytes | memoryview) else resok.data)
