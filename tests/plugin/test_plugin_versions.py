# SPDX-License-Identifier: MIT
"""A target that is tested with NFSv2 only: ``version=2`` in its URL."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import closing

import pytest

from nfsclient.clients import Nfs3
from nfsclient.discovery import discover
from nfsclient.rpc.auth import AuthSys
from nfsclient.rpc.blocking import connect_tcp
from nfsjudge.records import CheckRecord
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

    @proves(RULE, killed_by=MUTANT, needs=("symlink", "hardlink", "nfs2_udp", "mount1", "writable"))
    def test_of_version_2(v2):
        handle = v2.scratch.file("f", b"data")
        v2.scratch.link(handle, "g", directory=v2.scratch.directory("d"))
        v2.scratch.symlink("s", b"x")
        assert sorted(v2.scratch.names()) == [b"d", b"f", b"s"]
        assert v2.scratch.read(handle) == b"data"
        assert v2.scratch.attributes(handle).nlink == 2

    @proves(RULE, killed_by=MUTANT)
    def test_nothing_is_left(v2):
        assert len(v2.client().readdir(v2.root).resok.entries) == 2
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
        def test_both(nfs2, nfs3, v2, v3):
            fileid = nfs3.getattr(v3.root).resok.obj_attributes.fileid
            assert nfs2.getattr(v2.root).resok.fileid == fileid != {FILEID_OF_EXPORT}
    """)
    for version in ("", "&version=2"):
        outcome = suite.run("--target", url.replace("/export", "/export/inside") + "&uid=0&gid=0" + version)
        assert "VOID" not in outcome.verdicts.values()


OF_THE_FOLDER = """
    @proves(RULE, killed_by=MUTANT)
    def test_fixtures(root, scratch, second_client, as_user):
        clients = {type(second_client).__name__, type(as_user(1, 1)).__name__}
        assert clients == {expected}
        assert type(scratch).__name__ == expected + "Scratch"
        assert scratch.lookup(scratch.name, directory=root) is not None
"""


def test_fixtures_speak_the_version_of_the_folder(suite: Suite) -> None:
    for folder, client in (("nfs2", "Nfs2"), ("nfs3", "Nfs3"), ("rpc", "Nfs3")):
        suite.write(
            f"expected = {client!r}\n{textwrap.dedent(OF_THE_FOLDER)}", f"suites/{folder}/test_fake.py"
        )
    outcome = suite.run()
    assert [record.verdict for record in outcome.lines if isinstance(record, CheckRecord)] == ["PASS"] * 3


def test_a_scratch_directory_is_removed_when_a_check_has_asked_a_dialect_for_it(suite: Suite) -> None:
    suite.write("""
        @proves(RULE, killed_by=MUTANT)
        def test_makes(v2, v3):
            v2.scratch.file("f")
            v3.scratch.file("f")
            assert len(v3.client().readdir(v3.root).resok.entries) == 4

        @proves(RULE, killed_by=MUTANT)
        def test_nothing_is_left(v3):
            assert len(v3.client().readdir(v3.root).resok.entries) == 2
    """)
    assert set(suite.run().verdicts.values()) == {"PASS"}


def test_a_port_that_refuses_is_reported_in_a_line_and_advice(suite: Suite) -> None:
    suite.write("")
    text = suite.run("--target", "nfs://127.0.0.1/export?version=2&nfsport=9&mountport=9").text
    assert (
        "the target does not answer: no connection to port 9: Connection refused\n  -> start the NFS" in text
    )
