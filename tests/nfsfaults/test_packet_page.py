# SPDX-License-Identifier: MIT
"""The examples of docs/packets.md."""

from __future__ import annotations

import doctest
from pathlib import Path

from tests.needs import needs

pytestmark = needs("scapy")

PAGE = Path(__file__).resolve().parents[2] / "docs" / "packets.md"


def test_the_examples_do_what_the_page_says() -> None:
    results = doctest.testfile(str(PAGE), module_relative=False)
    assert results.attempted > 30
    assert results.failed == 0
