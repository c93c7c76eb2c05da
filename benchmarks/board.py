# SPDX-License-Identifier: MIT
"""How fast a large board opens and scrolls in a real browser: `python -m benchmarks.board [CHECKS TARGETS]`."""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

from reports.board import render_board
from tests.board import browser as browsers
from tests.board.browser import Visit
from tests.board.records import many

REPEATS = 5

SCROLL = """async (steps) => {
  const height = document.documentElement.scrollHeight - innerHeight;
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const times = [];
  await frame();
  let last = performance.now();
  for (let step = 1; step <= steps; step += 1) {
    scrollTo(0, height * step / steps);
    await frame();
    times.push(performance.now() - last);
    last = performance.now();
  }
  return times;
}"""
"""From top to bottom in this many frames: milliseconds of each."""

TYPING = """(text) => {
  const box = document.getElementById("q");
  const began = performance.now();
  box.value = text;
  box.dispatchEvent(new Event("input"));
  document.body.offsetHeight;
  return performance.now() - began;
}"""

OPENING = """() => {
  const began = performance.now();
  document.querySelector("#rows .row.check").click();
  document.body.offsetHeight;
  return performance.now() - began;
}"""


def main() -> None:
    """Makes the board, opens it a few times, scrolls, filters, opens a check; prints a table of milliseconds."""
    checks, targets = (int(word) for word in sys.argv[1:3]) if len(sys.argv) > 2 else (2000, 8)
    if browsers.missing():
        raise SystemExit(browsers.missing())
    runs = many(checks, targets)
    began = time.perf_counter()
    text = render_board(runs)
    made = time.perf_counter() - began
    print(f"{checks} checks x {targets} targets, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    print(f"  rendered in {made:.2f} s, {len(text) / 1e6:.1f} MB")
    with tempfile.TemporaryDirectory() as folder, browsers.started() as browser:
        file = Path(folder) / "board.html"
        file.write_text(text, encoding="utf-8")
        found = [_measure(Visit(browser, file)) for _ in range(REPEATS)]
    for name in found[0]:
        values = sorted(row[name] for row in found)
        print(f"  {name:<42} median {statistics.median(values):7.1f} ms, worst {values[-1]:7.1f} ms")


def _measure(visit: Visit) -> dict[str, float]:
    began = time.perf_counter()
    page = visit.open()
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    opened = (time.perf_counter() - began) * 1000
    timing = page.evaluate(
        "() => ({ interactive: performance.getEntriesByType('navigation')[0].domInteractive,"
        " paint: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0 })"
    )
    typed = page.evaluate(TYPING, "write")
    cleared = page.evaluate(TYPING, "")
    page.click("#expand")
    frames = sorted(page.evaluate(SCROLL, 240))
    check = page.evaluate(OPENING)
    visit.close()
    return {
        "open, until all is painted": opened,
        "  of it until the page is interactive": timing["interactive"],
        "  of it until the first paint": timing["paint"],
        "filter by text": typed,
        "filter cleared": cleared,
        "scrolling, median frame": statistics.median(frames),
        "scrolling, 99 % of frames below": frames[int(len(frames) * 0.99)],
        "scrolling, worst frame": frames[-1],
        "open a check": check,
    }


if __name__ == "__main__":
    main()
