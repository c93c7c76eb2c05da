# SPDX-License-Identifier: MIT
"""Small suites in temporary folders, run by pytest inside pytest."""

from __future__ import annotations

import os
import textwrap
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

# Before pytester keeps the modules that there are: tests change the first, and the second takes time in each run.
import fixtures.checks.faults  # noqa: F401
import reports.board  # noqa: F401
from nfsjudge.records import AnyRecord, CheckRecord, read_records
from tests.plugin.evidence_run import EvidenceRun, run_with_evidence
from tests.waiting import AT_MOST

ROOT = Path(__file__).resolve().parents[2]
OPTIONS = ("-p", "fixtures.plugin", "-p", "no:cacheprovider", "--import-mode=importlib")

PRELUDE = """
import os
import pytest
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Nfsstat3, StableHow
from nfsjudge import Level, Part, Requirement, expect, observe, proves, skip, unsupported

RULE = Requirement(rfc="RFC 1813", section="3.3.1", gist="the rule of this suite")
ADVICE = Requirement(rfc="RFC 1813", section="3.3.2", gist="the advice of this suite", level=Level.SHOULD)
MUTANT = "write3-reports-more-than-sent"
"""


@pytest.fixture(scope="session")
def evidence_run(tmp_path_factory: pytest.TempPathFactory) -> EvidenceRun:
    """A run on the embedded server with all evidence."""
    return run_with_evidence(tmp_path_factory.mktemp("evidence"))


@dataclass(slots=True)
class Outcome:
    """What a run of a small suite left."""

    exit_code: int
    text: str
    report: Path

    @property
    def lines(self) -> list[AnyRecord]:
        with (self.report / "records.jsonl").open() as file:
            return list(read_records(file))

    @property
    def checks(self) -> dict[str, CheckRecord]:
        """The records of checks by the names of their functions, without ``test_``, and parameters."""
        found = [record for record in self.lines if isinstance(record, CheckRecord)]
        assert len({record.id for record in found}) == len(found)
        return {record.nodeid.partition("::test_")[2]: record for record in found}

    @property
    def verdicts(self) -> dict[str, str]:
        return {name: record.verdict for name, record in self.checks.items()}

    def junit(self) -> dict[str, ET.Element]:
        """JUnit's test cases by name."""
        cases = ET.parse(self.report / "junit.xml").iter("testcase")
        return {case.attrib["name"]: case for case in cases}


class Suite:
    """A suite that a test writes, and runs."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester = pytester
        self.report = pytester.path / "report"

    def write(self, body: str, path: str = "suites/nfs3/test_fake.py") -> None:
        file = self.pytester.path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(PRELUDE + textwrap.dedent(body))

    def arguments(self, *more: str) -> list[str]:
        """The command line of a run, after `pytest`."""
        named = any(arg.startswith("suites") for arg in more)
        return [*OPTIONS, "--report", str(self.report), *([] if named else ["suites"]), *more]

    def run(self, *more: str) -> Outcome:
        return self.judge(self.pytester.runpytest_inprocess(*self.arguments(*more)))

    def run_apart(self, *more: str) -> Outcome:
        """Run it in its own process: for xdist, and for what would end this one."""
        return self.judge(self.pytester.runpytest_subprocess(*self.arguments(*more), timeout=AT_MOST))

    def judge(self, result: pytest.RunResult) -> Outcome:
        text = "\n".join([*result.outlines, *result.errlines])
        return Outcome(int(result.ret), text, self.report)


@pytest.fixture
def suite(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Suite:
    """A suite to write and run."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTEST_XDIST_WORKER"):
        monkeypatch.delenv(name, raising=False)
    assert os.environ["PYTHONPATH"] == str(ROOT)
    return Suite(pytester)
