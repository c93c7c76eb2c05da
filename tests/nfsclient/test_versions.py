# SPDX-License-Identifier: MIT
"""A version is a package: `nfsclient.nfs2`, `nfs3`, `nfs4` have the same names, and are loaded when they are used."""

from __future__ import annotations

import subprocess
import sys
import typing as t
from collections.abc import Iterator

import pytest

import nfsclient
from nfsclient.errors import UrlError
from nfsclient.rpc.loop import Loop
from nfsserver import Server

PACKAGES: t.Final[dict[str, t.Any]] = {"2": nfsclient.nfs2, "3": nfsclient.nfs3, "4": nfsclient.nfs4}
versions = pytest.mark.parametrize("version", PACKAGES)


@pytest.fixture(scope="module")
def loop() -> Iterator[Loop]:
    loop = Loop()
    yield loop
    loop.close()


@pytest.fixture(scope="module")
def url(loop: Loop) -> Iterator[str]:
    """Without a version."""
    server = Server()
    server.listen(loop)
    yield f"nfs://127.0.0.1:{server.port}/export?uid=0&gid=0"
    server.close()


@versions
def test_the_url_need_not_name_the_version(url: str, loop: Loop, version: str) -> None:
    package = PACKAGES[version]
    with package.connect(url, loop=loop) as nfs:
        assert type(nfs) is package.NfsClient
        nfs.write_file(f"by {version}", b"data")
        with nfs.open(f"by {version}") as file:
            assert type(file) is package.NfsFile
            assert file.read() == b"data"


@versions
def test_the_url_chooses_the_version(url: str, loop: Loop, version: str) -> None:
    with nfsclient.connect(f"{url}&version={version}", loop=loop) as nfs:
        assert type(nfs) is PACKAGES[version].NfsClient


def test_a_url_without_a_version_is_of_nfs3(url: str, loop: Loop) -> None:
    with nfsclient.connect(url, loop=loop) as nfs:
        assert type(nfs) is nfsclient.nfs3.NfsClient


@versions
def test_the_url_may_not_name_another_version(version: str) -> None:
    other = "3" if version != "3" else "4.1"
    with pytest.raises(UrlError, match=f"expected version={version}, saw version={other[0]}"):
        PACKAGES[version].connect(f"nfs://host/export?version={other}")


@versions
@pytest.mark.parametrize("mode", ["r", "r+", "w", "a"])
def test_a_directory_is_no_file(url: str, loop: Loop, version: str, mode: str) -> None:
    with nfsclient.connect(f"{url}&version={version}", loop=loop) as client:
        client.mkdir("folder")
        try:
            for path in ("/", "", ".", "folder", "folder/", "folder/..", "/.."):
                with pytest.raises(IsADirectoryError):
                    client.open(path, mode)
            with pytest.raises(FileNotFoundError):
                client.open("none/..", mode)
        finally:
            client.rmdir("folder")


def test_what_others_may_not_do_is_named(url: str, loop: Loop) -> None:
    with (
        nfsclient.nfs4.connect(f"{url}&version=4.1", loop=loop) as client,
        pytest.raises(ValueError, match="expected deny of '', 'r', 'w', 'rw', saw 'zz'"),
    ):
        client.open("f", "w", deny="zz")  # type: ignore[arg-type]


def test_all_clients_and_files_are_of_one_kind() -> None:
    for package in PACKAGES.values():
        assert issubclass(package.NfsClient, nfsclient.NfsClient)
        assert issubclass(package.NfsFile, nfsclient.NfsFile)


def test_a_program_loads_the_version_that_it_uses() -> None:
    """Of NFSv4 nothing at all, and of the others not the clients by path."""
    program = """
import sys
import nfsclient
unused = {"nfsclient.nfs2", "nfsclient.nfs3", "nfsclient.highlevel.nfs2", "nfsclient.highlevel.nfs3"}
assert not [name for name in sys.modules if "nfs4" in name or name in unused]
nfsclient.nfs3.connect
assert not [name for name in sys.modules if "nfs4" in name or "highlevel.nfs2" in name]
nfsclient.nfs4.connect
assert "nfsclient.highlevel.nfs4" in sys.modules
assert not hasattr(nfsclient, "nfs5")
"""
    subprocess.run([sys.executable, "-c", program], check=True)
