# SPDX-License-Identifier: MIT
"""Scripts on the embedded server at small scale: the calls that they make, counted exactly."""

from __future__ import annotations

import pytest

from nfsjudge.verdict import Verdict
from tests.workloads.rig import calls_of, run
from workloads.scripts.tree import find_tree


@pytest.mark.parametrize("name", ["write10", "write40"])
@pytest.mark.parametrize("window", [1, 7, 15])
def test_a_file_is_written_and_committed_once(name: str, window: int) -> None:
    result = run(name, window=window, parameters={"size": 64 << 10})
    assert result.verdict is Verdict.PASS
    assert calls_of(result, "write") == {"COMMIT": 1, "CREATE": 1, "WRITE": 8}
    assert result.phases[0].written == 64 << 10
    assert (result.checks.made, result.checks.bytes) == (1, 64 << 10)


@pytest.mark.parametrize(
    ("version", "stable", "calls"),
    [
        ("2", "unstable", {"CREATE": 1, "WRITE": 8}),
        ("3", "file-sync", {"CREATE": 1, "WRITE": 8}),
        ("3", "data-sync", {"CREATE": 1, "WRITE": 8}),
        ("4.1", "unstable", {"CLOSE": 1, "COMMIT": 1, "OPEN": 1, "WRITE": 8}),
        ("4.2", "file-sync", {"CLOSE": 1, "OPEN": 1, "WRITE": 8}),
    ],
)
def test_a_file_is_written_in_each_version(version: str, stable: str, calls: dict[str, int]) -> None:
    result = run("write10", version=version, stable=stable)
    assert result.verdict is Verdict.PASS
    assert calls_of(result, "write") == calls


def test_the_size_of_writes_is_an_axis() -> None:
    result = run("write10", wsize=32 << 10, policy="v3-like", parameters={"size": 96 << 10})
    assert calls_of(result, "write") == {"COMMIT": 1, "CREATE": 1, "LOOKUP": 1, "WRITE": 3}


_DIRECTORIES, _FILES = 12, 120
_ENTRIES = _FILES + _DIRECTORIES - 1


@pytest.mark.parametrize(
    ("version", "policy", "plus", "calls"),
    [
        # By the rules of the paper: an entry each, and `.` and `..`; with READDIRPLUS `..` alone.
        ("2", "v2-like", True, {"GETATTR": 12, "LOOKUP": _ENTRIES + 24, "READDIR": 12, "STATFS": 12}),
        (
            "3",
            "v3-like",
            False,
            {"ACCESS": 24, "FSSTAT": 12, "GETATTR": 12, "LOOKUP": _ENTRIES + 24, "READDIR": 12},
        ),
        ("3", "v3-like", True, {"ACCESS": 24, "FSSTAT": 12, "GETATTR": 12, "LOOKUP": 12, "READDIRPLUS": 12}),
        ("4.1", "v4-like", True, {"ACCESS": 24, "GETATTR": 24, "LOOKUPP": 12, "READDIR": 12}),
    ],
)
def test_find_makes_the_calls_of_the_table(
    version: str, policy: str, plus: bool, calls: dict[str, int]
) -> None:
    result = run("find", version=version, policy=policy, plus=plus, page=32 << 10)
    assert result.verdict is Verdict.PASS
    assert calls_of(result, "find") == calls


def test_the_tree_of_find_has_the_numbers_of_the_paper() -> None:
    tree = find_tree(9612, 155, 7, seed=1)
    assert (len(tree.files), len(tree.directories)) == (9612, 155)
    assert len(set(tree.files)) == 9612
    assert max(path.count("/") for path in tree.directories) == 6
    assert find_tree(9612, 155, 7, seed=1) == tree
    assert find_tree(9612, 155, 7, seed=2) != tree


_CONNECTATHON = {
    # raw: calls that follow from the program alone. 2 levels: 3 directories with 5 files and 2 directories each.
    ("2", "raw"): {
        "1 create": {"CREATE": 15, "MKDIR": 7},
        "2 remove": {"REMOVE": 15, "RMDIR": 7},
        "3 stat": {"GETATTR": 5, "LOOKUP": 5},
        "4 chmod": {"GETATTR": 8, "LOOKUP": 16, "SETATTR": 8},
        "5a write": {"CREATE": 1, "LOOKUP": 1, "SETATTR": 1, "WRITE": 8},
        "5b read": {"LOOKUP": 2, "READ": 8},
        "6 readdir": {"READDIR": 6, "REMOVE": 6},
        "7 link": {"GETATTR": 16, "LINK": 4, "LOOKUP": 24, "REMOVE": 4, "RENAME": 4},
        "8 symlink": {"GETATTR": 4, "LOOKUP": 12, "READLINK": 4, "REMOVE": 4, "SYMLINK": 4},
        "9 statfs": {"STATFS": 7},
    },
    ("3", "raw"): {
        "1 create": {"CREATE": 15, "MKDIR": 7},
        "2 remove": {"REMOVE": 15, "RMDIR": 7},
        "3 stat": {"GETATTR": 5, "LOOKUP": 5},
        "4 chmod": {"GETATTR": 8, "LOOKUP": 16, "SETATTR": 8},
        "5a write": {"COMMIT": 2, "CREATE": 1, "LOOKUP": 1, "SETATTR": 1, "WRITE": 8},
        "5b read": {"LOOKUP": 2, "READ": 8},
        "6 readdir": {"READDIR": 6, "REMOVE": 6},
        "7 link": {"GETATTR": 16, "LINK": 4, "LOOKUP": 24, "REMOVE": 4, "RENAME": 4},
        "8 symlink": {"GETATTR": 4, "LOOKUP": 8, "READLINK": 4, "REMOVE": 4, "SYMLINK": 4},
        "9 statfs": {"FSSTAT": 7},
    },
    ("4.1", "raw"): {
        "1 create": {"CLOSE": 15, "CREATE": 7, "OPEN": 15},
        "2 remove": {"REMOVE": 22},
        "3 stat": {"GETATTR": 5, "LOOKUP": 5},
        "4 chmod": {"GETATTR": 8, "LOOKUP": 16, "SETATTR": 8},
        "5a write": {"CLOSE": 2, "COMMIT": 2, "OPEN": 2, "SETATTR": 1, "WRITE": 8},
        "5b read": {"CLOSE": 2, "OPEN": 2, "READ": 8},
        "6 readdir": {"READDIR": 6, "REMOVE": 6},
        "7 link": {"GETATTR": 16, "LINK": 4, "LOOKUP": 24, "REMOVE": 4, "RENAME": 4},
        "8 symlink": {"CREATE": 4, "GETATTR": 4, "LOOKUP": 8, "READLINK": 4, "REMOVE": 4},
        "9 statfs": {"GETATTR": 7},
    },
    # Like kernels: names are kept, a new name is looked up first; with NFSv3 attributes come with most replies.
    ("3", "v3-like"): {
        "1 create": {"CREATE": 15, "LOOKUP": 22, "MKDIR": 7},
        "2 remove": {"REMOVE": 15, "RMDIR": 7},
        "3 stat": {},
        "4 chmod": {"SETATTR": 8},
        "5a write": {
            "ACCESS": 1,
            "COMMIT": 2,
            "CREATE": 1,
            "GETATTR": 1,
            "LOOKUP": 1,
            "SETATTR": 1,
            "WRITE": 8,
        },
        "5b read": {"ACCESS": 2, "GETATTR": 2, "READ": 8},
        "6 readdir": {"ACCESS": 6, "GETATTR": 6, "READDIR": 6, "REMOVE": 6},
        "8 symlink": {"LOOKUP": 4, "READLINK": 4, "REMOVE": 4, "SYMLINK": 4},
        "9 statfs": {"FSSTAT": 7},
    },
}


@pytest.mark.parametrize(("version", "policy"), list(_CONNECTATHON))
def test_the_basic_tests_make_exactly_these_calls(version: str, policy: str) -> None:
    result = run("connectathon-basic", version=version, policy=policy)
    assert result.verdict is Verdict.PASS
    for phase, calls in _CONNECTATHON[version, policy].items():
        assert (phase, calls_of(result, phase)) == (phase, calls)


@pytest.mark.parametrize(("version", "policy"), [("2", "v2-like"), ("4.1", "v4-like"), ("4.2", "delegated")])
def test_the_basic_tests_pass_with_each_policy(version: str, policy: str) -> None:
    result = run("connectathon-basic", version=version, policy=policy)
    assert (result.verdict, result.reasons) == (Verdict.PASS, ())
    assert result.checks.bytes == 64 << 10
    assert result.findings == ()


def test_several_clients_do_it_side_by_side() -> None:
    result = run("connectathon-basic", clients=3, connections=2)
    assert result.verdict is Verdict.PASS
    assert calls_of(result, "1 create") == {"CREATE": 45, "MKDIR": 21}
    assert (result.setup.clients, result.setup.callers) == (3, 3)


def test_the_paper_s_sizes_of_the_basic_tests() -> None:
    """155 files, 62 directories, 20,500 entries: the parameters that are the default."""
    from workloads import catalog

    defaults = dict(catalog.find("connectathon-basic").defaults)
    levels = int(defaults["levels"])
    nodes = sum(2**level for level in range(levels))
    assert (5 * nodes, 2 * nodes) == (155, 62)
    entries = int(defaults["entries"])
    assert sum(left + 2 for left in range(entries, 0, -1)) == 20_500
