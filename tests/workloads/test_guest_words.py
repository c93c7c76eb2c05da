# SPDX-License-Identifier: MIT
"""`nfsproof workload run --client`: what is refused before a guest boots."""

from __future__ import annotations

import pytest

from nfsproof.cli import run_command_line
from nfsproof.exits import Exit


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("find", "ganesha"), "--client mounts the embedded server, not ganesha"),
        (("find", "--workers", "2"), "use --clients instead of --workers"),
        (("find", "--policy", "raw"), "expected no --policy: the client decides it"),
        (("find", "--mount", "/tmp"), "expected --client or --mount, got both"),
        (("find", "--counts", "127.0.0.1:1"), "--counts is about the client of --mount"),
        (("recall", "--version", "4.1"), "a mounted directory is one"),
        (("randread", "--arrivals", "10"), "an open loop needs the library"),
        (("write10", "--max-bytes", "1k"), "and --max-bytes is 1024"),
    ],
)
def test_what_a_guest_cannot_do_is_refused(
    words: tuple[str, ...], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line(["workload", "run", *words, "--client", "linux"]) == Exit.USAGE
    assert why in capsys.readouterr().err


def test_a_dry_run_says_what_a_guest_would_make(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["workload", "run", "find", "--client", "linux", "--version", "4.1", "--dry-run"]
    assert run_command_line(words) == Exit.OK
    assert "find (script) in a Linux guest, on a mount of embedded with NFSv4.1:" in capsys.readouterr().out
