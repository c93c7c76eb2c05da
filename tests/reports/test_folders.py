# SPDX-License-Identifier: MIT
"""Numbered folders of runs: none is written twice, and commands find the latest."""

from __future__ import annotations

from pathlib import Path

import pytest

from reports.folders import LATEST, RECORDS, chosen_run, discard_empty, make_numbered, point_latest


def ended(base: Path) -> Path:
    folder = make_numbered(base)
    (folder / RECORDS).touch()
    point_latest(folder)
    return folder


def test_each_run_has_its_own_folder(tmp_path: Path) -> None:
    first, second = ended(tmp_path), ended(tmp_path)
    assert (first.name, second.name) == ("1", "2")
    (tmp_path / "40").mkdir()
    assert make_numbered(tmp_path).name == "41"


def test_the_latest_stands_for_all(tmp_path: Path) -> None:
    ended(tmp_path)
    second = ended(tmp_path)
    make_numbered(tmp_path)  # a run that has not begun
    assert (tmp_path / LATEST / RECORDS).exists()
    assert chosen_run(tmp_path) == second
    (second / RECORDS).unlink()
    assert chosen_run(tmp_path) == tmp_path / "1"


def test_without_links_a_file_names_the_latest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_args: object, **_named: object) -> None:
        raise PermissionError

    monkeypatch.setattr(Path, "symlink_to", refuse)
    ended(tmp_path)
    assert (tmp_path / LATEST).read_text() == "1\n"
    assert chosen_run(tmp_path) == tmp_path / "1"


def test_folders_of_the_user_are_not_numbered_runs(tmp_path: Path) -> None:
    (tmp_path / "1").mkdir()
    (tmp_path / "1" / RECORDS).touch()
    assert chosen_run(tmp_path) == tmp_path
    assert chosen_run(tmp_path / "1") == tmp_path / "1"
    assert chosen_run(tmp_path / "nowhere") == tmp_path / "nowhere"


def test_a_run_that_did_not_begin_leaves_nothing(tmp_path: Path) -> None:
    base = tmp_path / "base"
    folder = make_numbered(base)
    (folder / "evidence").mkdir()
    discard_empty(folder)
    assert not base.exists()
    kept = ended(base)
    discard_empty(kept)
    assert kept.exists()
