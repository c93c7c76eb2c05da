# SPDX-License-Identifier: MIT
"""What pynfs prints, read by lines: states, words, crashes, and text that looks like a result and is none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nfsproof.pynfs.output import MOST_OUTPUT, MOST_WORDS, Ended, Follower, in_one_line

LABEL = f"{'EID1     st_exchange_id.testSupported':65} : "
OTHER = f"{'EID2     st_exchange_id.testNoImplId':65} : "
STARS = "*" * 50


def followed(*lines: str, codes: tuple[str, ...] = ("EID1", "EID2")) -> Follower:
    """A follower after these lines, and the end."""
    times = iter(range(1000))
    follower = Follower(codes, lambda: float(next(times)))
    follower.feed("".join(f"{line}\n" for line in lines).encode())
    follower.finish()
    return follower


def results(*lines: str) -> list[tuple[str, str, str]]:
    """Code, state and words of what has ended."""
    return [(ended.code, ended.state, ended.words) for ended in followed(*lines).done]


def test_the_words_of_a_failure_are_joined() -> None:
    found = results(
        LABEL + "RUNNING", LABEL + "FAILURE", " " * 11 + "one two", " " * 11 + "three", "INFO more"
    )
    assert found == [("EID1", "FAILURE", "one two three")]


@pytest.mark.parametrize("state", ["PASS", "WARNING", "UNSUPPORTED"])
def test_states(state: str) -> None:
    assert results(LABEL + "RUNNING", LABEL + state) == [("EID1", state, "")]


def test_a_result_may_follow_output_without_an_end_of_line() -> None:
    follower = followed(LABEL + "RUNNING", "got 17" + LABEL + "FAILURE")
    assert [(ended.state, ended.output) for ended in follower.done] == [("FAILURE", ["got 17"])]


def test_only_the_label_of_the_test_that_runs_counts() -> None:
    """A test may print what a server sent: it cannot pass for another test, nor end this one by another label."""
    follower = followed(LABEL + "RUNNING", OTHER + "PASS", "EID1 st_exchange_id.testSupported : PASS", STARS)
    assert follower.done == []
    assert follower.running == "EID1"


def test_unknown_codes_are_no_tests() -> None:
    assert followed(f"{'FAKE1    st_x.y':65} : RUNNING").running == ""


def test_only_skipped_tests_of_the_list_at_the_end_count() -> None:
    found = results(
        LABEL + "RUNNING",
        LABEL + "PASS",
        STARS,
        LABEL + "FAILURE",
        " " * 11 + "late",
        OTHER + "OMIT",
        " " * 11 + "EID1 failed",
    )
    assert found == [("EID1", "PASS", ""), ("EID2", "OMIT", "EID1 failed")]


def test_a_traceback_with_the_words_is_a_crash() -> None:
    trace = ["Traceback (most recent call last):", '  File "x.py", line 1, in f', "KeyError: 'a b'"]
    failed = [LABEL + "FAILURE", " " * 11 + "KeyError: 'a b'"]
    assert followed(LABEL + "RUNNING", *trace, *failed).done[0].has_crashed
    assert not followed(LABEL + "RUNNING", *failed).done[0].has_crashed
    other = [*trace[:2], "ValueError: of a thread"]
    assert not followed(LABEL + "RUNNING", *other, *failed).done[0].has_crashed
    assert not Ended("EID1", "", "PASS", "KeyError: 'a b'", trace).has_crashed


def test_everything_is_bounded() -> None:
    words = [" " * 11 + "word " * 100] * 1000
    follower = followed(LABEL + "RUNNING", *["x" * 10_000] * 1000, LABEL + "FAILURE", *words)
    (ended,) = follower.done
    assert len(ended.words) == MOST_WORDS
    assert len(ended.output) == MOST_OUTPUT
    assert max(map(len, ended.output)) < 5000
    follower.feed(b"y" * 1_000_000)
    assert len(follower._line) < 5000


@given(st.binary(max_size=300), st.integers(1, 50))
def test_any_bytes_in_any_pieces(data: bytes, size: int) -> None:
    """Nothing is raised, and pieces change nothing."""
    text = LABEL.encode() + b"RUNNING\n" + data + b"\n" + LABEL.encode() + b"PASS\n"
    whole, pieces = Follower(["EID1"], lambda: 0.0), Follower(["EID1"], lambda: 0.0)
    whole.feed(text)
    for start in range(0, len(text), size):
        pieces.feed(text[start : start + size])
    for follower in (whole, pieces):
        follower.finish()
    assert [ended.state for ended in whole.done] == [ended.state for ended in pieces.done] == ["PASS"]


def test_words_in_one_line() -> None:
    assert in_one_line(" a\n\tb  c ") == "a b c"
