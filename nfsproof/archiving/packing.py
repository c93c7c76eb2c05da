# SPDX-License-Identifier: MIT
"""From the folder of a run to one archive."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime as dt
import gzip
import io
import json
import os
import re
import secrets as chance
import tarfile
import typing as t
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from nfsjudge.records import (
    SCHEMA,
    AnyRecord,
    BadRecord,
    CheckRecord,
    EndRecord,
    FindingRecord,
    RunRecord,
    from_line,
    to_plain,
)
from nfsproof import __version__
from nfsproof.archiving import captures, printed, secrets
from nfsproof.archiving.masks import MOST_WORDS, Masks, TooManyNames
from nfsproof.archiving.scrub import Scrubber
from reports.again import for_others
from reports.archived import ENDINGS, MANIFEST, Manifest
from reports.folders import RECORDS
from reports.plain import printable
from reports.reading import MAX_LINE

FOREIGN = (
    "# From an archive: somebody else's run wrote this script, and nobody has checked it here. "
    "Read it before you run it.\n"
)
"""The first line of a script in an archive."""


_EVIDENCE = '"evidence/'
"""What a record has that names a file: only few do, and there may be 100,000."""


class ArchiveError(Exception):
    """A mistake that the user can fix, in one line."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """What an archive shows and hides."""

    label: str = ""
    """How the target is called; empty: as the run says, or by a number that was drawn."""
    anonymous: bool | None = None
    """Whether the server is hidden as well: its kind, its description, its export. None: if the run has a label."""
    with_hosts: bool = False
    """Nothing is hidden."""
    with_logs: bool = False
    hide: tuple[str, ...] = ()
    """Additional words to hide."""


@dataclass(slots=True)
class Packed:
    """What was packed."""

    file: Path
    manifest: Manifest
    problems: list[str] = field(default_factory=list)


def default_name(folder: Path, label: str = "") -> Path:
    """``Server-A.tar.gz`` next to the folder of the run."""
    return folder.absolute().parent / f"{slug(label or folder.absolute().name)}.tar.gz"


def slug(label: str) -> str:
    """A label as the name of a file."""
    return re.sub(r"[^A-Za-z0-9._+-]+", "-", label).strip("-.") or "target"


def pack(folder: Path, file: Path, wishes: Wishes) -> Packed:
    """Write the archive. Raises `ArchiveError`; a file that was begun is removed."""
    if not file.name.endswith(ENDINGS):
        raise ArchiveError(
            f"cannot choose the format of {file}: expected a name that ends in {', '.join(ENDINGS)} says it"
        )
    part = file.with_name(f".{file.name}.part")
    try:
        packer = _Packer(folder, wishes, *_about(folder / RECORDS))
        try:
            with part.open("wb") as out:
                _write(out, file.name.endswith(".zip"), packer)
            part.replace(file)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        name = error.filename if error.filename not in {None, str(part)} else file
        raise ArchiveError(f"{name}: {error.strerror or error}") from error
    return Packed(file, packer.manifest, packer.problems)


def _about(records: Path) -> tuple[RunRecord, frozenset[str]]:
    """What was tested, and the files of evidence that the records name. Raises OSError and `ArchiveError`."""
    about: RunRecord | None = None
    named: set[str] = set()
    with records.open("rb") as lines:
        for line in _lines(lines):
            if about is not None and _EVIDENCE not in line:
                continue
            try:
                record = from_line(line)
            except BadRecord:
                continue
            if isinstance(record, RunRecord):
                about = about or record
            elif isinstance(record, CheckRecord):
                named |= {record.capture, record.script}
    if about is not None:
        return about, frozenset(named)
    raise ArchiveError(f"{records}: it does not say what was tested, so nfsproof cannot know what to hide")


def _lines(stream: t.BinaryIO) -> Iterator[str]:
    while line := stream.readline(MAX_LINE):
        yield line.decode("utf-8", "replace")


class _Packer:
    """The members of one archive, made one after the other; the manifest comes last, and knows all."""

    def __init__(self, folder: Path, wishes: Wishes, about: RunRecord, named: frozenset[str]) -> None:
        self._folder = folder
        self._named = named
        self._wishes = wishes
        self.problems: list[str] = []
        is_url = "://" in about.target
        anonymous = bool(about.label or wishes.label) if wishes.anonymous is None else wishes.anonymous
        self._anonymous = anonymous and not wishes.with_hosts
        label = wishes.label or about.label
        if not label and (is_url or self._anonymous) and not wishes.with_hosts:
            label = f"target {chance.token_hex(2)}"
        self.manifest = Manifest(
            nfsproof=about.version or __version__,
            label=label,
            anonymous=self._anonymous,
            with_hosts=wishes.with_hosts,
            made=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
            records_schema=SCHEMA,
        )
        public = f"{label} {'' if is_url else f'{about.target} {about.description}'}"
        self._masks = Masks(with_paths=self._anonymous, public="" if self._anonymous else public)
        if not wishes.with_hosts:
            self._note_names()
        self._scrubber = Scrubber({} if wishes.with_hosts else self._secrets(about), self._masks.words)

    def _note_names(self) -> None:
        """Learn all names that the run has seen before anything is cleaned: texts have them, too."""
        try:
            for path in self._files("evidence", ".pcapng"):
                with contextlib.suppress(captures.NotOurs):
                    captures.note_names(path.read_bytes(), self._masks)
            with (self._folder / RECORDS).open("rb") as lines:
                for line in _lines(lines):
                    self._note_printed(line)
        except TooManyNames:
            raise ArchiveError(
                f"{self._folder}: expected at most {MOST_WORDS} names of machines and people in the replies, saw more, "
                "so they cannot all be hidden; --with-hosts packs the run as it is"
            ) from None

    def _note_printed(self, line: str) -> None:
        try:
            waiting: list[t.Any] = [json.loads(line)]
        except (ValueError, RecursionError):
            return
        while waiting:
            value = waiting.pop()
            if isinstance(value, str):
                for what, name in printed.names_in(value):
                    self._masks.hidden(what, name)
            elif isinstance(value, list | dict):
                waiting += value if isinstance(value, list) else value.values()

    def _secrets(self, about: RunRecord) -> dict[str, str]:
        found = secrets.of_machine(self._folder, secrets.host_of(about.target))
        for file in self._files("evidence", ".pcapng"):
            try:
                addresses = captures.addresses_in(file.read_bytes())
            except captures.NotOurs:
                continue
            found |= {text: secrets.HOST for each in addresses for text in secrets.spellings(each)}
        for file in self._files("evidence", ".py") if self._anonymous else ():
            found |= secrets.exports_in(file.read_text(encoding="utf-8", errors="replace"))
        found |= secrets.of_run(about, anonymous=self._anonymous, hide=self._wishes.hide)
        # A label may hold a name that is hidden elsewhere: whoever chose it wants it to be shown.
        return found

    def _files(self, below: str, *endings: str) -> list[Path]:
        """Files of a run in the folder, in order. Links are not followed."""
        found = [
            Path(root, name)
            for root, _, names in os.walk(self._folder / below)
            for name in names
            if name.endswith(endings)
        ]
        return sorted(path for path in found if path.is_file() and not path.is_symlink())

    def members(self) -> Iterator[tuple[str, bytes]]:
        """(name, contents) of each. Raises OSError."""
        # Evidence first: the records say of what was left out that it is not there.
        for path in self._files("evidence", ".pcapng", ".py"):
            if path.relative_to(self._folder).as_posix() in self._named:  # others are of earlier runs
                yield from self._member(path)
        if self._wishes.with_logs:
            for path in self._files("logs", ".log"):
                yield from self._member(path)
        data = self._records()
        self.manifest.files[RECORDS] = len(data)
        yield RECORDS, data
        yield MANIFEST, json.dumps(dataclasses.asdict(self.manifest), indent=1).encode() + b"\n"

    def _member(self, path: Path) -> Iterator[tuple[str, bytes]]:
        name = path.relative_to(self._folder).as_posix()
        data = path.read_bytes()
        if not self._wishes.with_hosts:
            try:
                if path.suffix == ".pcapng":
                    data = captures.scrubbed(data, self._scrubber, self._masks)
                else:
                    text = data.decode("utf-8", "replace")
                    text = FOREIGN + text if path.suffix == ".py" else text
                    data = "\n".join(self._scrubber.lines(text.split("\n"))).encode()
            except captures.NotOurs as error:
                self._leave_out(name, str(error))
                return
            if not self._scrubber.is_clean(data):
                left = self._scrubber.left_in(data)
                kinds = " and ".join(sorted(set(left.values())))
                text = f"what should read {kinds} could not be hidden in it"
                words = ", ".join(f"'{printable(word)}'" for word in left)
                self._leave_out(name, text, f"{text}: {words}")
                return
        self.manifest.files[name] = len(data)
        yield name, data

    def _leave_out(self, name: str, why: str, detail: str = "") -> None:
        """Say why in the manifest; who packs sees `detail` instead, which may be secret."""
        self.manifest.left_out[name] = why
        self.problems.append(f"{name} is left out: {detail or why}")

    def _records(self) -> bytes:
        out = io.BytesIO()
        with (self._folder / RECORDS).open("rb") as lines:
            for number, line in enumerate(_lines(lines), 1):
                try:
                    record = from_line(line)
                except BadRecord:
                    # What is not understood cannot be cleaned.
                    self.problems.append(f"line {number} of {RECORDS} is no record and was left out")
                    continue
                out.write(json.dumps(self._plain_record(record), separators=(",", ":")).encode() + b"\n")
        return out.getvalue()

    def _plain_record(self, record: AnyRecord) -> dict[str, t.Any]:
        """A record as it is handed over, in plain values."""
        manifest, plain = self.manifest, to_plain(record)
        if not self._wishes.with_hosts:
            plain = self._scrubber.plain(plain)
        match record:
            case RunRecord():
                plain["label"] = manifest.label
                if not self._wishes.with_hosts:
                    is_hidden = self._anonymous or secrets.TARGET in plain["description"]
                    plain["description"] = "" if is_hidden else plain["description"]
                    plain["target"] = self._name_of(record.target)
                    plain["watched"] = re.sub(r" \(.*\)", "", record.watched) if is_hidden else record.watched
                if self._anonymous:
                    plain["mutants"], plain["knobs"] = [], []
                    plain["environment"].pop(
                        "commit", None
                    )  # of the repository of the server: it may be public
            case EndRecord():
                plain["logs"] = [log for log in record.logs if log in manifest.files]
                if self._anonymous:  # a baseline is of one server, and its reasons may name it
                    plain["baseline"], plain["differences"] = "", []
            case CheckRecord() | FindingRecord():
                plain["target"] = self._name_of(record.target)
                plain["rerun"] = self._rerun(record.rerun)
                plain["capture"] = record.capture if record.capture in manifest.files else ""
                if self._anonymous:
                    # What other servers are known for says which one this is not.
                    plain["elsewhere"], plain["others"] = [], 0
        if isinstance(record, CheckRecord):
            plain["script"] = record.script if record.script in manifest.files else ""
        return plain

    def _rerun(self, command: str) -> str:
        """The command for a check. A file of targets may have the name of the server."""
        if self._wishes.with_hosts:
            return command
        return self._scrubber.text(for_others(command, hides_files=self._anonymous))

    def _name_of(self, target: str) -> str:
        return target if self._wishes.with_hosts or not self.manifest.label else self.manifest.label


def _write(out: t.BinaryIO, as_zip: bool, packer: _Packer) -> None:
    top = f"nfsproof-{slug(packer.manifest.label or 'run')}"
    if as_zip:
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in packer.members():
                archive.writestr(f"{top}/{name}", data)
        return
    with (
        gzip.GzipFile(filename="", fileobj=out, mode="wb", mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for name, data in packer.members():
            # Made from constants: the owner and times of a file would reveal the machine.
            member = tarfile.TarInfo(f"{top}/{name}")
            member.size, member.mode = len(data), 0o644
            archive.addfile(member, io.BytesIO(data))
