# SPDX-License-Identifier: MIT
"""expect(): a true claim returns the value; a false one names the clause, the acceptable outcomes and the one seen."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from nfsclient.errors import AuthFailed, GarbageArgs, ProcUnavail, RpcError
from nfsclient.protocol import nfs2
from nfsclient.protocol.nfs3 import (
    Diropargs3,
    Getattr3Res,
    Nfsstat3,
    Nfstime3,
    WccData,
    Write3Res,
    Write3ResFail,
)
from nfsjudge import (
    Nonconformance,
    Part,
    Skipped,
    Unsupported,
    expect,
    expect_error,
    must,
    observe,
    proof_of,
    proves,
    running,
    should,
    show,
    stated,
)
from nfsjudge.requirement import CLOSED_STATUS

RULE = stated("RFC 1813", "3.3.7", "a rule")
ADVICE = should("RFC 1813", "3.3.7", "advice")


def _refusal(status: int) -> Write3Res:
    return Write3Res(Nfsstat3(status), resfail=Write3ResFail(WccData()))


def test_ok_gives_the_results_and_refusals_are_nonconformance() -> None:
    with pytest.raises(Nonconformance) as caught:
        expect(_refusal(Nfsstat3.NFS3ERR_STALE), because=RULE).ok()
    assert caught.value.requirement is RULE
    assert caught.value.expected == ("success",)
    assert caught.value.observed == "NFS3ERR_STALE (70)"
    assert (caught.value.field, caught.value.what) == ("status", "status")
    assert str(caught.value) == "status: expected success, got NFS3ERR_STALE (70)"


@pytest.mark.parametrize("status", [1, 13, 30])
def test_a_denial_is_policy_unless_it_is_the_claim(status: int) -> None:
    with pytest.raises(Skipped, match="denies"):
        expect(_refusal(status), because=RULE).ok()
    with pytest.raises(Nonconformance):
        expect(_refusal(status), because=RULE).granted()
    with pytest.raises(Nonconformance):
        expect(_refusal(status), because=RULE).status(Nfsstat3.NFS3_OK)


def test_only_what_makes_files_larger_may_find_them_too_large() -> None:
    with pytest.raises(Skipped, match="smaller"):
        expect(_refusal(27), because=RULE).ok()
    with pytest.raises(Nonconformance):
        expect(_refusal(27), because=RULE).granted()
    with pytest.raises(Nonconformance):
        expect(Getattr3Res(Nfsstat3(27)), because=RULE).ok()


def test_granted_is_ok_otherwise() -> None:
    with pytest.raises(Skipped, match="no room"):
        expect(_refusal(28), because=RULE).granted()
    with pytest.raises(Nonconformance):
        expect(_refusal(70), because=RULE).granted()


def test_a_status_outside_the_enum_fails_whatever_is_expected() -> None:
    for judge in (
        lambda reply: expect(reply, because=RULE).ok(),
        lambda reply: expect(reply, because=RULE).refused(),
        lambda reply: expect(reply, because=RULE).status(Nfsstat3.NFS3_OK),
    ):
        with pytest.raises(Nonconformance) as caught:
            judge(_refusal(4711))
        assert caught.value.requirement is CLOSED_STATUS


def test_refused_takes_any_defined_error_and_judges_the_code_by_its_own_requirement() -> None:
    preferred = (Nfsstat3.NFS3ERR_STALE, Nfsstat3.NFS3ERR_BADHANDLE)
    assert expect(_refusal(70), because=RULE).refused(*preferred) is Nfsstat3.NFS3ERR_STALE
    assert expect(_refusal(5), because=RULE).refused(*preferred) is Nfsstat3.NFS3ERR_IO
    with pytest.raises(Nonconformance) as caught:
        expect(_refusal(5), because=RULE).refused(*preferred, because=ADVICE)
    assert caught.value.requirement is ADVICE
    with pytest.raises(Nonconformance) as caught:
        expect(Getattr3Res(Nfsstat3.NFS3_OK), because=RULE).refused(*preferred, because=ADVICE)
    assert caught.value.requirement is RULE


def test_notsupp_is_unsupported_whatever_is_expected() -> None:
    reply = expect(_refusal(Nfsstat3.NFS3ERR_NOTSUPP), because=RULE)
    for judge in (
        reply.ok,
        lambda: reply.refused(Nfsstat3.NFS3ERR_STALE, because=ADVICE),
        lambda: reply.status(Nfsstat3.NFS3ERR_STALE),
    ):
        with pytest.raises(Unsupported):
            judge()
    reply.status(Nfsstat3.NFS3ERR_NOTSUPP)
    assert reply.refused(Nfsstat3.NFS3ERR_NOTSUPP, because=ADVICE) is Nfsstat3.NFS3ERR_NOTSUPP


def test_jukebox_that_outlasts_the_patience_is_skip_whatever_is_expected() -> None:
    reply = expect(_refusal(Nfsstat3.NFS3ERR_JUKEBOX), because=RULE)
    for judge in (
        reply.ok,
        reply.refused,
        lambda: reply.refused(Nfsstat3.NFS3ERR_STALE, because=ADVICE),
        lambda: reply.status(Nfsstat3.NFS3ERR_STALE),
    ):
        with pytest.raises(Skipped):
            judge()


@pytest.mark.parametrize(
    "status", [Nfsstat3.NFS3ERR_NOSPC, Nfsstat3.NFS3ERR_DQUOT, Nfsstat3.NFS3ERR_TOOSMALL]
)
def test_no_room_instead_of_success_is_skip_and_a_refusal_like_others(status: Nfsstat3) -> None:
    with pytest.raises(Skipped):
        expect(_refusal(status), because=RULE).ok()
    assert expect(_refusal(status), because=RULE).refused() is status


@pytest.mark.parametrize("status", [Nfsstat3.NFS3ERR_NOSPC, Nfsstat3.NFS3ERR_DQUOT])
def test_no_room_may_come_before_the_expected_error(status: Nfsstat3) -> None:
    with pytest.raises(Skipped):
        expect(_refusal(status), because=RULE).status(Nfsstat3.NFS3ERR_NOT_SYNC)
    with pytest.raises(Skipped):
        expect(_refusal(status), because=RULE).refused(Nfsstat3.NFS3ERR_STALE, because=ADVICE)


HOLDING: list[Callable[[], object]] = [
    lambda: expect(3, "n").equals(3),
    lambda: expect(3, "n").differs_from(4),
    lambda: expect(3, "n").one_of(1, 3),
    lambda: expect(3, "n").at_most(3),
    lambda: expect(3, "n").at_least(3),
    lambda: expect(3, "n").between(3, 4),
    lambda: expect([1], "n").is_true(),
    lambda: expect([], "n").is_false(),
    lambda: expect(0, "n").is_present(),
    lambda: expect(None, "n").is_absent(),
    lambda: expect([1], "n").contains(1),
    lambda: expect([1], "n").lacks(2),
    lambda: expect(4, "n").satisfies(lambda n: n % 2 == 0, "an even number"),
]
NAMES = [b"a", b"b", b"c", b"d", b"e", b"f", b"g"]
BROKEN: dict[str, Callable[[], object]] = {
    "n: expected 4, got 3": lambda: expect(3, "n").equals(4),
    "n: expected anything but 3, got 3": lambda: expect(3, "n").differs_from(3),
    "n: expected some, got none": lambda: expect("", "n").differs_from(""),
    "n: expected 1 or 2, got 3": lambda: expect(3, "n").one_of(1, 2),
    "n: expected at most 2, got 3": lambda: expect(3, "n").at_most(2),
    "n: expected at least 4, got 3": lambda: expect(3, "n").at_least(4),
    "n: expected from 4 to 5, got 3": lambda: expect(3, "n").between(4, 5),
    "n: expected TRUE, got none": lambda: expect([], "n").is_true(),
    "n: expected FALSE, got [1]": lambda: expect([1], "n").is_false(),
    "n: expected present, got absent": lambda: expect(None, "n").is_present(),
    "n: expected none, got 0": lambda: expect(0, "n").is_absent(),
    "n: expected none, got ['a']": lambda: expect([b"a"], "n").equals([]),
    "n at offset 20: expected 01, got 00 (40 bytes in all)": lambda: expect(bytes(40), "n").equals(
        bytes(20) + b"\1" + bytes(19)
    ),
    "n: expected 7 names, got 'a', 'b', 'c', 'd', 'e', 'f' (missing 'g')": lambda: expect(
        NAMES[:6], "n"
    ).equals(NAMES),
    "n, item 0: expected 'g', got 'a' (of 7)": lambda: expect(NAMES, "n").equals(NAMES[::-1]),
    "n, item 8: expected 9, got 8 (of 20)": lambda: expect([*range(20)], "n").equals([*range(8), 9]),
    "n, number: expected 8, got 20": lambda: expect([*range(20)], "n").equals([*range(8)]),
    "n: expected 2 among them, got [1]": lambda: expect([1], "n").contains(2),
    "n: expected no 1, got [1]": lambda: expect([1], "n").lacks(1),
    "n: expected an even number, got 3": lambda: expect(3, "n").satisfies(
        lambda n: n % 2 == 0, "an even number"
    ),
    "mode: expected 0644, got 0600": lambda: expect(0o600, "mode").equals(0o644),
    "permission bits of mode: expected 0644, got 0600": (
        lambda: expect(0o600, "permission bits of mode").equals(0o644)
    ),
    "mtime: expected 1.0, got 2.5": lambda: expect(Nfstime3(2, 500_000_000), "mtime").equals(Nfstime3(1)),
}


@pytest.mark.parametrize("claim", HOLDING, ids=range(len(HOLDING)))
def test_what_holds_passes(claim: Callable[[], object]) -> None:
    claim()


@pytest.mark.parametrize("text", BROKEN)
def test_what_does_not_hold_says_what_was_expected_and_seen(text: str) -> None:
    with pytest.raises(Nonconformance) as caught:
        BROKEN[text]()
    assert str(caught.value) == text


def test_the_requirement_of_the_running_check_is_the_default() -> None:
    @proves(RULE, ADVICE, killed_by="mutant", needs="symlink")
    def check() -> None:
        expect(1, "n").equals(2)

    proof = proof_of(check)
    assert proof is not None
    assert (proof.main, proof.killed_by, proof.needs) == (RULE, ("mutant",), ("symlink",))
    with running(proof) as state:
        observe("seen", 1)
        with pytest.raises(Nonconformance) as caught:
            check()
    assert caught.value.requirement is RULE
    assert state.observations == {"seen": "1"}


def test_an_expected_error_of_the_library_is_given_back() -> None:
    def refuse() -> None:
        raise ProcUnavail("X")

    assert isinstance(expect_error(ProcUnavail, refuse), ProcUnavail)
    with pytest.raises(Nonconformance, match="PROC_UNAVAIL") as caught:
        expect_error((GarbageArgs, AuthFailed), refuse)
    assert caught.value.expected == ("GARBAGE_ARGS", "AUTH_ERROR")
    with pytest.raises(Nonconformance, match="ordinary reply"):
        expect_error(RpcError, lambda: None)


def test_implementation_text_is_should_at_most_unless_it_says_must() -> None:
    with pytest.raises(ValueError, match="SHOULD at most"):
        stated("RFC 1813", "3.3.8", "x", part=Part.IMPLEMENTATION)
    binding = must("RFC 1813", "3.3.10", "x", part=Part.IMPLEMENTATION, says_must=True)
    assert binding.is_binding
    assert not ADVICE.is_binding


def test_a_check_proves_something() -> None:
    with pytest.raises(ValueError, match="at least one"):
        proves(killed_by="mutant")


def test_values_are_shown_safely_and_briefly() -> None:
    assert show(b"name") == "'name'"
    assert show(b"\x00\x1b") == "001b (2 bytes)"
    assert show(Nfsstat3.NFS3ERR_IO) == "NFS3ERR_IO (5)"
    assert show(list(range(100))).endswith("... (100 in all)]")
    assert show(Diropargs3(b"\x01\x02", b"f")) == "(dir=0102 (2 bytes), name='f')"


def test_an_error_number_of_unix_is_an_error_of_version_2() -> None:
    invalid = nfs2.StatRes(nfs2.Nfsstat2(22))
    with running(None) as state:
        assert expect(invalid).refused() == 22
        assert state.observations == {"status outside of the RFC": "UNKNOWN_22 (22)"}
        with pytest.raises(Nonconformance):
            expect(invalid).ok()
        for number in (45, 95):
            with pytest.raises(Unsupported):
                expect(nfs2.StatRes(nfs2.Nfsstat2(number))).ok()
