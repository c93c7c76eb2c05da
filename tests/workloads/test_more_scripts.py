# SPDX-License-Identifier: MIT
"""`andrew` and `sort` at small scale, and what is generated for them."""

from __future__ import annotations

import pytest

from nfsjudge.verdict import Verdict
from tests.workloads.rig import calls_of, run
from workloads.scripts.andrew import manifest

_SMALL = {"files": 12, "bytes": 20_000}


def _blocks(size: int) -> int:
    return -(-size // 4096)


@pytest.mark.parametrize("version", ["2", "3", "4.1"])
def test_the_phases_of_andrew(version: str) -> None:
    result = run("andrew", version=version, policy="raw", parameters=_SMALL, window=1, rsize=4096, wsize=4096)
    assert (result.verdict, result.reasons) == (Verdict.PASS, ())
    assert [phase.name for phase in result.phases] == ["MakeDir", "Copy", "ScanDir", "ReadAll", "Make"]
    files = manifest(12, 20_000, 1)
    blocks = sum(_blocks(size) for _, size in files)
    made = {"2": "MKDIR", "3": "MKDIR", "4.1": "CREATE"}[version]
    assert calls_of(result, "MakeDir") == {made: 7}
    copied = calls_of(result, "Copy")
    assert (copied["READ"], copied["WRITE"]) == (blocks, blocks)
    assert calls_of(result, "ScanDir") == {"GETATTR": 12, "LOOKUP": 12, "READDIR": 7}
    assert calls_of(result, "ReadAll")["READ"] == blocks
    assert result.phases[3].read == 20_000


def test_the_manifest_of_andrew_is_the_same_for_the_same_seed() -> None:
    files = manifest(70, 200 << 10, 1)
    assert len({path for path, _ in files}) == 70
    assert sum(size for _, size in files) == 200 << 10
    assert sum(path.endswith(".h") for path, _ in files) == 18
    assert files == manifest(70, 200 << 10, 1)
    assert files != manifest(70, 200 << 10, 2)


@pytest.mark.parametrize(("version", "policy"), [("2", "v2-like"), ("3", "v3-like"), ("4.1", "delegated")])
def test_sort_writes_its_data_twice_before_the_output(version: str, policy: str) -> None:
    """281 KB once: it is merged at once."""
    result = run("sort", version=version, policy=policy, parameters={"scale": 0.25}, window=4)
    assert (result.verdict, result.reasons) == (Verdict.PASS, ())
    for phase, (size, times) in zip(result.phases, ((281, 1), (1408, 2), (2816, 2)), strict=True):
        scaled = int(size * 1024 * 0.25)
        assert phase.written == (times + 1) * scaled
        assert phase.read == phase.written  # the input and each temporary once, the output never


def test_the_temporary_files_of_sort_are_as_many_as_the_paper_opened() -> None:
    """2816 KB: 34 by the OPENs of table 5, 1452 WRITEs of 4 KB."""
    result = run("sort", version="2", policy="v2-like", parameters={"ends": 0}, rsize=4096, wsize=4096)
    calls = calls_of(result, "2816 KB")
    assert calls["CREATE"] == 35
    assert 0.97 * 1452 < calls["WRITE"] <= 1452


def test_a_client_that_does_not_know_its_own_writes_reads_them_again() -> None:
    """The reason why the counts of 1989 are higher than those of a client with pre-operation attributes."""
    reads = {
        policy: run("sort", version=version, policy=policy, parameters={"scale": 0.1}, window=4).calls["READ"]
        for version, policy in (("2", "v2-like"), ("3", "v3-like"))
    }
    assert reads["v2-like"] > 2 * reads["v3-like"]
