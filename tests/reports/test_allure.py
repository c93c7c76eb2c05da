# SPDX-License-Identifier: MIT
"""Results for Allure: what is in them, and that neither hosts nor files of others get into them."""

from __future__ import annotations

import json
import re
import shutil
import typing as t
from pathlib import Path

import pytest
from allure_commons import model2
from hypothesis import given, settings
from hypothesis import strategies as st

from nfsjudge.records import AnyRecord, CheckRecord, EndRecord, FindingRecord, RequirementRecord, RunRecord
from nfsjudge.verdict import VERDICTS
from reports import allure
from reports.allure import CATEGORIES, STATUSES, category_rules, write_allure
from reports.run import Run, from_records

CLAUSE = RequirementRecord("RFC 1813", "3.3.7", "DESCRIPTION", "STATED", "a gist")
TEXT = st.text(st.characters(codec="utf-8"), max_size=30)
Results: t.TypeAlias = dict[str, dict[str, t.Any]]


def run_of(*records: AnyRecord, folder: Path | None = None, **about: t.Any) -> Run:
    begin = RunRecord("embedded", **{"started": "2026-11-21T10:00:00+00:00"} | about)
    run = from_records([begin, *records, EndRecord(1, logs=["logs/server.log"])])[-1]
    run.folder = folder
    return run


_LISTS: t.Final = {
    "labels": model2.Label,
    "links": model2.Link,
    "parameters": model2.Parameter,
    "attachments": model2.Attachment,
}
_STATUSES: t.Final = {value for name, value in vars(model2.Status).items() if name.isupper()}


def read_result(path: Path) -> dict[str, t.Any]:
    """A result as readers of Allure take it: fields of its model, of the right types, and files that are there."""
    found = t.cast("dict[str, t.Any]", json.loads(path.read_text("utf-8")))
    lists = {name: [kind(**entry) for entry in found.get(name, [])] for name, kind in _LISTS.items()}
    details = model2.StatusDetails(**found.get("statusDetails", {}))
    # Raises for a field that Allure does not have.
    read = model2.TestResult(**found | lists | {"statusDetails": details})
    assert read.status in _STATUSES
    assert all(
        isinstance(text, str) and text for text in (read.uuid, read.name, read.fullName, read.historyId)
    )
    if read.start is not None or read.stop is not None:  # a record may not know when its run began
        assert isinstance(read.start, int)
        assert isinstance(read.stop, int)
        assert read.start <= read.stop
    assert all(isinstance(text, str | None) for text in (details.message, details.trace, read.description))
    assert all(isinstance(label.name, str) and isinstance(label.value, str) for label in lists["labels"])
    assert all(
        isinstance(parameter.name, str) and isinstance(parameter.value, str)
        for parameter in lists["parameters"]
    )
    assert all(isinstance(link.url, str) for link in lists["links"])
    assert all(
        "/" not in attachment.source and (path.parent / attachment.source).is_file()
        for attachment in lists["attachments"]
    )
    return found


def results(folder: Path, *runs: Run) -> Results:
    number = write_allure(runs, folder)
    found = [read_result(path) for path in folder.glob("*-result.json")]
    assert len(found) == number
    assert len({result["uuid"] for result in found}) == number
    return {result["fullName"]: result for result in found}


def labels(result: dict[str, t.Any]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for label in result["labels"]:
        found.setdefault(label["name"], []).append(label["value"])
    return found


def properties(text: str) -> dict[str, str]:
    assert text.isascii()
    pairs = (re.fullmatch(r"((?:\\.|[^\\=: ])*)=(.*)", line) for line in text.splitlines())
    return {undone(pair[1]): undone(pair[2]) for pair in pairs if pair is not None}


def undone(text: str) -> str:
    units = re.sub(r"\\u([0-9a-f]{4})|\\(.)", lambda hit: chr(int(hit[1], 16)) if hit[1] else hit[2], text)
    return units.encode("utf-16-be", "surrogatepass").decode("utf-16-be")


def test_a_check_is_a_result(tmp_path: Path) -> None:
    check = CheckRecord("nfs3/WRITE/keeps-data[a/b]", "FAIL", CLAUSE, ["4"], "5", observations={"eof": "set"})
    check.title = "WRITE keeps data"
    check.began, check.duration, check.transcript = 1.5, 0.25, ["#1 WRITE"]
    (result,) = results(tmp_path, run_of(check)).values()
    assert result["name"] == "WRITE keeps data [a/b]"
    assert result["fullName"] == check.id
    assert result["status"] == "failed"
    assert result["statusDetails"] == {"message": "FAIL: expected 4, got 5", "trace": "expected: 4"}
    assert (result["start"], result["stop"]) == (1795255201500, 1795255201750)
    (link,) = result["links"]
    assert link["url"] == "https://www.rfc-editor.org/rfc/rfc1813#section-3.3.7"
    assert {parameter["name"]: parameter["value"] for parameter in result["parameters"]} == {
        "target": "embedded",
        "case": "a/b",
        "eof": "set",
    }
    found = labels(result)
    assert found["epic"] == ["NFSv3"]
    assert found["feature"] == ["WRITE"]
    assert found["story"] == ["RFC 1813 section 3.3.7: a gist"]
    assert found["severity"] == ["critical"]
    assert not {"host", "thread"} & set(found)
    (attachment,) = result["attachments"]
    assert (tmp_path / attachment["source"]).read_text() == "#1 WRITE\n"


@pytest.mark.parametrize("strict", [False, True])
def test_statuses_and_categories(tmp_path: Path, strict: bool) -> None:
    run = run_of(
        *(CheckRecord(f"nfs3/a/{verdict}", verdict, reason="x\ny") for verdict in VERDICTS), strict=strict
    )
    found = results(tmp_path, run)
    rules = json.loads((tmp_path / "categories.json").read_text())
    assert rules == category_rules()
    for verdict in VERDICTS:
        result = found[f"nfs3/a/{verdict}"]
        assert result["status"] == ("failed" if strict and verdict == "NONSTRICT" else STATUSES[verdict])
        message = result.get("statusDetails", {}).get("message", "")
        names = [
            rule["name"]
            for rule in rules
            if result["status"] in rule["matchedStatuses"] and re.fullmatch(rule["messageRegex"], message)
        ]
        assert names == ([CATEGORIES[verdict]] if verdict != "PASS" else [])


@pytest.mark.parametrize(
    ("level", "severity"),
    [("MUST", "critical"), ("STATED", "critical"), ("SHOULD", "normal"), ("MAY", "minor")],
)
def test_severities(tmp_path: Path, level: str, severity: str) -> None:
    clause = RequirementRecord("RFC 1813", "1", "DESCRIPTION", level, "")
    (result,) = results(tmp_path, run_of(CheckRecord("nfs3/a/b", "PASS", clause))).values()
    assert labels(result)["severity"] == [severity]


def test_the_history_of_a_check_is_that_of_its_id_and_target(tmp_path: Path) -> None:
    def history(number: int, check: str, started: str, **about: t.Any) -> str:
        run = run_of(CheckRecord(check, "PASS"), started=started, **about)
        (result,) = results(tmp_path / str(number), run).values()
        return str(result["historyId"])

    first = history(1, "nfs3/a/b", "2026-01-01T00:00:00+00:00", description="port 1")
    assert history(2, "nfs3/a/b", "2026-02-02T00:00:00+00:00", description="port 2") == first
    assert history(3, "nfs3/a/c", "2026-01-01T00:00:00+00:00") != first
    assert history(4, "nfs3/a/b", "2026-01-01T00:00:00+00:00", label="other") != first


@pytest.mark.parametrize(("target", "is_there"), [("nfs://secret/", False), ("TARGET", True)])
def test_files_that_show_the_address_of_a_label_are_left_out(
    tmp_path: Path, target: str, is_there: bool
) -> None:
    (tmp_path / "it.py").write_text("Client('nfs://secret/')")
    run = run_of(CheckRecord("nfs3/a/b", "FAIL", script="it.py"), folder=tmp_path, label="A")
    assert run.about is not None
    run.about.target = target
    found = results(tmp_path / "out", run)
    names = [attachment["name"] for attachment in found["nfs3/a/b"].get("attachments", [])]
    assert ("script that sends the same messages: it.py" in names) == is_there
    environment = properties((tmp_path / "out" / "environment.properties").read_text("ascii"))
    assert ("files" in environment) == (not is_there)


def test_a_target_with_a_label_is_named_by_it_alone(tmp_path: Path) -> None:
    run = run_of(CheckRecord("nfs3/a/b", "FAIL", CLAUSE, ["1"], "2", rerun="run nfs://secret/"), label="A")
    assert run.about is not None
    run.about.target, run.about.description = "nfs://secret/", "secret 1.0"
    results(tmp_path, run)
    assert all(b"secret" not in path.read_bytes() for path in tmp_path.iterdir())
    assert properties((tmp_path / "environment.properties").read_text())["target"] == "A"


def test_evidence_is_attached_and_logs_only_to_what_is_wrong(tmp_path: Path) -> None:
    left = tmp_path / "left"
    for name in ("evidence/a.pcapng", "evidence/a.py", "logs/server.log"):
        (left / name).parent.mkdir(parents=True, exist_ok=True)
        (left / name).write_text(name)
    fails = CheckRecord("nfs3/a/fails", "FAIL", CLAUSE, capture="evidence/a.pcapng", script="evidence/a.py")
    passes = CheckRecord("nfs3/a/passes", "PASS", CLAUSE)
    found = results(tmp_path / "out", run_of(fails, passes, folder=left))
    attached = {attachment["name"]: attachment for attachment in found["nfs3/a/fails"]["attachments"]}
    assert [name.partition(":")[2].strip() for name in attached] == ["a.pcapng", "server.log", "a.py"]
    for attachment in attached.values():
        assert (tmp_path / "out" / attachment["source"]).exists()
    assert "attachments" not in found["nfs3/a/passes"]


@pytest.mark.parametrize(
    "name",
    [
        "../secret.log",
        "/etc/hostname",
        "link.log",
        "records.jsonl",
        "\0.log",
        "a" * 5000 + ".log",
        ".",
        "big.log",
    ],
)
def test_files_from_elsewhere_are_not_attached(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(allure, "MAX_ATTACHMENT", 100)
    left = tmp_path / "left"
    left.mkdir()
    (tmp_path / "secret.log").write_text("secret")
    (left / "records.jsonl").write_text("secret")
    (left / "big.log").write_text("secret" * 100)
    (left / "link.log").symlink_to(tmp_path / "secret.log")
    check = CheckRecord("nfs3/a/b", "FAIL", CLAUSE, capture=name, script=name)
    run = run_of(check, folder=left)
    assert run.end is not None
    run.end.logs = [name]
    (result,) = results(tmp_path / "out", run).values()
    assert "attachments" not in result


def test_files_of_others_are_kept_and_ours_replaced(tmp_path: Path) -> None:
    (tmp_path / "theirs-result.json").write_text("{}")
    first = run_of(CheckRecord("nfs3/a/b", "FAIL", CLAUSE, transcript=["x"]))
    write_allure([first], tmp_path)
    write_allure([run_of(CheckRecord("nfs3/a/c", "PASS"))], tmp_path)
    names = [path.name for path in tmp_path.iterdir()]
    assert "theirs-result.json" in names
    assert len([name for name in names if name.startswith("nfsproof-")]) == 1


def test_a_rule_that_was_broken_is_a_result(tmp_path: Path) -> None:
    finding = FindingRecord("lint/nfs3/wcc", "nfs3/a/b", "FAIL", CLAUSE, ["1"], "2", transcript=["x"])
    found = results(tmp_path / "1", run_of(CheckRecord("nfs3/a/b", "PASS"), finding, finding))
    assert found["lint/nfs3/wcc"]["status"] == "failed"
    assert labels(found["lint/nfs3/wcc"])["epic"] == ["Lint"]
    assert results(tmp_path / "2", run_of(finding, lint="report"))["lint/nfs3/wcc"]["status"] == "passed"


def test_several_runs(tmp_path: Path) -> None:
    run = run_of(CheckRecord("nfs3/a/b", "PASS"), environment={"python": "3.11"})
    write_allure([run, run], tmp_path)
    environment = properties((tmp_path / "environment.properties").read_text())
    assert environment["python (embedded)"] == environment["python (embedded (2))"] == "3.11"
    assert len(list(tmp_path.glob("*-result.json"))) == 2


@settings(deadline=None)
@given(text=TEXT.filter(str.strip), verdict=st.sampled_from(VERDICTS), seconds=st.floats(-1, 1e6))
def test_any_text_in_any_field(
    tmp_path_factory: pytest.TempPathFactory, text: str, verdict: str, seconds: float
) -> None:
    folder = tmp_path_factory.mktemp("allure")
    clause = RequirementRecord(text, text, text, text, text)
    check = CheckRecord(f"nfs3/{text}", verdict, clause, [text], text, text, {text: text}, seconds)
    check.transcript, check.capture, check.script, check.rerun = [text], text, text, text
    run = run_of(check, folder=folder, started=text, description=text, environment={text: text})
    (result,) = results(folder / "out", run).values()
    inside = re.sub(r"</?(p|b|code)>", "", result["descriptionHtml"])
    assert "<" not in inside
    assert ">" not in inside
    properties((folder / "out" / "environment.properties").read_text())
    shutil.rmtree(folder)
