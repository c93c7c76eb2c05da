# SPDX-License-Identifier: MIT
"""The command line of the benchmarks: `benchmarks/run --help`."""

from __future__ import annotations

import argparse
import contextlib
import fnmatch
import json
import sys
import tempfile
from pathlib import Path

from benchmarks import report
from benchmarks.peers import DISTRIBUTIONS, Peers
from benchmarks.places import canned_handles, loopback, real_server
from benchmarks.plan import OPERATIONS, Operation
from benchmarks.rounds import Progress, Result, measure
from benchmarks.worker import Workers


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="benchmarks/run", description="nfsclient side by side with its peers"
    )
    parser.add_argument("--peers", action="store_true", help="install the Python peers from PyPI first")
    parser.add_argument("--quick", action="store_true", help="3 rounds of 0.2 s: a first impression")
    parser.add_argument(
        "--only", action="append", metavar="PATTERN", help="operations whose id matches, e.g. 'canned-*'"
    )
    parser.add_argument("--rounds", type=int, help="rounds over all clients (default 7)")
    parser.add_argument("--seconds", type=float, help="time of each measurement (default 0.5)")
    parser.add_argument(
        "--server", default="ganesha", help="real server: a target's name or a URL (default ganesha)"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything that was measured")
    parser.add_argument(
        "--check", action="store_true", help="exit with 1 if a gate is missed by more than the tolerance"
    )
    parser.add_argument("--list", action="store_true", help="say what would be measured, and stop")
    return parser


def chosen(patterns: list[str] | None) -> list[Operation]:
    """The operations that the patterns name; all without patterns."""
    if not patterns:
        return list(OPERATIONS)
    return [
        operation
        for operation in OPERATIONS
        if any(fnmatch.fnmatch(operation.id, pattern) for pattern in patterns)
    ]


def run(options: argparse.Namespace, operations: list[Operation], peers: Peers) -> list[Result]:
    """Set the stage, measure, clear it away."""
    needs_server = any(operation.place == "server" for operation in operations)
    server: contextlib.AbstractContextManager[dict[str, str]] = (
        real_server(options.server) if needs_server else contextlib.nullcontext({})
    )
    with (
        loopback() as loopback_environment,
        server as server_environment,
        tempfile.TemporaryDirectory(prefix="nfsproof-benchmarks-") as folder,
    ):
        there = {"raw"}
        there |= {"canned"} if loopback_environment else set()
        there |= {"server"} if server_environment else set()
        possible = [operation for operation in operations if operation.place in there]
        environment = {**canned_handles(), **server_environment, **loopback_environment}
        workers = Workers(peers, environment, Path(folder))
        progress = Progress(
            sum(len(operation.contenders) * operation.slices for operation in possible) * options.rounds
        )
        results = []
        try:
            for operation in possible:
                result = measure(operation, workers, options.rounds, options.seconds, progress)
                print(report.table([result]), flush=True)
                results.append(result)
        finally:
            workers.close()
    return results


def main() -> int:
    options = arguments().parse_args()
    options.rounds = options.rounds or (3 if options.quick else 7)
    options.seconds = options.seconds or (0.2 if options.quick else 0.5)
    operations = chosen(options.only)
    if not operations:
        print(f"no operation matches {options.only}; --list shows them", file=sys.stderr)
        return 2
    if options.list:
        print("\n".join(f"{operation.id:24}{operation.title}" for operation in operations))
        return 0
    peers = Peers()
    if options.peers:
        peers.install()
    taken = report.taken_now()
    results = run(options, operations, peers)
    print(report.summary(results))
    if options.json:
        there = {name: peers.versions.get(name.lower()) for name in DISTRIBUTIONS.values()}
        versions = {name: version for name, version in there.items() if version}
        settings = {"rounds": options.rounds, "seconds": options.seconds, "server": options.server}
        options.json.write_text(
            json.dumps(report.as_json(results, settings, versions, taken), indent=1) + "\n"
        )
    return 1 if options.check and report.failures(results) else 0


if __name__ == "__main__":
    sys.exit(main())
