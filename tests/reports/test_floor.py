# SPDX-License-Identifier: MIT
"""The default floor: when a run says too little to be green."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fixtures.stage.capabilities import end_without, unknown
from nfsjudge import Skipped
from nfsjudge.reason import Because, Lack, ReasonRecord, because, fields_of
from nfsjudge.records import CheckRecord, EndRecord, RunRecord
from reports.board import render_board
from reports.floor import advice, too_little
from reports.junit import render_junit
from reports.markdown import render_markdown
from reports.run import Run
from reports.text import render_text


def checks(
    verdict: str, number: int, reason: str = "", protocol: str = "nfs3", unserved: str = ""
) -> list[CheckRecord]:
    why = fields_of(reason) if reason else None
    return [
        CheckRecord(
            f"{protocol}/WRITE/{verdict}-{at}", verdict, reason=str(reason), why=why, unserved=unserved
        )
        for at in range(number)
    ]


def not_made(error: str) -> Because:
    return because(
        Lack.ANSWER,
        f"a scratch directory cannot be made: MKDIR answers {error}",
        operation="MKDIR",
        status=error,
    )


def test_half_is_enough() -> None:
    assert too_little([*checks("PASS", 20), *checks("FAIL", 5), *checks("SKIP", 25)]) == []
    denied = because(Lack.REFUSED, "the server denies it: NFS3ERR_ACCES (13)", status="NFS3ERR_ACCES")
    assert too_little([*checks("PASS", 24), *checks("SKIP", 26, denied)]) == [
        "nfs3: only 24 of 50 checks (48 %) could be judged: NFS3ERR_ACCES (26)"
    ]


def test_few_checks_have_no_floor() -> None:
    assert too_little(checks("SKIP", 49)) == []
    assert len(too_little(checks("VOID", 50))) == 1


def test_each_protocol_counts_for_itself() -> None:
    found = too_little([*checks("PASS", 500, protocol="rpc"), *checks("SKIP", 60)])
    assert [line.partition(":")[0] for line in found] == ["nfs3"]


def test_what_a_server_lacks_is_not_counted() -> None:
    lacking = "the target lacks symlink: SYMLINK answers NFS3ERR_NOTSUPP"
    assert too_little([*checks("UNSUPPORTED", 90, lacking), *checks("PASS", 10)]) == []
    assert too_little([*checks("UNSUPPORTED", 90, "the target has no knobs"), *checks("PASS", 10)]) == []


def test_a_needed_operation_that_is_refused_is_counted() -> None:
    refused = checks("UNSUPPORTED", 90, "the server answers NOTSUPP", unserved="WRITE")
    assert len(too_little([*refused, *checks("PASS", 10)])) == 1


def test_what_could_not_be_set_up_is_counted() -> None:
    with pytest.raises(Skipped) as ended:
        end_without("symlink", unknown(not_made("NFS3ERR_IO")))
    assert str(ended.value).startswith("whether the target has symlink is not known: a scratch directory")
    (line,) = too_little([*checks("SKIP", 60, ended.value.reason), *checks("PASS", 50)])
    assert line.endswith("could be judged: MKDIR answers NFS3ERR_IO (60)")


def test_records_without_fields_are_counted_by_their_texts() -> None:
    old = [CheckRecord(f"nfs3/WRITE/{at}", "SKIP", reason="there is no room") for at in range(60)]
    assert too_little(old) == ["nfs3: only 0 of 60 checks (0 %) could be judged: there is no room (60)"]
    assert advice(old) == []


def test_an_operation_that_always_asks_to_wait_is_not_green() -> None:
    why = ReasonRecord(Lack.NOT_READY, "in other words", status="NFS3ERR_JUKEBOX")
    waiting = [CheckRecord(f"nfs3/COMMIT/c{at}", "SKIP", reason=why.text, why=why) for at in range(3)]
    (line,) = too_little([*waiting, *checks("PASS", 100)])
    assert line.startswith("nfs3/COMMIT: 3 checks waited in vain, and none could be judged")
    assert too_little([*waiting[1:], *checks("PASS", 100)]) == []
    assert too_little([*waiting, CheckRecord("nfs3/COMMIT/other", "PASS"), *checks("PASS", 100)]) == []


@pytest.mark.parametrize(
    ("error", "text"),
    [
        ("NFS3ERR_ROFS", "read-write"),
        ("NFSERR_ACCES", "uid="),
        ("NFS4ERR_PERM", "uid="),
        ("NFS4ERR_ACCESS", "uid="),
        ("NFS3ERR_NOSPC", "full"),
        ("NFS4ERR_DQUOT", "quota"),
    ],
)
def test_what_to_do_is_said_once(error: str, text: str) -> None:
    reason = not_made(error)
    left = [*checks("SKIP", 60, reason), *checks("SKIP", 60, reason, "nfs2")]
    assert len(too_little(left)) == 2
    (line,) = advice(left)
    assert text in line


def test_nothing_is_advised_where_nothing_is_known() -> None:
    assert advice(checks("SKIP", 60, not_made("NFS3ERR_IO"))) == []


# ---------------------------------------------------------------- where it is said

SAID = "nfs3: only 0 of 60 checks (0 %) could be judged"
RENDERERS: dict[str, Callable[[Run], str]] = {
    "text": render_text,
    "markdown": lambda run: render_markdown([run]),
    "board": lambda run: render_board([run]),
    "junit": lambda run: render_junit([run]),
}


@pytest.mark.parametrize("form", RENDERERS)
def test_every_report_says_that_too_little_was_judged(form: str) -> None:
    run = Run(RunRecord("x"), checks("SKIP", 60), end=EndRecord(10))
    shown = RENDERERS[form](run).replace("&#40;", "(").replace("&#41;", ")").replace("&#58;", ":")
    assert SAID in shown
    with_baseline = Run(RunRecord("x"), checks("SKIP", 60), end=EndRecord(0, baseline="b.toml"))
    assert "could be judged" not in RENDERERS[form](with_baseline)


def test_junit_has_a_property_for_the_protocol() -> None:
    run = Run(RunRecord("x"), [*checks("SKIP", 60), *checks("PASS", 60, protocol="rpc")], end=EndRecord(10))
    assert render_junit([run]).count('name="not_judged"') == 1
