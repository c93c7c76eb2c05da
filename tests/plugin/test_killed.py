# SPDX-License-Identifier: MIT
"""A run that is killed leaves the records of the checks that were over, each of them whole."""

from __future__ import annotations

import signal

from nfsjudge.records import CheckRecord, EndRecord, RunRecord, from_line
from tests.plugin.conftest import Suite
from tests.plugin.test_plugin_verdicts import check


def test_a_run_that_is_killed_leaves_whole_records(suite: Suite) -> None:
    suite.write(
        "".join(check(f"a{number}", "pass") for number in range(20))
        + check("b_is_killed", "import signal; os.kill(os.getpid(), signal.SIGKILL)")
        + check("c_never_ran", "pass")
    )
    outcome = suite.run_apart()
    assert outcome.exit_code == -signal.SIGKILL
    lines = (outcome.report / "records.jsonl").read_text(encoding="utf-8").splitlines()
    first, *records = map(from_line, lines)
    assert isinstance(first, RunRecord)
    assert [record.id for record in records if isinstance(record, CheckRecord)] == [
        f"nfs3/fake/a{number}" for number in range(20)
    ]
    assert not any(isinstance(record, EndRecord) for record in records)
