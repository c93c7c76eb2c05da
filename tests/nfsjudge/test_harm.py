# SPDX-License-Identifier: MIT
"""Which breach does the harm that its clause declares: one rule for verdicts, the lint and the order of causes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nfsclient.protocol.mount import MountStat1, MountStat3
from nfsclient.protocol.nfs2 import Nfsstat2
from nfsclient.protocol.nfs3 import Ftype3, Nfsstat3
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.xdr import XdrEnum
from nfsjudge import Harm, Part, may, should, show, stated
from nfsjudge.harm import HARMS, harm_done, harm_text
from nfsjudge.records import CheckRecord, RequirementRecord, failure_text
from nfsjudge.terms import outcome_of
from reports.causes.severity import severity_of

IO, EXIST, STALE = map(show, (Nfsstat3.NFS3ERR_IO, Nfsstat3.NFS3ERR_EXIST, Nfsstat3.NFS3ERR_STALE))
VALUE, OTHER = outcome_of(["00"], "ff"), outcome_of(["success"], IO)


@pytest.mark.parametrize(
    ("expected", "observed", "refused"),
    [
        (["success"], IO, True),
        (["success"], show(Nfsstat4.NFS4ERR_SHARE_DENIED), True),
        (["success"], show(Nfsstat2.NFSERR_IO), True),
        (["success"], show(Nfsstat2(22)), True),  # NFSv2 and MOUNT 1 may answer any UNIX error number
        ([show(Nfsstat2.NFSERR_EXIST)], show(MountStat1(22)), True),
        ([show(Ftype3.NF3REG)], show(Ftype3(22)), False),
        ([show(Ftype3.NF3REG)], show(Nfsstat2(22)), False),
        (["success"], STALE, True),  # the handle may have been revoked
        (["success"], show(Nfsstat4.NFS4ERR_NOENT), False),  # it is gone
        ([EXIST], "success", False),
        ([EXIST], IO, True),
        ([EXIST], STALE, True),
        (["an error"], "success", False),
        ([EXIST, "an error"], IO, True),
        (["success", EXIST], IO, True),
        (["success"], "no reply", True),
        (["success"], "SYSTEM_ERR", True),
        (["00"], "ff", False),
        (["4"], "0", False),
        ([], "exchange #3: 5 bytes", False),
    ],
)
def test_an_error_did_nothing_unless_it_tells_a_loss(
    expected: list[str], observed: str, refused: bool
) -> None:
    outcome = outcome_of(expected, observed)
    assert outcome.is_refusal is refused
    assert (harm_done("data", outcome) is None) is refused


def test_a_breach_that_does_harm_is_red_whatever_the_level() -> None:
    advice = should("RFC 1813", "3.3.7", "zeros", part=Part.IMPLEMENTATION)
    grave = should("RFC 1813", "3.3.7", "zeros", part=Part.IMPLEMENTATION, harm=Harm.DATA)
    assert str(grave) == "RFC 1813 section 3.3.7 IMPLEMENTATION (SHOULD, harm data): zeros"
    assert not advice.is_red(VALUE)
    assert grave.is_red(VALUE)
    assert not grave.is_red(OTHER)
    assert stated("RFC 1813", "3.3.7", "x").is_red(OTHER)


def test_nothing_breaks_a_may() -> None:
    with pytest.raises(ValueError, match="MAY"):
        may("RFC 1813", "3.3.7", "x", harm=Harm.DATA)


def test_every_harm_has_words_and_a_name_of_strangers_none() -> None:
    assert set(HARMS) == set(Harm)
    assert harm_text("data", VALUE) == "harm data: acknowledged data is lost or wrong"
    assert harm_text("flood", VALUE) == harm_text("", VALUE) == harm_text("data", None) == ""


@pytest.mark.parametrize(
    "status",
    [Nfsstat2(22), Nfsstat3(22), Nfsstat4(22), MountStat1(22), MountStat3(22)],
    ids=lambda status: type(status).__name__,
)
def test_an_error_of_each_version_is_a_refusal(status: XdrEnum) -> None:
    assert outcome_of(["success"], show(status)).is_refusal


@pytest.mark.parametrize(("observed", "is_harm"), [("ff", True), (IO, False)])
def test_a_failure_text_names_level_and_harm(observed: str, is_harm: bool) -> None:
    clause = RequirementRecord("RFC 1813", "3.3.7", "IMPLEMENTATION", "SHOULD", "a gap is zeros", "data")
    expected = ["00"] if is_harm else ["success"]
    record = CheckRecord("nfs3/WRITE/gap", "FAIL", clause, expected, observed, what="data")
    record.outcome = outcome_of(expected, observed)
    text = failure_text(record)
    line = "  clause:     RFC 1813 section 3.3.7 (SHOULD, IMPLEMENTATION)"
    assert f"{line}{', harm data: acknowledged data is lost or wrong' if is_harm else ''}\n" in text


@given(
    st.sampled_from([*map(str, Harm), "", "other"]),
    st.sampled_from([["success"], [EXIST], ["an error"], ["00"], ["4", "5"]]),
    st.sampled_from([IO, STALE, "success", "ff", "no reply", "none"]),
)
def test_verdict_and_severity_agree(declared: str, expected: list[str], observed: str) -> None:
    clause = RequirementRecord("RFC 1813", "3.3.7", "DESCRIPTION", "SHOULD", "a clause", declared)
    record = CheckRecord("nfs3/WRITE/gap", "FAIL", clause, expected, observed, what="data")
    record.outcome = outcome_of(expected, observed)
    done = harm_done(declared, record.outcome)
    assert (severity_of(record) == declared) is (done is not None)
