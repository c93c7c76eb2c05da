# SPDX-License-Identifier: MIT
"""Right but awkward servers, by their URL as a stranger sees them: nothing is red or VOID, and help is printed."""

from __future__ import annotations

from tests.suites.test_broken_servers import Ended, RunOn, run_on

__all__ = ["run_on"]


def _is_green(ended: Ended) -> bool:
    return {check.verdict for check in ended.run.checks} <= {"PASS", "SKIP", "UNSUPPORTED"}


def test_a_call_that_has_the_only_slot_for_ever(run_on: RunOn) -> None:
    """GARBAGE_ARGS does not say whether SEQUENCE was executed, so that slot cannot be used again."""
    ended = run_on(("--knob=session_slots=1",), "nfs4/undefined/from-zero", "--strict")
    assert _is_green(ended), ended.text
    assert ended.status == 0
    assert "left in the export" not in ended.text


def test_a_read_only_export(run_on: RunOn) -> None:
    ended = run_on(
        ("--knob=read_only=yes",), "nfs3/GETATTR", "nfs3/LOOKUP", "nfs3/READ/", "nfs4/READ/", "nfs4/GETATTR"
    )
    assert _is_green(ended), ended.text
    assert ended.status == 10
    assert ended.text.count("export it read-write") == 1


def test_an_export_that_is_meant_to_be_read_only(run_on: RunOn) -> None:
    """What its owner declares missing does not count as not judged."""
    checks = (
        "nfs2/STATFS",
        "nfs3/FSSTAT",
        "nfs3/FSINFO",
        "nfs3/GETATTR",
        "nfs3/LOOKUP",
        "nfs4/GETATTR",
        "nfs4/LOOKUP",
        "nfs4/READ/",
    )
    ended = run_on(("--knob=read_only=yes",), *checks, "--lacks=writable")
    assert {check.verdict for check in ended.run.checks} == {"PASS", "UNSUPPORTED"}, ended.text
    assert ended.status == 0
    assert {"nfs2/STATFS/bfree", "nfs3/FSSTAT/free-below-total[bytes]"} <= ended.of("PASS")


def test_a_server_without_links(run_on: RunOn) -> None:
    lacks = ("--knob=symlinks=no", "--knob=hard_links=no", "--knob=mknod=no")
    ended = run_on(
        lacks, "nfs4/LINK", "nfs4/READLINK", "nfs4/types", "faults/sessions/reply-lost", "--strict"
    )
    assert _is_green(ended), ended.text
    assert ended.status == 0
    assert {check.verdict for check in ended.run.checks} == {"PASS", "UNSUPPORTED"}
