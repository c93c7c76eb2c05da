# SPDX-License-Identifier: MIT
"""`nfsproof pynfs --compare`, and the reports, baselines and differences of a run of pynfs."""

from __future__ import annotations

from pathlib import Path

import pytest

from nfsjudge.records import AnyRecord, CheckRecord, EndRecord, RequirementRecord, RunRecord, to_line
from nfsproof.cli import run_command_line
from nfsproof.exits import Exit
from nfsproof.pynfs.comparing import comparison
from nfsproof.pynfs.mapping import Absence, Counterpart, mapping_of, matches, unknown_ids
from nfsproof.pynfs.output import Ended
from nfsproof.pynfs.verdicts import Naming, record_of
from reports import Run, load
from reports.causes import causes_of
from reports.junit import render_junit
from reports.markdown import render_markdown

NAMING = Naming("pynfs41", "embedded", lambda code: f"nfsproof pynfs C embedded {code}")
CLAUSE = RequirementRecord("RFC 5661", "18.35.3", "DESCRIPTION", "MUST", "undefined flags are refused")


def theirs(*ended: Ended) -> Run:
    """A run of pynfs."""
    return Run(
        RunRecord("embedded"), [record_of(each, NAMING, None, 0.0) for each in ended], end=EndRecord(0)
    )


def failed(code: str, words: str = "no good", name: str = "st_exchange_id.testIt") -> Ended:
    """A test of pynfs that failed."""
    return Ended(code, name, "FAILURE", words)


def ours(*checks: tuple[str, str]) -> Run:
    """A run of nfsproof with these ids and verdicts."""
    records = [
        CheckRecord(
            name,
            verdict,
            CLAUSE,
            observed="7" if verdict == "FAIL" else "",
            expected=["6"],
            reason=f"because {verdict}",
        )
        for name, verdict in checks
    ]
    return Run(RunRecord("embedded"), records, end=EndRecord(1))


def lines(left: Run, right: Run) -> list[str]:
    """The comparison, without blanks at the ends of lines."""
    return [line.strip() for line in comparison(left, right)]


def test_both_are_red() -> None:
    found = lines(ours(("nfs4/EXCHANGE_ID/undefined-flag[bit-4-4.1]", "FAIL")), theirs(failed("EID4")))
    assert found[0].endswith("1 test red in both, 0 only in pynfs, 0 checks only in nfsproof")
    assert found[2:] == [
        "client ids",
        "both red      EID4: no good",
        "nfs4/EXCHANGE_ID/undefined-flag[bit-4-4.1]: expected 6, got 7 (RFC 5661 section 18.35.3)",
    ]


def test_only_pynfs_is_red_and_the_clause_of_our_check_is_shown() -> None:
    found = lines(ours(("nfs4/EXCHANGE_ID/undefined-flag[bit-4-4.1]", "PASS")), theirs(failed("EID4")))
    assert "only pynfs    EID4: no good" in found
    assert any("SUPP_FENCE_OPS" in line and "(RFC 7862 section 14.1.1)" in line for line in found)
    assert "passes in nfsproof: nfs4/EXCHANGE_ID/undefined-flag (RFC 5661 section 18.35.3)" in found


@pytest.mark.parametrize(
    ("code", "checks", "said"),
    [
        ("CSESS22", (), "we think otherwise: a server may grant as many slots as the client wants (RFC 5661"),
        ("GETLAYOUT1", (), "we do not test pNFS: devices and layouts"),
        ("DESCID1", (), "not in the run of nfsproof: nfs4/DESTROY_CLIENTID/destroys"),
        ("DESCID1", (("nfs4/DESTROY_CLIENTID/destroys[4.1]", "SKIP"),),
         "not judged by nfsproof: nfs4/DESTROY_CLIENTID/destroys: because SKIP"),
        ("EID6e", (("nfs4/EXCHANGE_ID/update-other-verifier[4.1]", "PASS"),),
         "pynfs also tests: another principal"),
        ("NEW17", (), "the mapping has no such code: is this a later pynfs?"),
    ],
)  # fmt: skip
def test_why_only_pynfs_is_red(code: str, checks: tuple[tuple[str, str], ...], said: str) -> None:
    found = lines(ours(*checks), theirs(failed(code)))
    assert any(line.startswith(said) for line in found), found


def test_only_nfsproof_is_red() -> None:
    found = lines(
        ours(
            ("nfs4/EXCHANGE_ID/with-company[4.1]", "FAIL"),
            ("nfs4/EXCHANGE_ID/with-company[4.2]", "FAIL"),
            ("nfs4/EXCHANGE_ID/implementation[4.1]", "FAIL"),
            ("nfs4/xyz/abc", "FAIL"),
            ("nfs3/WRITE/data", "FAIL"),
        ),
        theirs(Ended("EID8", "st_exchange_id.testNotOnlyOp", "PASS")),
    )
    assert found[0].endswith("0 only in pynfs, 4 checks only in nfsproof")
    text = "\n".join(found)
    assert "only nfsproof nfs4/EXCHANGE_ID/with-company[4.1]: expected 6, got 7" in text
    assert "and 1 other of its parameters\npynfs: EID8 PASS" in text
    assert (
        "implementation[4.1]: expected 6, got 7 (RFC 5661 section 18.35.3)\npynfs has no test of it" in text
    )
    assert text.index("not tested by pynfs") < text.index("nfs4/xyz/abc")
    assert "nfs3" not in text


def test_other_parameters_of_a_check_do_not_count() -> None:
    check = ("nfs4/types/wrong[write-directory]", "FAIL")
    found = lines(ours(check), theirs(failed("RNM3r")))
    assert found[0].endswith("0 tests red in both, 1 only in pynfs, 1 check only in nfsproof")


def test_words_of_a_server_are_text() -> None:
    found = lines(ours(), theirs(failed("EID4", "\x1b[31m\n::error::")))
    assert not any("\x1b" in line or line.startswith("::") for line in found)


def test_runs_of_two_targets_are_said_to_be() -> None:
    left = ours()
    left.about = RunRecord("ganesha:vfs")
    assert lines(left, theirs(failed("EID4")))[0].startswith(
        "warning: the runs are of two targets: ganesha:vfs, and"
    )


def write(run: Run, folder: Path) -> Path:
    """The records of a run, on disk."""
    assert run.about is not None
    assert run.end is not None
    folder.mkdir()
    records: list[AnyRecord] = [run.about, *run.checks, run.end]
    text = "".join(f"{to_line(record)}\n" for record in records)
    (folder / "records.jsonl").write_text(text, encoding="utf-8")
    return folder


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    left, right = write(ours(), tmp_path / "ours"), write(theirs(failed("EID4")), tmp_path / "theirs")
    assert run_command_line(["pynfs", str(right), "--compare", str(left)]) == Exit.OK
    assert "only pynfs    EID4" in capsys.readouterr().out
    for words, said in (
        ([str(left), "--compare", str(left)], "is no run of pynfs"),
        ([str(right), "--compare", str(right)], "--compare names a run of nfsproof"),
        ([str(right), "--compare", str(tmp_path / "none")], "is not there"),
        (["--report", str(right), "--compare", str(tmp_path)], "is not there"),
        (["x"], "expected CHECKOUT and TARGET"),
    ):
        assert run_command_line(["pynfs", *words]) == Exit.USAGE
        assert said in capsys.readouterr().err


# ---------------------------------------------------------------- reports of such a run


def test_each_failure_has_its_cause() -> None:
    run = theirs(
        failed("EID4"),
        failed("EID5a", "another thing"),
        *(failed(f"DELEG{n}", "nothing was granted", "st_delegation.testIt") for n in (1, 2)),
        failed("EID6", "Update should return NFS4ERR_NOENT, instead got NFS4_OK"),
    )
    assert sorted(len(cause.checks) for cause in causes_of(run)) == [1, 1, 1, 2]


def test_reports_say_that_it_is_a_second_opinion() -> None:
    run = theirs(failed("EID4", "bad <b>words</b>"))
    markdown = render_markdown([run])
    assert "Ended: a second opinion: its failures are not red." in markdown
    assert "#### FAIL: says another suite (1)" in markdown
    junit = render_junit([run])
    assert 'failures="1"' in junit
    assert "bad &lt;b&gt;words&lt;/b&gt;" in junit


def test_baselines_and_differences(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = write(
        theirs(failed("EID4"), failed("EID6"), Ended("EID1", "st_exchange_id.t", "PASS")), tmp_path / "1"
    )
    second = write(theirs(failed("EID4"), failed("EID6", "else"), failed("EID1")), tmp_path / "2")
    baseline = tmp_path / "b.toml"
    assert run_command_line(["baseline", "update", str(first), str(baseline)]) == Exit.OK
    assert "pynfs41/exchange_id/EID4" in baseline.read_text(encoding="utf-8")
    assert run_command_line(["baseline", "check", str(first), str(baseline)]) == Exit.OK
    capsys.readouterr()
    assert run_command_line(["baseline", "check", str(second), str(baseline)]) == Exit.BASELINE
    text = capsys.readouterr().out
    assert "new: pynfs41/exchange_id/EID1" in text
    assert "other symptom: pynfs41/exchange_id/EID6" in text
    assert run_command_line(["diff", str(first), str(second)]) == Exit.BASELINE
    assert "pynfs41/exchange_id/EID1" in capsys.readouterr().out
    left = write(ours(), tmp_path / "ours")
    assert run_command_line(["diff", str(left), str(first)]) == Exit.USAGE
    assert "nfsproof pynfs --compare" in capsys.readouterr().err
    assert load(first).is_second_opinion


# ---------------------------------------------------------------- the mapping


def test_the_mapping_names_checks_of_this_version() -> None:
    """After a check was renamed: `nfsproof/pynfs/known`."""
    assert unknown_ids(mapping_of("pynfs41").values()) == []


def test_an_id_that_does_not_exist_is_found() -> None:
    wrong = Counterpart("EID1", "x", ("nfs4/EXCHANGE_ID/no-such",))
    without = Counterpart("EID2", "x", ("nfs4/EXCHANGE_ID/undefined-flag[no-such]",))
    assert unknown_ids([wrong, without]) == [
        "EID1: nfs4/EXCHANGE_ID/no-such",
        "EID2: nfs4/EXCHANGE_ID/undefined-flag[no-such]",
    ]


def test_the_mapping_is_complete() -> None:
    known = mapping_of("pynfs41")
    assert len(known) == 277, "all functions of its tree of NFSv4.1"
    for each in known.values():
        assert bool(each.ids) != (each.absence is not None)
        assert each.absence is None or each.why
        assert each.absence is not Absence.FREEDOM or each.clause.startswith("RFC "), each.code
        assert not (each.ids and each.why) or each.clause


@pytest.mark.parametrize(
    ("wanted", "check_id", "is_meant"),
    [
        ("nfs4/OPEN/creates", "nfs4/OPEN/creates[4.1]", True),
        ("nfs4/OPEN/creates", "nfs4/OPEN/creates-more", False),
        ("nfs4/types/wrong[rename-into]", "nfs4/types/wrong[rename-into-file]", True),
        ("nfs4/types/wrong[rename-into]", "nfs4/types/wrong[rename-from-file]", False),
        ("nfs4/delegation/recall[read]", "nfs4/delegation/recall[read-4.2]", True),
        ("nfs4/delegation/recall[read]", "nfs4/delegation/recall", False),
    ],
)
def test_ids_mean_all_minor_versions(wanted: str, check_id: str, is_meant: bool) -> None:
    assert matches(wanted, check_id) == is_meant
