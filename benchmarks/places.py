# SPDX-License-Identifier: MIT
"""Where clients are measured: plain TCP, canned answers, and a real server with prepared files."""

from __future__ import annotations

import contextlib
import itertools
import os
import subprocess
import typing as t
from collections.abc import Iterable, Iterator

from benchmarks.native import Unavailable, compiled
from benchmarks.workers.common import FILE_SIZE, SMALL_FILE
from nfsclient.clients import Nfs3
from nfsclient.discovery import discover
from nfsclient.errors import NfsClientError
from nfsclient.protocol import nfs3 as p
from nfsclient.replies import ok
from nfsclient.rpc.auth import AuthSys
from nfsclient.rpc.blocking import connect_tcp
from nfsclient.url import NfsUrl

ENTRIES: t.Final = 10_000
_BLOCK: t.Final = 1 << 20
_MALLOC: t.Final = {
    "MALLOC_MMAP_THRESHOLD_": str(32 << 20),
    "MALLOC_TRIM_THRESHOLD_": str(256 << 20),
    "MALLOC_TOP_PAD_": str(16 << 20),
}
"""For the server. Ganesha 4.3 takes fresh memory for each READ of 1 MiB by NFSv4: 257 page faults, which take longer
than the READ. READs by NFSv3 get memory that was used before. With these settings of glibc, those of NFSv4 do too."""
_LEASE: t.Final = 120
"""Seconds, the most that Ganesha takes: some clients of NFSv4 do not renew their lease while others are measured."""
_MODE: t.Final = p.Sattr3(mode=0o644)
_FOLDER_MODE: t.Final = p.Sattr3(mode=0o755)


@contextlib.contextmanager
def loopback() -> Iterator[dict[str, str]]:
    """The C program with canned answers, echo, sink and source; its part of the workers' environment."""
    try:
        program = compiled("loopback")
    except Unavailable as reason:
        print(f"left out: everything with canned answers or plain TCP: {reason}")
        yield {}
        return
    process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdin is not None
    try:
        ports = process.stdout.readline().split()
        names = ("CANNED", "ECHO", "SINK", "SOURCE")
        yield {f"BENCH_{name}_PORT": port for name, port in zip(names, ports, strict=True)}
    finally:
        process.stdin.close()
        process.wait()
        process.stdout.close()


@contextlib.contextmanager
def real_server(name: str) -> Iterator[dict[str, str]]:
    """A server with the prepared files: the URL of a scratch export, or a target that the suite can start.

    Gives its part of the workers' environment; nothing where there is no server.
    """
    if "://" in name:
        yield prepare(NfsUrl.parse(name))
        return
    from nfstargets import TargetError, make_target

    if name.partition(":")[0] == "ganesha":
        name += f"{',' if ':' in name else ':'}lease={_LEASE}"
    try:
        target = make_target(name)
        with _environment(_MALLOC):
            target.start()
    except TargetError as reason:
        print(f"left out: everything on a real server: {reason}")
        yield {}
        return
    try:
        at = target.address()
        yield prepare(
            NfsUrl(
                at.host,
                at.export.encode(),
                nfsport=at.nfs_port,
                mountport=at.mount_port,
                uid=at.uid,
                gid=at.gid,
            )
        )
    finally:
        target.stop()


@contextlib.contextmanager
def _environment(settings: dict[str, str]) -> Iterator[None]:
    """What processes that are started meanwhile find in their environment besides ours."""
    before = dict(os.environ)
    os.environ.update(settings)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def prepare(url: NfsUrl) -> dict[str, str]:
    """Make the files of the benchmarks in the root of an export, unless they are there; their environment."""
    endpoint = discover(url)
    credential = AuthSys(url.uid or 0, url.gid or 0, machine_name=b"benchmark")
    with connect_tcp(endpoint.host, endpoint.nfs_port, credential=credential, timeout=30.0) as rpc:
        nfs = Nfs3(rpc)
        handles = {"ROOT": endpoint.root}
        handles["SMALL"] = _file(nfs, endpoint.root, b"small", SMALL_FILE)
        handles["BIG"] = _file(nfs, endpoint.root, b"big", FILE_SIZE)
        handles["WRITTEN"] = _file(nfs, endpoint.root, b"written", FILE_SIZE)
        handles["MANY"] = _folder(nfs, endpoint.root, b"many")
        handles["WORK"] = _folder(nfs, endpoint.root, b"scratch")
        _fill(nfs, handles["MANY"])
    export = url.path.decode()
    where = f"nfs://{url.host}{export}?version=3&nfsport={endpoint.nfs_port}&mountport={endpoint.mount_port}"
    return {
        "BENCH_HOST": url.host,
        "BENCH_NFS_PORT": str(endpoint.nfs_port),
        "BENCH_MOUNT_PORT": str(endpoint.mount_port),
        "BENCH_EXPORT": export,
        "BENCH_URL": where,
        **{f"BENCH_FH_{name}": handle.hex() for name, handle in handles.items()},
    }


def canned_handles() -> dict[str, str]:
    """Handles for when there is no real server: the canned answers take any."""
    return {
        f"BENCH_FH_{name}": bytes(28).hex() for name in ("ROOT", "SMALL", "BIG", "WRITTEN", "MANY", "WORK")
    }


def _found(nfs: Nfs3, directory: bytes, name: bytes) -> bytes | None:
    found = nfs.lookup(directory, name)
    return None if found.resok is None else found.resok.object


def _file(nfs: Nfs3, directory: bytes, name: bytes, size: int) -> bytes:
    handle = _found(nfs, directory, name)
    if handle is None:
        ok(nfs.create(directory, name, attributes=_MODE))
        handle = _found(nfs, directory, name)
    if handle is None:
        raise NfsClientError(f"{name!r} was created, but LOOKUP does not find it")
    data = b"x" * min(size, _BLOCK)
    calls = (
        p.Write3Args(handle, offset, len(data), p.StableHow.UNSTABLE, data)
        for offset in range(0, size, len(data))
    )
    _drain(nfs.rpc.pipeline(p.WRITE, calls, outstanding=4))  # type: ignore[attr-defined]
    ok(nfs.commit(handle))
    return handle


def _folder(nfs: Nfs3, directory: bytes, name: bytes) -> bytes:
    handle = _found(nfs, directory, name)
    if handle is None:
        ok(nfs.mkdir(directory, name, _FOLDER_MODE))
        handle = _found(nfs, directory, name)
    if handle is None:
        raise NfsClientError(f"{name!r} was created, but LOOKUP does not find it")
    return handle


def _fill(nfs: Nfs3, directory: bytes) -> None:
    names = (b"file-%05d.dat" % number for number in range(ENTRIES))
    how = p.Createhow3(p.CreateMode3.UNCHECKED, obj_attributes=_MODE)
    calls = (p.Create3Args(p.Diropargs3(directory, name), how) for name in names)
    if _found(nfs, directory, b"file-%05d.dat" % (ENTRIES - 1)) is None:
        _drain(nfs.rpc.pipeline(p.CREATE, calls, outstanding=16))  # type: ignore[attr-defined]


def _drain(replies: Iterable[tuple[t.Any, t.Any]]) -> None:
    for (_, reply), _ in zip(replies, itertools.count(), strict=False):
        ok(reply)
