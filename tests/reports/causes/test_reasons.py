# SPDX-License-Identifier: MIT
"""Why checks were not judged: a line for each reason, made of the fields of the records."""

from __future__ import annotations

import typing as t
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest

from fixtures.stage.capabilities import DECLARED, answer_of, end_without, failing, unknown
from nfsclient.errors import NfsClientError, ProcUnavail, ProgMismatch, ProgUnavail
from nfsclient.protocol import mount, nfs2, nfs3
from nfsclient.protocol.nfs3 import Nfsstat3
from nfsjudge.answers import reason_of
from nfsjudge.outcome import NotJudged, Skipped
from nfsjudge.reason import Lack, ReasonRecord, because, fields_of, within
from nfsjudge.records import CheckRecord, from_line, to_line
from nfstargets.control import missing_control
from nfstargets.control.actions import ACTIONS
from reports.causes import reasons
from reports.floor import too_little
from suites.losses import LOSES_NOTHING
from tests.reports.causes.reasons_made import failed

KEPT = ("data that WRITE did not commit", "the atime that READDIR moved")
NOTSUPP = answer_of("SYMLINK", Nfsstat3.NFS3ERR_NOTSUPP)


def not_judged(name: str, verdict: str, reason: str, number: int = 1) -> list[CheckRecord]:
    """The records of checks that ended with this reason, as they are read again."""
    made = [
        CheckRecord(f"{name}-{at}", verdict, reason=str(reason), why=fields_of(reason))
        for at in range(number)
    ]
    return [t.cast("CheckRecord", from_line(to_line(record))) for record in made]


def ended(capability: str, value: str) -> NotJudged:
    """How a check ends that needs a capability with this value."""
    with pytest.raises(NotJudged) as caught:
        end_without(capability, value)
    return caught.value


def needing(capability: str, value: str, number: int = 1) -> list[CheckRecord]:
    """The records of checks that need a capability with this value."""
    error = ended(capability, value)
    verdict = "SKIP" if isinstance(error, Skipped) else "UNSUPPORTED"
    return not_judged(f"nfs3/A/{capability}", verdict, error.reason, number)


def test_a_crash_that_loses_nothing_is_one_reason() -> None:
    texts = [within(f"{LOSES_NOTHING} ({kept} is still there)", LOSES_NOTHING) for kept in KEPT]
    records = [
        record for text in texts for record in not_judged(f"recovery/x/{text[-20:]}", "SKIP", text, 40)
    ]
    (reason,) = reasons(records)
    assert "only a reset of the machine" in reason.line
    assert reason.line.endswith("80 checks not judged")
    (line,) = too_little(records)
    assert line.endswith(f"{LOSES_NOTHING} (80)")


@pytest.mark.parametrize("name", ACTIONS)
def test_a_missing_control_says_how_it_is_given(name: str) -> None:
    text = missing_control(name)
    assert f"--control {name}=COMMAND" in text
    (reason,) = reasons(not_judged("recovery/x/y", "SKIP", because(Lack.CONTROL, text, control=name)))
    assert reason.text == text  # neither cut nor changed
    assert ("--control free_disk=COMMAND" in text) is (name in {"fill_disk", "free_disk"})


def test_a_control_that_no_command_stands_for() -> None:
    assert "only servers that nfsproof starts have it" in missing_control("known_clients")


@pytest.mark.parametrize(
    "error", [ProgUnavail, partial(ProgMismatch, low=4, high=4)], ids=["program", "version"]
)
def test_each_program_that_is_not_served_is_one_reason(error: Callable[[str], NfsClientError]) -> None:
    """Whichever way a server says so, and whichever capability of the version a check needs."""
    records = []
    for name, null in {"nfs3": nfs3.NULL, "mount": mount.NULL3, "nfs2": nfs2.NULL}.items():
        why = reason_of(failed(null, error(null.label)))
        assert fields_of(why).program == null.program
        assert fields_of(why).version == null.version
        records += needing(name, why)
        other = reason_of(failed(null, error("in other words, of another version of nfsproof")))
        records += needing(name, within(f"{name}: {other}", other))
    assert [(reason.text, len(reason.checks)) for reason in reasons(records)] == [
        ("MOUNT version 3 is not served", 2),
        ("NFSv2 is not served", 2),
        ("NFSv3 is not served", 2),
    ]


def test_a_procedure_that_is_missing_is_named_without_numbers() -> None:
    why = reason_of(failed(mount.MNT3, ProcUnavail(mount.MNT3.label)))
    (reason,) = reasons(not_judged("mount/MNT/x", "UNSUPPORTED", why))
    assert reason.text == "MNT: the server does not have this procedure (PROC_UNAVAIL)"


def test_what_a_probe_and_a_check_were_answered_is_one_reason() -> None:
    longer = within(f"a symbolic link cannot be made: {NOTSUPP}", NOTSUPP)
    longer = because(Lack.ANSWER, longer, operation="SYMLINK", status="NFS3ERR_NOTSUPP")
    records = [*needing("symlink", NOTSUPP, 3), *not_judged("nfs3/READLINK/x", "UNSUPPORTED", longer)]
    (reason,) = reasons(records)
    assert reason.line == "SYMLINK answers NFS3ERR_NOTSUPP: 4 checks not asked"
    (alone,) = reasons(records[-1:])
    assert alone.text == "a symbolic link cannot be made: SYMLINK answers NFS3ERR_NOTSUPP"


def test_what_fails_is_named_and_what_is_not_known_is_not() -> None:
    io = answer_of("SYMLINK", Nfsstat3.NFS3ERR_IO)
    records = [*needing("symlink", failing(io), 2), *needing("mknod", failing(io))]
    assert [reason.line for reason in reasons(records)] == [
        "symlink fails: SYMLINK answers NFS3ERR_IO: 2 checks not judged",
        "mknod fails: SYMLINK answers NFS3ERR_IO: nfs3/A/mknod-0 not judged",
    ]
    (reason,) = reasons([*needing("symlink", unknown(io), 2), *needing("mknod", unknown(io))])
    assert reason.line == "SYMLINK answers NFS3ERR_IO: 3 checks not judged"


def test_what_its_owner_declares_missing_is_one_reason() -> None:
    (reason,) = reasons([*needing("symlink", DECLARED), *needing("mknod", DECLARED)])
    assert reason.line == "its owner declares it missing (--lacks): 2 checks not asked"


def test_skip_and_unsupported_are_two_reasons() -> None:
    records = [*not_judged("nfs3/A/x", "SKIP", NOTSUPP), *not_judged("nfs3/A/y", "UNSUPPORTED", NOTSUPP)]
    assert [reason.verdict for reason in reasons(records)] == ["UNSUPPORTED", "SKIP"]


SAMPLES = {
    Lack.VERSION: ReasonRecord(title="NFSv2", program=100003, version=2),
    Lack.FORM: ReasonRecord(title="NFSv4"),
    Lack.CHOSEN: ReasonRecord(title="NFSv4"),
    Lack.SERVICE: ReasonRecord(title="rpcbind"),
    Lack.OPERATION: ReasonRecord(title="NFSv3", operation="MKNOD"),
    Lack.ANSWER: ReasonRecord(operation="MKNOD", status="NFS3ERR_BADTYPE"),
    Lack.REFUSED: ReasonRecord(status="NFS3ERR_NOSPC"),
    Lack.NOT_SUPPORTED: ReasonRecord(status="NFS3ERR_NOTSUPP"),
    Lack.NOT_READY: ReasonRecord(status="NFS3ERR_JUKEBOX"),
    Lack.DECLARED: ReasonRecord(),
    Lack.CONTROL: ReasonRecord(control="crash"),
    Lack.KNOBS: ReasonRecord(),
    Lack.KEPT: ReasonRecord(),
}


@pytest.mark.parametrize("kind", [kind for kind in Lack if kind not in {Lack.OTHER, Lack.NOT_ASKED}])
def test_what_has_a_kind_is_not_grouped_by_its_words(kind: Lack) -> None:
    whys = [
        replace(SAMPLES[kind], kind=str(kind), text=text) for text in ("some words", "quite different ones")
    ]
    records = [CheckRecord(f"nfs3/A/{why.text}", "SKIP", reason=why.text, why=why) for why in whys]
    assert len(reasons(records)) == 1
    others = [replace(record, why=ReasonRecord(text=record.reason)) for record in records]
    assert len(reasons([*records, *others])) == 3


def test_records_without_fields_are_grouped_by_their_texts() -> None:
    """As versions wrote them that had no fields."""
    lines = [to_line(CheckRecord(f"nfs3/B/{n}", "SKIP", reason=f"cannot make {n} names")) for n in range(2)]
    old = [t.cast("CheckRecord", from_line(line.replace('"why":null,', ""))) for line in lines]
    old.append(CheckRecord("nfs3/C/x", "UNSUPPORTED"))
    assert [reason.line for reason in reasons(old)] == [
        "cannot make 0 names: 2 checks not judged",
        "no reason was recorded: nfs3/C/x not asked",
    ]
