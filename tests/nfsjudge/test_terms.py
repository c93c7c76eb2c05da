# SPDX-License-Identifier: MIT
"""The fields of an outcome follow from what is compared, and never from the words of a text."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

import pytest

from nfsclient.errors import BadPadding, BadReply, ConnectionLost, GarbageArgs, RpcTimeout, XdrError
from nfsclient.protocol.nfs2 import Nfsstat2, Timeval
from nfsclient.protocol.nfs3 import Ftype3, Nfsstat3, Nfstime3
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsjudge import (
    Nonconformance,
    expect,
    expect_attributes,
    expect_data,
    expect_names,
    expect_once,
    expect_that,
    show,
)
from nfsjudge.answers import outcome_of_error
from nfsjudge.deviation import Deviation, OutcomeRecord, is_error, short
from nfsjudge.terms import outcome_of, plain_path, term_of

OK, NOENT, IO = Nfsstat4.NFS4_OK, Nfsstat3.NFS3ERR_NOENT, Nfsstat3.NFS3ERR_IO


def of(act: Callable[[], object]) -> OutcomeRecord:
    with pytest.raises(Nonconformance) as raised:
        act()
    return raised.value.outcome


@pytest.mark.parametrize(
    ("act", "outcome"),
    [
        (lambda: expect(NOENT, "status").equals(IO), ("status", ["NFS3ERR_IO"], "NFS3ERR_NOENT", "status")),
        (lambda: expect(NOENT, "x y").differs_from(NOENT), ("status", ["not NFS3ERR_NOENT"], "NFS3ERR_NOENT")),
        (lambda: expect("SUCCESS", "it is").one_of("no reply", "SYSTEM_ERR"), ("status", ..., "SUCCESS")),
        (lambda: expect("no reply", "it is").equals("SUCCESS"), ("unanswered", ["SUCCESS"], "no reply")),
        (lambda: expect(4, "count").at_most(3), ("field", ["at most number"], "number", "count")),
        (lambda: expect(4, "count").between(5, 6), ("field", ["from number to number"], "number", "count")),
        (lambda: expect(Ftype3.NF3LNK, "type").equals(Ftype3.NF3REG), ("field", ["NF3REG"], "NF3LNK", "type")),
        (lambda: expect(None, "after").is_present(), ("field", ["present"], "absent", "after")),
        (lambda: expect(False, "eof").is_true(), ("field", ["TRUE"], "FALSE", "eof")),
        (lambda: expect([b"a"], "the names").lacks(b"a"), ("field", ["no bytes"], "list")),
        (lambda: expect([*range(9)], "the list").equals([]), ("field", ["none"], "list")),
        (lambda: expect(0, "n").satisfies(bool, "odd"), ("field", ["other"], "number", "n")),
        (lambda: expect_data(b"ab", b"ac"), ("data", [], "")),
        (lambda: expect_data(b"ab", b"abc"), ("data", [], "length")),
        (lambda: expect_names([b"a", b"c"], [b"a", b"b"]), ("names", [], "missing and unexpected")),
        (lambda: expect_names([b"a", b"a"], [b"a"]), ("names", [], "repeated")),
        (lambda: expect_once([b"a"], [b"a", b"b"]), ("names", [], "missing")),
        (lambda: expect_attributes(Nfstime3(1, 2), seconds=4), ("field", ["number"], "number", "seconds")),
        (lambda: expect_that(False, "success", show(IO), "x of y"), ("status", ["success"], "NFS3ERR_IO")),
        (lambda: expect_that(False, "NFS3ERR_NOENT", "success"), ("status", ["NFS3ERR_NOENT"], "success")),
        (lambda: expect_that(False, "a lease", f"a reply of {show(IO)}"), ("other", [], "")),
    ],
)  # fmt: skip
def test_what_is_compared_says_what_deviates(act: Callable[[], object], outcome: tuple[object, ...]) -> None:
    seen = of(act)
    kind, expected, observed, *field = outcome
    assert (seen.kind, seen.seen, seen.field) == (kind, observed, *(field or [""]))
    assert expected in (..., seen.expected)


@pytest.mark.parametrize("value", [Nfstime3(1, 2), Timeval(1, 2)])
def test_times_of_all_versions_are_one_term(value: object) -> None:
    assert outcome_of(["0"], show(value)).seen == "time"


def test_a_status_says_what_it_is_whatever_was_to_be_seen() -> None:
    assert outcome_of(["'a'"], show(IO), kind=Deviation.NAMES).kind == "status"
    assert outcome_of(["'a'"], "'b'", kind=Deviation.NAMES).kind == "names"
    assert outcome_of([show(Ftype3.NF3REG)], show(IO)).expected == ["other"]


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (XdrError("Read3Res.resok.entries[3].name", "x", 4), ("undecodable", "", "resok.entries.name")),
        (BadPadding("Read3Res.resok.data", "x", 4), ("undecodable", "padding", "resok.data")),
        (BadReply("x", b"", "ReplyHeader.body.areply"), ("undecodable", "", "body.areply")),
        (BadReply("x", b"", "mtype"), ("undecodable", "", "mtype")),
        (GarbageArgs("READ"), ("status", "GARBAGE_ARGS", "")),
        (RpcTimeout("READ", 1.0), ("unanswered", "no reply", "")),
        (ConnectionLost("READ", "reset"), ("unanswered", "a closed connection", "")),
    ],
)
def test_errors_of_the_library_are_outcomes(error: t.Any, outcome: tuple[str, str, str]) -> None:
    found = outcome_of_error(error)
    assert (found.kind, found.seen, found.field) == outcome


def test_errors_are_known_by_no_prefix() -> None:
    assert all(
        map(is_error, ("NFS3ERR_IO", "NFS4ERR_DELAY", "MNT3ERR_ACCES", "FULL", "UNKNOWN_22", "an error"))
    )
    assert not any(map(is_error, ("", "success", "SUCCESS", "SYSTEM_ERR", "not NFS3ERR_IO", "other")))
    assert (short("NFS4ERR_NOENT"), short("NOENT")) == ("NOENT", "NOENT")
    assert term_of(show(OK)) == term_of("success")
    assert plain_path("a[3].b[0].c") == "a.b.c"
    assert Nfsstat2.NFSERR_IO.name in (term_of(show(Nfsstat2.NFSERR_IO)) or ("",))
