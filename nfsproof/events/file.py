# SPDX-License-Identifier: MIT
"""The file of an event (docs/target-file.md). Every mistake in it is reported with its line and its field."""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from nfsclient.errors import UrlError
from nfsclient.similar import similar_text
from nfsclient.url import NfsUrl
from nfsproof.archiving.packing import slug
from nfsproof.events.of_clients import (
    MOUNT,
    PROGRAM,
    UMOUNT,
    WORK_TIMEOUT,
    OfClient,
    client_fields,
    refuse_fields,
)
from nfstargets.clients import KIND, is_client
from nfstargets.control import ACTIONS, BadControl, parse_controls
from nfstargets.spelling import as_url
from reports.archived import ENDINGS
from reports.places import Places

_HEAD, _TARGET = "event", "target"
_HEAD_FIELDS = ("name", "parallel", "format", "with_hosts", "with_logs", "hide")
_FIELDS = (
    *("target", "label", "anonymous", "hide", "checks", "baseline", "floor", "require", "strict", "lint"),
    *("evidence", "workers", "call_timeout", "timeout", "lacks", "referral", "control"),
    *(MOUNT, UMOUNT, PROGRAM, WORK_TIMEOUT),
)
_CONTROL_FIELDS = (*ACTIONS, "manual", "timeout")
MOST_PARALLEL = 64
MOST_OF_LABEL = 100
"""Characters: it is the name of a folder, too."""
OURS = ("board.html", "board-files")
"""Files of an event besides the folders of its targets."""


class BadEvent(ValueError):
    """A file that describes no event; the text names line and field."""


@dataclass(frozen=True, slots=True)
class TargetEntry:
    """One target, and how it is tested."""

    target: str
    label: str = ""
    anonymous: bool = False
    hide: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    baseline: str = ""
    floor: int = 0
    """At least this many checks must be executed."""
    require: tuple[str, ...] = ()
    strict: bool = False
    lint: str = "fail"
    evidence: str = "failure"
    workers: int = 0
    """Processes; 0: one, without xdist."""
    call_timeout: int = 0
    """Seconds; 0: the default."""
    timeout: int = 0
    """Seconds after which the run is ended; 0: never."""
    lacks: tuple[str, ...] = ()
    referral: str = ""
    """The path of a directory whose file system is absent."""
    control: tuple[str, ...] = ()
    """Values of --control."""
    control_timeout: int = 0
    """Seconds; 0: the default."""
    of_client: OfClient = field(default_factory=OfClient)
    """What only a client has."""

    @property
    def name(self) -> str:
        """How it is called on the terminal."""
        return self.label or self.target

    @property
    def folder(self) -> str:
        """The name of its folder."""
        return slug(self.name)

    def words(self) -> list[str]:
        """The words of `nfsproof run` that test it."""
        return [self.target, *self.checks, *self.options(), *(["--strict"] if self.strict else [])]

    def options(self) -> list[str]:
        """The options among them, but for --strict."""
        found = [] if is_client(self.target) else ["--lint", self.lint]
        found += ["--evidence", self.evidence]
        # In one word: a label may begin with a dash.
        found += [f"--label={self.label}"] if self.label else []
        found += [f"--baseline={self.baseline}"] if self.baseline else []
        found += ["--require", ",".join(self.require)] if self.require else []
        found += ["-n", str(self.workers)] if self.workers else []
        return [*found, *self.how_it_runs()]

    def how_it_runs(self) -> list[str]:
        """Those of the options that a check needs to run on this target as it did before."""
        found = ["--call-timeout", str(self.call_timeout)] if self.call_timeout else []
        found += ["--lacks", ",".join(self.lacks)] if self.lacks else []
        found += [f"--referral={self.referral}"] if self.referral else []
        found += [f"--control={command}" for command in self.control]
        found += ["--control-timeout", str(self.control_timeout)] if self.control_timeout else []
        return [*found, *self.of_client.options()]


@dataclass(frozen=True, slots=True)
class Event:
    """A file."""

    name: str = ""
    parallel: int = 1
    format: str = "tar.gz"
    with_hosts: bool = False
    with_logs: bool = False
    targets: tuple[TargetEntry, ...] = field(default_factory=tuple)


@dataclass(frozen=True, slots=True)
class Known:
    """What the words in a file may be. The functions raise ValueError or LookupError, whose text says what is wrong."""

    targets: Sequence[str]
    """Names of servers that can be started."""
    clients: Sequence[str]
    """Names of clients that can be tested."""
    capabilities: Sequence[str]
    check: Callable[[str], object]
    baseline: Callable[[str], object]


def load_event(path: Path, known: Known) -> Event:
    """Read a file. Raises OSError and `BadEvent`."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadEvent(f"{path}: expected text in UTF-8: {error}") from error
    return parse_event(text, path, known)


def parse_event(text: str, path: Path, known: Known) -> Event:
    """An event of the text of a file. Raises `BadEvent`."""
    return _Reader(text, path, known).event()


class _Reader(Places):
    def __init__(self, text: str, path: Path, known: Known) -> None:
        super().__init__(text, str(path), BadEvent)
        self._folder = path.parent
        self._known = known

    def event(self) -> Event:
        plain = self.parse()
        self.only(plain, (_HEAD, _TARGET), 0, "the file")
        head = plain.get(_HEAD, {})
        if not isinstance(head, dict):
            raise self.bad(0, _HEAD, "expected a table [event]")
        start = self.table(_HEAD)
        self.only(head, _HEAD_FIELDS, start, "[event]")
        tables = plain.get(_TARGET, [])
        if not (isinstance(tables, list) and tables and all(isinstance(table, dict) for table in tables)):
            raise self.bad(0, _TARGET, "expected tables [[target]], at least one")
        parallel = self.number(head, "parallel", 1, start, "a number of parallel runs", 1)
        if parallel > MOST_PARALLEL:
            raise self.bad(start, "parallel", f"expected {MOST_PARALLEL} at most, seen {parallel}")
        hide = self.texts(head, "hide", start)
        lines = [*self.tables(_TARGET), *([0] * len(tables))]
        targets = [self._target(table, line, hide) for table, line in zip(tables, lines, strict=False)]
        self._refuse_twice(targets, lines)
        return Event(
            name=self.text(head, "name", start),
            parallel=parallel,
            format=self.one_of(head, "format", ("tar.gz", "zip"), "tar.gz", start),
            with_hosts=self.flag(head, "with_hosts", False, start),
            with_logs=self.flag(head, "with_logs", False, start),
            targets=tuple(targets),
        )

    def _target(self, table: dict[str, t.Any], start: int, hide: tuple[str, ...]) -> TargetEntry:
        self.only(table, _FIELDS, start, "[[target]]")
        label = self._label(table, start)
        target = self._address(table, start)
        if not label and "://" in target:
            raise self.bad(start, "label", "expected a label: the URL would name the host")
        refuse_fields(self, table, target, start)
        workers = self.number(table, "workers", 0, start, "a number of processes")
        if workers > MOST_PARALLEL:
            raise self.bad(start, "workers", f"expected {MOST_PARALLEL} at most, seen {workers}")
        control, control_timeout = self._control(table, target, start)
        if control and workers > 1:
            raise self.bad(
                start, "workers", "expected none with control: a crash would disturb the other workers"
            )
        return TargetEntry(
            target=target,
            label=label,
            anonymous=self.flag(table, "anonymous", bool(label), start),
            hide=(*hide, *self.texts(table, "hide", start)),
            checks=self._each(table, "checks", start, self._known.check),
            baseline=self._baseline(table, start),
            floor=self.number(table, "floor", 0, start, "a number of checks"),
            require=self._each(table, "require", start, self._capability),
            strict=self.flag(table, "strict", False, start),
            lint=self.one_of(table, "lint", ("fail", "report", "off"), "fail", start),
            evidence=self.one_of(table, "evidence", ("failure", "always", "never"), "failure", start),
            workers=workers,
            call_timeout=self.number(table, "call_timeout", 0, start, "seconds"),
            timeout=self.number(table, "timeout", 0, start, "seconds"),
            lacks=self._each(table, "lacks", start, self._capability),
            referral=self.text(table, "referral", start).strip(),
            control=control,
            control_timeout=control_timeout,
            of_client=client_fields(
                self, table, target, start, self.table_below(f"{_TARGET}.{PROGRAM}", start)
            ),
        )

    def _control(self, table: dict[str, t.Any], target: str, start: int) -> tuple[tuple[str, ...], int]:
        """The values of --control, and the seconds for each."""
        plain = table.get("control", {})
        if not isinstance(plain, dict):
            raise self.bad(start, "control", "expected a table [target.control]")
        if not plain:
            return (), 0
        line = self.table_below(f"{_TARGET}.control", start)
        if "://" not in target:
            raise self.bad(line, "control", f"expected none: nfsproof controls {target} itself")
        self.only(plain, _CONTROL_FIELDS, line, "[target.control]")
        found = [f"{name}={self.text(plain, name, line)}" for name in ACTIONS if name in plain]
        found += ["manual"] if self.flag(plain, "manual", False, line) else []
        try:
            parse_controls(found)
        except BadControl as error:
            raise self.bad(
                line, str(error).partition(":")[0], str(error).partition(": ")[2] or str(error)
            ) from error
        return tuple(found), self.number(plain, "timeout", 0, line, "seconds")

    def _label(self, table: dict[str, t.Any], start: int) -> str:
        label = self.text(table, "label", start).strip()
        if not label.isprintable():
            raise self.bad(start, "label", f"expected printable characters, seen {label!a:.80}")
        if len(label) > MOST_OF_LABEL:
            raise self.bad(start, "label", f"expected {MOST_OF_LABEL} characters at most, seen {len(label)}")
        folder = slug(label).casefold()
        if folder in OURS or folder.endswith(ENDINGS):
            raise self.bad(
                start,
                "label",
                f"expected a different label, seen {label!r}: an event makes {slug(label)} itself",
            )
        return label

    def _address(self, table: dict[str, t.Any], start: int) -> str:
        target = as_url(self.text(table, "target", start).strip())
        names = f"{', '.join(self._known.targets)}, {KIND}:NAME"
        if not (target and target.isprintable()):
            raise self.bad(start, "target", f"expected nfs://HOST/EXPORT or one of {names}")
        if "://" in target:
            try:
                NfsUrl.parse(target)
            except UrlError as error:
                raise self.bad(start, "target", str(error)) from error
        elif is_client(target):
            name = target.partition(":")[2]
            if name not in self._known.clients:
                near = similar_text(name, self._known.clients, f"there are {', '.join(self._known.clients)}")
                raise self.bad(start, "target", f"unknown client {name!r:.80}{near}")
        elif target.partition(":")[0] not in self._known.targets:
            raise self.bad(
                start,
                "target",
                f"expected nfs://HOST/EXPORT or one of {names}, seen {target!r:.80}"
                + similar_text(target.partition(":")[0], self._known.targets),
            )
        return target

    def _each(
        self, table: dict[str, t.Any], key: str, start: int, hold: Callable[[str], object]
    ) -> tuple[str, ...]:
        found = self.texts(table, key, start)
        for problem in found:
            if problem.startswith("-"):
                raise self.bad(start, key, f"expected names, seen the option {problem!r}")
            try:
                hold(problem)
            except (ValueError, LookupError) as error:
                raise self.bad(start, key, str(error.args[0] if error.args else error)) from error
        return found

    def _capability(self, name: str) -> None:
        if name not in self._known.capabilities:
            raise LookupError(
                f"unknown capability {name}{similar_text(name, self._known.capabilities)}; "
                f"there are {', '.join(sorted(self._known.capabilities))}"
            )

    def _baseline(self, table: dict[str, t.Any], start: int) -> str:
        """A path is relative to this file; anything else is the name of a baseline of nfsproof."""
        word = self.text(table, "baseline", start)
        candidate = self._folder / word
        word = str(candidate.absolute()) if word and candidate.is_file() else word
        try:
            if word:
                self._known.baseline(word)
        except (OSError, ValueError) as error:
            raise self.bad(start, "baseline", str(error)) from error
        return word

    def _refuse_twice(self, targets: Sequence[TargetEntry], lines: Sequence[int]) -> None:
        seen: dict[str, tuple[TargetEntry, int]] = {}
        for target, line in zip(targets, lines, strict=False):
            first, at = seen.setdefault(target.folder.casefold(), (target, line))
            if first is not target:
                other = f"the label at line {at}" if at else repr(first.name)
                raise self.bad(
                    line, "label", f"{target.name!r} and {other} need the same folder {target.folder}"
                )
