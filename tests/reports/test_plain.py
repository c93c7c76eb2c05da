# SPDX-License-Identifier: MIT
"""Text from a target on its way to a terminal, a log, an address."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nfsjudge.records import RequirementRecord
from reports.board.safe import visible
from reports.plain import clause_url, printable, shortened


@settings(deadline=None)
@given(st.text(st.sampled_from("\n\r\t :#[\\a\u2028\x85\xa0\x1b") | st.characters()))
def test_no_controls_no_commands_and_twice_is_once(text: str) -> None:
    shown = printable(text)
    assert all(sign.isprintable() or sign in "\n\t" or ord(sign) > 0x9F for sign in shown)
    assert not any(line.strip().startswith("::") for line in shown.split("\n"))
    assert "##[" not in shown
    assert printable(shown) == shown
    shown.encode()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("name: '##[set-output name=a]b'", "name: '##\\[set-output name=a]b'"),
        ("x ##vso[task.setvariable variable=a]b", "x ##\\vso[task.setvariable variable=a]b"),
        ("###[error]", "###\\[error]"),
        ("  ::error::x", "  \\::error::x"),
        ("seen: a::b ## c [d]", "seen: a::b ## c [d]"),
    ],
)
def test_commands_of_ci_are_printed_as_text_wherever_they_stand(text: str, shown: str) -> None:
    assert printable(text) == shown


@pytest.mark.parametrize(
    ("hiding", "shown"),
    [("\u061c", "\\u061c"), ("\xad", "\\xad"), ("\U000e0041", "\\U000e0041"), ("\U000e01ef", "\\U000e01ef")],
)
def test_what_hides_itself_or_moves_others_is_written_out(hiding: str, shown: str) -> None:
    assert printable(f"a{hiding}b") == visible(f"a{hiding}b") == f"a{shown}b"


@pytest.mark.parametrize("text", ["\n" * 10**6, " " * 10**6, " \n" * 10**6, ":" * 10**6, "\x1b" * 10**6])
def test_long_text_takes_no_long_time(text: str) -> None:
    began = time.process_time()
    printable(text)
    assert time.process_time() - began < 10


@given(st.text(max_size=20), st.integers(3, 30))
def test_shortened(text: str, length: int) -> None:
    assert len(shortened(text, length)) <= length
    assert shortened(text, 20) == text


@pytest.mark.parametrize(
    ("rfc", "section", "end"),
    [
        ("RFC 1813", "3.3.7", "rfc1813#section-3.3.7"),
        ("RFC 1094", "A.5.2", "rfc1094#appendix-A.5.2"),
        ("RFC 8881", "Appendix B", "rfc8881#appendix-B"),
        ("RFC 8881", '"><script>', "rfc8881"),
        ("XNFS", "1", ""),
        ("RFC 1813/../x", "1", ""),
    ],
)
def test_addresses_of_clauses(rfc: str, section: str, end: str) -> None:
    url = clause_url(RequirementRecord(rfc, section, "", "", ""))
    assert url == (f"https://www.rfc-editor.org/rfc/{end}" if end else "")
