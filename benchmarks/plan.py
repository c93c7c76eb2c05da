# SPDX-License-Identifier: MIT
"""What is measured: the operations, and which client does each of them by which of its calls."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass, field

from benchmarks import goals as g

OURS: t.Final = "nfsclient"
OURS_ASYNCIO: t.Final = "nfsclient, asyncio"

PAGE: t.Final = 64 << 10
MIB: t.Final = 1 << 20
KIB64: t.Final = 64 << 10


@dataclass(frozen=True)
class Contender:
    """A client as it takes part in one operation: a label, the worker that runs it, what that calls it."""

    label: str
    worker: str
    operation: str = ""
    """Empty: the same as that of the others."""


@dataclass(frozen=True)
class Operation:
    """One row group of the table. The order of a worker is made of `name`, `place`, `window` and `size`."""

    id: str
    title: str
    name: str
    place: str
    unit: str
    """``op/s``, ``MB/s`` or ``entries/s``."""
    window: int = 1
    size: int = 0
    slices: int = 1
    """More rounds of less time each, where a rate depends on how deep processors sleep between calls."""
    contenders: tuple[Contender, ...] = field(default=())


_OURS = Contender(OURS, "ours")
_ASYNCIO = Contender(OURS_ASYNCIO, "ours_asyncio")
_PAGES = Contender("nfsclient, Nfs3.readdirplus", "ours", "pages")
_FILES = Contender("nfsclient.files", "ours", "files-cycle")
_LIBNFS = Contender(g.LIBNFS, "libnfs")
_SLICES = 4
_RAW = Contender(g.RAW, "raw_tcp")
_SINGLE = (
    Contender(g.PYNFSCLIENT, "peer_pynfsclient"),
    Contender(g.ANFS, "peer_anfs"),
    Contender(g.NFS_RS, "peer_nfs_rs"),
    Contender(g.NFS4FS, "peer_nfs4fs"),
    Contender(g.BINDING, "peer_libnfs"),
)
_MANY = (
    Contender(g.ANFS, "peer_anfs"),
    Contender(g.NFS_RS, "peer_nfs_rs"),
    Contender(g.NFS4FS_COMPOUND, "peer_nfs4fs"),
)
_CANNED_PEERS = (Contender(g.PYNFSCLIENT, "peer_pynfsclient"), Contender(g.ANFS, "peer_anfs"))


def _codec(id_: str, title: str, name: str) -> Operation:
    return Operation(
        id_, title, name, "raw", "op/s", contenders=(_OURS, Contender(g.XDRLIB3, "peer_xdrlib3"))
    )


def _getattrs(place: str, prefix: str, where: str) -> tuple[Operation, ...]:
    canned = place == "canned"
    made = []
    for window in (1, 16, 64):
        peers: tuple[Contender, ...] = _SINGLE if window == 1 else _MANY
        if canned:
            peers = _CANNED_PEERS if window == 1 else _CANNED_PEERS[1:]
        elif window == 1:
            peers = (Contender(g.LIBNFS_FSTAT, "libnfs", "fstat"), *peers)
        slices = _SLICES if window == 1 else 1
        raw = (_RAW,) if canned or window == 1 else ()
        title = f"GETATTR, {window} outstanding, {where}"
        contenders = (_OURS, _ASYNCIO, _LIBNFS, *raw, *peers)
        made.append(
            Operation(
                f"{prefix}getattr-x{window}", title, "getattr", place, "op/s", window, 0, slices, contenders
            )
        )
    return tuple(made)


def _transfer(name: str, size: int, window: int) -> Operation:
    label, short = ("1 MiB", "1m") if size == MIB else ("64 KiB", "64k")
    title = f"{name.upper()} {label}, {window} outstanding, real server"
    contenders = (_OURS, _LIBNFS, *(_SINGLE if window == 1 else _MANY))
    slices = _SLICES if size == KIB64 else 1
    return Operation(
        f"{name}-{short}-x{window}", title, name, "server", "MB/s", window, size, slices, contenders
    )


_V4 = Contender(OURS, "ours_nfs4")
_V3 = Contender(g.OURS_V3, "ours")
_V4_COMPOUND = Contender(g.NFS4FS_COMPOUND, "peer_nfs4fs")


def _v4(
    name: str, id_: str, title: str, unit: str, window: int = 1, size: int = 0, *peers: Contender
) -> Operation:
    """The same work by NFSv4.1 and by our own NFSv3."""
    slices = _SLICES if window == 1 and not size else 1
    contenders = (_V4, *peers)
    return Operation(
        f"v4-{id_}", f"NFSv4.1: {title}, real server", name, "server", unit, window, size, slices, contenders
    )


def _v4_transfer(name: str, window: int) -> Operation:
    title = f"{name.upper()} 1 MiB, {window} outstanding"
    peer = Contender(g.NFS4FS, "peer_nfs4fs") if window == 1 else _V4_COMPOUND
    return _v4(name, f"{name}-1m-x{window}", title, "MB/s", window, MIB, _V3, peer)


def _canned_transfer(name: str) -> Operation:
    title = f"{name.upper()} 1 MiB, 8 outstanding, canned answers"
    contenders = (_OURS, _LIBNFS, _RAW)
    return Operation(f"canned-{name}-1m-x8", title, name, "canned", "MB/s", 8, MIB, contenders=contenders)


OPERATIONS: t.Final = (
    _codec("codec-fattr3", "decode fattr3 into an object", "fattr3"),
    _codec("codec-fattr3-read", "decode fattr3 and read every field", "fattr3-read"),
    _codec("codec-page", "decode a READDIRPLUS page of 100 entries", "page"),
    _codec("codec-page-read", "decode the page and read the attributes of every entry", "page-read"),
    *_getattrs("server", "", "real server"),
    *(_transfer(name, KIB64, 1) for name in ("read", "write")),
    *(_transfer(name, MIB, window) for name in ("read", "write") for window in (1, 8)),
    Operation(
        "list-10000",
        "list 10,000 entries by READDIRPLUS, real server",
        "list",
        "server",
        "entries/s",
        size=PAGE,
        contenders=(_OURS, _PAGES, _LIBNFS, Contender(g.LIBNFS_OPENDIR, "libnfs", "opendir"), *_SINGLE[:-1]),
    ),
    Operation(
        "small-file",
        "create, write 4 KiB, commit, remove, real server",
        "cycle",
        "server",
        "op/s",
        slices=_SLICES,
        contenders=(
            _OURS,
            _FILES,
            _LIBNFS,
            Contender(g.LIBNFS_FILES, "libnfs", "filecycle"),
            *(each for each in _SINGLE if each.label != g.ANFS),
        ),
    ),
    Operation(
        "small-file-uncommitted",
        "create, write 4 KiB, remove, without COMMIT (anfs cannot send one), real server",
        "cycle-uncommitted",
        "server",
        "op/s",
        slices=_SLICES,
        contenders=(_OURS, Contender(g.ANFS, "peer_anfs")),
    ),
    *(
        _v4("getattr", f"getattr-x{window}", f"GETATTR, {window} outstanding", "op/s", window, 0, _V3)
        for window in (1, 16, 64)
    ),
    *(
        _v4(
            "stats",
            f"stats-{count}",
            f"{count} stats by path in one call of the client",
            "op/s",
            count,
            0,
            Contender(g.NFS4FS_COMPOUND, "peer_nfs4fs", "getattr"),
        )
        for count in (16, 64)
    ),
    _v4(
        "open-read",
        "open-read-close",
        "open by path, read 4 KiB, close",
        "op/s",
        1,
        0,
        _V3,
        Contender(g.NFS4FS, "peer_nfs4fs"),
    ),
    *(_v4_transfer(name, window) for name in ("read", "write") for window in (1, 8)),
    _v4(
        "list",
        "list-10000",
        "list 10,000 entries",
        "entries/s",
        1,
        PAGE,
        _V3,
        Contender(g.NFS4FS, "peer_nfs4fs"),
    ),
    *_getattrs("canned", "canned-", "canned answers"),
    _canned_transfer("read"),
    _canned_transfer("write"),
)
