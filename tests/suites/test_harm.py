# SPDX-License-Identifier: MIT
"""What destroys data is red, though the text only advises against it."""

from __future__ import annotations

import pytest

from tests.suites.test_broken_servers import RunOn, _with, run_on

__all__ = ["run_on"]

DAMAGE = {
    "write2-fills-holes": "nfs2/WRITE/hole-reads-zeros[5]",
    "setattr2-extension-restores-old-data": "nfs2/SETATTR/extend-after-truncate[0-100]",
    "create2-truncates-if-size-is-unset": "nfs2/CREATE/existing-keeps-data",
    "write3-fills-gap": "nfs3/WRITE/beyond-eof",
    "setattr3-extension-restores-old-data": "nfs3/SETATTR/truncate-then-extend",
    "create3-guarded-truncates": "nfs3/CREATE/guarded-keeps-data",
    "create3-exclusive-truncates-again": "nfs3/CREATE/exclusive-repeat-keeps-data",
    "write4-fills-the-gap": "nfs4/WRITE/gap[small-4.1]",
    "setattr4-extension-restores-old-data": "nfs4/SETATTR/cut-and-extended[nothing-4.1]",
    "open4-guarded-empties": "nfs4/OPEN/guarded[4.1]",
    "open4-exclusive-empties": "nfs4/OPEN/exclusive-keeps-data[4.1]",
}
"""Mutant -> the check that shows it: other bytes than zeros in a gap or an extension, a file that a create empties."""
BEYOND = {
    "read2-returns-zeros-beyond-the-end": "nfs2/READ/offset-after-end[10000]",
    "read3-beyond-has-bytes": "nfs3/READ/beyond-int64[int64max]",
    "read4-beyond-has-bytes": "nfs4/READ/beyond[5-4.1]",
}
"""The same for bytes beyond the end of a file."""


@pytest.mark.parametrize("mutants", [DAMAGE, BEYOND], ids=["damage", "beyond"])
def test_damage_is_red(run_on: RunOn, mutants: dict[str, str]) -> None:
    ended = run_on(_with(*mutants), *mutants.values())
    assert set(mutants.values()) <= ended.of("FAIL")
    assert ended.status == 1


def test_an_operation_that_only_looks_destroys_nothing(run_on: RunOn) -> None:
    """That it finds what it must not is red all the same."""
    names = "nfs4/names/slash[secinfo]", "nfs4/names/slash[remove]"
    dots = "nfs4/names/dots[dot-secinfo]", "nfs4/names/dots[dot-remove]"
    ended = run_on(_with("names4-slashes-are-paths", "names4-dots-are-directories"), *names, *dots)
    assert ended.of("FAIL") == {*names, *dots}
    harm = {check.id: check.requirement.harm for check in ended.run.checks if check.requirement is not None}
    assert harm == {names[0]: "", names[1]: "object", dots[0]: "", dots[1]: "object"}
