# SPDX-License-Identifier: MIT
"""The duplicate-request profile, from observations to words."""

from __future__ import annotations

from nfsjudge.duplicates import (
    ALIKE,
    CACHED,
    ENTRIES,
    EXECUTED,
    SECONDS,
    WAYS,
    bound_key,
    bound_of,
    cell_key,
    cell_of,
)
from nfsjudge.records import CheckRecord, RunRecord
from reports.board.duplicates import duplicates_data
from reports.duplicates import profile_of, sentences
from reports.markdown import render_markdown
from reports.run import Run, from_records


def _run(label: str, **observations: str) -> Run:
    check = CheckRecord("faults/profile/late[x]", "PASS", observations=observations)
    return from_records([RunRecord(target=label), check])[0]


def _embedded() -> Run:
    return _run(
        "one",
        **{
            cell_key(3, "REMOVE", "late-udp"): CACHED,
            cell_key(3, "MKDIR", "late-udp"): CACHED,
            cell_key(3, "REMOVE", "port-udp"): EXECUTED,
            cell_key(3, "CREATE GUARDED", "lost-tcp"): ALIKE,
            bound_key(3, "udp", ENTRIES): "there after 512 other calls, gone after 1024",
            bound_key(3, "udp", SECONDS): "at least 2 s",
            "late copy": "answered with success",
        },
    )


def test_keys_come_back_from_their_texts() -> None:
    for way in WAYS:
        assert cell_of(cell_key(3, "CREATE EXCLUSIVE", way)) == ("v3", "CREATE EXCLUSIVE", way)
    assert bound_of(bound_key(2, "tcp", SECONDS)) == ("tcp", "v2", SECONDS)
    assert cell_of("late copy") is None
    assert cell_of("duplicate of v3 REMOVE: by-pigeon") is None
    assert bound_of("late copy") is None


def test_a_profile_in_words() -> None:
    unclear = "gets a success that does not tell whether it was executed again"
    assert list(sentences(profile_of(_embedded()))) == [
        "NFSv3: a REMOVE is executed as a new call when it is sent again later over UDP from another port.",
        "NFSv3: each change gets the reply of the first one when it is sent again later over UDP from the same port.",
        f"NFSv3: a CREATE GUARDED {unclear} when it is sent again over TCP after a lost reply.",
        "NFSv3 over UDP: the reply to a MKDIR is there after 512 other calls, gone after 1024.",
        "NFSv3 over UDP: the reply to a MKDIR stays for at least 2 s.",
    ]


def test_an_answer_that_nobody_knows_is_left_out() -> None:
    profile = profile_of(_run("x", **{cell_key(3, "REMOVE", "late-udp"): "eaten"}))
    assert not profile.cells


def test_two_runs_stand_next_to_each_other_on_the_board() -> None:
    other = _run("two", **{cell_key(3, "REMOVE", "late-udp"): EXECUTED})
    data = duplicates_data([_embedded(), other])
    assert data is not None
    assert [way for way, _ in data["ways"]] == ["lost-tcp", "late-udp", "port-udp"]
    rows = dict(data["rows"])
    assert rows["v3 REMOVE"] == [["", "cache", "again"], ["", "again", ""]]
    assert rows["v3 MKDIR"] == [["", "cache", ""], ["", "", ""]]
    assert duplicates_data([_run("nothing")]) is None


def test_markdown_has_the_profile_in_words_and_as_a_table() -> None:
    text = render_markdown([_embedded()])
    assert "#### Duplicates of calls" in text
    assert "a REMOVE is executed as a new call" in text
    assert "v3 REMOVE" in text
    assert "Duplicates" not in render_markdown([_run("nothing")])
