# SPDX-License-Identifier: MIT
"""What the page of statuses says of the checks is so."""

from __future__ import annotations

import re
import typing as t
from pathlib import Path

from nfsclient.protocol.nfs3 import NFS3, Nfsstat3

ROOT = Path(__file__).resolve().parents[2]
EVERYWHERE: t.Final = {"STALE", "BADHANDLE", "SERVERFAULT"}
"""Statuses that RFC 1813 lists with every procedure but NULL."""


def rows() -> list[tuple[str, str, str]]:
    """Procedure, status and what provokes it."""
    text = (ROOT / "docs" / "provoked-statuses.md").read_text()
    lines = text.partition("<!-- statuses")[2].partition("<!-- end")[0].splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    return [(cell[0], cell[1], cell[2]) for cell in cells[2:]]


def test_every_check_that_is_named_exists() -> None:
    listed = {
        line.split()[0] for line in (ROOT / "suites" / "ids.txt").read_text().splitlines() if line.strip()
    }
    named = {name for _, _, how in rows() for name in re.findall(r"`([^`]+)`", how)}
    assert named
    assert named <= listed


def test_every_row_names_a_check_or_gives_a_reason() -> None:
    for procedure, status, how in rows():
        assert re.match(r"no: \w|`nfs3/", how), (procedure, status)


def test_every_procedure_is_there_once_with_each_status() -> None:
    pairs = [(procedure, status) for procedure, status, _ in rows()]
    assert len(pairs) == len(set(pairs))
    procedures = {procedure.name for procedure in NFS3.procedures if procedure.name != "NULL"}
    for procedure in procedures:
        assert {status for name, status in pairs if name == procedure} >= EVERYWHERE, procedure
    assert {name for name, _ in pairs} == procedures


def test_every_status_is_one_of_nfsstat3() -> None:
    for _, status, _ in rows():
        assert f"NFS3ERR_{status}" in Nfsstat3.__members__
