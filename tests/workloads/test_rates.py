# SPDX-License-Identifier: MIT
"""Rates on the embedded server for a moment: what a unit costs in calls, what is compared, and both loops."""

from __future__ import annotations

import typing as t

import pytest

from nfsclient.protocol import nfs3
from nfsjudge.verdict import Verdict
from nfsserver.server import Server
from nfstargets.embedded import EmbeddedTarget
from tests.workloads.rig import run, run_whole
from workloads.result import Result
from workloads.running import Here

_SHORT = {"duration": 0.15, "warmup": 0.02, "lint": 4}
_SETS: t.Final[dict[str, dict[str, t.Any]]] = {
    "seqread": {"size": 256 << 10, "io": 64 << 10},
    "randread": {"size": 256 << 10},
    "seqwrite": {"size": 256 << 10, "io": 64 << 10},
    "randwrite": {"size": 256 << 10},
    "smallread": {"files": 20},
    "create": {"files": 5, "size": 4096},
    "dirlist": {"files": 40},
    "fileserver": {"files": 20, "mean": 4096},
    "webserver": {"files": 15, "mean": 4096},
    "mailserver": {"files": 15, "mean": 4096},
    "sfs-like": {"load": 0.26},
}


def _run(name: str, **more: t.Any) -> Result:
    return run(name, parameters=_SETS[name], **{**_SHORT, **more})


@pytest.mark.parametrize("version", ["2", "3", "4.1", "4.2"])
@pytest.mark.parametrize("name", list(_SETS))
def test_each_rate_runs_in_each_version(name: str, version: str) -> None:
    size = 8192 if version == "2" else 65536
    result = _run(name, version=version, callers=3, rsize=size, wsize=size)
    assert (result.verdict, result.reasons) == (Verdict.PASS, ())
    assert result.phases[0].name == "steady state"
    assert result.latency.operations.count == result.phases[0].operations
    assert [finding.rule for finding in result.findings] == []
    if name in {
        "seqwrite",
        "randwrite",
        "fileserver",
        "mailserver",
        "webserver",
        "seqread",
        "randread",
        "smallread",
        "sfs-like",
    }:
        assert result.checks.bytes > 0


@pytest.mark.parametrize("is_interrupted", [False, True])
def test_a_rate_that_ends_early_has_what_was_done_until_then(is_interrupted: bool) -> None:
    """In the steady state; a handle is stale, or Ctrl-C."""

    def during(carrier: Here, target: EmbeddedTarget) -> None:
        seen: list[int] = []

        def end(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
            seen.append(1)
            if len(seen) > 20 and not is_interrupted:
                return nfs3.Read3Res(nfs3.Nfsstat3.NFS3ERR_STALE, resfail=nfs3.Read3ResFail())
            if len(seen) == 20 and is_interrupted:
                carrier.stop()
            return proceed(context, args)

        target.running().interpose(nfs3.READ, end)

    outcome, _ = run_whole(
        "randread",
        parameters={"size": 256 << 10},
        duration=500.0,
        warmup=0.0,
        callers=1,
        during=during,
    )
    (steady,) = outcome.result.phases
    assert outcome.interrupted is is_interrupted
    assert outcome.result.verdict is Verdict.VOID
    assert 15 <= steady.operations <= 20
    assert steady.operations <= outcome.result.checks.made <= 20
    assert steady.calls["READ"] <= 21
    assert 0 < steady.seconds < 400
    assert outcome.result.latency.operations.count == steady.operations


def test_a_caller_that_finds_no_file_lets_the_others_go_on() -> None:
    """More callers than files: the others must be able to give one back."""
    result = run("mailserver", parameters={"files": 1, "mean": 4096}, callers=4, duration=0.1, warmup=0.0)
    assert result.verdict is Verdict.PASS
    assert result.calls["REMOVE"] > 1


def test_a_rate_that_ends_in_its_warm_up_has_no_operations() -> None:
    def during(carrier: Here, target: EmbeddedTarget) -> None:
        def end(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
            carrier.stop()
            return proceed(context, args)

        target.running().interpose(nfs3.READ, end)

    outcome, _ = run_whole(
        "randread", parameters={"size": 256 << 10}, duration=1.0, warmup=500.0, callers=1, during=during
    )
    (steady,) = outcome.result.phases
    assert (steady.seconds, steady.operations, steady.rpcs) == (0.0, 0, 0)


_UNITS: t.Final[dict[str, dict[str, int]]] = {
    # Calls of one unit with the policy raw and NFSv3.
    "randread": {"READ": 1},
    "randwrite": {"WRITE": 1},
    "smallread": {"LOOKUP": 1, "READ": 1},
    "dirlist": {"READDIR": 1},
}


@pytest.mark.parametrize("name", list(_UNITS))
def test_a_unit_makes_exactly_these_calls(name: str) -> None:
    """One caller, no warm-up: all calls of the steady state are of whole units, the last of which may come too late."""
    result = _run(name, warmup=0.0, callers=1)
    units = result.latency.operations.count
    assert units > 0
    calls = result.calls
    assert set(calls) == set(_UNITS[name])
    for procedure, count in _UNITS[name].items():
        assert calls[procedure] in {units * count, (units + 1) * count}


def test_an_open_loop_counts_from_the_intended_start() -> None:
    result = _run("randread", arrivals=300.0, callers=4, duration=0.4)
    assert result.verdict is Verdict.PASS
    assert result.setup.arrivals == 300.0
    lag = result.latency.lag
    assert lag is not None
    assert lag.count == result.latency.operations.count > 0
    assert result.latency.operations.highest >= lag.lowest


def test_the_second_half_of_a_rate_is_compared_too() -> None:
    """Data that is damaged in the steady state is found at the end, when all is read."""

    def prepare(server: Server) -> None:
        seen: list[int] = []

        def damage(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
            seen.append(1)
            if len(seen) > 6:
                args.data = bytes(len(args.data))
            return proceed(context, args)

        server.interpose(nfs3.WRITE, damage)

    result = _run("randwrite", prepare=prepare, duration=1.0)
    assert result.verdict is Verdict.FAIL
    assert result.checks.failed == 1


def test_the_same_seed_draws_the_same() -> None:
    def offsets(seed: int) -> list[int]:
        drawn: list[int] = []

        def prepare(server: Server) -> None:
            def note(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
                drawn.append(args.offset)
                return proceed(context, args)

            server.interpose(nfs3.READ, note)

        _run("randread", prepare=prepare, seed=seed, callers=1)
        return drawn[:5]

    assert offsets(1) == offsets(1)
    assert offsets(1) != offsets(2)
