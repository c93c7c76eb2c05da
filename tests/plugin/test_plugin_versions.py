# SPDX-License-Identifier: MIT
"""A target that is tested with NFSv2 only: ``version=2`` in its URL."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing

import pytest

from nfsclient.clients import Nfs3
from nfsclient.discovery import discover
from nfsclient.rpc.auth import AuthSys
from nfsclient.rpc.blocking import connect_tcp
from tests.plugin.conftest import ROOT, Suite


@pytest.fixture
def url() -> Iterator[str]:
    """The reference server in its own process."""
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "nfsproof", "serve", "--port", "0"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    yield process.stdout.readline().split()[1]
    process.kill()
    process.communicate()


FILEID_OF_EXPORT = 2
"""In the reference server."""

BOTH = """
    @proves(RULE, killed_by=MUTANT)
    def test_of_version_3(nfs3, scratch):
        scratch.file("f")

    @proves(RULE, killed_by=MUTANT, needs=("symlink", "hardlink", "udp2", "mount1", "writable"))
    def test_of_version_2(nfs2, scratch2):
        handle = scratch2.file("f", b"data")
        scratch2.link(handle, "g", directory=scratch2.directory("d"))
        scratch2.symlink("s", b"x")
        assert sorted(scratch2.names()) == [b"d", b"f", b"s"]
        assert scratch2.read(handle) == b"data"
        assert scratch2.attributes(handle).nlink == 2

    @proves(RULE, killed_by=MUTANT)
    def test_nothing_is_left(nfs2, root2):
        assert len(nfs2.readdir(root2).resok.entries) == 2
"""


def test_version_2_alone(suite: Suite, url: str) -> None:
    suite.write(BOTH)
    outcome = suite.run("--target", f"{url}&version=2")
    assert outcome.verdicts == {
        "of_version_3": "UNSUPPORTED",
        "of_version_2": "PASS",
        "nothing_is_left": "PASS",
    }
    assert "with NFSv2 only" in outcome.checks["of_version_3"].reason


def test_both_versions(suite: Suite, url: str) -> None:
    suite.write(BOTH)
    assert set(suite.run("--target", url).verdicts.values()) == {"PASS"}


def test_a_directory_inside_an_export(suite: Suite, url: str) -> None:
    endpoint = discover(url)
    credential = AuthSys(0, 0)
    with closing(connect_tcp(endpoint.host, endpoint.nfs_port, credential=credential)) as rpc:
        assert Nfs3(rpc).mkdir(endpoint.root, b"inside").resok is not None
    suite.write(f"""
        @proves(RULE, killed_by=MUTANT)
        def test_both(nfs2, nfs3, root, root2):
            fileid = nfs3.getattr(root).resok.obj_attributes.fileid
            assert nfs2.getattr(root2).resok.fileid == fileid != {FILEID_OF_EXPORT}
    """)
    for version in ("", "&version=2"):
        outcome = suite.run("--target", url.replace("/export", "/export/inside") + "&uid=0&gid=0" + version)
        assert "VOID" not in outcome.verdicts.values()
