# SPDX-License-Identifier: MIT
"""Ids and titles: made from node ids and docstrings, listed, held to rules, and not lost unannounced."""

from __future__ import annotations

import subprocess
import sys

import pytest

from fixtures.ids import MAX_ID, id_of, operations, subject_of, title_of, violations
from nfsclient.protocol.registry import protocols
from tests.plugin.conftest import ROOT, Suite
from tests.plugin.test_plugin_verdicts import check
from tests.waiting import AT_MOST


@pytest.mark.parametrize(
    ("nodeid", "check_id"),
    [
        (
            "suites/nfs3/test_rename.py::test_mixed_types[directory-fifo]",
            "nfs3/RENAME/mixed-types[directory-fifo]",
        ),
        ("suites/nfs3/test_readdir_cookies.py::test_x", "nfs3/READDIR/x"),
        ("suites/nfs3/test_readdirplus.py::test_x", "nfs3/READDIRPLUS/x"),
        ("suites/nfs3/objects/test_handles.py::test_old_ones", "nfs3/handles/old-ones"),
        ("suites/nfs3/test_wcc_data.py::test_x", "nfs3/wcc_data/x"),
        ("suites/nfs3/test_write.py::test_x[a_b/c::d]", "nfs3/WRITE/x[a_b/c::d]"),
        ("suites/rpc/test_read.py::test_x", "rpc/read/x"),
        ("../lib/nfsproof/_home/suites/mount/test_umntall.py::test_x", "mount/UMNTALL/x"),
        ("suites/portmap/test_getaddr.py::test_x", "portmap/GETADDR/x"),
        ("tests/test_own.py::test_x_y", "tests/own/x-y"),
        ("test_own.py::test_x", "own/x"),
    ],
)
def test_id_of_a_node(nodeid: str, check_id: str) -> None:
    assert id_of(nodeid) == check_id


def test_the_longest_operation_is_the_subject(monkeypatch: pytest.MonkeyPatch) -> None:
    assert {"GETPORT", "GETADDR", "CALLIT", "BCAST"} <= operations("portmap")
    assert {"MNT", "EXPORT", "NULL"} <= operations("mount")
    assert all(operations(protocol.name) for protocol in protocols() if protocol.modules)
    monkeypatch.setattr("fixtures.ids.operations", lambda _: frozenset({"CREATE", "CREATE_SESSION"}))
    subject_of.cache_clear()
    assert subject_of("nfs4", "create_session_replay") == "CREATE_SESSION"
    assert subject_of("nfs4", "create_sessions") == "CREATE"
    subject_of.cache_clear()


@pytest.mark.parametrize(
    ("check_id", "wrong"),
    [
        ("nfs3/RENAME/mixed-types[directory-fifo]", ""),
        ("nfs4/CREATE_SESSION/replay", ""),
        ("nfs3/wcc_data/one-two-three-four[a_b.c+d-5]", ""),
        ("nfs3/RENAME/one-two-three-four-five", "5 words"),
        ("nfs3/RENAME/x[" + "a" * MAX_ID + "]", "63 characters"),
        ("nfs3/RENAME/x[a b]", "the parameters 'a b'"),
        ("nfs3/RENAME/x[A]", "the parameters 'A'"),
        ("nfs3/RENAME/x[]", "the parameters ''"),
        ("nfs3/RENAME/Mixed", "the slug 'Mixed'"),
        ("nfs3/RENAME/a--b", "the slug 'a--b'"),
        ("RENAME/x", "PROTOCOL/SUBJECT/slug"),
    ],
)
def test_the_rules_for_ids(check_id: str, wrong: str) -> None:
    found = violations(check_id)
    assert len(found) == bool(wrong)
    assert all(wrong in text for text in found)


def test_a_title_is_the_first_line_of_the_docstring() -> None:
    assert title_of("\n    WRITE keeps data.\n\n    More of it.\n", "nfs3/WRITE/x") == "WRITE keeps data"
    assert title_of(None, "nfs3/WRITE/keeps-data[4096]") == "keeps data"
    assert title_of("  ", "nfs3/WRITE/keeps-data") == "keeps data"


def test_check_and_update(suite: Suite) -> None:
    suite.write(check("one", "raise KeyError") + check("two", "raise KeyError"))
    fresh = suite.run("--ids=check")
    assert fresh.exit_code == 1
    assert "new, but not listed: nfs3/fake/one" in fresh.text
    assert suite.run("--ids=update").exit_code == 0
    assert suite.run("--ids=check").exit_code == 0
    suite.write(check("one", "raise KeyError"))
    vanished = suite.run("--ids=check")
    assert vanished.exit_code == 1
    assert "listed, but vanished: nfs3/fake/two" in vanished.text
    assert not suite.report.exists()


def test_an_update_keeps_the_lines_about_renamed_checks(suite: Suite) -> None:
    file = suite.pytester.path / "suites" / "ids.txt"
    suite.write(check("one", "pass"))
    file.write_text(
        "# released: 1.2.0\nnfs3/fake/old\nnfs3/fake/older\n# gone: nfs3/fake/old -> nfs3/fake/one\n"
    )
    outcome = suite.run("--ids=update")
    assert 'gone: nfs3/fake/older; if it was renamed, write "# gone: nfs3/fake/older -> NEW"' in outcome.text
    assert file.read_text().splitlines()[-3:] == [
        "nfs3/fake/one",
        "# gone: nfs3/fake/old -> nfs3/fake/one",
        "# gone: nfs3/fake/older",
    ]


def test_an_id_against_the_rules_is_an_error_of_the_check_alone(suite: Suite) -> None:
    suite.write(check("a_slug_of_five_words", "pass"))
    for mode in ("update", "check"):
        outcome = suite.run(f"--ids={mode}")
        assert outcome.exit_code == 1
        assert "nfs3/fake/a-slug-of-five-words: the slug has 5 words, at most 4 are allowed" in outcome.text
    assert not (suite.pytester.path / "suites" / "ids.txt").exists()
    assert suite.run().exit_code == 0


def test_a_part_of_the_suite_cannot_tell(suite: Suite) -> None:
    suite.write(check("one", "pass"))
    assert suite.run("--ids=check", "suites/nfs3").exit_code == 4


@pytest.mark.parametrize("workers", [[], ["-p", "xdist.plugin", "-n", "2"]], ids=["alone", "workers"])
def test_two_checks_with_one_id_are_an_error_that_names_both(suite: Suite, workers: list[str]) -> None:
    suite.write(check("same", "pass"), "suites/nfs3/test_write_fake.py")
    suite.write(check("same", "pass"), "suites/nfs3/fakes/test_write.py")
    outcome = suite.run_apart(*workers)
    assert outcome.exit_code == 4
    assert "two checks have the id nfs3/WRITE/same: " in outcome.text
    assert "suites/nfs3/fakes/test_write.py::test_same" in outcome.text
    assert "suites/nfs3/test_write_fake.py::test_same" in outcome.text


def test_the_title_is_printed(suite: Suite) -> None:
    suite.write(
        """
        @proves(RULE, killed_by=MUTANT)
        def test_red():
            \"\"\"Two is one.\"\"\"
            expect(2, "count").equals(1)
        """
    )
    outcome = suite.run()
    assert outcome.checks["red"].title == "Two is one"
    assert "FAIL  nfs3/fake/red\n  Two is one\n  clause:" in outcome.text
    assert "FAIL       count: expected 1, got 2 (RFC 1813 3.3.1): 1 check  nfs3/fake/red\n" in outcome.text
    listed = suite.run("--list-requirements").text
    assert f"    {'nfs3/fake/red':<{MAX_ID}}  Two is one" in listed


def test_the_ids_of_this_project_are_listed_and_keep_the_rules() -> None:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--ids=check", "-q", "suites"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=AT_MOST)
    assert "suites/ids.txt is up to date: " in result.stdout
    assert result.returncode == 0, result.stdout
