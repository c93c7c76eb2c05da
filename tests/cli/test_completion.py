# SPDX-License-Identifier: MIT
"""What a shell offers: click asks us with the words so far in the environment."""

from __future__ import annotations

import pytest

from nfsproof.cli import commands, run_command_line
from reports.idlist import known_ids


def offered(words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """What bash gets for the last word of a line; a blank at the end begins a new one."""
    parts = words.split(" ")
    monkeypatch.setenv("_NFSPROOF_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(parts) - 1))
    with pytest.raises(SystemExit):
        run_command_line([])
    return [line.partition(",")[2] for line in capsys.readouterr().out.splitlines()]


@pytest.mark.parametrize(
    ("words", "some"),
    [
        ("nfsproof ru", ["run"]),
        ("nfsproof run gan", ["ganesha", "ganesha:vfs", "ganesha:mem"]),
        ("nfsproof run nfs", ["nfs2/", "nfs3/", "nfs3-server"]),
        ("nfsproof run knfsd:", ["knfsd:tmpfs", "knfsd:v2"]),
        ("nfsproof run embedded nfs3/RENA", ["nfs3/RENAME/mixed-types"]),
        ("nfsproof run embedded nfs3/rename/mixed", ["nfs3/RENAME/mixed-types"]),
        ("nfsproof run --log", ["--log-wire"]),
        ("nfsproof run --st", ["--strict"]),
        ("nfsproof reproduce moun", ["mount/MNT/"]),
    ],
)
def test_words_are_completed(
    words: str, some: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert set(some) <= set(offered(words, monkeypatch, capsys))


def test_parameters_come_last(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    function = "nfs3/RENAME/mixed-types"
    wanted = {check_id for check_id in known_ids().present if check_id.startswith(f"{function}[")}
    assert set(offered(f"nfsproof run {function}", monkeypatch, capsys)) == wanted
    assert set(offered(f"nfsproof run {function}[", monkeypatch, capsys)) == wanted


@pytest.mark.parametrize("words", ["nfsproof run mo", "nfsproof run mount/MN", "nfsproof reproduce rec"])
def test_what_goes_on_is_never_offered_alone(
    words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # A shell adds a blank to it, which the user would have to delete.
    found = offered(words, monkeypatch, capsys)
    assert len(found) > 1 or not found[0].endswith("/")


def test_a_target_is_offered_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "ganesha" not in offered("nfsproof run embedded gan", monkeypatch, capsys)


def test_there_is_a_script_for_each_shell(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for shell in ("bash", "zsh", "fish"):
        monkeypatch.setenv("_NFSPROOF_COMPLETE", f"{shell}_source")
        with pytest.raises(SystemExit):
            run_command_line([])
        assert "_NFSPROOF_COMPLETE" in capsys.readouterr().out
    assert set(commands.commands) >= {"run", "reproduce"}
