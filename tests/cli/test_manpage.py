# SPDX-License-Identifier: MIT
"""The man page: made from the help, current, and without text that is taken for a request."""

from __future__ import annotations

import subprocess
from pathlib import Path

import click

from nfsproof.cli import commands
from nfsproof.manpage import man_page
from tests.needs import needs
from tests.waiting import AT_MOST

FILE = Path(__file__).resolve().parents[2] / "docs" / "man" / "nfsproof.1"


def test_it_is_current() -> None:
    assert FILE.read_text(encoding="utf-8") == man_page(commands), "run: bin/nfsproof regenerate"


def test_every_command_and_option_is_there() -> None:
    text = FILE.read_text(encoding="utf-8").replace("\\-", "-")
    for name, command in commands.commands.items():
        assert f'.SS "nfsproof {name} ' in text
        for option in command.params:
            if isinstance(option, click.Option) and not option.hidden:
                assert all(word in text for word in option.opts)


def test_text_that_looks_like_a_request_is_text() -> None:
    @click.group()
    def group() -> None:
        """Group."""

    @group.command(help='.so /etc/passwd\n\'x\n\n\b\n.nf\n  a\\b "c" -d')
    def single() -> None:
        pass

    lines = man_page(group).splitlines()
    begin = lines.index('.SS "nfsproof single [OPTIONS]"')
    assert lines[begin + 1 : begin + 8] == [
        "\\&.so /etc/passwd",
        "\\&'x",
        ".PP",
        ".nf",
        "\\&.nf",
        "  a\\eb \\(dqc\\(dq \\-d",
        ".fi",
    ]


@needs("man")
def test_man_reads_it() -> None:
    done = subprocess.run(
        ["man", "--warnings", "-l", str(FILE)], capture_output=True, text=True, timeout=AT_MOST, check=True
    )
    assert done.stderr == ""
    assert "NFSPROOF(1)" in done.stdout
