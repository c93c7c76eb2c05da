# SPDX-License-Identifier: MIT
"""The table of README.md in this folder, from the JSON of one run or more."""

from __future__ import annotations

import argparse
import json
import sys
import typing as t
from collections.abc import Sequence
from pathlib import Path

README: t.Final = Path(__file__).with_name("README.md")
_BEGIN: t.Final = "<!-- figures: made by python -m benchmarks.figures -->\n"
_END: t.Final = "<!-- end of figures -->\n"
_HEAD: t.Final = (
    "| operation | against | ours/theirs | gate | goal | µs of our process per operation |\n"
    "| --- | --- | --- | --- | --- | --- |\n"
)

Run: t.TypeAlias = dict[str, t.Any]


def section(runs: Sequence[Run]) -> str:
    """Where and when the runs were made, and a row for each ratio that has a gate or a goal."""
    return f"{_origin(runs)}\n\n{_HEAD}{''.join(_rows(runs))}"


def _origin(runs: Sequence[Run]) -> str:
    first = runs[0]
    machine, taken, settings = first["machine"], first["taken"], first["settings"]
    commits = sorted({run["taken"]["commit"] for run in runs})
    dates = sorted({run["taken"]["date"] for run in runs})
    loads = [run["taken"]["load"] for run in runs]
    server = taken.get("server") or settings["server"]
    return (
        f"{_counted(len(runs), 'run')} of {settings['rounds']} rounds on {' and '.join(dates)}, at commit "
        f"{' and '.join(commits)}. {_counted(machine['processors'], 'processor')} ({machine['processor']}), "
        f"kernel {machine['kernel']}, CPython {machine['python']}, {server} on the same machine, load "
        f"{_span(loads, 1)} when a run began."
    )


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" + ("s" if count != 1 else "")


def _span(values: Sequence[float], digits: int) -> str:
    low, high = (f"{value:.{digits}f}" for value in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def _rows(runs: Sequence[Run]) -> list[str]:
    """A row for each pair of operation and client: the lowest and the highest ratio of the runs."""
    ratios: dict[tuple[str, str], list[dict[str, t.Any]]] = {}
    ours: dict[str, list[float]] = {}
    for run in runs:
        for operation in run["operations"]:
            for client in operation["clients"]:
                if client["ratio"] is None:
                    ours.setdefault(operation["id"], []).append(client["cpu_us_per_operation"])
                elif client["gate"] is not None or client["goal"] is not None:
                    ratios.setdefault((operation["id"], client["client"]), []).append(client)
    return [_row(id_, name, found, ours.get(id_, [])) for (id_, name), found in ratios.items()]


def _row(id_: str, name: str, found: Sequence[dict[str, t.Any]], cpu: Sequence[float]) -> str:
    values = [client["ratio"] for client in found]
    gate, goal = found[0]["gate"], found[0]["goal"]
    reached = "" if goal is None else f"{goal:.2f}" if min(values) >= goal else f"{goal:.2f}: not reached"
    kept = "" if gate is None else f"{gate:.2f}" if min(values) >= gate else f"{gate:.2f}: missed"
    return f"| {id_} | {name} | {_span(values, 2)} | {kept} | {reached} | {_span(cpu, 1) if cpu else ''} |\n"


def put_in(text: str, made: str) -> str:
    """`text` with `made` between the two marks. Raises ValueError if they are not there."""
    before, begin, rest = text.partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not begin or not end:
        raise ValueError(f"expected {_BEGIN.strip()} and {_END.strip()}")
    return f"{before}{_BEGIN}\n{made}\n{_END}{after}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.figures", description=__doc__)
    parser.add_argument("runs", nargs="+", type=Path, metavar="FILE", help="what benchmarks/run --json wrote")
    parser.add_argument("--write", action="store_true", help="put the table into benchmarks/README.md")
    options = parser.parse_args()
    made = section([json.loads(path.read_text()) for path in options.runs])
    if not options.write:
        print(made, end="")
        return 0
    README.write_text(put_in(README.read_text(), made))
    return 0


if __name__ == "__main__":
    sys.exit(main())
