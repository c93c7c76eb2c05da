# SPDX-License-Identifier: MIT
"""Servers that close idle connections are right; those that close one for a call, or ask to wait for ever, are seen."""

from __future__ import annotations

import sys

import pytest

from tests.suites import test_broken_servers as broken

run_on = broken.run_on
SERVE = (sys.executable, "-P", "-m", "tests.suites.impatient_server")
DAWDLING = ("-p", "tests.suites.dawdling")


@pytest.mark.parametrize("mode", ["idle", "race"])
def test_idle_connections_may_be_closed(run_on: broken.RunOn, mode: str) -> None:
    """Between two calls, or just as a call arrives, which the server then does not execute."""
    checks = (
        *("nfs2/WRITE/no-data", "nfs3/REMOVE/nlink", "nfs3/READ/pipelined[7]"),
        *("nfs4/SEQUENCE/retry-of-success[4.1]", "nfs4/LOCKU/middle[4.1]"),
        *("mount/EXPORT", "faults/profile/cache-time[v3-tcp]", "rpc/connections/answered-once"),
    )
    waiting = ("nfs4/delegation/recall[read-4.1]",) if mode == "idle" else ()
    ended = run_on((mode, "0.2"), *checks, *waiting, *DAWDLING, program=SERVE)
    assert (ended.status, ended.of("FAIL"), ended.of("VOID")) == (0, set(), set()), ended.text
    assert len(ended.of("PASS")) > 10


def test_a_connection_may_not_be_closed_for_a_call(run_on: broken.RunOn) -> None:
    """On the new connection it is closed again."""
    ended = run_on(("slam", "FSSTAT"), "nfs3/FSSTAT", *DAWDLING, program=SERVE)
    assert ended.status == 1
    failed = [check for check in ended.run.checks if check.verdict == "FAIL"]
    assert failed
    assert {check.requirement.citation for check in failed if check.requirement} == {"RFC 1831 section 3"}


def test_a_procedure_that_never_is_ready_costs_one_patience(run_on: broken.RunOn) -> None:
    options = ("--call-timeout=1",)
    ended = run_on(("later", "v3-COMMIT"), "nfs3/COMMIT", "nfs3/jukebox/ends", *options, program=SERVE)
    assert not ended.of("FAIL")
    assert ended.of("NONSTRICT") == {"nfs3/jukebox/ends[commit]"}
    waited = [check.id for check in ended.run.checks if check.duration > 1]
    assert len(waited) <= 3, waited
    assert len(ended.of("SKIP")) > 10


def test_a_server_that_puts_off_each_call_twice_is_judged(run_on: broken.RunOn) -> None:
    checks = (
        *("nfs2/CREATE", "nfs3/RENAME", "nfs4/LOOKUP", "nfs4/OPEN/initial"),
        *("nfs4/delegation/recall[read-4.1]", "nfs4/delegation/recall[write-4.2]", "nfs3/LINK"),
    )
    ended = run_on(("--knob=jukebox_tries=2", "--knob=jukebox_tries_random=7"), *checks)
    assert ended.status == 0, ended.text
    assert {check.verdict for check in ended.run.checks} <= {"PASS", "UNSUPPORTED"}, ended.text
    assert "later calls are tried once more only" not in ended.text
