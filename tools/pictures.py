# SPDX-License-Identifier: MIT
"""The pictures of the documentation, from real runs: `python -m tools.pictures [--runs FOLDER]`."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import typing as t
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from reports import Run, load
from reports.board import render_board
from reports.charts import charts_of
from tests.board import browser as browsers
from tests.board.browser import Visit

if t.TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
MOST_BYTES = 150_000
PATIENCE = 900
"""Seconds for a run of the whole suite."""

FAULTS = (
    "write3-reports-more-than-sent",
    "readdir3-exceeds-count",
    "read3-eof-before-the-end",
    "lookup3-folds-case",
    "create3-guarded-truncates",
)
BEFORE = (*FAULTS, "getattr3-mode-includes-the-type", "mnt3-lists-only-a-refused-flavor")
AFTER = ("readdir3-repeats-an-entry", *FAULTS[1:4], "create3-ignores-mode")
"""What the made-up server breaks before and after somebody has worked on it."""


@dataclass(frozen=True, slots=True)
class Picture:
    """One picture: which board, which part of it, how large and in which colours."""

    name: str
    board: str
    fragment: str = ""
    width: int = 1280
    height: int = 800
    dark: bool = False


CHECK = "nfs3/WRITE/count-limit"
EARLY = "nfs3/READ/no-early-eof"
PICTURES = (
    Picture("board", "all", "#view=checks"),
    Picture("board-causes", "all", "#view=causes"),
    Picture("board-run", "one", "#verdicts=FAIL,NONSTRICT"),
    Picture("board-check", "one", f"#verdicts=FAIL&check={EARLY}", 740, 1120),
    Picture("board-check-dark", "all", f"#q=nfs3/write/&check={CHECK}&run=2", 1150, 680, dark=True),
    Picture("board-compare", "all", "#view=compare&a=2&b=3"),
    Picture("board-narrow", "all", "#q=nfs3/write/&verdicts=FAIL", width=420, height=900),
)


def main() -> None:
    """Makes the runs that are not there, the boards of them, and the pictures."""
    parser = argparse.ArgumentParser(prog="python -m tools.pictures", description=__doc__)
    parser.add_argument("--runs", type=Path, metavar="FOLDER", help="where the runs are, or are to be kept")
    parser.add_argument("--images", type=Path, default=IMAGES, metavar="FOLDER", help="where the pictures go")
    chosen = parser.parse_args()
    if browsers.missing():
        parser.exit(4, f"no pictures without a browser: {browsers.missing()}\n")
    with tempfile.TemporaryDirectory() as scratch:
        runs = made_runs(chosen.runs or Path(scratch) / "runs")
        chosen.images.mkdir(parents=True, exist_ok=True)
        boards = {"all": runs, "one": [runs[-1]]}
        for name, of in boards.items():
            page = Path(scratch) / f"{name}.html"
            page.write_text(render_board(of, charts=charts_of(of), at=page), encoding="utf-8")
        with browsers.started() as browser:
            for picture in PICTURES:
                take(picture, browser, Path(scratch), chosen.images / f"{picture.name}.png")


def made_runs(folder: Path) -> list[Run]:
    """The runs, in the order in which the board shows them."""
    targets = ["embedded", *(["ganesha:vfs"] if shutil.which("ganesha.nfsd") and os.geteuid() == 0 else [])]
    runs = [run_of(folder / name.replace(":", "-"), name) for name in targets]
    for name, mutants in (("my-server 1.0", BEFORE), ("my-server 1.1", AFTER)):
        where = folder / name.replace(" ", "-")
        if not (where / "records.jsonl").exists():
            with served(mutants) as url:
                run_of(where, url)
        run = load(where)
        assert run.about is not None
        run.about.target = run.about.description = name
        runs.append(run)
    return runs


def run_of(folder: Path, target: str) -> Run:
    """The run that is there, or one that is made: red is no error here."""
    if not (folder / "records.jsonl").exists():
        print(f"running the suite: {target}", flush=True)
        folder.mkdir(parents=True, exist_ok=True)
        command = [
            sys.executable,
            "-m",
            "nfsproof",
            "run",
            target,
            "--report",
            str(folder),
            "--evidence=always",
            "-q",
        ]
        subprocess.run(command, cwd=ROOT, check=False, timeout=PATIENCE, stdout=subprocess.DEVNULL)
    return load(folder)


@contextmanager
def served(mutants: Sequence[str]) -> Iterator[str]:
    """The URL of an embedded server that breaks some rules."""
    bent = [word for name in mutants for word in ("--mutant", name)]
    command = [sys.executable, "-u", "-m", "nfsproof", "serve", "--port", "0", *bent]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            yield server.stdout.readline().split()[1]
        finally:
            server.terminate()


def take(picture: Picture, browser: Browser, boards: Path, file: Path) -> None:
    """One picture, and a word about its size."""
    visit = Visit(
        browser,
        boards / f"{picture.board}.html",
        width=picture.width,
        height=picture.height,
        dark=picture.dark,
    )
    page = visit.open(picture.fragment)
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    page.screenshot(path=file)
    visit.close()
    size = file.stat().st_size
    print(f"{file}: {size / 1000:.0f} KB{' - TOO LARGE' if size > MOST_BYTES else ''}")
    if visit.complaints:
        raise SystemExit(f"the page complains: {visit.complaints}")


if __name__ == "__main__":
    main()
