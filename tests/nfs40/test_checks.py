# SPDX-License-Identifier: MIT
"""Checks of the suite by a client of NFSv4.0 on NFS-Ganesha: not a line of them knows that it has no session.

They ask for `Compounds`. The plugin of this folder gives them those of `Client40` instead of a session: SETCLIENTID,
sequence ids of owners, OPEN_CONFIRM. Skipped where Ganesha is not installed.
"""

from __future__ import annotations

import subprocess
import sys
import typing as t
from pathlib import Path

import pytest

from nfstargets.namespace import can_act_for_others
from reports import load
from tests.needs import needs
from tests.suites.test_broken_servers import ENVIRONMENT
from tests.waiting import AT_MOST

RUN: t.Final = (sys.executable, "-P", "-m", "nfsproof", "run")
PASSED: t.Final = (
    "nfs4/ACCESS/undefined",
    "nfs4/CLOSE/other-open",
    "nfs4/CLOSE/releases",
    "nfs4/GETATTR/change",
    "nfs4/GETATTR/only-asked",
    "nfs4/GETATTR/type",
    "nfs4/LOCK/change-type",
    "nfs4/LOCK/conflict",
    "nfs4/LOCK/neighbours",
    "nfs4/LOCKU/middle",
    "nfs4/LOOKUP/finds-object",
    "nfs4/LOOKUP/noent",
    "nfs4/OPEN/guarded",
    "nfs4/OPEN/share-denied",
    "nfs4/OPEN/unchecked-truncates",
    "nfs4/OPEN/upgrade",
    "nfs4/OPEN_DOWNGRADE/seqid",
    "nfs4/READ/data",
    "nfs4/READ/eof",
    "nfs4/READDIR/lists-all",
    "nfs4/REMOVE/removes",
    "nfs4/RENAME/replaces",
    "nfs4/SETATTR/cut-and-extended",
    "nfs4/SETATTR/size",
    "nfs4/WRITE/data",
    "nfs4/WRITE/open-for-reading",
)
"""Their claims cite RFC 7530, too."""
NOT_OF_4_0: t.Final = ("nfs4/CLOSE/any-seqid", "nfs4/OPEN/confirm")
"""Claims of RFC 5661 only, and 4.0 states the contrary: they are not judged, instead of red."""


@pytest.mark.parametrize("kind", ["vfs", "mem"])
@needs("ganesha.nfsd")
def test_checks_of_compounds_run_by_a_client_of_another_minor_version(kind: str, tmp_path: Path) -> None:
    if kind == "vfs" and not can_act_for_others():
        pytest.skip("ganesha:vfs needs root")
    checks = (*PASSED, *NOT_OF_4_0) if kind == "vfs" else PASSED[:3]
    options = ("-p", "tests.nfs40.plugin", "-k", "4.0", f"--report={tmp_path / 'report'}")
    done = subprocess.run(
        [*RUN, f"ganesha:{kind}", *checks, *options],
        env=ENVIRONMENT,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=AT_MOST,
        check=False,
    )
    found = {check.id: check for check in load(tmp_path / "report").checks}
    assert all(check.endswith("4.0]") for check in found), done.stdout
    for wanted in checks:
        mine = {
            name: check for name, check in found.items() if name == wanted or name.startswith(f"{wanted}[")
        }
        expected = "VOID" if wanted in NOT_OF_4_0 else "PASS"
        assert {check.verdict for check in mine.values()} == {expected}, f"{wanted}\n{done.stdout}"
    statuses = {status for check in found.values() for status in check.statuses}
    assert all(status.startswith("nfs4.0 ") for status in statuses), statuses
    assert "nfs4.0 SETCLIENTID_CONFIRM NFS4_OK" in statuses
    if kind == "vfs":
        cited = {
            requirement.rfc
            for check in found.values()
            if check.verdict == "PASS"
            for requirement in check.requirements
        }
        assert cited == {"RFC 7530"}  # judged by the clauses of their version
        assert "nfs4.0 OPEN_CONFIRM NFS4_OK" in statuses
