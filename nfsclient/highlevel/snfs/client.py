# SPDX-License-Identifier: MIT
"""Files and directories by path, over Spritely NFS: files are cached, and the server keeps the caches consistent."""

from __future__ import annotations

import contextlib
import functools
import secrets
import typing as t
from contextlib import ExitStack

from nfsclient.clients.patience import Patience, one_patience
from nfsclient.discovery import TIMEOUT, as_url
from nfsclient.files import Create, NewAttributes
from nfsclient.highlevel.listing import Lists
from nfsclient.highlevel.nfs2.listing import Lister
from nfsclient.highlevel.resolve import Node, Resolver
from nfsclient.highlevel.session import Calls, Limits
from nfsclient.highlevel.shared_loop import loop_of_thread
from nfsclient.highlevel.snfs.cache import BLOCK, DELAY, MOST, Cache, CachedFile
from nfsclient.highlevel.snfs.caching import Caching, SnfsCalls
from nfsclient.highlevel.snfs.files import NfsFile
from nfsclient.highlevel.stateless import StatelessClient, connect_mounted, kind_of
from nfsclient.listings import USUAL_BOUNDS, ListingBounds
from nfsclient.paths import PathLike, as_bytes, as_text
from nfsclient.protocol.nfs2 import MAXDATA
from nfsclient.replies import status_error
from nfsclient.rpc.auth import Credential
from nfsclient.rpc.blocking import RpcClient
from nfsclient.rpc.loop import Loop
from nfsclient.url import NfsUrl
from nfsclient.xdr import Buffer

if t.TYPE_CHECKING:
    from nfsclient.files import Attributes


class _Resolver(Resolver):
    """Finds paths; sizes are those that files have in this client."""

    def __init__(self, caching: Caching, calls: Calls, root: bytes, base: bytes) -> None:
        super().__init__(calls, root, base)
        self._caching = caching

    def _attributes(self, node: Node, path: bytes) -> Attributes:
        return self._caching.own(node.handle, super()._attributes(node, path))


@one_patience
class NfsClient(StatelessClient):
    """A server's export as files and directories, by Spritely NFS. Make one with `connect`.

    Files are opened on the server, which says whether they may be cached, and calls back when another client opens
    them. While nothing waits on the loop of this client, callbacks are not answered: others wait, and after a while
    the server goes on without this client, whose data that waited is lost (`StateLost`). A program that does nothing
    for long calls `wait` or `sync`. One that ends without `close` or `sync` loses what waits.

    Errors are those of the other clients, and `StateLost`.
    """

    _version = 2
    _calls_class = SnfsCalls
    session: SnfsCalls

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
        block: int = BLOCK,
        most: int = MOST,
        delay: float = DELAY,
    ) -> None:
        """As of `StatelessClient`. `block` and `most` are bytes of a block and of all blocks, `delay` is in seconds."""
        super().__init__(
            rpc,
            root,
            base=base,
            limits=limits,
            patience=patience,
            listing_bounds=listing_bounds,
            reconnect=reconnect,
        )
        cache = Cache(block=min(block, MAXDATA), most=most, delay=delay)
        self.caching = Caching(self.session, cache, secrets.randbits(32))
        self._resolver = _Resolver(self.caching, self.session, root, base)

    def close(self) -> None:
        """Write all that waits, close files, and close the connection. Raises why data could not be written."""
        try:
            self.caching.finish()
        finally:
            super().close()

    def sync(self) -> None:
        """Write all that waits, of all files. Raises why some of it could not be written."""
        self.caching.sync()

    def wait(self, seconds: float) -> None:
        """Answer callbacks for a while, and write what has waited long enough."""
        self.caching.wait(seconds)

    def _lister(self, node: Node) -> Lists:
        return Lister(self.session, node.handle, node.path, bounds=self.listing_bounds)

    # ------------------------------------------------------------ data

    def read_file(self, path: PathLike) -> bytes:
        """The whole contents of a file."""
        with self.open(path) as file:
            return file.readall()

    def write_file(self, path: PathLike, data: Buffer, *, mode: int = 0o644) -> None:
        """Make `data` the whole contents of a file, stable when this returns. `mode` is for a new file."""
        with self.open(path, "w", permissions=mode) as file:
            file.write(data)
            file.flush()

    def open(self, path: PathLike, mode: str = "r", *, permissions: int = 0o644) -> NfsFile:
        """A binary file object; `mode` as of the built-in `open`: r, w, x or a, with + for both directions.

        "x" looks the name up first, and another client may create it meanwhile.
        """
        kind = kind_of(mode)
        wanted = as_bytes(path)
        if kind == "r":
            node = self._resolver.find(wanted)
        else:
            if kind != "x":
                self._resolver.require_file_name(wanted, "CREATE")
            how = Create.GUARDED if kind == "x" else Create.UNCHECKED
            node = self._create(wanted, how, NewAttributes(mode=permissions))
        if self._resolver.attributes(node).is_directory:
            raise status_error(self._files.is_directory, "OPEN", as_text(wanted))
        writable = kind != "r" or "+" in mode
        opened = self.caching.open(node.handle, node.path, writes=writable)
        try:
            file = NfsFile(
                self.caching,
                opened,
                node.path,
                readable=kind == "r" or "+" in mode,
                writable=writable,
                append=kind == "a",
            )
            if kind == "w" and file.size():
                file.truncate(0)  # after the OPEN: by now the server has what others have written
        except BaseException:
            self.caching.close(opened)
            raise
        return file

    def truncate(self, path: PathLike, size: int) -> None:
        """Cut a file, or extend it by zeros, to `size` bytes."""
        with self.open(path, "r+") as file:
            file.truncate(size)

    def _apply(self, node: Node, attributes: NewAttributes) -> None:
        """SETATTR, after what waits was written: it would change the times, and may not be permitted any more."""
        file = self.caching.cache.get(node.handle)
        if file is not None:
            self.caching.write_back(file)
            self.caching.raise_failure(file)
            file.attributes = None
        if attributes.size is None:
            super()._apply(node, attributes)
            return
        opened = self.caching.open(node.handle, node.path, writes=True)
        try:
            self.caching.cut(opened, attributes.size)
            super()._apply(node, attributes)
        finally:
            self.caching.close(opened)

    # ------------------------------------------------------------ names

    def link(self, path: PathLike, new: PathLike) -> None:
        """Give an object the further name `new`."""
        super().link(path, new)
        self.caching.cache.forget_attributes()

    def remove(self, path: PathLike) -> None:
        """Remove a name that is not a directory's. If it was the last one, what waits to be written is cancelled."""
        named = self._cached(path)
        super().remove(path)
        self.caching.cache.forget_attributes()
        if named is not None:
            self.caching.name_removed(named)

    def rename(self, path: PathLike, new: PathLike) -> None:
        """Give an object the name `new`; what had that name is replaced, if the server can."""
        named = self._cached(new)
        super().rename(path, new)
        self.caching.cache.forget_attributes()
        if named is not None:
            self.caching.name_removed(named)

    def _cached(self, path: PathLike) -> CachedFile | None:
        """The file of a name, if data waits to be written to it."""
        if not self.caching.cache.dirty_files():
            return None
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            file = self.caching.cache.get(self._resolver.find(as_bytes(path), follow=False).handle)
            return file if file is not None and file.is_dirty else None
        return None


def connect(
    url: NfsUrl | str,
    *,
    loop: Loop | None = None,
    timeout: float = TIMEOUT,
    credential: Credential | None = None,
    patience: Patience | None = None,
    reconnect: bool = True,
    most: int = MOST,
    delay: float = DELAY,
) -> NfsClient:
    """`nfsclient.connect` for Spritely NFS only, which the URL need not name.

    `rsize` of the URL is the size of a block, 4096 bytes if it names none and 8192 at most; `most` is what all blocks
    take together, `delay` the seconds that data waits. Without `loop` all clients of a thread share one, so that one
    answers callbacks while another waits for the server.
    """
    parsed = as_url(url, (2,), spritely=True)
    make = functools.partial(NfsClient, block=parsed.rsize or BLOCK, most=most, delay=delay)
    with ExitStack() as on_failure:
        own = on_failure.enter_context(loop_of_thread()) if loop is None else loop
        client: NfsClient = connect_mounted(
            make,
            parsed,
            loop=own,
            timeout=timeout,
            credential=credential,
            patience=patience,
            reconnect=reconnect,
        )
        client._closing.push(on_failure.pop_all())
    return client
