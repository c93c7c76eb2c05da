# SPDX-License-Identifier: MIT
"""Making the calls of sequences on a server, by NFSv3 or NFSv2, and looking at what is there."""

from __future__ import annotations

import typing as t
from collections.abc import Callable
from contextlib import suppress

from fixtures.checks.dialects import AnyDialect
from fixtures.checks.dialects import nfs2 as dialect2
from fixtures.checks.dialects import nfs3 as dialect3
from fixtures.checks.scratch import CannotClean, names_by
from nfsclient.errors import NfsStatusError, ServerViolation
from nfsclient.files import (
    Attributes,
    Blocking,
    Create,
    Files,
    FileType,
    NewAttributes,
    Stable,
    Steps,
    v2,
    v3,
)
from nfsclient.protocol.nfs2 import MAXDATA
from nfsclient.rpc.blocking import RpcClient
from nfsclient.xdr import XdrEnum
from nfsjudge import Requirement, show
from nfsjudge.survival import Level, Node, SeenNode, Tree
from suites.recovery.steps import NEW_MODE, TEXT, Step

Handles: t.TypeAlias = dict[Node, bytes]
KINDS: t.Final = {
    FileType.REGULAR: "file",
    FileType.DIRECTORY: "directory",
    FileType.LINK: "symbolic link",
}
_MISSING: t.Final = (2, 5, 70, 10001, 10006)
"""NOENT, IO, STALE, BADHANDLE, SERVERFAULT: statuses of an object that is there by its name, and is broken."""
_MOST_IN_A_READ: t.Final = 65_536


class NotDone(Exception):
    """The server has refused a step, or does not say enough to know what it has done: the sequence ends here."""


class Unreadable(Exception):
    """What is there cannot be seen, for a reason that says nothing about it."""


class Player:
    """Two clients of one version of NFS. `is_lossy`: SETATTR may be lost."""

    is_lossy: t.ClassVar[bool]
    limit: t.ClassVar[int]
    """Bytes in one WRITE."""
    files: t.ClassVar[Files]
    creates: t.ClassVar[Create] = Create.GUARDED
    directories: t.ClassVar[Requirement]

    def __init__(self, dialect: AnyDialect, connect: Callable[..., RpcClient]) -> None:
        """`connect` is the fixture `rpc_connect`."""
        self._dialect = dialect
        self._connect = connect
        self.is_recorded = False
        """Whether the calls are kept for the evidence: thousands of them would hide those that matter."""
        self.clients: list[Blocking] = []
        self._connections: list[RpcClient] = []
        self._verifiers: dict[Tree, set[bytes]] = {}
        """Those of the uncommitted WRITEs."""

    def join(self) -> None:
        """Connect both clients, the first time or again after a crash."""
        for connection in self._connections:
            connection.close()
        self._connections = [self._connect("nfs") for _ in range(2)]
        for connection in self._connections:
            if not self.is_recorded:
                connection.on_exchange = None
        self.clients = [Blocking(self._dialect.client(each)) for each in self._connections]

    # ------------------------------------------------------------ before the crash

    def make_place(self, where: bytes, name: str) -> None:
        """A directory for a sequence. Raises `NfsStatusError`."""
        self.clients[0](self.files.mkdir(where, name.encode(), NewAttributes(mode=0o755)))

    def do(self, step: Step, tree: Tree, handles: Handles) -> None:
        """Make the call of a step, and report to the tree what was acknowledged. Raises `NotDone`."""
        client = self.clients[step.client - 1]
        try:
            if step.verb in {"WRITE", "COMMIT"}:
                self._transfer(client, step, tree, self._handle(client, tree, handles, step.path))
                return
            client(self._change(client, step, tree, handles))
        except NfsStatusError as error:
            # LOOKUP is of an object that was created, and whose handle did not come along.
            if error.procedure != "LOOKUP":
                raise NotDone from None
        step.acknowledge(tree)

    def _handle(self, client: Blocking, tree: Tree, handles: Handles, path: str) -> bytes:
        node = tree.find(path)
        assert node is not None, path
        if node not in handles:  # the reply to the call that made it had none
            parent, _, name = path.rpartition("/")
            reply = self.lookup(client, self._handle(client, tree, handles, parent), name)
            if isinstance(reply, XdrEnum):
                raise NotDone
            handles[node] = reply[0]
        return handles[node]

    def _change(self, client: Blocking, step: Step, tree: Tree, handles: Handles) -> Steps[t.Any]:
        def of(path: str) -> tuple[bytes, bytes]:
            """The directory of a path, and the last name."""
            parent, _, name = path.rpartition("/")
            return self._handle(client, tree, handles, parent), name.encode()

        files, new = self.files, NewAttributes(mode=NEW_MODE.get(step.verb))
        match step.verb:
            case "RENAME":
                return files.rename(*of(step.path), *of(step.other))
            case "LINK":
                return files.link(self._handle(client, tree, handles, step.path), *of(step.other))
            case "REMOVE":
                return files.remove(*of(step.path))
            case "RMDIR":
                return files.rmdir(*of(step.path))
            case "SYMLINK":
                return files.symlink(*of(step.path), TEXT)
            case "CREATE":
                return files.create(*of(step.path), self.creates, new)
            case "MKDIR":
                return files.mkdir(*of(step.path), new)
        change = NewAttributes(size=step.size) if step.verb == "SIZE" else NewAttributes(mode=step.mode)
        return files.setattr(self._handle(client, tree, handles, step.path), change)

    def _transfer(self, client: Blocking, step: Step, tree: Tree, handle: bytes) -> None:
        verifiers = self._verifiers.setdefault(tree, set())
        if step.verb == "COMMIT":
            verifier = client(self.files.commit(handle, step.offset, step.size))
            if verifiers - {verifier}:
                raise NotDone  # it may have lost the data
            step.acknowledge(tree)
            return
        done = client(self.files.write(handle, step.offset, step.data, Stable(step.level)))
        if not done.count:
            raise NotDone
        level = Level(max(Stable(step.level), done.committed))
        if level is not Level.FILE_SYNC:
            assert done.verifier is not None
            verifiers.add(done.verifier)
        step.acknowledge(tree, count=min(done.count, step.size), level=level)

    # ------------------------------------------------------------ what is there

    def lookup(self, client: Blocking, where: bytes, name: str) -> tuple[bytes, Attributes] | XdrEnum:
        """The handle and the attributes of a name, or the status of the refusal."""
        try:
            found = client(self.files.lookup(where, name.encode("latin-1")))
            return found.handle, found.attributes or client(self.files.getattr(found.handle))
        except NfsStatusError as error:
            status: XdrEnum = error.status
            return status
        except ServerViolation as error:
            raise Unreadable from error

    def _read(self, client: Blocking, file: bytes) -> bytes:
        data = bytearray()
        while True:
            part = client(self.files.read(file, len(data), _MOST_IN_A_READ))
            data += part.data
            if part.eof or not part.data:
                return bytes(data)

    def look(self, where: bytes, name: str) -> SeenNode:
        """What LOOKUP finds at a name, with all that is in it. Raises `Unreadable`."""
        client = self.clients[0]
        found = self.lookup(client, where, name)
        if isinstance(found, XdrEnum):
            return SeenNode("missing object", trouble=_trouble("LOOKUP", found))
        handle, attributes = found
        assert attributes.fileid is not None
        assert attributes.nlink is not None
        assert attributes.mode is not None
        kind = "special file" if attributes.type is None else KINDS.get(attributes.type, "special file")
        content, trouble = b"", ""
        try:
            if kind == "file":
                content = self._read(client, handle)
            elif kind == "symbolic link":
                content = client(self.files.readlink(handle))
        except NfsStatusError as error:
            trouble = _trouble("READ", error.status)
        return SeenNode(
            kind,
            attributes.fileid,
            attributes.nlink,
            attributes.mode,
            content,
            self._entries(client, handle) if kind == "directory" else {},
            trouble,
        )

    def clear(self, where: bytes, name: str, seen: SeenNode) -> None:
        """Remove what was seen at a name, as far as the server does that: it may have little room."""
        client, raw = self.clients[0], name.encode("latin-1")
        removing = self.files.remove(where, raw)
        if seen.kind == "directory":
            found = self.lookup(client, where, name)
            if not isinstance(found, XdrEnum):
                for inside, child in seen.entries.items():
                    self.clear(found[0], inside, child)
            removing = self.files.rmdir(where, raw)
        with suppress(NfsStatusError):
            client(removing)

    def _entries(self, client: Blocking, directory: bytes) -> dict[str, SeenNode]:
        try:
            names = names_by(client, self.files, directory, self.directories)
        except CannotClean as error:
            raise Unreadable from error
        return {name.decode("latin-1"): self.look(directory, name.decode("latin-1")) for name in names}


def _trouble(procedure: str, status: XdrEnum) -> str:
    if status not in _MISSING:
        raise Unreadable
    return f"{procedure} answers {show(status)}"


class Player3(Player):
    """Two clients of NFSv3."""

    is_lossy = True
    limit = 8192
    files = v3.Files(checked=False)
    directories = dialect3.DIRECTORIES


class Player2(Player):
    """Two clients of NFSv2, in which all is synchronous."""

    is_lossy = False
    limit = MAXDATA
    files = v2.Files(checked=False)
    creates = Create.UNCHECKED
    directories = dialect2.DIRECTORIES
