# SPDX-License-Identifier: MIT
"""`--log-wire`: what passes, line by line, in a file or on standard error."""

from __future__ import annotations

import re

import pytest

from tests.plugin.conftest import Suite
from tests.plugin.test_plugin_verdicts import check

CALLS = check("calls", "nfs3.null(); nfs3.getattr(scratch.handle)", "nfs3, scratch")
LINE = re.compile(r"\d\d:\d\d:\d\d\.\d{6} (\S+) (?:tcp|udp) \S+ 0x[0-9a-f]{8} (.*) -> (\S+).* \(\d+\.\d ms\)")
RAW = re.compile(r"[\d:.]{15} \S+ (?:tcp|udp) \S+ (?:->|<-) \d+ bytes")


@pytest.mark.parametrize("workers", [(), ("-p", "xdist.plugin", "-n", "2")], ids=["alone", "workers"])
def test_each_call_is_a_line(suite: Suite, workers: tuple[str, ...]) -> None:
    suite.write(CALLS)
    place = suite.pytester.path / "wire.txt"
    place.write_text("of an earlier run\n")
    assert suite.run_apart("--log-wire", str(place), *workers).exit_code == 0
    lines = place.read_text().splitlines()
    found = [LINE.fullmatch(line) for line in lines]
    assert all(match is not None or RAW.fullmatch(line) for match, line in zip(found, lines, strict=True)), (
        lines
    )
    of_check = [match[2] for match in found if match is not None and match[1].endswith("/calls")]
    assert "NULL" in of_check
    assert any(text.startswith("GETATTR object=") for text in of_check)
    assert {match[3] for match in found if match is not None and match[2].startswith("GETATTR")} >= {
        "NFS3_OK"
    }


def test_standard_error(suite: Suite) -> None:
    suite.write(CALLS)
    ended = suite.pytester.runpytest_subprocess(*suite.arguments(), "--log-wire=-")
    assert ended.ret == 0
    assert sum(LINE.fullmatch(line) is not None for line in ended.errlines) > 5


def test_a_file_that_cannot_be_written(suite: Suite) -> None:
    suite.write(CALLS)
    ended = suite.pytester.runpytest_inprocess(*suite.arguments(), "--log-wire=nowhere/x")
    assert ended.ret == 4
    ended.stderr.fnmatch_lines(["*--log-wire: cannot write nowhere/x: No such file*"])
