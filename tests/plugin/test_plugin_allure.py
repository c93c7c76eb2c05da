# SPDX-License-Identifier: MIT
"""`--alluredir` of allure-pytest: its results agree with the verdicts and say what is known."""

from __future__ import annotations

import json
import typing as t
from pathlib import Path

import pytest

from tests.needs import needs
from tests.plugin.conftest import Suite
from tests.plugin.test_plugin_lint import UNSEEN
from tests.plugin.test_plugin_verdicts import ENDINGS, check

pytestmark = needs("allure_pytest")

STATUSES = {
    "PASS": "passed",
    "FAIL": "failed",
    "BROKEN_COMPOUND": "failed",  # by an error of the library, which is no AssertionError
    "NONSTRICT": "passed",
    "UNSUPPORTED": "skipped",
    "SKIP": "skipped",
    "VOID": "broken",
    "LACKING": "skipped",
    "VOID_AFTERWARDS": "broken",
}
MORE = check(
    "ends_BROKEN_COMPOUND",
    "from nfsclient.errors import ServerViolation; raise ServerViolation('two results for one operation')",
) + check("ends_LACKING", "pass", needs="('nfs2',)")
AFTERWARDS = """
@pytest.fixture
def cannot_clean():
    yield
    raise OSError("in the tear-down")
""" + check("ends_VOID_AFTERWARDS", "pass", "cannot_clean")
OPTIONS = ("-p", "allure_pytest.plugin", "--lacks", "nfs2", "--evidence=failure")


def results(folder: Path) -> dict[str, dict[str, t.Any]]:
    found = [json.loads(path.read_text("utf-8")) for path in folder.glob("*-result.json")]
    assert len({result["fullName"] for result in found}) == len(found)
    return {result["fullName"].rpartition("#test_ends_")[2]: result for result in found}


def labels(result: dict[str, t.Any], name: str) -> list[str]:
    return [label["value"] for label in result["labels"] if label["name"] == name]


@pytest.mark.parametrize("workers", [(), ("-p", "xdist.plugin", "-n2")], ids=["alone", "two-workers"])
def test_statuses_agree_with_verdicts(suite: Suite, workers: tuple[str, ...]) -> None:
    suite.write("".join(check(f"ends_{name}", body) for name, body in ENDINGS.items()) + MORE + AFTERWARDS)
    folder = suite.pytester.path / "allure"
    outcome = suite.run_apart(*OPTIONS, "--alluredir", str(folder), *workers)
    assert outcome.exit_code == 1, outcome.text
    found = results(folder)
    assert {name: result["status"] for name, result in found.items()} == STATUSES
    for name, result in found.items():
        verdict = outcome.verdicts[f"ends_{name}"]
        assert verdict in labels(result, "tag"), name
        message = result.get("statusDetails", {}).get("message", "")
        assert message.startswith("" if verdict == "PASS" else f"{verdict}: "), name


def test_a_result_has_title_clause_and_evidence(suite: Suite) -> None:
    body = '"""The count is two"""\n    nfs3.getattr(scratch.handle); expect(1, "count").equals(2)'
    suite.write(check("ends_FAIL", body, "nfs3, scratch"))
    folder = suite.pytester.path / "allure"
    outcome = suite.run_apart(*OPTIONS, "--alluredir", str(folder))
    (result,) = results(folder).values()
    assert result["name"] == "The count is two"
    assert result["links"][0]["url"] == "https://www.rfc-editor.org/rfc/rfc1813#section-3.3.1"
    assert labels(result, "epic") == ["NFSv3"]
    assert labels(result, "severity") == ["critical"]
    assert "expected 2, got 1" in result["statusDetails"]["message"]
    assert "GETATTR" in result["statusDetails"]["trace"]
    texts = {
        attachment["name"].partition(":")[0]: (folder / attachment["source"])
        for attachment in result["attachments"]
    }
    assert set(texts) == {"transcript", "capture for Wireshark", "script that sends the same messages"}
    capture = outcome.report / outcome.checks["ends_FAIL"].capture
    assert texts["capture for Wireshark"].read_bytes() == capture.read_bytes()


def test_broken_rules_of_the_lint_are_results(suite: Suite) -> None:
    suite.write(UNSEEN)
    folder = suite.pytester.path / "allure"
    outcome = suite.run_apart(*OPTIONS, "--alluredir", str(folder), "-p", "xdist.plugin", "-n2")
    assert outcome.exit_code == 1
    found = {json.loads(path.read_text("utf-8"))["fullName"]: path for path in folder.glob("*-result.json")}
    statuses = {name: json.loads(path.read_text("utf-8"))["status"] for name, path in found.items()}
    assert statuses.pop("lint/nfs3/write-count") == "failed"
    assert list(statuses.values()) == ["passed"]


def test_strictly_nonstrict_is_failed_and_files_of_the_user_stay(suite: Suite) -> None:
    suite.write(check("ends_NONSTRICT", ENDINGS["NONSTRICT"]))
    folder = suite.pytester.path / "allure"
    folder.mkdir()
    (folder / "environment.properties").write_text("browser=none\n")
    suite.run_apart(*OPTIONS, "--strict-should", "--alluredir", str(folder))
    assert {name: result["status"] for name, result in results(folder).items()} == {"NONSTRICT": "failed"}
    assert (folder / "environment.properties").read_text() == "browser=none\n"
    names = [category["name"] for category in json.loads((folder / "categories.json").read_text())]
    assert "Void: could not be judged" in names
