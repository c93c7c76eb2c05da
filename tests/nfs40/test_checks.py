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
    "nfs4/ACCESS/within-asked",
    "nfs4/CLOSE/closed-stateid",
    "nfs4/CLOSE/other-open",
    "nfs4/CLOSE/releases",
    "nfs4/GETATTR/change",
    "nfs4/GETATTR/only-asked",
    "nfs4/GETATTR/type",
    "nfs4/LOCK/conflict",
    "nfs4/LOCK/neighbours",
    "nfs4/LOCKU/middle",
    "nfs4/LOOKUP/finds-object",
    "nfs4/LOOKUP/noent",
    "nfs4/OPEN/guarded",
    "nfs4/OPEN/share-denied",
    "nfs4/OPEN/unchecked-truncates",
    "nfs4/READ/data",
    "nfs4/READ/eof",
    "nfs4/READDIR/lists-all",
    "nfs4/REMOVE/removes",
    "nfs4/RENAME/replaces",
    "nfs4/SETATTR/size",
    "nfs4/WRITE/data",
    "nfs4/WRITE/gap",
)
"""What RFC 7530 says as RFC 5661 does."""
OTHER_IN_4_0: t.Final = {
    "nfs4/CLOSE/any-seqid": "NFS4ERR_BAD_SEQID",
    "nfs4/OPEN/confirm": "OPEN4_RESULT_CONFIRM",
}
"""What it says otherwise: FAIL, with these words. So sequence ids are compared here, and owners are confirmed."""


@pytest.mark.parametrize("kind", ["vfs", "mem"])
@needs("ganesha.nfsd")
def test_checks_of_compounds_run_by_a_client_of_another_minor_version(kind: str, tmp_path: Path) -> None:
    if kind == "vfs" and not can_act_for_others():
        pytest.skip("ganesha:vfs needs root")
    checks = (*PASSED, *OTHER_IN_4_0) if kind == "vfs" else PASSED[:3]
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
        expected = "FAIL" if wanted in OTHER_IN_4_0 else "PASS"
        assert {check.verdict for check in mine.values()} == {expected}, f"{wanted}\n{done.stdout}"
    for name, words in OTHER_IN_4_0.items():
        check = found.get(f"{name}[4.0]")
        assert check is None or words in f"{check.what} {check.observed}"
    statuses = {status for check in found.values() for status in check.statuses}
    assert all(status.startswith("nfs4.0 ") for status in statuses), statuses
    assert "nfs4.0 SETCLIENTID_CONFIRM NFS4_OK" in statuses
    if kind == "vfs":
        noent = found["nfs4/LOOKUP/noent[4.0]"].requirement
        assert noent is not None
        assert noent.rfc == "RFC 7530"  # judged by the clause of its version
        assert "nfs4.0 OPEN_CONFIRM NFS4_OK" in statuses
