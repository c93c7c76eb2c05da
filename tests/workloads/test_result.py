# SPDX-License-Identifier: MIT
"""``result.json``: all of a result is in it, and nothing else is read."""

from __future__ import annotations

import dataclasses
import json
import os
import platform
import typing as t
from pathlib import Path

import pytest

from nfsjudge.verdict import Verdict
from tests.workloads import samples
from workloads import environment, result
from workloads.result import Result, ResultError

RESULTS = {
    "script": samples.SCRIPT,
    "rate": samples.rate(),
    "wrong": samples.WRONG_DATA,
    "void": samples.VOID,
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_file_has_all_of_a_result(name: str, tmp_path: Path) -> None:
    path = result.write(RESULTS[name], tmp_path)
    assert [each.name for each in tmp_path.iterdir()] == ["result.json"]
    assert result.read(path) == result.read(tmp_path) == RESULTS[name]


def test_a_file_replaces_the_one_before_or_leaves_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result.write(samples.SCRIPT, tmp_path)
    before = (tmp_path / "result.json").read_bytes()

    def full(number: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space left"):
            result.write(samples.rate(), tmp_path)
    assert [each.name for each in tmp_path.iterdir()] == ["result.json"]
    assert (tmp_path / "result.json").read_bytes() == before
    result.write(samples.rate(), tmp_path)
    assert result.read(tmp_path) == samples.rate()


def test_sums_are_those_of_the_phases() -> None:
    assert samples.SCRIPT.calls == {"CREATE": 1, "WRITE": 1280, "COMMIT": 1}
    assert (samples.SCRIPT.rpcs, samples.SCRIPT.seconds, samples.SCRIPT.rate) == (1282, 1.0, 1281.0)


def test_wrong_data_is_never_green() -> None:
    with pytest.raises(ValueError, match="expected the verdict FAIL with wrong data"):
        dataclasses.replace(samples.WRONG_DATA, verdict=Verdict.PASS, reasons=())
    with pytest.raises(ValueError, match="expected the verdict FAIL"):
        dataclasses.replace(samples.WRONG_DATA, verdict=Verdict.VOID)
    with pytest.raises(ValueError, match="expected reasons"):
        dataclasses.replace(samples.VOID, reasons=())
    with pytest.raises(ValueError, match="expected reasons"):
        dataclasses.replace(samples.SCRIPT, reasons=("why not",))


def changed(*path: str | int, to: t.Any) -> t.Any:
    """The JSON of a result with another value at a path; None removes the field."""
    plain = result.to_plain(samples.WRONG_DATA)
    *parents, last = path
    place: t.Any = plain
    for each in parents:
        place = place[each]
    if to is None:
        del place[last]
    else:
        place[last] = to
    return plain


@pytest.mark.parametrize(
    ("plain", "said"),
    [
        (changed("schema", to=2), r"expected a result of schema 1, got 2: read it with the nfsproof that wrote it"),
        (changed("schema", to=True), "expected a result of schema 1, got True"),
        (changed("schema", to=None), "expected a result of schema 1, got None"),
        ([], "expected a result of schema 1, got None"),
        (changed("seed", to=None), "got none named seed"),
        (changed("extra", to=1), "expected no field named 'extra'"),
        (changed("setup", "extra", to=1), r"result\.setup: expected no field named 'extra'"),
        (changed("setup", "kind", to="other"), r"result\.setup: expected a kind of script, rate, got 'other'"),
        (changed("setup", "workload", to="x" * 1001), "a text of at most 1000 characters"),
        (changed("setup", "parameters", to={"a": [1]}), r"parameters\.a: expected a text, a number"),
        (changed("setup", "parameters", to={"a" * 101: 1}), "keys of at most 100 characters"),
        (changed("setup", "parameters", to={str(n): n for n in range(1001)}), "an object of at most 1000"),
        (changed("seed", to=-1), r"result\.seed: expected a whole number"),
        (changed("seed", to=1 << 63), r"result\.seed: expected a whole number"),
        (changed("seed", to=1.0), r"result\.seed: expected a whole number"),
        (changed("is_drawn", to=0), "expected true or false"),
        (changed("phases", 0, "seconds", to=-0.1), r"phases\[0\]\.seconds: expected a number that is not negative"),
        (changed("phases", 0, "seconds", to="1"), "expected a number that is not negative"),
        (changed("phases", 0, "calls", "WRITE", to="many"), r"calls\.WRITE: expected a whole number"),
        (changed("phases", to=[result.to_plain(samples.SCRIPT)["phases"][0]] * 1001), "an array of at most 1000"),
        (changed("latency", "procedures", "WRITE", "count", to=3), r"procedures\.WRITE: its count"),
        (changed("checks", "first", 0, "seen", to="ab" * 129), "a text of at most 256 characters"),
        (changed("verdict", to="PASS"), "expected the verdict FAIL with wrong data or findings, got PASS"),
        (changed("verdict", to="GREEN"), "expected one of PASS"),
        (changed("checks", to=3), r"result\.checks: expected an object, got 3"),
    ],
)  # fmt: skip
def test_what_is_no_result_is_refused_with_the_place(plain: object, said: str) -> None:
    with pytest.raises(ResultError, match=said) as caught:
        result.from_plain(plain)
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"", "expected JSON"),
        (b"\xff", "expected JSON"),
        (b'{"schema": NaN}', "NaN is no number"),
        (b'{"schema": 1, "schema": 1}', "a key is there twice"),
        (b"[" * 100_000, "expected JSON"),
        (b"1" * 5000, "expected JSON"),
        (b" " * (65 << 20), "expected at most 67108864 bytes"),
    ],
    ids=["empty", "no-utf-8", "nan", "twice", "deep", "long-number", "large"],
)
def test_a_hostile_file_is_refused(text: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    path.write_bytes(text)
    with pytest.raises(ResultError, match=said):
        result.read(path)


def test_the_environment_names_neither_host_nor_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "release", lambda: "6.12.1-built-on-myhost")
    assert environment.here("1").system.split(" ")[1] == "6.12.1"
    text = json.dumps(dataclasses.asdict(environment.here("1")))
    assert os.uname().nodename not in text
    assert environment.here("1").processors >= 1


def test_each_field_of_a_result_is_described_in_its_schema() -> None:
    schema = result.json_schema()
    assert list(schema["properties"]) == [each.name for each in dataclasses.fields(Result)]
    assert schema["$defs"]["Phase"]["properties"]["calls"]["additionalProperties"]["minimum"] == 0
