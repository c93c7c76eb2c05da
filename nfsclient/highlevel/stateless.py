# SPDX-License-Identifier: MIT
"""Files and directories by path, over NFSv2 and NFSv3, which have no open files, and begin with MOUNT."""

from __future__ import annotations

import secrets
import typing as t
from collections.abc import Callable
from contextlib import ExitStack

from nfsclient.clients.patience import Patience, SharedPatience, one_patience
from nfsclient.discovery import Endpoint, discover, open_connection
from nfsclient.errors import NfsStatusError, NotInVersion
from nfsclient.files import Create, Info, NewAttributes, Stable
from nfsclient.highlevel.base import NfsClient
from nfsclient.highlevel.files import NfsFile
from nfsclient.highlevel.resolve import Node, Resolver
from nfsclient.highlevel.session import Limits, StatelessCalls
from nfsclient.highlevel.transfer import Reader, Writer
from nfsclient.listings import USUAL_BOUNDS, ListingBounds
from nfsclient.paths import PathLike, as_bytes, as_text
from nfsclient.protocol import nfs3 as p
from nfsclient.replies import status_error
from nfsclient.rpc.auth import Credential
from nfsclient.rpc.blocking import RpcClient
from nfsclient.rpc.loop import Loop
from nfsclient.url import NfsUrl
from nfsclient.xdr import Buffer

_CREATED_ANYHOW = {"w": Create.UNCHECKED, "a": Create.UNCHECKED, "x": Create.EXCLUSIVE}


@one_patience
class StatelessClient(NfsClient):
    """What the clients of NFSv2 and NFSv3 share: files have no state on the server.

    Errors: `NfsStatusError` with `status`, `procedure` and `path`, which is also Python's own kind where
    there is one (`FileNotFoundError`, `FileExistsError`, `PermissionError`, ...); `RetriesExhausted` when the
    server answers JUKEBOX for too long: `patience` is for all calls to the server together that one call of a method
    makes, with `scan` and `walk` until they end; `EndlessListing` for a directory beyond `listing_bounds`;
    `ServerDown` when it does not answer or cannot be reached for too long;
    other kinds of `RpcError` when it refuses a call; `XdrError` when it answers nonsense.
    Logs nothing, caches nothing. Not for several threads.
    """

    _version: t.ClassVar[int]
    """Of NFS."""
    _calls_class: t.ClassVar[type[StatelessCalls]] = StatelessCalls

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
        self.patience = SharedPatience.shared(patience or Patience.of(rpc.loop))
        self.session = self._calls_class(
            rpc, patience=self.patience, limits=limits, reconnect=reconnect, version=self._version
        )
        self._calls = self.session
        self._resolver = Resolver(self.session, root, base)
        self._closing = ExitStack()

    def close(self) -> None:
        """Close the connection."""
        self.session.caller.end()
        self.session.rpc.close()
        self._closing.close()

    # ------------------------------------------------------------ data

    def read_file(self, path: PathLike) -> bytes:
        """The whole contents of a file."""
        node = self.find(path)
        size = self._resolver.attributes(node).size
        return Reader(self.session, node.handle, node.path).read_to_end(0, size or 0)

    def write_file(self, path: PathLike, data: Buffer, *, mode: int = 0o644) -> None:
        """Make `data` the whole contents of a file, stable when this returns. `mode` is for a new file."""
        view = memoryview(data).cast("B")
        node = self._create(as_bytes(path), Create.UNCHECKED, NewAttributes(mode=mode, size=0))
        writer = Writer(self.session, node.handle, node.path)
        small = len(view) <= self.session.limits.write
        writer.write(0, view, Stable.FILE_SYNC if small else Stable.UNSTABLE)
        writer.commit()

    def open(self, path: PathLike, mode: str = "r", *, permissions: int = 0o644) -> NfsFile:
        """A binary file object; `mode` as of the built-in `open`: r, w, x or a, with + for both directions.

        A "b" means nothing more: for text wrap the file in `io.TextIOWrapper(io.BufferedReader(...))`.
        "x" uses the exclusive CREATE, where the server has it; in NFSv2 the name is looked up first, and another client
        may create it meanwhile.
        """
        kind = kind_of(mode)
        wanted = as_bytes(path)
        if kind == "r":
            node = self._resolver.find(wanted)
            if self._resolver.attributes(node).is_directory:
                raise status_error(self._files.is_directory, "READ", as_text(wanted))
        else:
            if kind != "x":
                self._resolver.require_file_name(wanted, "CREATE")
            size = 0 if kind == "w" else None
            node = self._create(wanted, _CREATED_ANYHOW[kind], NewAttributes(mode=permissions, size=size))
        return NfsFile(
            self.session,
            node.handle,
            node.path,
            readable=kind == "r" or "+" in mode,
            writable=kind != "r" or "+" in mode,
            append=kind == "a",
            known=0 if node.attributes is None else node.attributes.size or 0,
        )

    def truncate(self, path: PathLike, size: int) -> None:
        """Cut a file, or extend it by zeros, to `size` bytes."""
        self._set(path, NewAttributes(size=size))

    def _create(self, path: bytes, how: Create, attributes: NewAttributes) -> Node:
        """Create a file, or with UNCHECKED take the one that is there, following symbolic links to it."""
        parent, name = self._resolver.parent(path)
        if how is Create.EXCLUSIVE:
            return self._create_exclusively(parent, name, path, attributes)
        # Whether UNCHECKED applies the attributes to a file that is there is the server's choice: look first.
        try:
            node = self._resolver.child(parent, name, path)
        except FileNotFoundError:
            return self._made(parent, name, path, how, attributes)
        if self._resolver.attributes(node).is_link:
            node = self._resolver.find(path)
        if self._resolver.attributes(node).is_directory:
            raise status_error(self._files.is_directory, "CREATE", as_text(path))
        if attributes.size is not None:
            self._apply(node, NewAttributes(size=attributes.size))
        return node

    def _create_exclusively(self, parent: Node, name: bytes, path: bytes, attributes: NewAttributes) -> Node:
        """The exclusive CREATE; GUARDED where the server or the version has it not."""
        try:
            verifier = secrets.token_bytes(p.NFS3_CREATEVERFSIZE)
            return self._made(parent, name, path, Create.EXCLUSIVE, attributes, verifier)
        except NotInVersion:
            pass
        except NfsStatusError as error:
            if error.status != p.Nfsstat3.NFS3ERR_NOTSUPP:
                raise
        return self._made(parent, name, path, Create.GUARDED, attributes)

    def _made(
        self,
        parent: Node,
        name: bytes,
        path: bytes,
        how: Create,
        attributes: NewAttributes,
        verifier: bytes = b"",
    ) -> Node:
        making = self._files.create(parent.handle, name, how, attributes, verifier=verifier)
        found = self._calls.do(making, path)
        return self._resolver.node(found, parent.below(name), path)


def kind_of(mode: str) -> str:
    """r, w, x or a, of a mode as of the built-in `open`. Raises ValueError."""
    kind = mode.replace("b", "").replace("+", "")
    if kind not in {"r", "w", "x", "a"} or "t" in mode:
        raise ValueError(f"expected a mode of r, w, x or a with b and + at most, saw {mode!r}")
    return kind


C = t.TypeVar("C", bound=StatelessClient)


def connect_mounted(
    make: Callable[..., C],
    parsed: NfsUrl,
    *,
    loop: Loop | None,
    timeout: float,
    credential: Credential | None,
    patience: Patience | None,
    reconnect: bool,
) -> C:
    """A client whose root is from MOUNT. Raises `UrlError`, `MountFailed` (it names the step), `RpcError`."""
    with ExitStack() as on_failure:
        own = loop or Loop()
        if loop is None:
            on_failure.callback(own.close)
        endpoint = discover(parsed, loop=own, timeout=timeout, credential=credential)
        client = attach_to(
            make,
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


def attach_to(
    make: Callable[..., C],
    parsed: NfsUrl,
    endpoint: Endpoint,
    *,
    loop: Loop,
    timeout: float,
    credential: Credential | None,
    patience: Patience | None,
    reconnect: bool,
) -> C:
    """A client for what `discover` found. Raises `RpcError`."""
    rpc = open_connection(parsed, endpoint.nfs_port, loop=loop, timeout=timeout, credential=credential)
    client = make(rpc, endpoint.root, base=endpoint.path, patience=patience, reconnect=reconnect)
    info: Info | None
    try:
        info = client.session.do(client.session.files.fsinfo(endpoint.export_root), endpoint.export)
    except NfsStatusError:
        info = None  # what it is good for is said nowhere else
    except BaseException:
        client.close()
        raise
    client.session.limits = Limits.of(
        info, datagrams=endpoint.proto == "udp", rsize=parsed.rsize, wsize=parsed.wsize
    )
    return client
