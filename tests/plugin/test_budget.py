# SPDX-License-Identifier: MIT
"""How much a check does: less on the embedded server, unless the user wants everything."""

from __future__ import annotations

import pytest

from fixtures.checks.budget import Budget
from tests.plugin.conftest import Suite

CHECK = """
from fixtures.checks.budget import Budget
from nfsjudge import observe, proves, stated

CLAUSE = stated("RFC 1813", "3.3.1", "toy")

@proves(CLAUSE, killed_by="write3-reports-more-than-sent")
def test_amount(budget: Budget) -> None:
    \"\"\"Toy.\"\"\"
    observe("amount", str(budget.of(10_000, ours=2_000)))
"""


@pytest.mark.parametrize(
    ("option", "amount"), [((), "2000"), (("--thorough",), "10000")], ids=["usual", "all"]
)
def test_the_embedded_server_gets_less(suite: Suite, option: tuple[str, ...], amount: str) -> None:
    suite.write(CHECK)
    outcome = suite.run("--target", "embedded", *option)
    assert outcome.checks["amount"].observations["amount"] == amount


def test_it_is_never_more_than_all() -> None:
    assert Budget(is_thorough=False).of(100, ours=2_000) == 100
    assert Budget(is_thorough=True).of(100, ours=50) == 100


LEAVING = """
from collections.abc import Iterator

import pytest

from fixtures.checks.budget import Budget
from nfsjudge import observe, proves, stated

CLAUSE = stated("RFC 1813", "3.3.1", "toy")

@proves(CLAUSE, killed_by="write3-reports-more-than-sent")
def test_names(budget: Budget, scratch) -> None:
    \"\"\"Toy.\"\"\"
    scratch.file("left")
    observe("leaves", str(budget.leaves_names))
"""


@pytest.mark.parametrize("option", [(), ("--thorough",)], ids=["usual", "all"])
def test_many_names_are_left_to_the_embedded_server_alone(suite: Suite, option: tuple[str, ...]) -> None:
    suite.write(LEAVING)
    outcome = suite.run("--target", "embedded", *option)
    assert outcome.checks["names"].observations["leaves"] == "True"
    assert not Budget(is_thorough=True).leaves_names
