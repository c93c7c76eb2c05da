# SPDX-License-Identifier: MIT
"""Files and directories by path, over NFSv3."""

from __future__ import annotations

import functools
import os
import secrets
import stat as modes
import typing as t
from contextlib import ExitStack

from nfsclient.clients.patience import Patience, SharedPatience, one_patience
from nfsclient.discovery import TIMEOUT, Endpoint, as_url, discover, open_connection
from nfsclient.highlevel.files import NfsFile
from nfsclient.highlevel.listing import Lister
from nfsclient.highlevel.resolve import Node, Resolver
from nfsclient.highlevel.session import Limits, Session
from nfsclient.highlevel.transfer import Reader, Writer
from nfsclient.listings import USUAL_BOUNDS, ListingBounds, require_shallow
from nfsclient.paths import PathLike, as_bytes, as_text, names_of
from nfsclient.protocol import nfs3 as p
from nfsclient.replies import status_error
from nfsclient.rpc.auth import Credential
from nfsclient.rpc.blocking import RpcClient
from nfsclient.rpc.loop import Loop
from nfsclient.url import NfsUrl
from nfsclient.xdr import Buffer

if t.TYPE_CHECKING:
    from nfsclient.highlevel.nfs4.client import NfsClient4

_NOTHING_SET: t.Final = p.Sattr3()
_CREATED_ANYHOW = {"w": p.CreateMode3.UNCHECKED, "a": p.CreateMode3.UNCHECKED, "x": p.CreateMode3.EXCLUSIVE}


@one_patience
class NfsClient:
    """A server's export as files and directories. Make one with `nfsclient.connect`.

    Paths are text (UTF-8) or bytes, with "/" between names, and start at the directory that the URL named,
    with or without a leading "/". Names are returned in the type of the given path.
    Symbolic links are followed; by `lstat`, `remove`, `rename` and the like not at the end of the path.

    Errors: `NfsStatusError` with `status`, `procedure` and `path`, which is also Python's own kind where
    there is one (`FileNotFoundError`, `FileExistsError`, `PermissionError`, ...); `RetriesExhausted` when the
    server answers JUKEBOX for too long: `patience` is for all calls to the server together that one call of a method
    makes, with `scan` and `walk` until they end; `EndlessListing` for a directory beyond `listing_bounds`;
    `ServerDown` when it does not answer or cannot be reached for too long;
    other kinds of `RpcError` when it refuses a call; `XdrError` when it answers nonsense.
    Logs nothing, caches nothing. Not for several threads.
    """

    def __init__(
        self,
        rpc: RpcClient,
        root: bytes,
        *,
        base: bytes = b"/",
        limits: Limits | None = None,
        patience: Patience | None = None,
        listing_bounds: ListingBounds = USUAL_BOUNDS,
        reconnect: bool = False,
    ) -> None:
        """`root` is the handle that paths start at, `base` its own path on the server, for absolute links.

        With `reconnect`, calls whose connection is lost are made again on a new one, as long as `patience` lasts.
        """
        self.root = root
        self.listing_bounds = listing_bounds
        """Of one directory: more raises `EndlessListing`."""
        self.patience = SharedPatience.shared(patience or Patience.of(rpc.loop))
        """How long one call of a method waits in all, 30 s by default."""
        self.session = Session(rpc, patience=self.patience, limits=limits, reconnect=reconnect)
        self._resolver = Resolver(self.session, root, base)
        self._nfs = self.session.nfs
        self._closing = ExitStack()

    # ------------------------------------------------------------ the connection

    def close(self) -> None:
        """Close the connection."""
        self.session.caller.end()
        self.session.rpc.close()
        self._closing.close()

    def __enter__(self) -> t.Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ------------------------------------------------------------ what is there

    def find(self, path: PathLike = "", *, follow: bool = True) -> Node:
        """Handle of an object, with its path and, if the server gave them along, its attributes."""
        return self._resolver.find(as_bytes(path), follow=follow)

    def stat(self, path: PathLike = "") -> p.Fattr3:
        """The attributes of an object."""
        return self._resolver.attributes(self.find(path))

    def lstat(self, path: PathLike) -> p.Fattr3:
        """The attributes of an object, of a symbolic link itself."""
        return self._resolver.attributes(self.find(path, follow=False))

    def exists(self, path: PathLike) -> bool:
        """Whether a path leads somewhere."""
        try:
            self.find(path)
        except (FileNotFoundError, NotADirectoryError):
            return False
        return True

    def fsstat(self, path: PathLike = "") -> p.Fsstat3ResOk:
        """How full the file system is."""
        node = self.find(path)
        return self.session.ok(self._nfs.fsstat(node.handle), node.path)

    @t.overload
    def listdir(self, path: str | os.PathLike[str] = "") -> list[str]: ...
    @t.overload
    def listdir(self, path: bytes | os.PathLike[bytes]) -> list[bytes]: ...
    def listdir(self, path: PathLike = "") -> list[str] | list[bytes]:
        """The names in a directory, in the server's order, without "." and ".."."""
        names = [name for page in self._lister(self.find(path)).names() for name in page]
        return names if isinstance(os.fspath(path), bytes) else [as_text(name) for name in names]

    def scan(self, path: PathLike = "") -> t.Iterator[p.Entryplus3]:
        """The entries of a directory as they come, without "." and "..".

        `name_attributes` and `name_handle` are None where the server withholds them. While the caller works
        on a page the next one is on its way.
        """
        for page in self._lister(self.find(path)).entries():
            yield from page

    def walk(self, path: str | os.PathLike[str] = "") -> t.Iterator[tuple[str, list[str], list[str]]]:
        """(directory, names of directories in it, names of other objects) for a tree, as `os.walk` does.

        From the top down; the caller may remove names of directories to keep out of them. Symbolic links
        are not followed.
        """
        todo = [(os.fspath(path), self.find(path))]
        while todo:
            top, node = todo.pop()
            require_shallow(top)
            directories, others = self._sorted_out(node)
            names = list(directories)
            yield top, names, others
            todo += [(f"{top}/{name}" if top else name, directories[name]) for name in reversed(names)]

    def _sorted_out(self, node: Node) -> tuple[dict[str, Node], list[str]]:
        """The directories in a directory, and the names of what else is there."""
        directories: dict[str, Node] = {}
        others: list[str] = []
        lister = self._lister(node)
        lister.is_caller_ours = True
        for page in lister.entries():
            for entry in page:
                child = self._child(node, entry)
                if child is None:
                    continue
                if self._resolver.attributes(child).type == p.Ftype3.NF3DIR:
                    directories[as_text(entry.name)] = child
                else:
                    others.append(as_text(entry.name))
        return directories, others

    def _child(self, directory: Node, entry: p.Entryplus3) -> Node | None:
        """The object of an entry; None if it is gone since."""
        path = directory.path.rstrip(b"/") + b"/" + entry.name
        if entry.name_handle is not None:
            return Node(entry.name_handle, path, entry.name_attributes)
        try:
            return self._resolver.child(directory, entry.name, path)
        except FileNotFoundError:
            return None

    def _lister(self, node: Node) -> Lister:
        return Lister(self.session, node.handle, node.path, bounds=self.listing_bounds)

    # ------------------------------------------------------------ data

    def read_file(self, path: PathLike) -> bytes:
        """The whole contents of a file."""
        node = self.find(path)
        size = self._resolver.attributes(node).size
        return Reader(self.session, node.handle, node.path).read_to_end(0, size)

    def write_file(self, path: PathLike, data: Buffer, *, mode: int = 0o644) -> None:
        """Make `data` the whole contents of a file, stable when this returns. `mode` is for a new file."""
        view = memoryview(data).cast("B")
        node = self._create(as_bytes(path), p.CreateMode3.UNCHECKED, p.Sattr3(mode=mode, size=0))
        writer = Writer(self.session, node.handle, node.path)
        small = len(view) <= self.session.limits.write
        writer.write(0, view, p.StableHow.FILE_SYNC if small else p.StableHow.UNSTABLE)
        writer.commit()

    def open(self, path: PathLike, mode: str = "r", *, permissions: int = 0o644) -> NfsFile:
        """A binary file object; `mode` as of the built-in `open`: r, w, x or a, with + for both directions.

        A "b" means nothing more: for text wrap the file in `io.TextIOWrapper(io.BufferedReader(...))`.
        "x" uses the exclusive CREATE, where the server has it.
        """
        kind = mode.replace("b", "").replace("+", "")
        if kind not in {"r", "w", "x", "a"} or "t" in mode:
            raise ValueError(f"expected a mode of r, w, x or a with b and + at most, saw {mode!r}")
        wanted = as_bytes(path)
        if kind == "r":
            node = self._resolver.find(wanted)
            if self._resolver.attributes(node).type == p.Ftype3.NF3DIR:
                raise status_error(p.Nfsstat3.NFS3ERR_ISDIR, "READ", as_text(wanted))
        else:
            size = 0 if kind == "w" else None
            node = self._create(wanted, _CREATED_ANYHOW[kind], p.Sattr3(mode=permissions, size=size))
        return NfsFile(
            self.session,
            node.handle,
            node.path,
            readable=kind == "r" or "+" in mode,
            writable=kind != "r" or "+" in mode,
            append=kind == "a",
            known=0 if node.attributes is None else node.attributes.size,
        )

    def truncate(self, path: PathLike, size: int) -> None:
        """Cut a file, or extend it by zeros, to `size` bytes."""
        self._set(path, p.Sattr3(size=size))

    def _create(self, path: bytes, how: p.CreateMode3, attributes: p.Sattr3) -> Node:
        """Create a file, or with UNCHECKED take the one that is there, following symbolic links to it."""
        parent, name = self._resolver.parent(path)
        if how == p.CreateMode3.EXCLUSIVE:
            return self._create_exclusively(parent, name, path, attributes)
        # Whether UNCHECKED applies the attributes to a file that is there is the server's choice: look first.
        try:
            node = self._resolver.child(parent, name, path)
        except FileNotFoundError:
            reply = self._nfs.create(parent.handle, name, how, attributes)
            return self._made(parent, name, path, self.session.ok(reply, path))
        if self._resolver.attributes(node).type == p.Ftype3.NF3LNK:
            node = self._resolver.find(path)
        if attributes.size is not None:
            self._apply(node, p.Sattr3(size=attributes.size))
        return node

    def _create_exclusively(self, parent: Node, name: bytes, path: bytes, attributes: p.Sattr3) -> Node:
        """The exclusive CREATE and the SETATTR that must follow it; GUARDED where the server has it not."""
        verf = secrets.token_bytes(p.NFS3_CREATEVERFSIZE)
        reply = self._nfs.create(parent.handle, name, p.CreateMode3.EXCLUSIVE, verf=verf)
        if reply.status == p.Nfsstat3.NFS3ERR_NOTSUPP:
            reply = self._nfs.create(parent.handle, name, p.CreateMode3.GUARDED, attributes)
            return self._made(parent, name, path, self.session.ok(reply, path))
        node = self._made(parent, name, path, self.session.ok(reply, path))
        # The server may have kept the verifier in the times; section 3.3.8 asks for this SETATTR.
        times = p.Sattr3(mode=attributes.mode, atime=p.SERVER_TIME, mtime=p.SERVER_TIME)
        self._apply(node, times)
        return Node(node.handle, node.path)

    def _made(
        self,
        parent: Node,
        name: bytes,
        path: bytes,
        result: p.Create3ResOk | p.Mkdir3ResOk | p.Symlink3ResOk,
    ) -> Node:
        """What was created; the handle by LOOKUP, where the server withheld it (section 2.5, post_op_fh3)."""
        if result.obj is None:
            return self._resolver.child(parent, name, path)
        return Node(result.obj, parent.path.rstrip(b"/") + b"/" + name, result.obj_attributes)

    # ------------------------------------------------------------ names

    def mkdir(
        self, path: PathLike, mode: int = 0o755, *, parents: bool = False, exist_ok: bool = False
    ) -> Node:
        """Make a directory; `parents`: also those above it; `exist_ok`: unless it is there already."""
        wanted = as_bytes(path)
        above = names_of(wanted)[:-1] if parents else []
        for depth in range(1, len(above) + 1):
            self.mkdir(b"/".join(above[:depth]), mode, exist_ok=True)
        parent, name = self._resolver.parent(wanted)
        reply = self._nfs.mkdir(parent.handle, name, p.Sattr3(mode=mode))
        if reply.status == p.Nfsstat3.NFS3ERR_EXIST and exist_ok:
            node = self._resolver.find(wanted)
            if self._resolver.attributes(node).type == p.Ftype3.NF3DIR:
                return node
        return self._made(parent, name, wanted, self.session.ok(reply, wanted))

    def symlink(self, target: PathLike, path: PathLike) -> Node:
        """Make a symbolic link with the text `target` at `path`."""
        wanted = as_bytes(path)
        parent, name = self._resolver.parent(wanted)
        reply = self._nfs.symlink(parent.handle, name, as_bytes(target))
        return self._made(parent, name, wanted, self.session.ok(reply, wanted))

    @t.overload
    def readlink(self, path: str | os.PathLike[str]) -> str: ...
    @t.overload
    def readlink(self, path: bytes | os.PathLike[bytes]) -> bytes: ...
    def readlink(self, path: PathLike) -> str | bytes:
        """The text of a symbolic link."""
        wanted = as_bytes(path)
        text = self._resolver.read_link(self._resolver.find(wanted, follow=False), wanted)
        return text if isinstance(os.fspath(path), bytes) else as_text(text)

    def link(self, path: PathLike, new: PathLike) -> None:
        """Give an object the further name `new`."""
        node = self._resolver.find(as_bytes(path), follow=False)
        parent, name = self._resolver.parent(as_bytes(new))
        self.session.ok(self._nfs.link(node.handle, parent.handle, name), as_bytes(new))

    def remove(self, path: PathLike) -> None:
        """Remove a name that is not a directory's."""
        wanted = as_bytes(path)
        parent, name = self._resolver.parent(wanted)
        self.session.ok(self._nfs.remove(parent.handle, name), wanted)

    def rmdir(self, path: PathLike) -> None:
        """Remove an empty directory."""
        wanted = as_bytes(path)
        parent, name = self._resolver.parent(wanted)
        self.session.ok(self._nfs.rmdir(parent.handle, name), wanted)

    def rename(self, path: PathLike, new: PathLike) -> None:
        """Give an object the name `new`; what had that name is replaced, if the server can."""
        source, source_name = self._resolver.parent(as_bytes(path))
        target, target_name = self._resolver.parent(as_bytes(new))
        reply = self._nfs.rename(source.handle, source_name, target.handle, target_name)
        self.session.ok(reply, as_bytes(path))

    # ------------------------------------------------------------ attributes

    def chmod(self, path: PathLike, mode: int) -> None:
        """Set the permission bits, as of `os.chmod`."""
        self._set(path, p.Sattr3(mode=modes.S_IMODE(mode)))

    def chown(self, path: PathLike, uid: int | None = None, gid: int | None = None) -> None:
        """Set owner and group; None leaves one."""
        self._set(path, p.Sattr3(uid=uid, gid=gid))

    def utime(self, path: PathLike, times_ns: tuple[int, int] | None = None) -> None:
        """Set access and modification time, in nanoseconds since 1970; None takes the server's clock."""
        if times_ns is None:
            atime = mtime = p.SERVER_TIME
        else:
            atime, mtime = (p.client_time(*divmod(each, 10**9)) for each in times_ns)
        self._set(path, p.Sattr3(atime=atime, mtime=mtime))

    def setattr(self, path: PathLike, attributes: p.Sattr3) -> None:
        """Set any attributes at once."""
        self._set(path, attributes)

    def _set(self, path: PathLike, attributes: p.Sattr3) -> None:
        self._apply(self.find(path), attributes)

    def _apply(self, node: Node, attributes: p.Sattr3) -> None:
        self.session.ok(self._nfs.setattr(node.handle, attributes), node.path)


def connect(
    url: NfsUrl | str,
    *,
    loop: Loop | None = None,
    timeout: float = TIMEOUT,
    credential: Credential | None = None,
    patience: Patience | None = None,
    reconnect: bool = True,
    delegations: bool | None = None,
) -> NfsClient | NfsClient4:
    """A client for the directory (or file) that an NFS URL means: an `NfsClient4` for `version=4.1` or 4.2.

    `timeout` is in seconds for each call; `credential` replaces the AUTH_SYS one of the URL; `patience` says
    how long to retry after JUKEBOX or DELAY, and how long to wait for a server that is gone (30 s each). With
    `reconnect` the client outlives restarts of the server: calls are made again on a new connection, and data that
    the server lost before a COMMIT are written again. `delegations`, or `delegations=1` in the URL: NFSv4 servers may
    delegate open files (see `NfsClient4`); by default they are requested not to, and what they delegate goes back at
    once. Clients of one thread that want delegations share a loop, so that one answers recalls while another waits:
    do not use them in several threads at a time. Raises `UrlError`, `MountFailed` (it names the step), `RpcError`.
    """
    parsed = as_url(url, (3, 4))
    make: t.Callable[..., NfsClient | NfsClient4] = connect3
    if parsed.version == 4:
        from nfsclient.highlevel.nfs4.client import connect4  # only programs that use NFSv4 load it

        make = functools.partial(connect4, delegations=delegations)
    return make(
        parsed, loop=loop, timeout=timeout, credential=credential, patience=patience, reconnect=reconnect
    )


def connect3(
    url: NfsUrl | str,
    *,
    loop: Loop | None = None,
    timeout: float = TIMEOUT,
    credential: Credential | None = None,
    patience: Patience | None = None,
    reconnect: bool = True,
) -> NfsClient:
    """`connect` for NFSv3 only: by rpcbind and MOUNT."""
    parsed = as_url(url)
    with ExitStack() as on_failure:
        own = loop or Loop()
        if loop is None:
            on_failure.callback(own.close)
        endpoint = discover(parsed, loop=own, timeout=timeout, credential=credential)
        client = attach(
            parsed,
            endpoint,
            loop=own,
            timeout=timeout,
            credential=credential,
            patience=patience,
            reconnect=reconnect,
        )
        client._closing = on_failure.pop_all()
    return client


def attach(
    url: NfsUrl | str,
    endpoint: Endpoint,
    *,
    loop: Loop,
    timeout: float = TIMEOUT,
    credential: Credential | None = None,
    patience: Patience | None = None,
    reconnect: bool = True,
) -> NfsClient:
    """A client for what `discover` found. Raises `RpcError`."""
    parsed = as_url(url)
    rpc = open_connection(parsed, endpoint.nfs_port, loop=loop, timeout=timeout, credential=credential)
    client = NfsClient(rpc, endpoint.root, base=endpoint.path, patience=patience, reconnect=reconnect)
    try:
        info = client.session.nfs.fsinfo(endpoint.export_root).resok
    except BaseException:
        client.close()
        raise
    client.session.limits = Limits.of(
        info, datagrams=endpoint.proto == "udp", rsize=parsed.rsize, wsize=parsed.wsize
    )
    return client
