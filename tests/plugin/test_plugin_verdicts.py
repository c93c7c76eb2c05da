# SPDX-License-Identifier: MIT
"""Each way in which a check can end, and the verdict, the outcome and the exit code that come of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.plugin.conftest import Suite

ENDINGS = {
    "PASS": "pass",
    "FAIL": "expect(1, 'count').equals(2)",
    "NONSTRICT": "expect(1, 'count', because=ADVICE).equals(2)",
    "UNSUPPORTED": "unsupported('no such thing')",
    "SKIP": "skip('not here')",
    "VOID": "raise KeyError('a bug of ours')",
}
EXITS = {"PASS": 0, "FAIL": 1, "NONSTRICT": 0, "UNSUPPORTED": 0, "SKIP": 0, "VOID": 10}


def check(name: str, body: str, fixtures: str = "", needs: str = "()") -> str:
    return f"\n@proves(RULE, killed_by=MUTANT, needs={needs})\ndef test_{name}({fixtures}):\n    {body}\n"


@pytest.mark.parametrize("verdict", ENDINGS)
def test_verdict_and_exit_code(suite: Suite, verdict: str) -> None:
    suite.write(check("it", ENDINGS[verdict]))
    outcome = suite.run()
    assert outcome.verdicts == {"it": verdict}
    assert outcome.exit_code == EXITS[verdict]


def test_all_verdicts_in_summary_records_and_junit(suite: Suite) -> None:
    suite.write("".join(check(f"ends_{name}", body) for name, body in ENDINGS.items()))
    outcome = suite.run()
    assert outcome.verdicts == {f"ends_{name}": name for name in ENDINGS}
    assert outcome.exit_code == 1  # FAIL outranks VOID
    for name in ("FAIL", "NONSTRICT", "VOID"):
        assert any(
            line.startswith(f"{name:<10} ") and line.endswith(f"nfs3/fake/ends-{name}")
            for line in outcome.text.splitlines()
        )
    cases = outcome.junit()
    outcomes = {
        name: [child.tag for child in case if child.tag != "properties"] for name, case in cases.items()
    }
    assert outcomes["ends-PASS"] == outcomes["ends-NONSTRICT"] == []
    assert outcomes["ends-FAIL"] == ["failure"]
    assert outcomes["ends-VOID"] == ["error"]
    assert outcomes["ends-SKIP"] == outcomes["ends-UNSUPPORTED"] == ["skipped"]
    for name in ENDINGS:
        found = cases[f"ends-{name}"].iter("property")
        properties = {element.attrib["name"]: element.attrib["value"] for element in found}
        assert properties["verdict"] == name
        assert properties["id"] == f"nfs3/fake/ends-{name}"
        assert properties["requirement"] == f"RFC 1813 section 3.3.{2 if name == 'NONSTRICT' else 1}"


def test_junit_xml_of_pytest_can_be_asked_for(suite: Suite) -> None:
    suite.write(check("it", ENDINGS["FAIL"]))
    other = suite.pytester.path / "theirs.xml"
    assert set(suite.run("--junitxml", str(other)).junit()) == {"it"}
    assert 'name="test_it"' in other.read_text()
    assert set(suite.run("--junitxml", str(suite.report / "junit.xml")).junit()) == {"test_it"}


def test_junit_xml_that_cannot_be_written_is_refused_before_the_run(suite: Suite, tmp_path: Path) -> None:
    suite.write(check("it", ENDINGS["PASS"]))
    file = tmp_path / "file"
    file.write_text("not a folder")
    ended = suite.pytester.runpytest_inprocess(*suite.arguments(), f"--junitxml={file}/x.xml")
    assert ended.ret == 4
    ended.stderr.fnmatch_lines([f"*--junitxml: cannot write {file}/x.xml: *"])


def test_strict_should_makes_nonstrict_red(suite: Suite) -> None:
    suite.write(check("it", ENDINGS["NONSTRICT"]))
    outcome = suite.run("--strict-should")
    assert outcome.verdicts == {"it": "NONSTRICT"}
    assert outcome.exit_code == 1
    assert outcome.junit()["it"].find("failure") is not None


VERSIONS = """
from pathlib import Path

import pytest
from nfsjudge import Level, stated
ALSO = {"2": ("RFC 1094", "2.2.5", Level.SHOULD), "3": ("RFC 1813", "3.3.3"), "4.0": ("RFC 7530", "16.13.4")}
BOTH = stated("RFC 5661", "18.13.3", "found", also=ALSO)
OTHER = stated("RFC 5661", "18.22.3", "read", also={"3": ("RFC 1813", "3.3.6"), "4.0": ("RFC 7530", "16.23.4")})
"""


@pytest.mark.parametrize(
    ("folder", "parameter", "values", "cited"),
    [
        ("nfs3", "x", [0], ["FAIL RFC 1813 3.3.3"]),
        ("recovery", "nfs_version", ["v2", "v3"], ["NONSTRICT RFC 1094 2.2.5", "FAIL RFC 1813 3.3.3"]),
        ("mount", "version", [2, 4], ["NONSTRICT RFC 1094 2.2.5", "FAIL RFC 5661 18.13.3"]),
        ("nfs4", "minor", [0, 1], ["FAIL RFC 7530 16.13.4", "FAIL RFC 5661 18.13.3"]),
        ("rpc", "x", [0], ["FAIL RFC 5661 18.13.3"]),
    ],
)
def test_the_clause_is_that_of_the_version(
    suite: Suite, folder: str, parameter: str, values: list[object], cited: list[str]
) -> None:
    body = f"""
@pytest.mark.parametrize("{parameter}", {values})
@proves(BOTH, OTHER, killed_by=MUTANT)
def test_main({parameter}):
    expect(1, "number").equals(2)

@pytest.mark.parametrize("{parameter}", {values})
@proves(OTHER, BOTH, killed_by=MUTANT)
def test_because({parameter}):
    expect(1, "number", because=BOTH).equals(2)
"""
    suite.write(VERSIONS + body, f"suites/{folder}/test_fake.py")
    seen: dict[str, list[str]] = {"main": [], "because": []}
    for name, record in suite.run().checks.items():
        clause = record.requirement
        assert clause is not None
        assert clause in record.requirements
        seen[name.partition("[")[0]].append(f"{record.verdict} {clause.rfc} {clause.section}")
    assert seen == {"main": cited, "because": cited}


def test_a_claim_of_4_1_is_none_of_4_0(suite: Suite) -> None:
    body = """
from nfsjudge import stated
LATER = stated("RFC 5661", "18.22.3", "read")

@pytest.mark.parametrize("minor", [0, 1, 2])
@proves(BOTH, LATER, killed_by=MUTANT)
def test_it(minor):
    expect(1, "number").equals(2)
"""
    suite.write(VERSIONS + body, "suites/nfs4/test_fake.py")
    outcome = suite.run()
    assert outcome.verdicts == {"it[0]": "VOID", "it[1]": "FAIL", "it[2]": "FAIL"}
    said = "the check speaks NFSv4.0, for which its claim cites no section: RFC 5661 section 18.22.3 (STATED): read"
    assert said in outcome.checks["it[0]"].reason


HARM = """
from nfsclient.protocol.nfs3 import Nfsstat3
from nfsjudge import Harm, Level, Part
GAP = Requirement(
    rfc="RFC 1813", section="3.3.7", gist="zeros", part=Part.IMPLEMENTATION, level=Level.SHOULD, harm=Harm.DATA
)
class Reply:
    status = Nfsstat3.NFS3ERR_IO
    resok = None
"""


@pytest.mark.parametrize(
    ("body", "verdict"),
    [
        ("expect('ff', 'gap', because=GAP).equals('00')", "FAIL"),
        ("expect(Reply(), because=GAP).ok()", "NONSTRICT"),
    ],
    ids=["damage", "refusal"],
)
def test_harm_makes_a_broken_should_red(suite: Suite, body: str, verdict: str) -> None:
    suite.write(HARM + check("it", body))
    outcome = suite.run()
    assert outcome.verdicts == {"it": verdict}
    assert outcome.exit_code == EXITS[verdict]
    harm = ", harm data: acknowledged data is lost or wrong"
    assert (f"RFC 1813 section 3.3.7 (SHOULD, IMPLEMENTATION){harm}" in outcome.text) is (verdict == "FAIL")
    properties = {
        element.attrib["name"]: element.attrib["value"] for element in outcome.junit()["it"].iter("property")
    }
    assert (properties["level"], properties.get("harm", "")) == (
        "SHOULD",
        "data" if verdict == "FAIL" else "",
    )


def test_a_failure_prints_what_a_server_author_needs(suite: Suite) -> None:
    suite.write("""
        @proves(RULE, killed_by=MUTANT)
        def test_size(nfs3, scratch):
            observe("way", "plain")
            reply = nfs3.getattr(scratch.file("f", b"four"))
            expect(reply).field("resok.obj_attributes.size").one_of(5, 6)
    """)
    outcome = suite.run()
    record = outcome.checks["size"]
    assert record.verdict == "FAIL"
    assert record.expected == ["5", "6"]
    assert (record.what, record.observed) == ("obj_attributes.size", "4")
    assert record.call.startswith("GETATTR object=")
    assert record.observations == {"way": "plain"}
    assert record.exchanges == 4  # MKDIR, CREATE, WRITE, GETATTR; cleaning up is not the check's
    (marked,) = [line for line in record.transcript if "<--" in line]
    assert "size" in marked
    for part in (
        "RFC 1813 section 3.3.1 (STATED)",
        "the rule of this suite",
        "result:     obj_attributes.size: expected 5 or 6, got 4",
        "call:       GETATTR object=",
        "way: plain",
        marked.strip(),
        "nfsproof run embedded nfs3/fake/size",
    ):
        assert part in outcome.text


@pytest.mark.parametrize(
    "claim",
    [
        'expect(seen).field("size", "bytes")',
        'expect(seen.size, "bytes", of=seen, field="size")',
        'expect(seen.size, "bytes", field="size")',
    ],
)
def test_a_claim_about_a_part_of_a_reply_is_marked_as_well(suite: Suite, claim: str) -> None:
    suite.write(f"""
        @proves(RULE, killed_by=MUTANT)
        def test_size(nfs3, scratch):
            seen = scratch.attributes(scratch.file("f", b"four"))
            {claim}.equals(5)
    """)
    (marked,) = [line for line in suite.run().checks["size"].transcript if "<--" in line]
    assert marked.strip().startswith("size: 4")


def test_a_fault_of_the_suite_is_void_and_shows_its_traceback(suite: Suite) -> None:
    suite.write(check("it", "assert 1 == 2"))
    outcome = suite.run()
    assert outcome.verdicts == {"it": "VOID"}
    assert "assert 1 == 2" in outcome.text


def test_set_up_and_tear_down(suite: Suite) -> None:
    suite.write("""
        @pytest.fixture
        def breaks():
            raise LookupError("in set-up")

        @pytest.fixture
        def breaks_late():
            yield
            raise LookupError("in tear-down")

        @pytest.fixture
        def judges():
            expect(1, "count").equals(2)

        @proves(RULE, killed_by=MUTANT)
        def test_void_before(breaks):
            pass

        @proves(RULE, killed_by=MUTANT)
        def test_void_after(breaks_late):
            pass

        @proves(RULE, killed_by=MUTANT)
        def test_fails_before_that(breaks_late):
            expect(1, "count").equals(2)

        @proves(RULE, killed_by=MUTANT)
        def test_fixtures_do_not_judge(judges):
            pass
    """)
    outcome = suite.run()
    assert outcome.verdicts == {
        "void_before": "VOID",
        "void_after": "VOID",
        "fails_before_that": "FAIL",
        "fixtures_do_not_judge": "VOID",
    }


def test_of_several_fixtures_that_cannot_tear_down_one_is_reported(suite: Suite) -> None:
    suite.write(
        """
        @pytest.fixture
        def one():
            yield
            raise RuntimeError("one broke")

        @pytest.fixture
        def other():
            yield
            raise RuntimeError("other broke")

        @proves(RULE, killed_by=MUTANT)
        def test_void(one, other):
            pass
        """
    )
    outcome = suite.run()
    assert outcome.verdicts == {"void": "VOID"}
    assert outcome.checks["void"].reason in {"RuntimeError: one broke", "RuntimeError: other broke"}


def test_needs(suite: Suite) -> None:
    suite.pytester.makeconftest("""
        import pytest
        from fixtures.plugin.keys import STAGE

        @pytest.hookimpl(trylast=True)
        def pytest_sessionstart(session):
            session.config.stash[STAGE].capabilities["symlink"] = "SYMLINK answers NFS3ERR_NOTSUPP"
    """)
    suite.write(
        check("lacks", "raise KeyError", needs="('hardlink', 'symlink')")
        + check("has", "pass", needs="'hardlink'")
        + check("misspelt", "pass", needs="'simlink'")
    )
    outcome = suite.run()
    assert outcome.verdicts == {"lacks": "UNSUPPORTED", "has": "PASS", "misspelt": "VOID"}
    assert "SYMLINK answers NFS3ERR_NOTSUPP" in outcome.checks["lacks"].reason
    assert "simlink" in outcome.checks["misspelt"].reason


def test_what_cannot_be_arranged_is_skip_with_the_servers_answer(suite: Suite) -> None:
    suite.write("""
        @pytest.fixture
        def dialect(v3, monkeypatch):
            monkeypatch.setattr(v3, "_root", b"no handle")
            return v3

        @proves(RULE, killed_by=MUTANT)
        def test_it(scratch):
            raise KeyError
    """)
    outcome = suite.run()
    assert outcome.verdicts == {"it": "SKIP"}
    assert "MKDIR answers NFS3ERR_" in outcome.checks["it"].reason


LIBRARY_ERRORS = {
    "XdrError('Getattr3Res.status', 'odd', 4)": "FAIL",
    "XdrError('Getattr3Args.object', 'too long')": "VOID",
    "BadReply('no reply', b'')": "FAIL",
    "GarbageArgs('GETATTR')": "FAIL",
    "RpcTimeout('GETATTR', 1.0)": "FAIL",
    "ConnectionLost('GETATTR', 'reset')": "FAIL",
    "ProcUnavail('GETATTR')": "UNSUPPORTED",
    "ProgUnavail('NFS')": "VOID",
    "ProgMismatch('NFS', 2, 2)": "VOID",
    "SystemErr('GETATTR')": "VOID",
    "AuthFailed(1, 'AUTH_BADCRED')": "VOID",
    "RpcMismatch(3, 3)": "VOID",
    "NfsStatusError('NFS3ERR_IO', 'GETATTR')": "VOID",
}


def test_the_errors_of_the_library_while_the_target_lives(suite: Suite) -> None:
    suite.write(
        "from nfsclient.errors import *\n"
        + "".join(check(f"e{number}", f"raise {text}") for number, text in enumerate(LIBRARY_ERRORS))
    )
    outcome = suite.run()
    found = dict(zip(LIBRARY_ERRORS, outcome.verdicts.values(), strict=True))
    assert found == LIBRARY_ERRORS
    clauses = {
        text: record.requirement.citation
        for text, record in zip(LIBRARY_ERRORS, outcome.checks.values(), strict=True)
        if record.requirement is not None and record.verdict in {"FAIL", "NONSTRICT"}
    }
    assert {text: clause.partition(" section")[0] for text, clause in clauses.items()} == {
        "XdrError('Getattr3Res.status', 'odd', 4)": "RFC 4506",
        "BadReply('no reply', b'')": "RFC 5531",
        "GarbageArgs('GETATTR')": "RFC 5531",
        "RpcTimeout('GETATTR', 1.0)": "RFC 1831",
        "ConnectionLost('GETATTR', 'reset')": "RFC 1831",
    }


def test_system_err_from_what_did_not_work_for_the_probe_says_nothing(suite: Suite) -> None:
    suite.pytester.makeconftest("""
        import pytest
        from fixtures.plugin.keys import STAGE

        @pytest.hookimpl(trylast=True)
        def pytest_sessionstart(session):
            found = session.config.stash[STAGE].capabilities
            found["mknod"] = "MKNOD answers NFS3ERR_NOTSUPP"
            found["hardlink"] = "fails: LINK: the server failed inside (SYSTEM_ERR)"
    """)
    suite.write("""
        from types import SimpleNamespace
        from nfsclient.errors import SystemErr
        from nfsclient.protocol import nfs3

        def fail(procedure):
            error = SystemErr(procedure.name)
            error.exchange = SimpleNamespace(procedure=procedure, transport="tcp")
            raise error

        @proves(RULE, killed_by=MUTANT)
        def test_missing():
            fail(nfs3.MKNOD)

        @proves(RULE, killed_by=MUTANT)
        def test_failing():
            fail(nfs3.LINK)

        @proves(RULE, killed_by=MUTANT)
        def test_optional_and_there():
            fail(nfs3.SYMLINK)

        @proves(RULE, killed_by=MUTANT)
        def test_required():
            fail(nfs3.RENAME)
    """)
    outcome = suite.run()
    assert outcome.verdicts == {
        "missing": "UNSUPPORTED",
        "failing": "SKIP",
        "optional_and_there": "VOID",
        "required": "VOID",
    }


def test_tests_that_prove_nothing_are_left_to_pytest(suite: Suite) -> None:
    suite.write("""
        def test_plain_failure():
            assert False

        def test_plain_skip():
            pytest.skip("plain")
    """)
    outcome = suite.run()
    assert outcome.verdicts == {}
    assert outcome.exit_code == 1
    assert "1 failed, 1 skipped" in outcome.text


def test_parameters_are_part_of_the_id(suite: Suite) -> None:
    suite.write("""
        @pytest.mark.parametrize("size", [0, 1])
        @proves(RULE, killed_by=MUTANT)
        def test_takes(size):
            expect(size, "size").equals(0)
    """)
    outcome = suite.run()
    assert outcome.verdicts == {"takes[0]": "PASS", "takes[1]": "FAIL"}
    assert "nfs3/fake/takes[1]" in outcome.text


@pytest.mark.parametrize(
    ("observed", "shown"), [("##[add-mask]x", "##\\[add-mask]x"), ("\x1b[2J", "\\x1b[2J")]
)
def test_what_a_server_sent_is_no_command_in_the_log_of_a_job(
    suite: Suite, observed: str, shown: str
) -> None:
    class_ = f"type('Shown', (), {{'__repr__': lambda self: {observed!r}}})()"
    suite.write(check("it", f"expect({class_}, 'name').equals(2)"))
    outcome = suite.run()
    assert observed in outcome.checks["it"].observed
    assert observed not in outcome.text
    assert outcome.text.count(shown) >= 2


# ---------------------------------------------------------------- what a check does to the target


STEERS = """
    @proves(RULE, killed_by=MUTANT)
    def test_calls(nfs3, root, target, knobs):
        nfs3.getattr(root)

    @pytest.mark.exclusive
    @proves(RULE, killed_by=MUTANT)
    def test_crashes(nfs3, root, target):
        target.crash()

    @pytest.mark.exclusive
    @proves(RULE, killed_by=MUTANT)
    def test_chooses(nfs3, root, knobs):
        knobs.set(read_only=True)
"""


def test_a_record_says_what_the_check_did_to_the_target(suite: Suite) -> None:
    suite.write(STEERS)
    outcome = suite.run()
    assert {name: check.steered for name, check in outcome.checks.items()} == {
        "calls": [],
        "crashes": ["crash"],
        "chooses": ["knobs"],
    }


FOREIGN_VERIFIER = """
    from suites.nfs3.test_readdir_cookies import test_foreign_verifier as foreign_verifier

    @pytest.mark.parametrize("procedure", ["READDIR", "READDIRPLUS"], ids=str.lower)
    @proves(RULE, killed_by=MUTANT)
    def test_bent(stage, nfs3, scratch, procedure):
        stage.target.set_mutants({"list3-restarts-after-a-change"})
        foreign_verifier(nfs3, scratch, procedure)
        stage.target.set_mutants(set())
"""


def test_a_foreign_verifier_is_judged_in_a_directory_that_does_not_change(suite: Suite) -> None:
    suite.write(FOREIGN_VERIFIER)
    assert set(suite.run().verdicts.values()) == {"PASS"}
