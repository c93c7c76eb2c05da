# SPDX-License-Identifier: MIT
"""Records: the result of each check of a run, one JSON object per line. Standard library and plain types only.

The file is written during the run, one flushed line per check, so results survive a crash. The first line has `kind`
"run" (target, capabilities), the last one "end" (exit code); a file without "end" is from a run that was killed.
"""

from __future__ import annotations

import functools
import json
import re
import types
import typing as t
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass

from nfsjudge.deviation import OutcomeRecord
from nfsjudge.harm import harm_text
from nfsjudge.reason import ReasonRecord

SCHEMA = 1
"""Grows when a field changes its meaning or is removed; new fields do not change it."""

_TOO_LARGE = 1e15
"""No number of a record is as large: seconds, bytes, calls. Infinity and NaN are refused with them."""

_LONGEST_RESULT = 160
"""Characters of a failure text that stand on one line."""

_T = t.TypeVar("_T")


@dataclass(slots=True)
class RequirementRecord:
    """The clause that was proved."""

    rfc: str
    section: str
    part: str
    level: str
    gist: str
    harm: str = ""
    """What breaking it does to users: a value of `nfsjudge.requirement.Harm`; empty if none is declared."""
    is_general: bool = False
    """Whether it is about every operation or input, so that its breaches come from different defects."""

    @property
    def citation(self) -> str:
        """Where it stands."""
        return f"{self.rfc} section {self.section}"


@dataclass(slots=True)
class MessageRecord:
    """One message of a check's exchanges, decoded."""

    number: int
    """Of the exchange, from 1: a call and its reply have the same."""
    time: float
    """Seconds since the check began."""
    direction: str
    """"call" or "reply"."""
    summary: str
    """One line."""
    fields: list[str] = field(default_factory=list)
    """All of it, a line a field, indented as it is nested."""
    deviating: list[int] = field(default_factory=list)
    """Indices of the lines in `fields` that the verdict is about."""


def words_of(check_id: str) -> str:
    """The last part of an id, without parameters, in words."""
    return re.sub("[-_]", " ", check_id.partition("[")[0].rpartition("/")[2])


@dataclass(slots=True)
class ServerRecord:
    """What the processes of the server did in one check, as far as the machine shows them. Memory in bytes."""

    damage: str = ""
    """What the verdict says of it: ``died`` or ``grew``; empty if the verdict is about something else."""
    pid: int = 0
    """0: no process was watched."""
    port: int = 0
    ended: str = ""
    """``exit status 2``, ``signal 11 (SIGSEGV)``, ``unknown``; empty if it did not end."""
    memory_before: int = 0
    memory_after: int = 0
    """0 if it has ended."""
    memory_most: int = 0
    """The most that was seen."""
    threads_before: int = 0
    threads_after: int = 0
    announced: int = 0
    """The largest length that a call of the check announced without sending it; 0 if none did."""


@dataclass(slots=True)
class CheckRecord:
    """One check of one run."""

    id: str
    """``nfs3/RENAME/mixed-types[directory-fifo]``: protocol, subject, slug, parameters. Does not change."""
    verdict: str
    requirement: RequirementRecord | None = None
    expected: list[str] = field(default_factory=list)
    """The acceptable outcomes, of a check that did not find one of them."""
    observed: str = ""
    reason: str = ""
    """Why it is SKIP, UNSUPPORTED or VOID."""
    observations: dict[str, str] = field(default_factory=dict)
    """Which of several legal answers were seen."""
    duration: float = 0.0
    """Seconds, fixtures included."""
    exchanges: int = 0
    transcript: list[str] = field(default_factory=list)
    """The exchanges as text: in full for what is not PASS, a line each otherwise."""
    capture: str = ""
    """File next to the records that Wireshark opens; empty if there is none."""
    messages: list[MessageRecord] = field(default_factory=list)
    """The exchanges with all fields, where evidence is kept."""
    script: str = ""
    """File next to the records that sends the same messages by `nfsclient` alone; empty if there is none."""
    requirements: list[RequirementRecord] = field(default_factory=list)
    """All clauses that the check proves; `requirement` is the one that the verdict is about."""
    began: float = 0.0
    """Seconds since the run began."""
    what: str = ""
    """What the outcomes are of, a noun: "size", "data at offset 4". Empty where they say it themselves."""
    call: str = ""
    """The call whose reply has the outcome, in one line; empty where no single reply has it."""
    statuses: list[str] = field(default_factory=list)
    """What the target answered in its exchanges: ``nfs3 GETATTR NFS3ERR_STALE``, each once, sorted."""
    steered: list[str] = field(default_factory=list)
    """What it did to the target besides calls: ``crash``, ``restart``, ``fill_disk``, ``touch_locally``, ``set_lease``,
    ``end_grace``, ``drop_caches``, ``known_clients``, ``knobs``."""
    target: str = ""
    rerun: str = ""
    """The command that runs this check alone."""
    elsewhere: list[str] = field(default_factory=list)
    """Other servers, of which the same is known."""
    others: int = 0
    """How many other servers that was compared with; for 0 nothing is reported."""
    death: str = ""
    """If it was gone: ``confirmed`` (again when alone), ``once`` (not then), ``untested``, ``silent`` (no death)."""
    server: ServerRecord | None = None
    """If its server ended, or grew by 64 MiB or more. None: nothing of the kind, or nobody is watched."""
    worker: str = ""
    nodeid: str = ""
    title: str = ""
    """The claim in one sentence. Empty in records of versions that had no titles: `heading` is never empty."""
    outcome: OutcomeRecord | None = None
    """What was expected and seen, in fields. None: nothing deviates, or a version wrote it that had none."""
    unserved: str = ""
    """If it is UNSUPPORTED: the operation that the server says it lacks, though every server has it: ``MKDIR``."""
    why: ReasonRecord | None = None
    """The `reason` in fields. None: it has no reason, or a version wrote it that had no such fields."""
    figures: dict[str, float] = field(default_factory=dict)
    """What took how many seconds, where no clause limits that. Empty: nothing was measured, or an earlier version."""
    kind: str = "check"
    schema: int = SCHEMA

    @property
    def protocol(self) -> str:
        """The first part of the id: ``nfs3``, ``mount``."""
        return self.id.partition("/")[0]

    @property
    def heading(self) -> str:
        """The title, or what the id says in words."""
        return self.title or words_of(self.id)


@dataclass(slots=True)
class FindingRecord:
    """What the lint found in the exchanges of one check: a rule that was broken, whatever the check looked at."""

    id: str
    """Stable: ``lint/nfs3/write-count``."""
    check: str
    """The check whose exchanges they were."""
    verdict: str
    """FAIL, NONSTRICT, or INFO for a legal rarity; VOID for a fault of the lint, or of the server in its own log."""
    requirement: RequirementRecord | None = None
    expected: list[str] = field(default_factory=list)
    observed: str = ""
    """What the first exchange in which it shows has."""
    count: int = 1
    """Exchanges of the check in which it shows."""
    transcript: list[str] = field(default_factory=list)
    capture: str = ""
    target: str = ""
    rerun: str = ""
    elsewhere: list[str] = field(default_factory=list)
    """Other servers, of which the same is known."""
    others: int = 0
    """How many other servers that was compared with; for 0 nothing is reported."""
    worker: str = ""
    outcome: OutcomeRecord | None = None
    """What was seen, in fields. None: a version wrote it that had none."""
    kind: str = "finding"
    schema: int = SCHEMA


@dataclass(slots=True)
class RunRecord:
    """The first line: what was tested."""

    target: str
    description: str = ""
    capabilities: dict[str, str] = field(default_factory=dict)
    """Name -> "yes", or why not."""
    version: str = ""
    """Of nfsproof."""
    started: str = ""
    """UTC, ISO 8601."""
    label: str = ""
    """How the target is called in reports; may hide who it is. Empty: by its name or URL."""
    environment: dict[str, str] = field(default_factory=dict)
    """Versions and platform of the side that tests; no names of hosts or users."""
    strict: bool = False
    """Whether NONSTRICT was red."""
    lint: str = ""
    """"off", "report" or "fail": whether findings were red. Empty: not known."""
    is_partial: bool = False
    """Only some of the checks were chosen."""
    mutants: list[str] = field(default_factory=list)
    """Of the embedded server, on throughout."""
    knobs: list[str] = field(default_factory=list)
    """Of the embedded server, as NAME=VALUE."""
    seed: int = 1
    """What checks drew at random (`--seed`)."""
    minor: int = 0
    """The highest minor version of NFSv4 that the target has, if a tenth of the claims ran in others; 0: all did."""
    protocols: dict[str, str] = field(default_factory=dict)
    """Name of a protocol, as in ids -> as people write it: ``nfs3`` -> ``NFSv3``."""
    watched: str = ""
    """The server process that was watched, or why none was: ``process 17 (ganesha.nfsd)``, ``no process: ...``."""
    lacking: list[ReasonRecord] = field(default_factory=list)
    """Why it lacks capabilities, in fields, one for each. Empty: it has all, or a version wrote it that had none."""
    kind: str = "run"
    schema: int = SCHEMA


@dataclass(slots=True)
class ProcedureStatistics:
    """What a run has called of one operation, and how long it waited."""

    protocol: str
    """As in ids: ``nfs3``, ``mount``."""
    procedure: str
    """As in its RFC: ``WRITE``."""
    calls: int = 0
    replies: int = 0
    retransmissions: int = 0
    bytes_sent: int = 0
    """Of RPC messages, without record marks and headers of the transport."""
    bytes_received: int = 0
    latency: dict[str, float] = field(default_factory=dict)
    """Seconds from call to reply: "p50", "p90", "p99", "max", "mean"."""
    within: str = ""
    """Of an operation that a compound carries: that procedure, which has the bytes and times; empty for a call."""


@dataclass(slots=True)
class StatisticsRecord:
    """The calls of a whole run, before its last line."""

    procedures: list[ProcedureStatistics] = field(default_factory=list)
    kind: str = "statistics"
    schema: int = SCHEMA


@dataclass(slots=True)
class EndRecord:
    """The last line: how the run ended."""

    exit_code: int
    duration: float = 0.0
    counts: dict[str, int] = field(default_factory=dict)
    findings: dict[str, int] = field(default_factory=dict)
    """What the lint found: id -> checks in whose exchanges it did."""
    note: str = ""
    """A finding about the run as a whole, such as a target that died."""
    logs: list[str] = field(default_factory=list)
    """Logs of servers that were started for the run: files next to the records."""
    missing: list[str] = field(default_factory=list)
    """Required capabilities that the target lacks, with the reasons: the run is red for them."""
    baseline: str = ""
    """The file with which the run was compared; empty if there is none."""
    differences: list[str] = field(default_factory=list)
    """What is not as that file says, a line each: this alone is red then."""
    kind: str = "end"
    schema: int = SCHEMA


AnyRecord: t.TypeAlias = CheckRecord | FindingRecord | RunRecord | StatisticsRecord | EndRecord
_KINDS: dict[str, type[AnyRecord]] = {
    "check": CheckRecord,
    "finding": FindingRecord,
    "run": RunRecord,
    "statistics": StatisticsRecord,
    "end": EndRecord,
}


_Nested: t.TypeAlias = (
    RequirementRecord | MessageRecord | ProcedureStatistics | ServerRecord | OutcomeRecord | ReasonRecord
)
_NESTED: dict[str, type[_Nested]] = {
    "outcome": OutcomeRecord,
    "why": ReasonRecord,
    "lacking": ReasonRecord,
    "server": ServerRecord,
    "requirement": RequirementRecord,
    "requirements": RequirementRecord,
    "messages": MessageRecord,
    "procedures": ProcedureStatistics,
}
"""Fields that hold records themselves, or lists of them."""


@functools.cache
def _names(kind: t.Hashable) -> tuple[str, ...]:
    return tuple(field.name for field in fields(t.cast("t.Any", kind)))


def to_plain(record: object) -> dict[str, t.Any]:
    """The fields of a dataclass, and of those in its lists, as plain values. Other lists and dicts are not copied.

    `dataclasses.asdict` copies every value of them, which took a tenth of a run.
    """
    return {name: _plain(getattr(record, name)) for name in _names(t.cast("t.Hashable", type(record)))}


def _plain(value: t.Any) -> t.Any:
    if isinstance(value, list):
        return [_plain(entry) for entry in value] if value and _has_fields(type(value[0])) else value
    return to_plain(value) if _has_fields(type(value)) else value


def _has_fields(kind: type) -> bool:
    """Whether a class is a dataclass: there are few of them, and many fields of many records."""
    found = _KINDS_OF_VALUES.get(kind)
    if found is None:
        found = _KINDS_OF_VALUES[kind] = is_dataclass(kind)
    return found


_KINDS_OF_VALUES: dict[type, bool] = {}


def nested(plain: Mapping[str, t.Any]) -> dict[str, t.Any]:
    """The fields of a record, with those that hold records made from plain values. Raises TypeError."""
    values = dict(plain)
    for key, kind in _NESTED.items():
        value = values.get(key)
        if value is not None:
            values[key] = [kind(**entry) for entry in value] if isinstance(value, list) else kind(**value)
    return values


class BadRecord(ValueError):
    """A line that is no record of this schema."""


def to_line(record: AnyRecord) -> str:
    """One line of JSON, without the line end."""
    return json.dumps(to_plain(record), ensure_ascii=True, separators=(",", ":"))


def from_line(line: str) -> AnyRecord:
    """The record in a line. Fields that this version does not know are dropped. Raises `BadRecord`, and nothing else.

    What is no text in UTF-8, a surrogate without its other half, is kept as a backslash and its number.
    """
    try:
        plain = json.loads(line)
        if "\\ud" in line.lower():
            plain = _without_surrogates(plain)
        kind = _KINDS[plain["kind"]]
        schema = int(plain["schema"])
        if schema <= SCHEMA:
            return _made(kind, plain, plain["kind"])
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise BadRecord(f"no record: {_why(error)} in {line[:80]!r}") from error
    raise BadRecord(f"no record for this version: it has schema {schema}, which is later than {SCHEMA}")


def _why(error: Exception) -> str:
    match error:
        case json.JSONDecodeError():
            return f"{error.msg} at character {error.pos + 1}"
        case TypeError():
            return str(error)[:200]
    return repr(error)[:200]


def _without_surrogates(value: t.Any) -> t.Any:
    match value:
        case str():
            return value.encode("utf-8", "backslashreplace").decode()
        case list():
            return [_without_surrogates(item) for item in value]
        case dict():
            return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
    return value


_Reading: t.TypeAlias = Callable[[t.Any, str], t.Any]
"""(value, where it stands) -> the value, if it is of the type that is wanted. Raises TypeError that names the place."""


@functools.cache
def _readings(kind: t.Hashable) -> dict[str, _Reading]:
    return {name: _reading(wanted) for name, wanted in t.get_type_hints(kind).items()}


def _made(kind: type[_T], plain: t.Any, where: str) -> _T:
    """An object of a dataclass from plain values of its types. Raises TypeError that names the field."""
    if not isinstance(plain, dict):
        raise TypeError(f"{where} is {plain!r:.40}")
    known = _readings(t.cast("t.Hashable", kind))
    return kind(**{key: known[key](value, f"{where}.{key}") for key, value in plain.items() if key in known})


@functools.cache
def _reading(wanted: t.Any) -> _Reading:
    """How to read a type: plain, list, dict, dataclass, or one of them | None. Made once: records have many values."""
    arguments, origin = t.get_args(wanted), t.get_origin(wanted)
    if origin is list:
        return _reading_list(arguments[0])
    if origin is dict:
        return _reading_dict(_reading(arguments[1]))
    if origin is types.UnionType:
        return _reading_optional(_reading(arguments[0]))
    if is_dataclass(wanted):
        return functools.partial(_made, t.cast("type", wanted))
    return _reading_number(wanted) if wanted in (int, float) else _reading_plain(wanted)


def _reading_list(wanted: t.Any) -> _Reading:
    inner = _reading(wanted)

    def read(value: t.Any, where: str) -> t.Any:
        if not isinstance(value, list):
            raise TypeError(f"{where} is {value!r:.40}")
        if wanted is str and set(map(type, value)) <= {str}:  # transcripts: most of the values of a run
            return value
        return [inner(item, where) for item in value]

    return read


def _reading_dict(inner: _Reading) -> _Reading:
    def read(value: t.Any, where: str) -> t.Any:
        if not isinstance(value, dict):
            raise TypeError(f"{where} is {value!r:.40}")
        return {key: inner(item, where) for key, item in value.items()}

    return read


def _reading_optional(inner: _Reading) -> _Reading:
    return lambda value, where: None if value is None else inner(value, where)


def _reading_number(wanted: type[int | float]) -> _Reading:
    def read(value: t.Any, where: str) -> t.Any:
        if wanted is float and type(value) is int:
            value = float(value)
        if type(value) is wanted and abs(value) < _TOO_LARGE:
            return value
        raise TypeError(f"{where} is {value!r:.40}")

    return read


def _reading_plain(wanted: t.Any) -> _Reading:
    def read(value: t.Any, where: str) -> t.Any:
        if type(value) is wanted:
            return value
        raise TypeError(f"{where} is {value!r:.40}")

    return read


def read_records(lines: Iterable[str]) -> Iterator[AnyRecord]:
    """The records in lines; the torn last line of a run that was killed is left out. Raises `BadRecord`."""
    for line in lines:
        if line.endswith("\n") and line.strip():
            yield from_line(line)


def elsewhere_lines(record: CheckRecord | FindingRecord) -> list[str]:
    """Which other servers do the same, or that none does; empty if none was compared."""
    if not record.elsewhere and record.others:
        return [f"only here: not known of {record.others} other servers, where it may not have been judged"]
    return [f"also on {server}" for server in record.elsewhere]


def any_of(texts: Sequence[str]) -> str:
    """Alternatives in a sentence: ``A``, ``A or B``, ``A, B or C``."""
    *first, last = texts
    return f"{', '.join(first)} or {last}" if first else last


def deviation_text(what: str, expected: Sequence[str], observed: str) -> str:
    """What was expected and what was seen, in one line: ``size: expected 5 or 6, got 4``."""
    subject = f"{what}: " if what else ""
    return f"{subject}expected {any_of(expected)}, got {observed}" if expected else f"{subject}{observed}"


def deviation(record: CheckRecord | FindingRecord) -> str:
    """The same of a record. The reason of a check that was not judged; what a finding saw."""
    if isinstance(record, FindingRecord):
        return record.observed
    return deviation_text(record.what, record.expected, record.observed) if record.observed else record.reason


def seen(record: CheckRecord | FindingRecord) -> str:
    """What was seen, with the noun that it is of."""
    what = record.what if isinstance(record, CheckRecord) else ""
    return f"{what}: {record.observed}" if what else record.observed


def _outcome_lines(record: CheckRecord | FindingRecord) -> list[str]:
    """One line where it fits and has a noun; else a line for each outcome."""
    if isinstance(record, CheckRecord) and record.what:
        text = deviation(record)
        if len(text) <= _LONGEST_RESULT:
            return [f"  result:     {text}"]
        return [
            f"  result:     {record.what}:",
            *(f"    expected: {expected}" for expected in record.expected[:1]),
            *(f"          or: {expected}" for expected in record.expected[1:]),
            f"         got: {record.observed}",
        ]
    return [
        f"  expected:   {record.expected[0]}",
        *(f"          or: {other}" for other in record.expected[1:]),
        f"  seen:       {record.observed}",
    ]


def failure_text(record: CheckRecord | FindingRecord) -> str:
    """What is printed of a check that is not green, or of a finding."""
    lines = [f"{record.verdict}  {record.id}"]
    if isinstance(record, FindingRecord):
        lines.append(f"  check:      {record.check}")
    else:
        lines.append(f"  {record.heading}")
    requirement = record.requirement
    if requirement is not None and record.expected:
        part = f", {requirement.part}" if requirement.part == "IMPLEMENTATION" else ""
        harm = harm_text(requirement.harm, record.outcome)
        lines.append(
            f"  clause:     {requirement.citation} ({requirement.level}{part}){harm and f', {harm}'}"
        )
        lines.append(f"              {requirement.gist}")
        lines += [f"  call:       {record.call}"] if isinstance(record, CheckRecord) and record.call else []
        lines += _outcome_lines(record)
    elif requirement is None and record.observed:  # judged by another suite, which names no clause
        lines.append(f"  result:     {deviation(record)}")
    lines += [f"  elsewhere:  {text}" for text in elsewhere_lines(record)]
    if isinstance(record, CheckRecord):
        lines += [f"  reason:     {record.reason}"] if record.reason else []
        lines += [f"  noted:      {key}: {value}" for key, value in record.observations.items()]
        lines += [f"  measured:   {key}: {value:.3f} s" for key, value in record.figures.items()]
    if record.transcript:
        lines += ["  transcript:", *(f"    {line}" for line in record.transcript)]
    lines.append(f"  rerun:      {record.rerun}")
    return "\n".join(lines)
