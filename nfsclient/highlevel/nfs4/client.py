# SPDX-License-Identifier: MIT
"""Files and directories by path, over NFSv4.1 and 4.2."""

from __future__ import annotations

import contextlib
import itertools
import os
import secrets
import typing as t
from contextlib import ExitStack

from nfsclient.clients.nfs4 import CompoundError
from nfsclient.clients.nfs4 import operations as op
from nfsclient.clients.patience import Patience, SharedPatience, Spending, by_pages, one_patience
from nfsclient.discovery import NFS4_PORT, TIMEOUT, as_url, open_connection
from nfsclient.discovery.nfs4 import minors_of, require_sessions
from nfsclient.errors import MountFailed, RetriesExhausted, ServerViolation
from nfsclient.files import Entry, Info, NewAttributes, Stable
from nfsclient.files.operations import Stat
from nfsclient.files.v4 import STAT
from nfsclient.highlevel import base
from nfsclient.highlevel.nfs4.cache import DelegatedData
from nfsclient.highlevel.nfs4.calls import LiveCalls, files_of, limits_of
from nfsclient.highlevel.nfs4.files import NfsFile
from nfsclient.highlevel.nfs4.listing import Lister
from nfsclient.highlevel.nfs4.live import LiveClient
from nfsclient.highlevel.nfs4.resolve import Resolver
from nfsclient.highlevel.nfs4.stats import StatsOfNames
from nfsclient.highlevel.resolve import Node
from nfsclient.highlevel.session import Limits
from nfsclient.highlevel.shared_loop import loop_of_thread
from nfsclient.highlevel.transfer import Writer
from nfsclient.listings import USUAL_BOUNDS, ListingBounds, ListingProgress, require_shallow
from nfsclient.paths import PathLike, as_bytes, as_text, names_of, shown
from nfsclient.protocol import nfs4 as p
from nfsclient.replies import status_error
from nfsclient.rpc.auth import Credential
from nfsclient.rpc.blocking import RpcClient
from nfsclient.rpc.loop import Loop
from nfsclient.sessions.state import Open
from nfsclient.url import NfsUrl
from nfsclient.xdr import Buffer, XdrType

Deny: t.TypeAlias = t.Literal["", "r", "w", "rw"]
_DENY: t.Final[dict[str, int]] = {
    "": p.OPEN4_SHARE_DENY_NONE,
    "r": p.OPEN4_SHARE_DENY_READ,
    "w": p.OPEN4_SHARE_DENY_WRITE,
    "rw": p.OPEN4_SHARE_DENY_BOTH,
}
_NOT_REGULAR: t.Final = frozenset(
    {
        p.Nfsstat4.NFS4ERR_SYMLINK,
        p.Nfsstat4.NFS4ERR_ISDIR,
        p.Nfsstat4.NFS4ERR_WRONG_TYPE,
        p.Nfsstat4.NFS4ERR_INVAL,
    }
)
"""What OPEN answers of a name that is not a regular file's (section 18.16.3)."""


@one_patience
class NfsClient(base.NfsClient):
    """A directory of a server as files and directories. Make one with `connect`.

    The methods of `nfsclient.NfsClient`, and what only NFSv4 has: opens that deny others, byte-range locks,
    delegations, ACLs, any attribute (`Fattr4`), and in 4.2 extended attributes. Opens, locks and delegations survive
    lost connections and restarts of the server, or the call that relies on them raises `StateLost`.

    Errors: `NfsStatusError` with `status`, `procedure` (the operation) and `path`, which is also Python's own kind
    where there is one; `RetriesExhausted` when the server answers DELAY or GRACE for too long: `patience` is for all
    calls to the server together that one call of a method makes, with `scan` and `walk` until they end;
    `EndlessListing` for a directory beyond `listing_bounds`; `RpcError` when it
    does not answer; `FateUnknown` when it lost the session before it answered; `XdrError` when it answers nonsense.
    Not for several threads.
    """

    _calls: LiveCalls

    def __init__(
        self,
        rpc: RpcClient,
        *,
        minor: int = 1,
        path: bytes = b"/",
        rsize: int | None = None,
        wsize: int | None = None,
        patience: Patience | None = None,
        listing_bounds: ListingBounds = USUAL_BOUNDS,
        reconnect: bool = True,
        delegations: bool = False,
    ) -> None:
        """Set up a session and find `path` from the root of the server. Raises as all methods do.

        With `delegations` the server may delegate files while they are open here: repeated reads need no call, but
        other clients wait while nothing waits on the loop of this one, because only then CB_RECALL is answered.
        """
        self.listing_bounds = listing_bounds
        self.patience = SharedPatience.shared(patience or Patience.of(rpc.loop))
        self._closing = ExitStack()
        self._numbers = itertools.count(1)
        with self.patience.spend(Spending()):
            self._begin(rpc, minor, path, rsize, wsize, reconnect=reconnect, delegations=delegations)

    def _begin(
        self,
        rpc: RpcClient,
        minor: int,
        path: bytes,
        rsize: int | None,
        wsize: int | None,
        *,
        reconnect: bool,
        delegations: bool,
    ) -> None:
        self.live = LiveClient(
            rpc, minor=minor, patience=self.patience, reconnect=reconnect, delegations=delegations
        )
        self._cache = DelegatedData(self.live)
        self._calls = calls = LiveCalls(self.live)
        try:
            self.root = self._find_root(path)
            self._resolver = Resolver(calls, self.root, path)
            known = self._attributes(self.root, b"/", ("lease_time", "maxread", "maxwrite"))
        except BaseException:
            self.live.close()
            raise
        self.live.set_lease(known.lease_time or 90)
        info = Info(rtmax=known.maxread, wtmax=known.maxwrite)
        calls.limits = limits_of(self.live.session.state.fore, info, rsize=rsize, wsize=wsize)

    def _find_root(self, path: bytes) -> bytes:
        def build() -> list[XdrType]:
            return [op.putrootfh(), *[op.lookup(name) for name in names_of(path)], op.getfh()]

        return self.live.run(build, path).handle

    def close(self) -> None:
        """Give back delegations and the session, and close the connection."""
        self.live.close()
        self.live.rpc.close()
        self._closing.close()

    # ------------------------------------------------------------ what is there

    @property
    def limits(self) -> Limits:
        """Sizes in bytes for one READ, one WRITE and one page of a listing."""
        return self._calls.limits

    @limits.setter
    def limits(self, limits: Limits) -> None:
        self._calls.limits = limits

    def attributes(self, path: PathLike, *names: str) -> p.Fattr4:
        """Attributes by their RFC names; those that the server does not have are None."""
        node = self.find(path)
        return self._attributes(node.handle, node.path, names)

    def _attributes(self, handle: bytes, path: bytes, names: t.Sequence[str]) -> p.Fattr4:
        return self.live.run(lambda: [op.putfh(handle), op.getattr(*names)], path).attributes

    @by_pages
    def scan(
        self, path: PathLike = "", attributes: t.Sequence[str] = (*STAT, "filehandle")
    ) -> t.Iterator[list[Entry]]:
        """The entries of a directory as they come, with attributes: without "." and "..".

        All that were requested are in `raw.attrs`, and `rdattr_error`.
        """
        yield from self._lister(self.find(path), attributes).entries()

    def walk(self, path: str | os.PathLike[str] = "") -> t.Iterator[tuple[str, list[str], list[str]]]:
        """(directory, names of directories in it, names of other objects) for a tree, as `os.walk` does."""
        todo = [os.fspath(path)]
        while todo:
            top = todo.pop()
            require_shallow(top)
            directories: list[str] = []
            others: list[str] = []
            for entry in self.scan(top, ("type",)):
                kind = directories if entry.raw.attrs.type == p.NfsFtype4.NF4DIR else others
                kind.append(as_text(entry.name))
            yield top, directories, others
            todo += [f"{top}/{name}" if top else name for name in reversed(directories)]

    def _lister(self, node: Node, wanted: t.Sequence[str] = ()) -> Lister:
        return Lister(self._calls, node.handle, node.path, bounds=self.listing_bounds, wanted=wanted)

    def _stat_names(self, directory: Node, names: t.Sequence[bytes]) -> t.Sequence[Stat | None]:
        return StatsOfNames(self.live, directory, names).run()

    # ------------------------------------------------------------ data

    def read_file(self, path: PathLike) -> bytes:
        """The whole contents of a file."""
        with self.open(path) as file:
            return file.readall()

    def write_file(self, path: PathLike, data: Buffer, *, mode: int = 0o644) -> None:
        """Make `data` the whole contents of a file, stable when this returns. `mode` is for a new file."""
        view = memoryview(data).cast("B")
        with self.open(path, "w", permissions=mode) as file:
            writer = Writer(self._calls, file.handle, file.name, files_of(self.live, file.opened))
            small = len(view) <= self.limits.write
            with self._cache.resizing(file.handle, lambda _: len(view)):
                writer.write(0, view, Stable.FILE_SYNC if small else Stable.UNSTABLE)
            writer.commit()

    def open(self, path: PathLike, mode: str = "r", *, permissions: int = 0o644, deny: Deny = "") -> NfsFile:
        """A binary file object; `mode` as of the built-in `open`: r, w, x or a, with + for both directions.

        `deny`: what others may not do meanwhile: "r" (read), "w" (write), "rw", or "" for no limit. An open that
        another one denies raises `NfsStatusError` with SHARE_DENIED. "x" uses EXCLUSIVE4_1.
        """
        kind = mode.replace("b", "").replace("+", "")
        if kind not in {"r", "w", "x", "a"} or "t" in mode:
            raise ValueError(f"expected a mode of r, w, x or a with b and + at most, saw {mode!r}")
        readable, writable = kind == "r" or "+" in mode, kind != "r" or "+" in mode
        access = (p.OPEN4_SHARE_ACCESS_READ if readable else 0) | (
            p.OPEN4_SHARE_ACCESS_WRITE if writable else 0
        )
        if deny not in _DENY:
            raise ValueError(f"expected deny of {', '.join(map(repr, _DENY))}, saw {deny!r}")
        wanted = as_bytes(path)
        opened, size = self._open(wanted, kind, access, _DENY[deny], permissions)
        return NfsFile(
            self._calls,
            opened,
            wanted,
            self._cache,
            readable=readable,
            writable=writable,
            append=kind == "a",
            known=size,
        )

    def _open(self, path: bytes, kind: str, access: int, deny: int, permissions: int) -> tuple[Open, int]:
        """OPEN by name in its directory, following symbolic links to it; "w" cuts what was there. And the size then."""
        if kind != "x":
            self._resolver.require_file_name(path, "OPEN")
        if kind == "r":
            try:
                return self._open_name(path, kind, access, deny, None)
            except CompoundError as error:
                if error.status not in _NOT_REGULAR:
                    raise
        how: p.Createhow4 | None = None
        if kind == "x":
            # The verifier makes a repetition of this very OPEN succeed, and that of any other fail (section 18.16.3).
            how = op.exclusive4_1(secrets.token_bytes(p.NFS4_VERIFIER_SIZE), p.Fattr4(mode=permissions))
        elif kind != "r":
            size = 0 if kind == "w" else None
            how = op.unchecked(p.Fattr4(mode=permissions, size=size))
        if kind != "x" and (linked := self._link_target(path)) is not None:
            path = linked
        return self._open_name(path, kind, access, deny, how)

    def _open_name(
        self, path: bytes, kind: str, access: int, deny: int, how: p.Createhow4 | None
    ) -> tuple[Open, int]:
        """OPEN of the very name at the end of a path."""
        parent, name = self._resolver.parent(path)
        owner = b"nfsproof open %d" % next(self._numbers)
        wish = 0 if self.live.wants_delegations else p.OPEN4_SHARE_ACCESS_WANT_NO_DELEG

        def build() -> list[XdrType]:
            return [
                op.putfh(parent.handle),
                op.open(name, access | wish, deny, owner=owner, how=how),
                op.getfh(),
                op.getattr("type", "size", "change"),
            ]

        reply = self.live.run(build, path, repeatable=True)
        handle, attributes = reply.handle, reply.attributes
        if kind == "w":
            self._cache.drop(handle)
        opened = self.live.held.opened(handle, owner, access, deny, reply.of(p.OPEN))
        self.live.held.looked_at(handle, reply.of(p.OPEN), attributes.change, attributes.size)
        self.live.returns.unwanted(handle)
        return opened, attributes.size or 0

    def _link_target(self, path: bytes) -> bytes | None:
        """Where a symbolic link at the end of a path leads; None if there is none."""
        try:
            node = self._resolver.find(path, follow=False)
        except FileNotFoundError:
            return None
        attributes = self._resolver.attributes(node)
        if attributes.is_directory:
            raise status_error(p.Nfsstat4.NFS4ERR_ISDIR, "OPEN", shown(path))
        if not attributes.is_link:
            return None
        try:
            return self._resolver.find(path).path
        except FileNotFoundError:
            raise status_error(p.Nfsstat4.NFS4ERR_NOENT, "OPEN", shown(path)) from None

    def truncate(self, path: PathLike, size: int) -> None:
        """Cut a file, or extend it by zeros, to `size` bytes."""
        with self.open(path, "r+") as file:
            file.truncate(size)

    # ------------------------------------------------------------ names

    def remove(self, path: PathLike) -> None:
        """Remove a name that is not a directory's."""
        if self.lstat(path).is_directory:
            # REMOVE takes directories too (section 18.25.3).
            raise status_error(p.Nfsstat4.NFS4ERR_ISDIR, "REMOVE", shown(as_bytes(path)))
        super().remove(path)

    def rmdir(self, path: PathLike) -> None:
        """Remove an empty directory."""
        if not self.lstat(path).is_directory:
            raise status_error(p.Nfsstat4.NFS4ERR_NOTDIR, "REMOVE", shown(as_bytes(path)))
        super().rmdir(path)

    # ------------------------------------------------------------ attributes

    def setattr(self, path: PathLike, attributes: NewAttributes | p.Fattr4) -> None:
        """Set any attributes but `size` at once. Raises `NotSettable` for those of `Fattr4` that nobody can set."""
        if isinstance(attributes, NewAttributes):
            super().setattr(path, attributes)
            return
        given = p.settable(attributes)
        node = self.find(path)
        build: t.Callable[[], list[XdrType]] = lambda: [op.putfh(node.handle), op.setattr(given)]  # noqa: E731
        if given.size is None:
            self.live.run(build, node.path, repeatable=True)
        else:
            with self._cache.resizing(node.handle, lambda _: given.size or 0):
                self.live.run(build, node.path, repeatable=True)

    def get_acl(self, path: PathLike) -> list[p.Nfsace4]:
        """The ACL of an object. Raises `NfsStatusError` with ATTRNOTSUPP where the server has none."""
        acl = self.attributes(path, "acl").acl
        if acl is None:
            raise status_error(p.Nfsstat4.NFS4ERR_ATTRNOTSUPP, "GETATTR", as_text(as_bytes(path)))
        return acl

    def set_acl(self, path: PathLike, acl: t.Sequence[p.Nfsace4]) -> None:
        """Replace the ACL of an object."""
        self.setattr(path, p.Fattr4(acl=list(acl)))

    # ------------------------------------------------------------ extended attributes (RFC 8276)

    def getxattr(self, path: PathLike, name: str | bytes) -> bytes:
        """The value of an extended attribute; 4.2 only."""
        node = self.find(path)
        reply = self.live.run(lambda: [op.putfh(node.handle), op.getxattr(_name(name))], node.path)
        value = reply.of(p.GETXATTR).gxr_value
        if value is None:
            raise ServerViolation("GETXATTR succeeded without a value")
        return value

    def setxattr(
        self,
        path: PathLike,
        name: str | bytes,
        value: bytes,
        how: p.SetxattrOption4 = p.SetxattrOption4.SETXATTR4_EITHER,
    ) -> None:
        """Set an extended attribute; `how` says whether it must be new, or must exist."""
        node = self.find(path)
        self.live.run(lambda: [op.putfh(node.handle), op.setxattr(_name(name), value, how)], node.path)

    def removexattr(self, path: PathLike, name: str | bytes) -> None:
        """Remove an extended attribute."""
        node = self.find(path)
        self.live.run(lambda: [op.putfh(node.handle), op.removexattr(_name(name))], node.path)

    def listxattr(self, path: PathLike) -> list[str]:
        """The names of the extended attributes."""
        node, cookie, names = self.find(path), 0, list[str]()
        progress = ListingProgress(
            f"LISTXATTRS of {shown(node.path)}", self.listing_bounds, self.patience.clock
        )
        while True:
            with progress.waiting():
                reply = self.live.run(
                    lambda at=cookie: [op.putfh(node.handle), op.listxattrs(at, self.limits.page)],  # type: ignore[misc]
                    node.path,
                )
            result = reply.of(p.LISTXATTRS).lxr_value
            assert result is not None
            names += [as_text(name) for name in result.lxr_names]
            if result.lxr_eof:
                return names
            cookie = result.lxr_cookie
            progress.note(len(result.lxr_names), cookie, result.lxr_names)


def connect(
    url: NfsUrl | str,
    *,
    loop: Loop | None = None,
    timeout: float = TIMEOUT,
    credential: Credential | None = None,
    patience: Patience | None = None,
    reconnect: bool = True,
    delegations: bool | None = None,
) -> NfsClient:
    """`nfsclient.connect` for NFSv4 only: 4.1 or 4.2 as the URL says, else 4.2 if the server has it.

    The port is 2049 if the URL names none. Raises `UrlError`, `MountFailed` (it names the step), and `RpcError`.
    """
    parsed = as_url(url, (4,))
    require_sessions(parsed)
    with ExitStack() as on_failure:
        wanted = parsed.delegations if delegations is None else delegations
        if loop is not None:
            own = loop
        elif wanted:
            own = on_failure.enter_context(loop_of_thread())
        else:
            own = on_failure.enter_context(contextlib.closing(Loop()))
        port = parsed.nfs_port or NFS4_PORT
        rpc = open_connection(parsed, port, loop=own, timeout=timeout, credential=credential)
        on_failure.callback(rpc.close)
        client = _first_that_works(parsed, rpc, patience, reconnect=reconnect, delegations=wanted)
        client._closing = on_failure.pop_all()
    return client


def _first_that_works(
    url: NfsUrl, rpc: RpcClient, patience: Patience | None, *, reconnect: bool, delegations: bool
) -> NfsClient:
    minors = minors_of(url)
    for minor in minors:
        try:
            return NfsClient(
                rpc,
                minor=minor,
                path=url.path,
                rsize=url.rsize,
                wsize=url.wsize,
                patience=patience,
                reconnect=reconnect,
                delegations=delegations,
            )
        except (CompoundError, RetriesExhausted) as error:
            if error.status == p.Nfsstat4.NFS4ERR_MINOR_VERS_MISMATCH:
                continue
            step = "lookup" if error.procedure in {"LOOKUP", "PUTROOTFH", "GETFH"} else error.procedure
            raise MountFailed(step, f"expected {shown(url.path)} on {url.host}, saw: {error}") from error
    tried = " or ".join(f"4.{minor}" for minor in minors)
    raise MountFailed("version", f"expected NFSv{tried} on {url.host}, saw MINOR_VERS_MISMATCH")


def _name(name: str | bytes) -> bytes:
    return name if isinstance(name, bytes) else name.encode()
