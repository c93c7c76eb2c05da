# SPDX-License-Identifier: MIT
"""The end of a server is reported with the last lines of its log, and grouped without them."""

from __future__ import annotations

from pathlib import Path

import pytest

from nfsjudge.reason import Lack, because, fields_of
from nfsjudge.records import CheckRecord
from nfstargets.ganesha import GaneshaTarget
from nfstargets.program import without_log
from reports.causes import causes


def reported(log: Path, what: str) -> str:
    target = GaneshaTarget("mem")
    target.log_path = log
    return target._with_log(what)


@pytest.mark.parametrize("lines", ["", "panic: 0x7f0e\n  in write\n"], ids=["empty", "two lines"])
def test_the_log_is_left_out_of_the_reason(tmp_path: Path, lines: str) -> None:
    log = tmp_path / "server.log"
    log.write_text(lines, encoding="utf-8")
    what = "the target is gone: it ended unexpectedly with exit status 2"
    text = reported(log, what)
    assert ("in write" in text) is bool(lines)
    assert without_log(text) == (what if lines else f"{what}; its log is empty")


def test_servers_that_end_alike_are_one_cause_whatever_they_logged(tmp_path: Path) -> None:
    records = []
    for number, line in enumerate(("panic in write", "panic in read")):
        log = tmp_path / "server.log"
        log.write_text(line, encoding="utf-8")
        text = reported(log, "the target is gone: it ended unexpectedly with exit status 2")
        why = fields_of(because(Lack.OTHER, text, short=without_log(text)))
        records.append(CheckRecord(f"nfs3/A{number}/b{number}", "VOID", reason=text, why=why))
    (cause,) = causes(records)
    assert cause.text == "the target is gone: it ended unexpectedly with exit status 2"
