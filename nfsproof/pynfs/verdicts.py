# SPDX-License-Identifier: MIT
"""Results of pynfs as records: its words as text, made harmless and bounded.

| pynfs says | verdict | why |
| --- | --- | --- |
| PASS | PASS | |
| WARNING | NONSTRICT | the server passes, and pynfs knows a better answer |
| UNSUPPORTED | UNSUPPORTED | the server says that it lacks what the test needs |
| OMIT | SKIP | a test that it depends on did not pass |
| FAILURE | FAIL | pynfs reports a failure |
| FAILURE by an exception of its library that compares statuses | FAIL | that is how it reports some failures |
| FAILURE by another exception | VOID | the test did not reach its claim, or has a bug |
| nothing | VOID | the test was killed, or pynfs ended in it |
"""

from __future__ import annotations

import re
import typing as t
from collections.abc import Sequence
from dataclasses import dataclass

from nfsclient.protocol.nfs4 import operations
from nfsclient.protocol.nfs4.operations import Operation
from nfsjudge.deviation import SUCCESS, Deviation, OutcomeRecord
from nfsjudge.reason import Lack, ReasonRecord
from nfsjudge.records import CheckRecord
from nfsproof.pynfs.output import Ended
from nfsproof.pynfs.segment import Detail
from reports.plain import printable, shortened

_SHOULD: t.Final = re.compile(
    r"(?:[\w.]{1,80}: )?(?P<what>.{1,600}?) should return (?P<expected>NFS4\w{1,60}(?: or NFS4\w{1,60}){0,30}), "
    r"instead got (?P<seen>NFS4\w{1,60})"
)
"""The one sentence in which pynfs compares statuses. Its library does so by an exception, whose name comes first."""
_OPERATION: t.Final = re.compile(r"(?:operation )?OP_([A-Z_]{1,40})")
_VERDICTS: t.Final = {
    "PASS": "PASS",
    "WARNING": "NONSTRICT",
    "UNSUPPORTED": "UNSUPPORTED",
    "OMIT": "SKIP",
    "FAILURE": "FAIL",
}
_MOST_WORDS: t.Final = 1000
_MOST_REASON: t.Final = 160
"""Characters of the text by which reasons are compared."""


@dataclass(frozen=True, slots=True)
class Naming:
    """What the records of one run have in common."""

    protocol: str
    target: str
    rerun: t.Callable[[str], str]
    """A code -> the command that runs it again."""
    folder: str = ""
    """The checkout: its path is left out of what pynfs prints."""

    def id_of(self, code: str, name: str) -> str:
        """``pynfs41/exchange_id/EID1``: the file of the test is the subject."""
        subject = name.partition(".")[0].removeprefix("st_")
        subject = re.sub(r"[^A-Za-z0-9_]", "_", subject)[:60] or "tests"
        return f"{self.protocol}/{subject}/{code}"


def record_of(ended: Ended, naming: Naming, detail: Detail | None, began: float) -> CheckRecord:
    """The record of a test. `detail` is what the file of results says of its failure; None: nothing."""
    if detail is not None and ended.state != "FAILURE":
        ended = Ended(ended.code, ended.name, "FAILURE", detail.words, ended.output, ended.seconds)
    words = text(ended.words or (detail.words if detail is not None else ""))
    has_crashed = ended.has_crashed or (detail is not None and detail.has_crashed)
    has_crashed = has_crashed and _SHOULD.fullmatch(words) is None
    verdict = "VOID" if has_crashed else _VERDICTS[ended.state]
    record = CheckRecord(
        naming.id_of(ended.code, ended.name),
        verdict,
        duration=ended.seconds,
        began=began,
        target=naming.target,
        rerun=naming.rerun(ended.code),
        title=text(f"{ended.code}: {ended.name}", 200),
        transcript=_transcript(ended, detail, naming.folder),
    )
    if verdict in {"FAIL", "NONSTRICT"}:
        _fill_outcome(record, words or "pynfs gives no words")
    elif verdict == "VOID":
        _fill_reason(record, f"the test of pynfs ended by an exception: {words}")
    elif verdict in {"SKIP", "UNSUPPORTED"}:
        _fill_reason(record, f"pynfs: {words or 'it gives no reason'}")
    return record


def not_judged(code: str, name: str, naming: Naming, why: str, verdict: str = "VOID") -> CheckRecord:
    """The record of a test that has no result."""
    record = CheckRecord(
        naming.id_of(code, name),
        verdict,
        target=naming.target,
        rerun=naming.rerun(code),
        title=text(f"{code}: {name}", 200),
    )
    _fill_reason(record, text(why))
    return record


def text(words: str, most: int = _MOST_WORDS) -> str:
    """Words from outside: one line, without control characters, bounded."""
    return shortened(printable(" ".join(words.split())), most)


def _fill_outcome(record: CheckRecord, words: str) -> None:
    found = _SHOULD.fullmatch(words)
    if found is None:
        record.observed = words
        record.outcome = OutcomeRecord(str(Deviation.OTHER), seen=shortened(words, _MOST_REASON))
        return
    expected = found["expected"].split(" or ")
    named = _OPERATION.fullmatch(found["what"])
    record.what, record.expected, record.observed = found["what"], expected, found["seen"]
    record.outcome = OutcomeRecord(
        str(Deviation.STATUS),
        _operation_of(record.id) if named is None else named[1],
        [_term(status) for status in expected],
        _term(found["seen"]),
    )


def _operation_of(check_id: str) -> str:
    """The operation that the file of a test is named for; empty if it is named for something else."""
    name = check_id.split("/")[1].upper()
    return name if isinstance(getattr(operations, name, None), Operation) else ""


def _term(status: str) -> str:
    return SUCCESS if status == "NFS4_OK" else status


def _fill_reason(record: CheckRecord, why: str) -> None:
    record.reason = why
    record.why = ReasonRecord(str(Lack.OTHER), shortened(why, _MOST_REASON))


def _transcript(ended: Ended, detail: Detail | None, folder: str) -> list[str]:
    """What pynfs printed in the test, or the traceback from its file: the evidence for what is not green."""
    if ended.state in {"PASS", "OMIT"}:
        return []
    lines: Sequence[str] = detail.traceback if detail is not None and detail.traceback else ended.output
    return [shortened(printable(line.replace(f"{folder}/", "") if folder else line), 400) for line in lines]
