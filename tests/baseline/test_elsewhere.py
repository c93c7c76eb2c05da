# SPDX-License-Identifier: MIT
"""Causes in baselines, symptoms that an update writes, and what is known of other servers."""

from __future__ import annotations

import pytest

from nfsjudge.records import CheckRecord, RequirementRecord, failure_text
from nfsjudge.terms import outcome_of
from reports.baseline import (
    Kind,
    fitting_baseline,
    known_elsewhere,
    parse_baseline,
    shipped,
)
from reports.baseline.shipped import _heads
from reports.baseline.update import updated
from reports.causes import signature
from reports.compare import compare, grouped
from tests.baseline.test_baseline import check, compared, run_of

FRAGMENTS = RequirementRecord("RFC 1831", "10", "DESCRIPTION", "STATED", "a fragment may be empty")


def closed(name: str, observed: str = "a closed connection") -> CheckRecord:
    what = "answer to a call with an empty first fragment"
    record = CheckRecord(name, "FAIL", FRAGMENTS, ["SUCCESS"], observed, what=what)
    record.outcome = outcome_of(record.expected, observed, operation="NULL")
    return record


def test_another_symptom_of_the_same_check_is_not_known_of_others() -> None:
    on, others = known_elsewhere(closed("rpc/fragments/empty[first]", "GARBAGE_ARGS"))
    assert (on, others > 0) == ([], True)


def test_what_breaks_a_should_is_known_of_others_as_well() -> None:
    clause = RequirementRecord("RFC 1813", "5.2.1", "IMPLEMENTATION", "SHOULD", "MNT requires AUTH_UNIX")
    record = CheckRecord("mount/credentials/x", "NONSTRICT", clause, ["an error"], "success")
    record.what, record.outcome = "answer to MNT with AUTH_NONE", outcome_of(["an error"], "success")
    record.outcome.operation = "MNT"
    assert "fernfs 0.1.5" in known_elsewhere(record)[0]


def test_an_entry_may_name_a_cause() -> None:
    first, other = closed("rpc/fragments/a"), closed("rpc/fragments/b[3]")
    text = f'[[entry]]\ncause = "{signature(first)}"\nreason = "r"\n'
    assert compared(text, run_of(first, other)) == []
    assert compared(text, run_of(first, closed("c", "no reply"))) == [(Kind.NEW, "c")]
    assert compared(text, run_of(check("a"))) == [(Kind.STALE, signature(first))]
    both = f'[[entry]]\nid = "*"\ncause = "{signature(first)}"\nreason = "r"\n'
    assert compared(both, run_of(first, closed("c", "no reply"))) == [(Kind.SYMPTOM, "c")]


def test_an_update_keeps_a_cause_as_long_as_something_shows_it() -> None:
    first, other = closed("rpc/fragments/a"), closed("rpc/fragments/b", "no reply")
    text = f'[[entry]]\ncause = "{signature(first)}"\nreason = "r"\n'
    assert updated(text, run_of(first), "b.toml") == text
    after = updated(text, run_of(other), "b.toml")
    (entry,) = parse_baseline(after, "b.toml").entries
    assert (entry.ids, entry.cause) == (("rpc/fragments/b",), "")


def test_an_update_writes_symptoms_that_fit_other_numbers_and_names() -> None:
    def seen(name: str, size: int, scratch: str) -> CheckRecord:
        return CheckRecord(name, "FAIL", None, ["5"], f"{size} in '{scratch}'", what="size")

    run = run_of(seen("a", 4, "nfsproof-00ff"), seen("b", 19, "nfsproof-1234"))
    after = updated("", run, "b.toml")
    (entry,) = parse_baseline(after, "b.toml").entries
    assert (entry.ids, entry.symptom) == (
        ("a", "b"),
        "size: expected [0-9a-fx.]+, got [0-9a-fx.]+ in '[^']*'",
    )
    assert compared(after, run_of(seen("a", 77, "x"), seen("b", 1, "y"))) == []
    assert compared(after, run_of(seen("a", 77, "x"), closed("b"))) == [(Kind.SYMPTOM, "b")]


@pytest.mark.parametrize(
    ("description", "name"),
    [
        ("ganesha:vfs (NFS-Ganesha 4.3, FSAL VFS on ext4)", "ganesha-4.3-vfs"),
        ("ganesha:mem (NFS-Ganesha 4.3, FSAL MEM)", "ganesha-4.3-mem"),
        ("ganesha:mem (NFS-Ganesha 5.0, FSAL MEM)", ""),
        ("go-nfs (go-nfs (example osnfs) v0.0.4, in a scratch folder)", "go-nfs-0.0.4"),
        ("nfs3-server:memory (cargo-nfs3-server 0.2.3, in memory)", "nfs3-server-0.2.3-memory"),
        ("ganesha:vfs (NFS-Ganesha 4.3.1, FSAL VFS on ext4)", ""),
        ("knfsd:ext4 (Linux 6.1.176 (User-Mode Linux), ext4, sync, 8 threads)", "knfsd-6.1-ext4"),
        ("knfsd:tmpfs (Linux 6.1.176 (User-Mode Linux), tmpfs, sync, 8 threads)", "knfsd-6.1-tmpfs"),
        ("knfsd:v2,ext4 (Linux 6.1.192 (User-Mode Linux), ext4, sync, 8 threads)", "knfsd-v2-6.1-ext4"),
        (
            "knfsd:qemu,ext4 (Linux 6.12.117+deb12-cloud-amd64 (QEMU), ext4, sync, 8 threads)",
            "knfsd-qemu-6.12-ext4",
        ),
        ("knfsd:ext4 (Linux 6.12.117 (User-Mode Linux), ext4, sync, 8 threads)", ""),
        ("nfs://host/export", ""),
        ("", ""),
    ],
)
def test_the_baseline_of_a_server_is_found(description: str, name: str) -> None:
    assert fitting_baseline(description) == name


def test_what_other_servers_are_known_for_is_reported_or_that_none_is() -> None:
    empty = closed("rpc/fragments/anything")
    on, others = known_elsewhere(empty, target="nfs://host/export")
    assert "NFS-Ganesha 4.3, VFS export" in on
    assert "NFS-Ganesha 4.3, MEM export" in on
    for target in ("ganesha", "ganesha:mem"):  # its other exports are the same program
        mine, fewer = known_elsewhere(empty, target=target)
        assert not [line for line in mine if "Ganesha" in line]
        assert fewer == others - 1
    assert others == len(
        {baseline.target.partition(":")[0] for baseline in shipped() if baseline.target != "embedded"}
    )
    record = CheckRecord(empty.id, "FAIL", elsewhere=on, others=others)
    assert "  elsewhere:  also on NFS-Ganesha 4.3, VFS export\n" in failure_text(record)
    record = check("a", "FAIL")
    record.elsewhere, record.others = known_elsewhere(record)
    assert f"elsewhere:  only here: not known of {others} other servers, where it" in failure_text(record)
    assert "elsewhere" not in failure_text(check("a", "FAIL"))


def test_changes_of_one_cause_are_one_line() -> None:
    broken = run_of(*(closed(f"rpc/fragments/empty[{n}]") for n in range(3)), check("a", "FAIL", "5"))
    good = run_of(*(check(f"rpc/fragments/empty[{n}]") for n in range(3)), check("a", "FAIL", "6"))
    lines = grouped(compare(good, broken), good, broken)
    text = "NULL: answer to a call with an empty first fragment: expected SUCCESS, got a closed connection"
    symptom = f"{text} (RFC 1831 10)"
    assert lines == [
        f"broken: 3 of one cause: PASS -> FAIL  {symptom}; first rpc/fragments/empty[0]",
        "other symptom: a: FAIL -> FAIL  5",
    ]
    back = grouped(compare(broken, good), broken, good)
    assert back[0] == f"fixed: 3 of one cause: FAIL -> PASS  {symptom}; first rpc/fragments/empty[0]"


def test_heads_are_those_of_the_whole_files() -> None:
    """A run reads no more than the heads to find its baseline."""
    heads = [(head.name, head.target, head.server, head.floor, head.unlisted) for head in _heads()]
    assert heads == [(file.name, file.target, file.server, file.floor, file.unlisted) for file in shipped()]
    assert len(heads) > 5
