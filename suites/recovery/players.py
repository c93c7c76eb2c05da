# SPDX-License-Identifier: MIT
"""Making the calls of sequences on a server, by NFSv3 or NFSv2, and looking at what is there."""

from __future__ import annotations

import typing as t
from abc import ABC, abstractmethod
from collections.abc import Callable

from fixtures.checks.dialects import AnyDialect
from fixtures.checks.dialects import nfs2 as dialect2
from fixtures.checks.dialects import nfs3 as dialect3
from fixtures.checks.scratch import CannotClean
from nfsclient.clients import Nfs2, Nfs3
from nfsclient.protocol import nfs2 as p2
from nfsclient.protocol import nfs3 as p3
from nfsclient.rpc.blocking import RpcClient
from nfsclient.xdr import XdrEnum
from nfsjudge import show
from nfsjudge.survival import Level, Node, SeenNode, Tree
from suites.recovery.steps import NEW_MODE, TEXT, Step

Client = t.TypeVar("Client", Nfs2, Nfs3)
AnyClient: t.TypeAlias = Nfs2 | Nfs3
Handles: t.TypeAlias = dict[Node, bytes]
KINDS: t.Final = {1: "file", 2: "directory", 5: "symbolic link"}
"""ftype of both versions."""
_MISSING: t.Final = (2, 5, 70, 10001, 10006)
"""NOENT, IO, STALE, BADHANDLE, SERVERFAULT: statuses of an object that is there by its name, and is broken."""
_MOST_IN_A_READ: t.Final = 65_536


class NotDone(Exception):
    """The server has refused a step, or does not say enough to know what it has done: the sequence ends here."""


class Unreadable(Exception):
    """What is there cannot be seen, for a reason that says nothing about it."""


class Player(ABC, t.Generic[Client]):
    """Two clients of one version of NFS. `is_lossy`: SETATTR may be lost."""

    is_lossy: t.ClassVar[bool]
    limit: t.ClassVar[int]
    """Bytes in one WRITE."""

    def __init__(self, dialect: AnyDialect, connect: Callable[..., RpcClient]) -> None:
        """`connect` is the fixture `rpc_connect`."""
        self._dialect = dialect
        self._connect = connect
        self.is_recorded = False
        """Whether the calls are kept for the evidence: thousands of them would hide those that matter."""
        self.clients: list[Client] = []

    def join(self) -> None:
        """Connect both clients, the first time or again after a crash."""
        for client in self.clients:
            t.cast("RpcClient", client.rpc).close()
        self.clients = []
        for _ in range(2):
            rpc = self._connect("nfs")
            if not self.is_recorded:
                rpc.on_exchange = None
            self.clients.append(t.cast("Client", self._dialect.client(rpc)))

    # ------------------------------------------------------------ before the crash

    def do(self, step: Step, tree: Tree, handles: Handles) -> None:
        """Make the call of a step, and report to the tree what was acknowledged. Raises `NotDone`."""
        client = self.clients[step.client - 1]
        if step.verb in {"WRITE", "COMMIT"}:
            self._transfer(client, step, tree, self._handle(client, tree, handles, step.path))
            return
        self._change(client, step, tree, handles)
        step.acknowledge(tree)

    def _handle(self, client: Client, tree: Tree, handles: Handles, path: str) -> bytes:
        node = tree.find(path)
        assert node is not None, path
        if node not in handles:  # the reply to the call that made it had none
            parent, _, name = path.rpartition("/")
            reply = self.lookup(client, self._handle(client, tree, handles, parent), name)
            if isinstance(reply, XdrEnum):
                raise NotDone
            handles[node] = reply[0]
        return handles[node]

    def _change(self, client: Client, step: Step, tree: Tree, handles: Handles) -> None:
        parent, _, name = step.path.rpartition("/")
        where, raw = self._handle(client, tree, handles, parent), name.encode()
        other, _, new = step.other.rpartition("/")
        status: XdrEnum
        match step.verb:
            case "RENAME":
                there = self._handle(client, tree, handles, other)
                status = client.rename(where, raw, there, new.encode()).status
            case "LINK":
                file = self._handle(client, tree, handles, step.path)
                status = client.link(file, self._handle(client, tree, handles, other), new.encode()).status
            case "REMOVE":
                status = client.remove(where, raw).status
            case "RMDIR":
                status = client.rmdir(where, raw).status
            case "SYMLINK":
                status = client.symlink(where, raw, TEXT).status
            case "CREATE" | "MKDIR":
                status = self._make(client, step.verb, where, raw)
            case _:
                status = self._set(client, self._handle(client, tree, handles, step.path), step)
        if status != 0:
            raise NotDone

    @abstractmethod
    def _make(self, client: Client, verb: str, where: bytes, name: bytes) -> XdrEnum: ...

    @abstractmethod
    def _set(self, client: Client, handle: bytes, step: Step) -> XdrEnum: ...

    @abstractmethod
    def _transfer(self, client: Client, step: Step, tree: Tree, handle: bytes) -> None: ...

    # ------------------------------------------------------------ what is there

    @abstractmethod
    def lookup(self, client: Client, where: bytes, name: str) -> tuple[bytes, p2.Fattr | p3.Fattr3] | XdrEnum:
        """The handle and the attributes of a name, or the status of the refusal."""

    @abstractmethod
    def _names(self, client: Client, directory: bytes) -> list[bytes]: ...

    @abstractmethod
    def _read(self, client: Client, file: bytes) -> bytes | XdrEnum: ...

    @abstractmethod
    def _read_link(self, client: Client, link: bytes) -> bytes | XdrEnum: ...

    def look(self, where: bytes, name: str) -> SeenNode:
        """What LOOKUP finds at a name, with all that is in it. Raises `Unreadable`."""
        client = self.clients[0]
        found = self.lookup(client, where, name)
        if isinstance(found, XdrEnum):
            return SeenNode("missing object", trouble=_trouble("LOOKUP", found))
        handle, attributes = found
        kind = KINDS.get(int(attributes.type), "special file")
        content: bytes | XdrEnum = b""
        if kind == "file":
            content = self._read(client, handle)
        elif kind == "symbolic link":
            content = self._read_link(client, handle)
        trouble = _trouble("READ", content) if isinstance(content, XdrEnum) else ""
        return SeenNode(
            kind,
            attributes.fileid,
            attributes.nlink,
            attributes.mode & 0o7777,
            b"" if isinstance(content, XdrEnum) else content,
            self._entries(client, handle) if kind == "directory" else {},
            trouble,
        )

    def clear(self, where: bytes, name: str, seen: SeenNode) -> None:
        """Remove what was seen at a name, as far as the server does that: it may have little room."""
        client = self.clients[0]
        if seen.kind != "directory":
            client.remove(where, name.encode("latin-1"))
            return
        found = self.lookup(client, where, name)
        if not isinstance(found, XdrEnum):
            for inside, child in seen.entries.items():
                self.clear(found[0], inside, child)
        client.rmdir(where, name.encode("latin-1"))

    def _entries(self, client: Client, directory: bytes) -> dict[str, SeenNode]:
        try:
            names = self._names(client, directory)
        except CannotClean as error:
            raise Unreadable from error
        return {name.decode("latin-1"): self.look(directory, name.decode("latin-1")) for name in names}


def _trouble(procedure: str, status: XdrEnum) -> str:
    if status not in _MISSING:
        raise Unreadable
    return f"{procedure} answers {show(status)}"


class Player3(Player[Nfs3]):
    """Two clients of NFSv3."""

    is_lossy = True
    limit = 8192

    def __init__(self, dialect: AnyDialect, connect: Callable[..., RpcClient]) -> None:
        super().__init__(dialect, connect)
        self._verifiers: dict[Tree, set[bytes]] = {}
        """Those of the uncommitted WRITEs."""

    def _make(self, client: Nfs3, verb: str, where: bytes, name: bytes) -> XdrEnum:
        attributes = p3.Sattr3(mode=NEW_MODE[verb])
        if verb == "CREATE":
            return client.create(where, name, p3.CreateMode3.GUARDED, attributes).status
        return client.mkdir(where, name, attributes).status

    def _set(self, client: Nfs3, handle: bytes, step: Step) -> XdrEnum:
        change = p3.Sattr3(size=step.size) if step.verb == "SIZE" else p3.Sattr3(mode=step.mode)
        return client.setattr(handle, change).status

    def _transfer(self, client: Nfs3, step: Step, tree: Tree, handle: bytes) -> None:
        verifiers = self._verifiers.setdefault(tree, set())
        if step.verb == "COMMIT":
            committed = client.commit(handle, step.offset, step.size).resok
            if committed is None or verifiers - {committed.verf}:
                raise NotDone  # it may have lost the data
            step.acknowledge(tree)
            return
        reply = client.write(handle, step.offset, step.data, p3.StableHow(step.level)).resok
        if reply is None or not reply.count:
            raise NotDone
        level = max(step.level, Level(reply.committed) if reply.committed.is_known else step.level)
        if level is not Level.FILE_SYNC:
            verifiers.add(reply.verf)
        step.acknowledge(tree, count=min(reply.count, step.size), level=level)

    def lookup(self, client: Nfs3, where: bytes, name: str) -> tuple[bytes, p3.Fattr3] | XdrEnum:
        """The handle and the attributes of a name, or the status of the refusal."""
        found = client.lookup(where, name.encode("latin-1"))
        if found.resok is None:
            return found.status
        if found.resok.obj_attributes is not None:
            return found.resok.object, found.resok.obj_attributes
        reply = client.getattr(found.resok.object)
        return reply.status if reply.resok is None else (found.resok.object, reply.resok.obj_attributes)

    def _names(self, client: Nfs3, directory: bytes) -> list[bytes]:
        return dialect3.list_names(client, directory)

    def _read(self, client: Nfs3, file: bytes) -> bytes | XdrEnum:
        data = bytearray()
        while True:
            reply = client.read(file, len(data), _MOST_IN_A_READ)
            if reply.resok is None:
                return reply.status
            data += reply.resok.data
            if reply.resok.eof or not reply.resok.data:
                return bytes(data)

    def _read_link(self, client: Nfs3, link: bytes) -> bytes | XdrEnum:
        reply = client.readlink(link)
        return reply.status if reply.resok is None else bytes(reply.resok.data)


class Player2(Player[Nfs2]):
    """Two clients of NFSv2, in which all is synchronous."""

    is_lossy = False
    limit = p2.MAXDATA

    def _make(self, client: Nfs2, verb: str, where: bytes, name: bytes) -> XdrEnum:
        make = client.create if verb == "CREATE" else client.mkdir
        return make(where, name, p2.Sattr(mode=NEW_MODE[verb])).status

    def _set(self, client: Nfs2, handle: bytes, step: Step) -> XdrEnum:
        change = p2.Sattr(size=step.size) if step.verb == "SIZE" else p2.Sattr(mode=step.mode)
        return client.setattr(handle, change).status

    def _transfer(self, client: Nfs2, step: Step, tree: Tree, handle: bytes) -> None:
        if client.write(handle, step.offset, step.data).status != 0:
            raise NotDone
        step.acknowledge(tree)

    def lookup(self, client: Nfs2, where: bytes, name: str) -> tuple[bytes, p2.Fattr] | XdrEnum:
        """The handle and the attributes of a name, or the status of the refusal."""
        found = client.lookup(where, name.encode("latin-1"))
        return found.status if found.resok is None else (found.resok.file, found.resok.attributes)

    def _names(self, client: Nfs2, directory: bytes) -> list[bytes]:
        return dialect2.list_names(client, directory)

    def _read(self, client: Nfs2, file: bytes) -> bytes | XdrEnum:
        data = bytearray()
        while True:
            reply = client.read(file, len(data), p2.MAXDATA)
            if reply.resok is None:
                return reply.status
            data += reply.resok.data
            if not reply.resok.data or len(data) >= reply.resok.attributes.size:
                return bytes(data)

    def _read_link(self, client: Nfs2, link: bytes) -> bytes | XdrEnum:
        reply = client.readlink(link)
        return reply.status if reply.resok is None else bytes(reply.resok)
