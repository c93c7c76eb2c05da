# SPDX-License-Identifier: MIT
"""Clients that mount nothing: a program of the user for each kind of step, such as ``read='nfs-cat {url}'``.

Each step of a work is one process. Its exit status says whether the step succeeded; `read` is judged by its standard
output, `names` by the lines of it, and all others by what the server has afterwards.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
import tempfile
import time
import typing as t
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

from nfstargets.clients.commands import PLACE
from nfstargets.clients.drivers import Ended, Export, NoClient, Process, run_program
from nfstargets.clients.program import data_of


class ProgramClient:
    """Programs of the user that take URLs; nothing is mounted. The shell is not used."""

    name = "program"
    has_locks = False
    host = "127.0.0.1"

    def __init__(self, programs: Mapping[str, Sequence[str]], versions: Sequence[str]) -> None:
        self.versions = versions
        self.does = frozenset(programs)
        names = sorted({Path(words[0]).name for words in programs.values()})
        self.description = f"the programs {', '.join(names)}" if len(names) > 1 else f"the program {names[0]}"
        self._programs = programs
        self._export: Export | None = None
        self._folder = Path()

    def start(self) -> None:
        """Raises `NoClient` if a program cannot be found."""
        for words in self._programs.values():
            if shutil.which(words[0]) is None:
                raise NoClient(f"{words[0]} cannot be started: no such program")
        self._folder = Path(tempfile.mkdtemp(prefix="nfsproof-program-"))

    def stop(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)

    def network(self) -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext()

    @contextlib.contextmanager
    def mounted(self, export: Export) -> Iterator[None]:
        self._export = export
        yield

    def work(self, steps: Sequence[Mapping[str, t.Any]], seconds: float) -> Ended:
        """A process for each step; it ends early if the time is up."""
        lines: list[str] = []
        ends, errors = time.monotonic() + seconds, ""
        for number, step in enumerate(steps):
            ended = self._step(step, max(0.1, ends - time.monotonic()))
            errors = ended.errors
            if ended.is_late:
                return Ended("\n".join(lines), errors, is_late=True)
            lines.append(json.dumps({"step": number, **_answer(step, ended)}))
        return Ended("\n".join(lines), errors)

    def _step(self, step: Mapping[str, t.Any], seconds: float) -> Process:
        local = self._folder / "data"
        if step["do"] == "write":
            local.write_bytes(data_of(step["seed"], step["size"]))
        values = self._values(step, local)
        words = [
            PLACE.sub(lambda found: values.get(found[1], found[0]), word)
            for word in self._programs[step["do"]]
        ]
        try:
            return run_program(words, seconds)
        except OSError as error:
            raise NoClient(f"{words[0]} cannot be started: {error.strerror}") from error

    def _values(self, step: Mapping[str, t.Any], local: Path) -> dict[str, str]:
        export = self._export
        assert export is not None
        values = {
            "host": export.host,
            "port": str(export.port),
            "version": export.version,
            "path": f"/export/{step['path']}",
            **_urls(export, step["path"]),
            "file": str(local),
            "target": str(step.get("target", "")),
            "size": str(step.get("size", "")),
            "mode": f"{step['mode']:o}" if "mode" in step else "",
        }
        if "to" in step:
            values |= {"to": f"/export/{step['to']}", **_urls(export, step["to"], "to_")}
        return values


def _urls(export: Export, path: str, prefix: str = "") -> dict[str, str]:
    """libnfs decodes no percent signs in a path, others expect them: both forms."""
    base, _, parameters = export.url.partition("?")
    return {
        f"{prefix}url": f"{base}/{path}?{parameters}",
        f"{prefix}encoded_url": f"{base}/{quote(path)}?{parameters}",
    }


def _answer(step: Mapping[str, t.Any], ended: Process) -> dict[str, t.Any]:
    """What a step gave, in the form of `program`."""
    if ended.status:
        why = (ended.errors or ended.output.decode(errors="replace")).strip()[-300:]
        return {"error": f"exit status {ended.status}{': ' + why if why else ''}"}
    return {"value": _VALUES[step["do"]](ended.output) if step["do"] in _VALUES else None}


_VALUES: t.Final[dict[str, Callable[[bytes], t.Any]]] = {
    "read": lambda output: f"{len(output)} bytes, {hashlib.sha256(output).hexdigest()}",
    "names": lambda output: sorted(output.decode(errors="backslashreplace").splitlines()),
}
