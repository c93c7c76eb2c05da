# SPDX-License-Identifier: MIT
"""Names of checks on the command line become arguments of pytest."""

from __future__ import annotations

from pathlib import Path

import pytest

from nfsproof.selection import Selector, UnknownCheck


@pytest.fixture
def selector(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Selector:
    """A few suites: nfs3 with READ, READDIR and WRITE, mount."""
    monkeypatch.chdir(tmp_path)
    suites = tmp_path / "home" / "suites"
    for place in ("nfs3/test_read.py", "nfs3/test_readdir.py", "nfs3/test_write.py", "mount/test_mount.py"):
        (suites / place).parent.mkdir(parents=True, exist_ok=True)
        (suites / place).write_text("def test_works(nfs3):\n    ...\n\n\ndef test_is_right(nfs3):\n    ...\n")
    modules = ("nfs3/read", "nfs3/readdir", "nfs3/write", "mount/mount")
    listed = [f"{module}/{name}\n" for module in modules for name in ("works", "is_right")]
    (suites / "ids.txt").write_text("# the ids\n" + "".join(listed))
    return Selector(suites)


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("nfs3", ["suites/nfs3"]),
        ("nfs3/", ["suites/nfs3"]),
        ("nfs3/write", ["suites/nfs3/test_write.py"]),
        ("nfs3/write/works", ["suites/nfs3/test_write.py::test_works"]),
        ("nfs3/write/works[tcp]", ["suites/nfs3/test_write.py::test_works[tcp]"]),
        ("nfs3/write/works[sub/../a*]", ["suites/nfs3/test_write.py::test_works[sub/../a*]"]),
        (
            "nfs3/read*/is_right",
            ["suites/nfs3/test_read.py::test_is_right", "suites/nfs3/test_readdir.py::test_is_right"],
        ),
        ("*/mount/w?rks", ["suites/mount/test_mount.py::test_works"]),
        ("suites/nfs3/test_read.py::test_works", ["suites/nfs3/test_read.py::test_works"]),
        ("suites/nfs3/test_read.py", ["suites/nfs3/test_read.py"]),
    ],
    ids=[
        "protocol",
        "slash",
        "procedure",
        "check",
        "parameter",
        "parameter-with-slashes",
        "pattern",
        "question-mark",
        "node-id",
        "file",
    ],
)
def test_a_name_is_found(word: str, found: list[str], selector: Selector) -> None:
    home = selector.suites.parent
    assert selector.translate(word) == [str(home / place) for place in found]


def test_what_lies_in_the_current_folder_stays_a_path(selector: Selector, tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").touch()
    assert selector.translate("test_mine.py::test_x") == ["test_mine.py::test_x"]


@pytest.mark.parametrize("word", ["nfs3/wrote", "nfs3/write/work", "nfs4", "nfs3/x*"])
def test_an_unknown_name_is_refused(word: str, selector: Selector) -> None:
    with pytest.raises(UnknownCheck, match="no check has the id"):
        selector.translate(word)


def test_the_nearest_names_are_said(selector: Selector) -> None:
    with pytest.raises(UnknownCheck, match=r"nfs3/wrote; similar: .*nfs3/write"):
        selector.translate("nfs3/wrote")


def test_a_word_that_is_neither_check_nor_server_is_told_what_both_are(selector: Selector) -> None:
    with pytest.raises(
        UnknownCheck, match=r"--list-requirements.*: embedded, ganesha.* or nfs://HOST/EXPORT"
    ):
        selector.translate("my-host")
