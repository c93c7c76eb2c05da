# SPDX-License-Identifier: MIT
"""Checks on right servers that use freedoms without a knob: none may be FAIL, NONSTRICT or VOID there."""

from __future__ import annotations

import sys
import typing as t

from nfsclient.protocol import nfs4 as p
from tests.suites.test_broken_servers import SERVE, RunOn, run_on

__all__ = ["run_on"]
VOLATILE: t.Final = (sys.executable, "-P", "-m", "tests.suites.volatile_v4")
UNUSUAL: t.Final = (sys.executable, "-P", "-m", "tests.suites.unusual_v4")
FILLS_GAPS: t.Final = (sys.executable, "-P", "-m", "tests.suites.fills_gaps")
KEEPS_OPEN: t.Final = (sys.executable, "-P", "-m", "tests.suites.keeps_open_files")
FAR: t.Final = (
    "nfs4/limits/within-maxfilesize[2g]",
    "nfs4/SETATTR/large-size[2g+2]",
    "nfs4/WRITE/offset-overflow[int64]",
    "nfs3/GETATTR/size-above-4g",
    "nfs3/READ/far-offsets[2g]",
    "nfs3/SETATTR/large-size[4g]",
    "nfs3/SETATTR/size-above-4g",
    "nfs3/SETATTR/truncate-large-file[2g]",
    "nfs3/SETATTR/within-maxfilesize[2g]",
    "nfs3/WRITE/far-offsets[2g]",
    "nfs3/WRITE/within-maxfilesize[2g]",
    "nfs2/SETATTR/large-size[2g]",
    "nfs2/WRITE/large-offset[2g]",
    "nfs2/with_nfs3/large-file-kept[4g]",
)
"""Checks of calls that no server without sparse files answers in time."""
CHECKS: t.Final = (
    "nfs4/LOCK/any-seqid",
    "nfs4/VERIFY/each-same",
    "nfs4/NVERIFY/each-same",
    "nfs4/OPEN/initial",
    "nfs4/SETATTR/own-owner",
    "nfs4/limits/response-size",
    "nfs4/limits/request-size",
    "nfs4/READ/keeps-time",
    "nfs4/READDIR/remove-between-pages",
    "nfs4/OPEN/exclusive-again-keeps-data",
    "nfs4/alike/verifiers",
    "nfs4/ACCESS/owner",
)


def test_freedoms_of_version_4_are_not_red(run_on: RunOn) -> None:
    ended = run_on((), *CHECKS, program=UNUSUAL)
    assert {check.verdict for check in ended.run.checks} <= {"PASS", "SKIP", "UNSUPPORTED"}, ended.text
    assert "nfs4/OPEN/exclusive-again-keeps-data" in ended.of("UNSUPPORTED")
    assert {"nfs4/ACCESS/owner[file]", "nfs4/ACCESS/owner[directory]"} <= ended.of("SKIP")
    assert {"nfs4/READ/keeps-time", "nfs4/READDIR/remove-between-pages"} <= ended.of("PASS")


def test_a_server_that_fills_gaps_is_not_sent_far_calls(run_on: RunOn) -> None:
    ended = run_on((), *FAR, "--call-timeout=1.5", program=FILLS_GAPS)
    assert ended.of("SKIP") == set(FAR), ended.text


OF_HANDLES: t.Final = ("nfs4/kept_data/names", "nfs4/symlinks")


def test_handles_that_expire_are_not_red_where_the_server_says_that_they_are_volatile(run_on: RunOn) -> None:
    ended = run_on((str(p.FH4_VOLATILE_ANY),), *OF_HANDLES, program=VOLATILE)
    assert {check.verdict for check in ended.run.checks} <= {"PASS", "SKIP"}, ended.text
    assert "the filehandle, which is volatile, has expired: NFS4ERR_FHEXPIRED (10014)" in ended.text


def test_persistent_handles_that_expire_are_red(run_on: RunOn) -> None:
    ended = run_on((str(p.FH4_PERSISTENT),), *OF_HANDLES, program=VOLATILE)
    assert ended.status == 1
    assert "got NFS4ERR_FHEXPIRED" in ended.text
    assert "has expired" not in ended.text


OF_OPENS: t.Final = (
    "nfs4/stateids",
    "nfs4/CLOSE",
    "nfs4/LOCK",
    "nfs4/OPEN/initial",
    "nfs4/OPEN/exclusive-again",
    "nfs4/kept_data/overlap-both",
    "nfs4/with_nfs3/over-nfs4",
    "nfs4/two_clients/foreign-write",
)


def test_a_server_that_removes_no_open_file_is_cleaned_up(run_on: RunOn) -> None:
    ended = run_on((), *OF_OPENS, program=KEEPS_OPEN)
    assert {check.verdict for check in ended.run.checks} == {"PASS"}, ended.text
    assert "left" not in ended.text


def test_checks_of_two_users_run_where_only_version_4_is_spoken(run_on: RunOn) -> None:
    checks = ("nfs4/two_clients/read-after-mode", "nfs4/refusals/denied-changes-nothing")
    ended = run_on((), *checks, program=SERVE, query="&version=4.1")
    assert ended.of("PASS") == set(checks), ended.text
    assert ended.run.about is not None
    assert ended.run.about.capabilities["nfs4_other_users"] == "yes"
