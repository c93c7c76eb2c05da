# SPDX-License-Identifier: MIT
"""Where servers that were installed on demand are kept, and how they get there: whole or not at all.

An installation is a folder NAME-VERSION in the cache with a file `installed.json`. It is built in a hidden
folder, and renamed when it is complete. One installer works at a time, so what an earlier one left half done is
nobody's and is removed.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import selectors
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from nfstargets.process import describe_end
from nfstargets.recipes import Installable, WrongDigest

PLACE = "NFSPROOF_SERVERS"
"""Environment variable that names another cache folder."""
STAMP = "installed.json"
LIMIT = 900.0
"""Seconds for one command of an installation; 60 are usual for the longest."""
_LAST_WORDS = 8


class InstallError(Exception):
    """It could not be installed. The text says what was tried, what was said, and what to do."""


def cache_folder() -> Path:
    """$NFSPROOF_SERVERS, else nfsproof/servers in $XDG_CACHE_HOME or ~/.cache. It may not be there yet."""
    if place := os.environ.get(PLACE):
        return Path(place).absolute()
    return user_cache() / "servers"


def user_cache() -> Path:
    """nfsproof in $XDG_CACHE_HOME or ~/.cache: what can be made again. It may not be there yet."""
    # The specification has relative paths ignored.
    base = Path(os.environ.get("XDG_CACHE_HOME") or "")
    home = Path(os.path.expanduser("~/.cache"))  # noqa: PTH111 - never raises
    return (base if base.is_absolute() else home) / "nfsproof"


def home_of(recipe: Installable) -> Path:
    """Where the pinned version is, or would be."""
    return cache_folder() / f"{recipe.folder}-{recipe.version.removeprefix('v')}"


def find_installation(recipe: Installable) -> Path | None:
    """The folder of a whole installation of this recipe as it stands now; None: to be installed."""
    home = home_of(recipe)
    try:
        stamp = json.loads((home / STAMP).read_text())
    except (OSError, ValueError):
        return None
    return home if stamp.get("mark") == recipe.mark() else None


def install(recipe: Installable, say: Callable[[str], None]) -> Path:
    """Installs what the recipe says unless it is there; the folder.

    `say` gets what is being done and each line of output. Raises InstallError; an exception of any kind, Ctrl-C
    among them, leaves the cache as it was.
    """
    if shutil.which(recipe.tool) is None:
        raise InstallError(f"{recipe.name} needs {recipe.tool}, which is not in PATH; get {recipe.tool_from}")
    home = home_of(recipe)
    with _alone(home.parent, say):
        if (found := find_installation(recipe)) is not None:
            return found
        for left in home.parent.glob(f".{recipe.folder}-*"):
            _remove(left)
        work = Path(tempfile.mkdtemp(prefix=f".{recipe.folder}-", dir=home.parent))
        try:
            kept = home.parent / f".kept-{recipe.folder}"
            shop = CommandShop(
                into=work / "home", scratch=work / "scratch", kept=kept, say=say, advice=recipe.tool_from
            )
            shop.into.mkdir()
            shop.scratch.mkdir()
            recipe.build(shop, recipe)
            stamp = {"name": recipe.name, "version": recipe.version, "mark": recipe.mark()}
            (shop.into / STAMP).write_text(json.dumps(stamp) + "\n")
            _remove(home)
            shop.into.rename(home)
            _remove(kept)
        except WrongDigest as error:
            raise InstallError(f"{recipe.name} was not installed. {error}") from error
        except OSError as error:
            raise InstallError(f"{recipe.name} could not be installed in {home.parent}: {error}") from error
        finally:
            _remove(work)
    return home


@contextlib.contextmanager
def _alone(folder: Path, say: Callable[[str], None]) -> Iterator[None]:
    """One installer at a time in a cache; the kernel ends the claim of one that died."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock: IO[str] = (folder / ".lock").open("w")
    except OSError as error:
        raise InstallError(
            f"cannot write to {folder}: {error.strerror}; another place: {PLACE}=FOLDER"
        ) from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("waiting for another installer")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _remove(path: Path) -> None:
    """Also what a package manager made read-only."""

    def once_more(function: Callable[[str], object], name: str, _error: object) -> None:
        with contextlib.suppress(OSError):
            Path(name).parent.chmod(0o755)
            function(name)

    if path.exists():
        shutil.rmtree(path, onerror=once_more)


@dataclass(slots=True, kw_only=True)
class CommandShop:
    """Runs the commands of an installation: output line by line, a limit in time, nothing left running."""

    into: Path
    scratch: Path
    kept: Path
    say: Callable[[str], None]
    advice: str
    limit: float = LIMIT
    _lines: list[str] = field(default_factory=list)

    def run(self, what: str, *argv: str | Path, **environment: str | Path) -> str:
        """Runs one command; what it wrote on standard output. Raises InstallError with its last words."""
        self.say(what)
        words = [str(word) for word in argv]
        extra = {name: str(value) for name, value in environment.items()}
        output = self.scratch / "stdout"
        with output.open("wb") as stream:
            try:
                process = subprocess.Popen(  # noqa: S603 - from the table of recipes
                    words,
                    stdin=subprocess.DEVNULL,
                    stdout=stream,
                    stderr=subprocess.PIPE,
                    env=os.environ | {"TMPDIR": str(self.scratch)} | extra,
                    # Compilers start others: all of them end together.
                    start_new_session=True,
                )
            except OSError as error:
                raise InstallError(f"{words[0]}: {error.strerror}; get {self.advice}") from error
            try:
                status = self._watch(process)
            finally:
                _end(process)
        if status != 0:
            said = self._lines or output.read_text(errors="replace").splitlines()
            last = "".join(f"\n  {line}" for line in said[-_LAST_WORDS:])
            command = " ".join(words[:3])
            raise InstallError(
                f"{what} failed: {command} ended with {describe_end(status)}; needed: network, and {self.advice}{last}"
            )
        return output.read_text(errors="replace")

    def _watch(self, process: subprocess.Popen[bytes]) -> int:
        assert process.stderr is not None
        deadline = time.monotonic() + self.limit
        rest = b""
        self._lines.clear()
        with selectors.DefaultSelector() as selector:
            selector.register(process.stderr, selectors.EVENT_READ)
            while selector.select(max(0.0, deadline - time.monotonic())):
                data = os.read(process.stderr.fileno(), 65_536)
                if not data:
                    return process.wait(self.limit)
                *lines, rest = (rest + data).split(b"\n")
                for line in lines:
                    self._note(line.decode(errors="replace").strip())
        raise InstallError(f"{process.args!r} took more than {self.limit:g} s and was ended")

    def _note(self, line: str) -> None:
        if line:
            self._lines.append(line)
            self.say("  " + line)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends a command and all that it started, if anything of it still runs."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    if process.stderr is not None:
        process.stderr.close()
