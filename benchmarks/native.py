# SPDX-License-Identifier: MIT
"""The C programs of the benchmarks: compiled when needed, kept in a cache folder outside the tree."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

SOURCES = Path(__file__).parent / "csrc"


class Unavailable(Exception):
    """Something that a measurement needs is not there; the text says what, and how to get it."""


def cache_folder() -> Path:
    """Where compiled programs and installed peers are kept."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(base) / "nfsproof-benchmarks"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def compiled(name: str, *libraries: str, hint: str = "") -> Path:
    """The program made of `csrc/NAME.c`. Raises `Unavailable` without a compiler or the libraries."""
    source = SOURCES / f"{name}.c"
    compiler = shutil.which(os.environ.get("CC", "cc"))
    if compiler is None:
        raise Unavailable(f"{name}: no C compiler; apt-get install gcc libc6-dev {hint}".rstrip())
    digest = hashlib.sha256(source.read_bytes()).hexdigest()[:12]
    program = cache_folder() / f"{name}-{digest}"
    if not program.exists():
        made = program.with_suffix(f".{os.getpid()}")
        command = [compiler, "-O2", str(source), "-o", str(made), *(f"-l{library}" for library in libraries)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            complaint = next(
                (line for line in done.stderr.splitlines() if "error" in line), done.stderr[-300:]
            )
            raise Unavailable(
                f"{name} does not compile ({complaint.strip()}); apt-get install {hint or 'libc6-dev'}"
            )
        made.rename(program)
    return program
