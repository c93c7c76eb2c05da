# SPDX-License-Identifier: MIT
"""What all our own tests share."""

from __future__ import annotations

import os
import re
import shutil
import signal
from collections import Counter

import pytest
from hypothesis import HealthCheck, settings

from fixtures.stage.memory import memory_file
from nfsclient.rpc.loop import Loop
from nfsproof.starter import leave_the_home_of_the_user
from tests.needs import MARK, need

# Before any test module is imported, also where pytest was started without `nfsproof selftest`. Workers of xdist
# inherit it.
leave_the_home_of_the_user()

# Before each wait of a loop in this process: what it knows of its members is what they would answer.
Loop.is_checked = True

# Not in the folder of the plugin's tests: pytest reads this name from the first conftest files only.
pytest_plugins = ["pytester"]

# Where we are started with signals ignored (by nohup, in the background of a script), what we start would ignore them
# too, and that is another case than the one that tests of signals are about.
for _number, _handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(_number) == signal.SIG_IGN:
        signal.signal(_number, _handler)


def pytest_configure(config: pytest.Config) -> None:
    """Declares the mark of `tests.needs.needs`, and how Hypothesis draws. No test module is imported yet.

    The same examples every time, so that what is green here is green for everybody; others are drawn where somebody
    asks for a number of them, or gives a seed. A busy machine is no failure: no deadline, and they may be slow to make.
    """
    wants_others = not {"NFSPROOF_EXAMPLES", "NFSPROOF_PLANS"}.isdisjoint(os.environ)
    settings.register_profile(
        "own-tests",
        deadline=None,
        derandomize=not wants_others and config.getoption("--hypothesis-seed", default=None) is None,
        max_examples=int(os.environ.get("NFSPROOF_EXAMPLES", "50")),
        suppress_health_check=[HealthCheck.too_slow],
    )
    settings.load_profile("own-tests")
    config.addinivalue_line("markers", f"{MARK}(*tools, extra): programs and packages that this test uses")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """A tool that is missing ends a test before its fixtures are made; and no test starts with what runs remember.

    Servers of two tests may have had the same port, and a run of a URL remembers for an hour what was found there.
    """
    shutil.rmtree(memory_file("").parent, ignore_errors=True)
    for mark in item.iter_markers(MARK):
        need(*mark.args)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What was left out, and why: a green run must not hide that."""
    reasons = Counter(
        re.sub(r"^Skipped: ", "", report.longrepr[2])
        for report in terminalreporter.stats.get("skipped", [])
        if isinstance(report.longrepr, tuple)
    )
    if reasons:
        terminalreporter.section("left out")
    for reason, number in reasons.most_common():
        terminalreporter.line(f"{number:4} {reason}")
