# SPDX-License-Identifier: MIT
"""Job files of fio: a subset that becomes rates of this room. What is not in it is refused by name, with its line.

| key | what it becomes |
| --- | --- |
| ``rw``, ``readwrite`` | the workload: read seqread, write seqwrite, randread, randwrite |
| ``bs``, ``blocksize`` | bytes of one operation; one number (4k if it is absent) |
| ``size`` | bytes of the file of each job; must be there |
| ``numjobs`` | clients, each with its file and connection |
| ``iodepth`` | callers of each client: operations that are under way at the same time |
| ``runtime`` | seconds of the steady state; must be there |
| ``ramp_time`` | seconds of the warm-up |
| ``direct`` | 1: the policy raw, without caches; 0, or no such key: the policy of a kernel's client |
| ``sync``, ``fsync`` | sync=1 or sync, fsync=1: WRITE asks for FILE_SYNC; sync=dsync: DATA_SYNC; 0: UNSTABLE |
| ``rate_iops`` | with ``rate_process=poisson``: an open loop with this many arrivals per second, of each job |
| ``randseed`` | the seed |
| ``stonewall``, ``wait_for_previous`` | the job begins when the one before has ended: needed from the second job on |

`IGNORED` are keys that say how fio does its work on a mounted directory, which nothing here depends on. A run always
goes on until ``runtime`` is over, as with ``time_based``; data is always laid out before and compared.
"""

from __future__ import annotations

import re
import typing as t
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

IGNORED: t.Final[Mapping[str, str]] = {
    "create_on_open": "files are made before the run",
    "description": "for people",
    "directory": "a run makes a directory for itself",
    "disk_util": "there is no disk here",
    "end_fsync": "the run ends with its time",
    "eta": "nfsproof shows its progress",
    "exitall": "a worker that is lost ends the run",
    "fallocate": "files are written before the run",
    "filename": "a run names its files",
    "group_reporting": "a result is of all workers",
    "invalidate": "caches are empty at the beginning",
    "ioengine": "the engine is nfsproof",
    "name": "the section has a name",
    "norandommap": "offsets are drawn independently",
    "randrepeat": "the seed decides",
    "thread": "workers are processes",
    "time_based": "a run ends with its time",
    "unlink": "a run removes what it made",
}
"""Accepted without effect, each with the reason."""
_WORKLOADS: t.Final = {
    "read": "seqread",
    "write": "seqwrite",
    "randread": "randread",
    "randwrite": "randwrite",
}
_UNITS: t.Final = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_SIZE: t.Final = re.compile(r"(\d{1,15})([kmgt]?)(?:i?b)?")
_TIME: t.Final = re.compile(r"(\d{1,9}(?:\.\d{1,6})?)(us|ms|s|m|h)?")
_SECONDS: t.Final = {"us": 1e-6, "ms": 1e-3, None: 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}
_MOST_OCTETS = 1 << 20
_MOST_JOBS = 64
_MOST_COPIES = 256


class JobError(ValueError):
    """A job file that is not understood. The text has the file, the line, what was expected and what is there."""


@dataclass(frozen=True, kw_only=True)
class Job:
    """One job as a rate."""

    name: str
    workload: str
    io: int
    """Bytes of one operation."""
    size: int
    """Bytes of the file of each client."""
    clients: int
    callers: int
    """Of each client."""
    duration: float
    warmup: float
    """Seconds."""
    arrivals: float
    """Operations per second of all clients; 0: a closed loop."""
    policy: str
    """"raw", or "like": that of a kernel's client of the version."""
    stable: str
    seed: int


@dataclass(frozen=True)
class _Value:
    text: str
    line: int


_Keys: t.TypeAlias = dict[str, _Value]


def read_jobs(path: Path) -> list[Job]:
    """The jobs of a file in their order. Raises OSError and JobError."""
    with path.open("rb") as file:
        octets = file.read(_MOST_OCTETS + 1)
    if len(octets) > _MOST_OCTETS:
        raise JobError(f"{path}: expected at most {_MOST_OCTETS} bytes, got more")
    try:
        text = octets.decode("utf-8")
    except UnicodeDecodeError as error:
        raise JobError(f"{path}: expected text in UTF-8: {error}") from None
    return parse_jobs(text, str(path))


def parse_jobs(text: str, name: str = "jobs") -> list[Job]:
    """The jobs of a text. Raises JobError."""
    jobs: list[Job] = []
    for line, section, keys in _sections(text, name):
        job = _Reader(name, line, keys).job(section, is_first=not jobs)
        if len(jobs) == _MOST_JOBS:
            raise JobError(f"{name}: expected at most {_MOST_JOBS} jobs, got more")
        jobs.append(job)
    if not jobs:
        raise JobError(f"{name}: expected a section such as [job], got none")
    return jobs


def _sections(text: str, name: str) -> Iterator[tuple[int, str, _Keys]]:
    """(line, name, keys) of each job; those of [global] that stand before it are in its keys."""
    shared: _Keys = {}
    current: tuple[int, str, _Keys] | None = None
    keys: _Keys | None = None
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if not line or line[0] in "#;":
            continue
        if line.startswith("["):
            if current is not None:
                yield current
            section = line[1:-1].strip()
            if not (line.endswith("]") and section):
                raise JobError(f"{name}:{number}: expected a section such as [job], got {line[:60]!r}")
            current = None if section == "global" else (number, section, dict(shared))
            keys = shared if current is None else current[2]
            continue
        if keys is None:
            raise JobError(f"{name}:{number}: expected a section such as [job] first, got {line[:60]!r}")
        key, _, value = line.partition("=")
        keys[key.strip().lower()] = _Value(value.strip(), number)
    if current is not None:
        yield current


class _Reader:
    """Takes the keys of one job apart."""

    def __init__(self, name: str, line: int, keys: _Keys) -> None:
        self._name = name
        self._line = line
        self._keys = {key: value for key, value in keys.items() if key not in IGNORED}

    def job(self, section: str, *, is_first: bool) -> Job:
        waits = [self._take(key, self._boolean, False) for key in ("stonewall", "wait_for_previous")]
        if not (is_first or any(waits)):
            raise JobError(
                f"{self._name}:{self._line}: [{section[:60]}]: expected stonewall, because jobs run one after the other"
            )
        clients = self._take("numjobs", self._copies, 1)
        job = Job(
            name=section[:100],
            workload=self._workload(),
            io=self._take("bs", self._size, 4096, other="blocksize"),
            size=self._take("size", self._size, None),
            clients=clients,
            callers=self._take("iodepth", self._copies, 1),
            duration=self._take("runtime", self._time, None),
            warmup=self._take("ramp_time", self._time, 0.0),
            arrivals=self._arrivals() * clients,
            policy="raw" if self._take("direct", self._boolean, False) else "like",
            stable=self._stable(),
            seed=self._take("randseed", self._whole, 1),
        )
        for key, value in self._keys.items():
            raise JobError(
                f"{self._name}:{value.line}: unknown key {key[:60]!r}; docs/workload-results.md has those that are read"
            )
        if not job.duration:
            raise JobError(f"{self._name}:{self._line}: [{job.name}]: expected a runtime above 0, got 0")
        if job.io > job.size:
            raise JobError(
                f"{self._name}:{self._line}: [{job.name}]: expected a size of at least bs, got {job.size}"
            )
        return job

    def _take(self, key: str, parse: Callable[[str], t.Any], default: t.Any, *, other: str = "") -> t.Any:
        """The value of a key, which is then done; None as the default: it must be there."""
        found = [self._keys.pop(each) for each in (key, other) if each in self._keys]
        if not found:
            if default is None:
                raise JobError(f"{self._name}:{self._line}: expected the key {key}, got none")
            return default
        value = max(found, key=lambda each: each.line)
        try:
            return parse(value.text)
        except ValueError as error:
            raise JobError(
                f"{self._name}:{value.line}: {key}: expected {error}, got {value.text[:60]!r}"
            ) from None

    def _workload(self) -> str:
        def parse(text: str) -> str:
            if text not in _WORKLOADS:
                raise ValueError(f"one of {', '.join(_WORKLOADS)}")
            return _WORKLOADS[text]

        made: str = self._take("rw", parse, None if "readwrite" not in self._keys else "", other="readwrite")
        return made

    def _stable(self) -> str:
        def sync(text: str) -> str:
            found = {
                "": "file-sync",
                "0": "",
                "none": "",
                "1": "file-sync",
                "sync": "file-sync",
                "dsync": "data-sync",
            }
            if text not in found:
                raise ValueError("one of 0, 1, none, sync, dsync")
            return found[text]

        def fsync(text: str) -> str:
            if text not in {"0", "1"}:
                raise ValueError("0 or 1")
            return "file-sync" if text == "1" else ""

        asked = [self._take("sync", sync, ""), self._take("fsync", fsync, "")]
        return next((each for each in asked if each), "unstable")

    def _arrivals(self) -> float:
        def poisson(text: str) -> bool:
            if text != "poisson":
                raise ValueError("poisson, because arrivals of an open loop are random")
            return True

        line = self._keys["rate_iops"].line if "rate_iops" in self._keys else 0
        rate: int = self._take("rate_iops", self._whole, 0)
        if not self._take("rate_process", poisson, False) and rate:
            raise JobError(f"{self._name}:{line}: rate_iops: expected rate_process=poisson with it, got none")
        return float(rate)

    @staticmethod
    def _boolean(text: str) -> bool:
        if text.lower() not in {"", "0", "1", "true", "false"}:
            raise ValueError("0 or 1")
        return text.lower() not in {"0", "false"}

    @staticmethod
    def _whole(text: str) -> int:
        if not re.fullmatch(r"[0-9]{1,18}", text):
            raise ValueError("a whole number")
        return int(text)

    @staticmethod
    def _copies(text: str) -> int:
        if not re.fullmatch(r"[0-9]{1,3}", text) or not 1 <= int(text) <= _MOST_COPIES:
            raise ValueError(f"a whole number from 1 to {_MOST_COPIES}")
        return int(text)

    @staticmethod
    def _size(text: str) -> int:
        match = _SIZE.fullmatch(text.lower())
        if not match or not int(match[1]):
            raise ValueError("one number of bytes such as 4k or 1g")
        return int(match[1]) * _UNITS[match[2]]

    @staticmethod
    def _time(text: str) -> float:
        match = _TIME.fullmatch(text.lower())
        if not match:
            raise ValueError("seconds, or a time such as 500ms or 2m")
        return float(match[1]) * _SECONDS[match[2]]
