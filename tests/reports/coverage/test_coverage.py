# SPDX-License-Identifier: MIT
"""Coverage: what is covered, what is not and why, and that nothing of a target is trusted on its pages."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from nfsclient.protocol.mount import MountStat3
from nfsclient.protocol.nfs3 import NFS3, Nfsstat3
from nfsjudge.records import CheckRecord, EndRecord, FindingRecord, RequirementRecord, RunRecord
from reports.coverage.counting import rows_of
from reports.coverage.errors import cover_errors
from reports.coverage.rendering import escape_markdown, render_coverage, suite_pages
from reports.coverage.sections import SectionCoverage, cover_sections
from reports.coverage.tables import read_error_tables, read_tables, unmatched_reasons
from reports.run import Run

ROOT = Path(__file__).resolve().parents[3]
WRITE = RequirementRecord("RFC 1813", "3.3.7", "DESCRIPTION", "STATED", "what is written is there")
MESSAGE = RequirementRecord("RFC 5531", "9", "DESCRIPTION", "MUST", "a reply has the form of one")
HOSTILE = '<script>alert("x")</script> | `a` [b](http://c) \x1b[31m'


def check(name: str, verdict: str = "PASS", *clauses: RequirementRecord, **fields: object) -> CheckRecord:
    record = CheckRecord(
        name, verdict, clauses[0] if clauses else WRITE, requirements=list(clauses) or [WRITE]
    )
    for key, value in fields.items():
        setattr(record, key, value)
    return record


def run_of(*checks: CheckRecord, target: str = "embedded") -> Run:
    return Run(RunRecord(target), list(checks), end=EndRecord(0))


def section(coverage: SectionCoverage, rfc: str, number: str) -> object:
    return next(
        each
        for document in coverage.documents
        if document.document.name == rfc
        for each in document.sections
        if each.section.number == number
    )


class TestSections:
    def state(self, rfc: str, number: str, *checks: CheckRecord) -> str:
        found = section(cover_sections([run_of(*checks)], read_tables()), rfc, number)
        return str(getattr(found, "state"))  # noqa: B009

    def test_a_section_with_a_check_is_covered(self) -> None:
        assert self.state("RFC 1813", "3.3.7", check("nfs3/write/one")) == "covered"

    def test_a_section_with_normative_words_and_no_check_is_open(self) -> None:
        assert self.state("RFC 1813", "3.3.7") == "open"

    def test_a_section_with_a_reason_is_outside(self) -> None:
        assert self.state("RFC 1813", "1.7") == "outside"

    def test_a_reason_may_be_of_all_below_a_section(self) -> None:
        assert self.state("RFC 2203", "7.1") == "outside"

    def test_a_clause_of_the_newer_rpc_counts_for_the_same_section_of_the_older(self) -> None:
        assert self.state("RFC 1831", "8", check("rpc/one", "PASS", MESSAGE)) == "covered"

    def test_what_no_table_has_is_kept(self) -> None:
        other = RequirementRecord("XNFS", "2", "DESCRIPTION", "MUST", "a lock is a lock")
        coverage = cover_sections([run_of(check("nlm/one", "PASS", other))], read_tables())
        assert [claim.requirement.rfc for claim in coverage.elsewhere] == ["XNFS"]

    def test_a_check_counts_once_in_a_section_however_many_clauses_it_proves_there(self) -> None:
        second = RequirementRecord("RFC 1813", "3.3.7", "DESCRIPTION", "MUST", "no more than was sent")
        coverage = cover_sections([run_of(check("nfs3/write/one[a]", "PASS", WRITE, second))], read_tables())
        found = section(coverage, "RFC 1813", "3.3.7")
        assert len(getattr(found, "claims")) == 2  # noqa: B009
        assert dict(getattr(found, "counts")(0)) == {"PASS": 1}  # noqa: B009

    def test_a_check_that_fails_for_one_clause_says_nothing_of_the_other(self) -> None:
        failed = check("nfs3/write/one", "FAIL", WRITE, MESSAGE, expected=["10"], observed="11")
        claims = cover_sections([run_of(failed)], read_tables()).claims
        assert {claim.requirement.rfc: claim.verdicts for claim in claims} == {
            "RFC 1813": [{"nfs3/write/one": "FAIL"}],
            "RFC 5531": [{}],
        }

    def test_what_was_broken_on_the_way_is_reported_where_it_stands(self) -> None:
        failed = check("nfs3/write/one", "FAIL", WRITE, expected=["a reply"], observed="none")
        failed.requirement = MESSAGE
        claims = cover_sections([run_of(failed)], read_tables()).claims
        assert {claim.requirement.rfc: claim.verdicts for claim in claims} == {
            "RFC 1813": [{}],
            "RFC 5531": [{"nfs3/write/one": "FAIL"}],
        }

    def test_what_the_lint_found_counts(self) -> None:
        run = run_of()
        run.findings = [FindingRecord("lint/nfs3/write-count", "nfs3/write/one", "FAIL", WRITE)]
        assert [claim.counts(0) for claim in cover_sections([run], read_tables()).claims] == [{"FAIL": 1}]


class TestErrors:
    def test_a_pair_that_was_seen_is_provoked(self) -> None:
        seen = check("nfs3/read/one[a]", statuses=["nfs3 READ NFS3ERR_STALE", "nfs3 READ NFS3_OK"])
        nfs3 = cover_errors([run_of(seen)], read_error_tables())[0]
        states = {(pair.operation, pair.error): pair.state for pair in nfs3.pairs}
        assert states["READ", "STALE"] == "provoked"
        assert states["READ", "ACCES"] == "open"
        assert states["READ", "IO"] == "outside"
        assert not nfs3.unlisted

    def test_a_general_reason_is_of_the_pairs_that_are_left(self) -> None:
        seen = check("nfs4/WRITE/one", statuses=["nfs4.1 WRITE NFS4ERR_STALE"])
        run = run_of(seen)
        found = next(each for each in cover_errors([run], read_error_tables()) if each.protocol == "nfs4.1")
        states = {(pair.operation, pair.error): pair.state for pair in found.pairs}
        assert states["WRITE", "STALE"] == "provoked"
        assert states["LOOKUP", "STALE"] == "server"
        assert states["LAYOUTGET", "BADXDR"] == "server"
        assert found.refuted == []

    def test_errors_of_mount_are_those_of_its_version(self) -> None:
        statuses = ["mount1 MNT UNKNOWN_13", "mount3 MNT MNT3ERR_ACCES", "mount3 MNT MNT3ERR_PERM"]
        mount = cover_errors([run_of(check("mount/mnt/one", statuses=statuses))], read_error_tables())[1]
        assert mount.counts == {"provoked": 1, "open": 3, "outside": 1}
        assert [(pair.operation, pair.error) for pair in mount.unlisted] == [("MNT", "PERM")]

    def test_an_error_that_the_rfc_does_not_list_is_distinguished(self) -> None:
        nfs3 = cover_errors(
            [run_of(check("a/b", statuses=["nfs3 READ NFS3ERR_EXIST"]))], read_error_tables()
        )[0]
        assert [(pair.operation, pair.error) for pair in nfs3.unlisted] == [("READ", "EXIST")]

    def test_checks_of_the_operation_are_named_first(self) -> None:
        pair = "nfs3 WRITE NFS3ERR_STALE"
        checks = [check("nfs3/handles/a", statuses=[pair]), check("nfs3/write/b[1]", statuses=[pair])]
        nfs3 = cover_errors([run_of(*checks)], read_error_tables())[0]
        assert [pair.functions for pair in nfs3.pairs if pair.checks] == [["nfs3/write/b", "nfs3/handles/a"]]

    @pytest.mark.parametrize("text", ["", "nfs3", "x y z w", "nfs3 READ"])
    def test_what_is_no_known_status_does_no_harm(self, text: str) -> None:
        assert cover_errors([run_of(check("a/b", statuses=[text]))], read_error_tables())

    def test_a_reason_that_a_check_refutes_is_a_fault(self) -> None:
        pages = suite_pages(run_of(check("nfs3/read/one", statuses=["nfs3 READ NFS3ERR_IO"])), [])
        assert pages.faults == [
            "nfs3 READ IO: errors-outside.toml says that no check provokes it, but nfs3/read/one does"
        ]


class TestTables:
    def test_every_reason_is_of_a_section_or_a_pair_that_is_there(self) -> None:
        assert unmatched_reasons() == []

    def test_the_pairs_of_version_3_are_those_of_its_procedures_and_statuses(self) -> None:
        table = next(error_table for error_table in read_error_tables() if error_table.protocol == "nfs3")
        assert set(table.errors) == {procedure.name for procedure in NFS3.procedures} - {"NULL"}
        assert {f"NFS3ERR_{error}" for _, error in table.pairs} <= set(Nfsstat3.__members__)
        assert len(table.pairs) == len(set(table.pairs)) == 186

    def test_the_pairs_of_mount_are_those_of_mnt_and_its_statuses(self) -> None:
        table = next(error_table for error_table in read_error_tables() if error_table.protocol == "mount3")
        assert set(table.errors) == {"MNT"}
        assert {f"MNT3ERR_{error}" for _, error in table.pairs} <= set(MountStat3.__members__)
        assert len(table.pairs) == 5

    def test_sections_are_there_once(self) -> None:
        numbers = [
            (section.rfc, section.number)
            for document in read_tables().documents
            for section in document.sections
        ]
        assert len(numbers) == len(set(numbers))

    def test_words_are_counted_by_section_without_titles_and_pages(self) -> None:
        text = (
            "RFC 9\n\nTable of Contents\n   1. Introduction ... 2\n\n1. Introduction\n\n   It must, and may.\n\n"
            "Someone               Standards                 [Page 2]\n\nRFC 9999   Protocol   May 1999\n\n"
            "1.1 What a server should\n    do\n\n   It shall not.\n\n   3. this is no section\n\n"
            "Appendix A. Optional names\n\n"
        )
        assert list(rows_of("RFC 9", text)) == [
            ("RFC 9", "1", "Introduction", 1, 0, 1),
            ("RFC 9", "1.1", "What a server should do", 1, 0, 0),
            ("RFC 9", "A", "Optional names", 0, 0, 0),
        ]

    def test_only_capitals_count_where_the_rfc_says_so(self) -> None:
        text = "1.  Introduction\n\n   RFC 2119. It must, it MUST NOT, it may.\n"
        assert list(rows_of("RFC 9", text)) == [("RFC 9", "1", "Introduction", 1, 0, 0)]


class Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names += [tag, *(name for name, _ in attrs if name.startswith("on") or name in {"src", "href"})]


class TestRendering:
    def hostile(self) -> list[Run]:
        clause = RequirementRecord("RFC 1813", "3.3.7", "DESCRIPTION", HOSTILE, HOSTILE)
        bad = check(f"nfs3/write/one[{HOSTILE}]", HOSTILE, clause, statuses=[f"nfs3 READ {HOSTILE}"])
        return [run_of(bad, target=HOSTILE), run_of(check("nfs3/write/two", "FAIL"), target="other")]

    def test_html_holds_nothing_that_runs_or_loads(self) -> None:
        page = Links()
        page.feed(render_coverage(self.hostile(), "html"))
        assert not {"script", "img", "a", "src", "href", "link"} & set(page.names)

    def test_markdown_holds_no_markup_of_a_target(self) -> None:
        text = render_coverage(self.hostile(), "md")
        assert "<script" not in text
        assert re.search(r"(?<!\\)\]\(|https?://c", text) is None
        assert "\x1b" not in text

    @pytest.mark.parametrize("form", ["md", "html"])
    def test_a_pair_that_no_target_answered_with_is_not_said_to_lack_a_check(self, form: str) -> None:
        run = run_of(check("nfs3/read/one", statuses=["nfs3 READ NFS3ERR_STALE"]))
        words = re.sub(r"<[^>]*>|\|", " ", render_coverage([run], form)).split()
        assert "READ ACCES not seen" in " ".join(words)
        assert "| READ | ACCES | open |" in suite_pages(run, []).texts["coverage.md"]

    @pytest.mark.parametrize("form", ["md", "html", "json"])
    def test_what_was_not_chosen_is_not_said_to_lack_a_check(self, form: str) -> None:
        whole = run_of(check("nfs3/write/one"))
        assert "only some of the checks" not in render_coverage([whole], form)
        part = Run(RunRecord("mine", is_partial=True), whole.checks, end=EndRecord(0))
        assert "only some of the checks were selected" in render_coverage([whole, part], form)
        killed = Run(RunRecord("mine"), whole.checks)
        assert "is incomplete" in render_coverage([killed], form)

    def test_json_has_every_verdict_by_target(self) -> None:
        plain = json.loads(render_coverage(self.hostile(), "json"))
        assert plain["targets"] == [HOSTILE, "other"]
        sections = {section["section"]: section for section in plain["documents"][1]["sections"]}
        verdicts = [claim["verdicts"] for claim in sections["3.3.7"]["requirements"]]
        assert [{}, {"nfs3/write/two": "FAIL"}] in verdicts

    def test_two_runs_of_one_target_are_distinguished(self) -> None:
        plain = json.loads(render_coverage([run_of(check("a/b/c"))] * 2, "json"))
        assert plain["targets"] == ["embedded", "embedded (2)"]

    def test_an_unknown_form_is_refused(self) -> None:
        with pytest.raises(ValueError, match="expected md, html or json"):
            render_coverage([], "pdf")

    def test_what_is_broken_stands_in_a_separate_table(self) -> None:
        text = render_coverage([run_of(check("nfs3/write/two", "FAIL"), target="mine")], "md")
        broken = text.partition("## Requirements that a target does not meet")[2]
        assert "| RFC 1813 section 3.3.7 | STATED | what is written is there | 1 FAIL |" in broken

    def test_escaping_keeps_to_one_cell(self) -> None:
        assert escape_markdown("a\nb|c`d`") == "a b\\|c\\`d\\`"

    def test_the_same_records_make_the_same_pages(self) -> None:
        checks = [check("nfs3/write/b"), check("nfs3/write/a", statuses=["nfs3 WRITE NFS3ERR_STALE"])]
        assert suite_pages(run_of(*checks), []) == suite_pages(run_of(*reversed(checks)), [])
