# SPDX-License-Identifier: MIT
"""What a server answers wrongly while a check cleans up is the check's FAIL; a refusal is not.

Nothing outside of the directory of the check is touched.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable

import pytest

from nfsclient import connect
from tests.plugin.conftest import Suite
from tests.plugin.test_interrupted import Server, serve
from tests.plugin.test_plugin_verdicts import check
from tests.waiting import AT_MOST

__all__ = ["serve"]


def hostile(serve: Callable[..., Server], mode: str) -> Server:
    """A server with a file that no check has made, and that is hostile from now on."""
    server = serve(mode)
    with connect(server.url) as client:
        client.write_file("precious", b"data")
    os.kill(server.process.pid, signal.SIGUSR1)
    deadline = time.monotonic() + AT_MOST
    while not server.flag.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    return server


def kept(server: Server) -> bytes:
    with connect(server.url) as client:
        return client.read_file("precious")


BODIES = {"hides-long-names": "scratch.file(b'n' * 255, directory=scratch.directory('here'))"}
"""What the check does; else it makes a file."""


@pytest.mark.parametrize(
    ("mode", "clause", "text"),
    [
        ("garbage-readdir", "RFC 4506", "results of READDIR: expected valid XDR"),
        ("garbage-remove", "RFC 4506", "results of REMOVE: expected valid XDR"),
        (
            "readdir-noent",
            "RFC 1813 section 3.3.16",
            "READDIR of a directory that LOOKUP finds: expected success, got NFS3ERR_NOENT",
        ),
        ("endless", "RFC 1813 section 3.3.16", "listing by READDIR: expected an end"),
        (
            "leads-up",
            "RFC 1813 section 3.3.16",
            "name in READDIR: expected the name of an entry, got '../precious'",
        ),
        ("ring", "RFC 1813 section 3.3.16", "in the directory of the check: expected its own, got that of a"),
        (
            "never-empty",
            "RFC 1813 section 3.3.16",
            "RMDIR of an empty directory: expected success, got NFS3ERR_NOTEMPTY",
        ),
        (
            "hides-long-names",
            "RFC 1813 section 3.3.16",
            "RMDIR of an empty directory: expected success, got NFS3ERR_NOTEMPTY",
        ),
        (
            "keeps-names",
            "RFC 1813 section 3.3.16",
            "after its removal: expected no such name, got it is still there",
        ),
    ],
)
def test_a_wrong_answer_is_the_checks_failure(
    suite: Suite, serve: Callable[..., Server], mode: str, clause: str, text: str
) -> None:
    server = hostile(serve, mode)
    suite.write(check("it", BODIES.get(mode, "scratch.file('f')"), "scratch"))
    outcome = suite.run("--target", server.url)
    record = outcome.checks["it"]
    assert record.verdict == "FAIL"
    assert record.requirement is not None
    assert record.requirement.citation.startswith(clause)
    assert text in outcome.text
    assert outcome.exit_code == 1
    if mode != "ring":  # there, nothing is found in the export
        assert kept(server) == b"data"
    procedure = "RMDIR" if mode in {"never-empty", *BODIES} else "READDIR"
    (script,) = suite.report.glob("evidence/**/it.py")
    assert procedure.lower() in script.read_text().lower()


def test_a_refusal_is_no_failure(suite: Suite, serve: Callable[..., Server]) -> None:
    server = hostile(serve, "readdir-denied")
    suite.write(check("it", "scratch.file('f')", "scratch"))
    outcome = suite.run("--target", server.url)
    assert outcome.verdicts == {"it": "VOID"}
    assert outcome.checks["it"].reason == "cleaning up: READDIR answers NFS3ERR_ACCES"
    assert "left in the export: 1 directory" in outcome.text


def test_what_a_crash_has_taken_is_no_failure(suite: Suite, serve: Callable[..., Server]) -> None:
    """A directory that is not empty after a restart may have been damaged by it: nobody knows."""
    server = hostile(serve, "never-empty")
    suite.write(check("it", "scratch.file('f'); scratch.expect_losses()", "scratch"))
    outcome = suite.run("--target", server.url)
    assert outcome.verdicts == {"it": "VOID"}
