# SPDX-License-Identifier: MIT
"""Numbers with which a workload cannot do what it says: refused before anything is made, with what would do."""

from __future__ import annotations

import typing as t
from dataclasses import replace
from pathlib import Path

import pytest

from nfsclient.protocol import nfs3
from nfsjudge.verdict import Verdict
from nfsproof import workloading
from nfsproof.cli import run_command_line
from nfsproof.exits import Exit
from nfsserver.server import Server
from tests.workloads.rig import names_of, run, run_whole
from workloads import calls as c
from workloads import catalog
from workloads.histogram import Histogram
from workloads.rates.fileset import count_directories, paths
from workloads.running import About, Here, _late, carry_out
from workloads.safety import LEAST_PAGE
from workloads.spec import Context, Order

_TOO_LITTLE = {
    "randread --set io=0": "expected 1 to 67108864 for io, got 0",
    "seqwrite --set io=0": "expected 1 to 67108864 for io, got 0",
    "seqwrite --set io=1M --set size=64k": "expected size of 1048576 at least, got 65536",
    "randwrite --set size=64k --callers 17": "expected size of 69632 at least, got 65536",
    "write10 --set write=0": "for write, got 0",
    "write10 --set size=0": "for size, got 0",
    "smallread --set files=0": "expected 1 to 10000000 for files, got 0",
    "andrew --set files=0": "for files, got 0",
    "andrew --set files=10 --set bytes=9": "expected bytes of 10 at least, got 9",
    "connectathon-basic --set files=0": "for files, got 0",
    "connectathon-basic --set chmods=10": "expected chmods of 20 at least, got 10",
    "connectathon-basic --set renames=5": "expected renames of 10 at least, got 5",
    "connectathon-basic --set symlinks=5": "expected symlinks of 10 at least, got 5",
    "connectathon-basic --set levels=40": "expected 1 to 16 for levels, got 40",
    "fileserver --set mean=0": "for mean, got 0",
    "fileserver --set width=0": "expected 2 to 10000000 for width, got 0",
    "dirlist --set width=0": "for width, got 0",
    "dirlist --set width=1 --set files=10": "for width, got 1",
    "find --set levels=1": "expected levels of 2 at least, got 1",
    "sort --set scale=0": "expected 0.001 to 1000 for scale, got 0",
    "webserver --set append=0": "for append, got 0",
    "create --set files=0": "for files, got 0",
    "sfs-like --set load=0.2": "expected load times bytes of 2735104 at least, got 2097152",
    "sfs-like --set touched=0": "expected 0.01 to 1 for touched, got 0",
    "sfs-like --policy raw": "sfs-like imitates no client: its policy is direct; leave --policy out",
    "lockedreads --version 4.1 --set rounds=0": "for rounds, got 0",
    "recall --version 4.1 --clients 1": "expected --clients of 2 at least, got 1",
}


@pytest.mark.parametrize("words", list(_TOO_LITTLE))
def test_a_number_that_leaves_nothing_to_do_is_refused(
    words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    name, *options = words.split()
    for more in ([], ["--dry-run"]):
        assert run_command_line(["workload", "run", name, *options, *more]) == Exit.USAGE
        error = capsys.readouterr().err
        assert _TOO_LITTLE[words] in error
        assert "Traceback" not in error


def test_every_number_has_bounds_that_hold_its_default() -> None:
    for workload in catalog.every():
        if workload.name == "toy":  # that of other tests
            continue
        for name, default in workload.defaults.items():
            if isinstance(default, bool):
                continue
            bounds = workload.bounds[name]
            assert bounds.least <= float(default) <= bounds.most, (workload.name, name)
        workload.require_enough(workload.defaults, workload.clients, workload.callers)


@pytest.mark.parametrize(
    ("count", "width"), [(1, 1), (2, 2), (9, 2), (10, 3), (1000, 7), (5, 20), (49, 7), (50, 7)]
)
def test_directories_are_counted_without_making_names(count: int, width: int) -> None:
    directories, files = paths("top", count, width)
    assert (count_directories(count, width), count) == (len(directories), len(files))


def test_a_tree_that_would_never_end_is_a_mistake() -> None:
    for call in (lambda: paths("top", 10, 1), lambda: count_directories(10, 1)):
        with pytest.raises(ValueError, match="a width of 2 at least, got 1"):
            call()


@pytest.mark.parametrize(
    ("words", "least"),
    [
        ("create --set files=1 --callers 5", 5),
        ("create --set files=3 --callers 4", 4),
        ("fileserver --set files=10", 101),
        ("mailserver --set files=3", 33),
        ("webserver --set files=99", 100),
    ],
)
def test_callers_without_files_are_refused(
    words: str, least: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line(["workload", "run", *words.split()]) == Exit.USAGE
    assert f"expected files of {least} at least" in capsys.readouterr().err


_MOST: t.Final[dict[str, dict[str, t.Any]]] = {
    "create": {"parameters": {"files": 5, "size": 5000}, "callers": 5},
    "fileserver": {"parameters": {"files": 9, "mean": 2000, "width": 2}, "callers": 4},
    "mailserver": {"parameters": {"files": 9, "mean": 100}, "callers": 4},
    "sfs-like": {"parameters": {"load": 0.3}, "callers": 4},
}


@pytest.mark.parametrize("arrivals", [0.0, 400.0])
@pytest.mark.parametrize("name", list(_MOST))
def test_a_rate_keeps_to_what_it_has_announced(name: str, arrivals: float) -> None:
    """After each CREATE, REMOVE and WRITE the files of the server are counted."""
    workload = catalog.find(name)
    given = _MOST[name]
    demand = workload.demand({**workload.defaults, **given["parameters"]}, 1)
    seen: list[tuple[int, int]] = []

    def prepare(server: Server) -> None:
        def count(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
            reply = proceed(context, args)
            seen.append(_files_below(server.fs.root))
            return reply

        for procedure in (nfs3.CREATE, nfs3.REMOVE, nfs3.WRITE):
            t.cast("t.Any", server).interpose(procedure, count)

    result = run(name, prepare=prepare, duration=0.3, warmup=0.0, arrivals=arrivals, **given)
    assert (result.verdict, result.reasons) == (Verdict.PASS, ())
    assert result.phases[0].operations > 0
    assert max(files for files, _ in seen) <= demand.files
    assert max(octets for _, octets in seen) <= demand.bytes


def _files_below(node: t.Any) -> tuple[int, int]:
    """(files, bytes) of a tree of the embedded server."""
    if node.directory is None:
        return 1, node.size
    below = [_files_below(node.directory.get(name)) for name in node.directory.names()]
    return sum(files for files, _ in below), sum(octets for _, octets in below)


def _nothing(_context: Context, _caller: int) -> c.Program[None]:
    yield from ()


def test_a_unit_without_a_call_is_no_operation(monkeypatch: pytest.MonkeyPatch) -> None:
    idle = replace(catalog.find("dirlist"), unit=_nothing)
    monkeypatch.setattr(catalog, "find", lambda _name: idle)
    result = run("dirlist", parameters={"files": 5}, duration=0.1, warmup=0.0)
    assert (result.phases[0].operations, result.latency.operations.count, result.calls) == (0, 0, {})
    assert sum(each.operations for each in result.series) == 0


def test_a_unit_that_finds_no_file_waits_and_is_no_operation(tmp_path: Path) -> None:
    """More callers than files, which the command refuses: operations are what the server has seen, not empty turns."""
    result = run("webserver", parameters={"files": 2, "mean": 4096}, callers=5, duration=0.3, warmup=0.0)
    assert result.verdict is Verdict.PASS
    assert 0 < result.phases[0].operations <= result.phases[0].rpcs
    order = Order(
        workload="webserver",
        parameters={**catalog.find("webserver").defaults, "files": 2},
        mount=str(tmp_path),
        directory="nfsproof-workload-test",
        callers=5,
        duration=0.2,
        warmup=0.0,
    )
    mounted = carry_out(Here(order), order, About("mounted", "0")).result
    assert mounted.verdict is Verdict.PASS
    assert mounted.phases[0].operations > 0
    assert list(tmp_path.iterdir()) == []


def _breaks(context: Context, caller: int) -> c.Program[None]:
    yield c.Create(f"broken{context.client}.{caller}")
    raise ZeroDivisionError("on purpose")


@pytest.mark.parametrize("version", ["3", "4.1"])
def test_an_error_that_nobody_expects_leaves_no_directory(
    version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = replace(catalog.find("dirlist"), unit=_breaks)
    monkeypatch.setattr(catalog, "find", lambda _name: broken)
    servers: list[Server] = []
    with pytest.raises(ZeroDivisionError, match="on purpose"):
        run(
            "dirlist",
            version=version,
            parameters={"files": 5},
            callers=8,
            clients=2,
            duration=0.2,
            prepare=servers.append,
        )
    assert names_of(servers[0]) == []


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("--duration nan", "expected a finite number, got nan"),
        ("--warmup nan", "expected a finite number, got nan"),
        ("--arrivals nan", "expected a finite number, got nan"),
        ("--arrivals inf", "expected a finite number, got inf"),
        ("--max-seconds nan", "expected a finite number, got nan"),
        ("--duration 0", "0.0 is not in the range"),
        ("--size 0", "expected 1 byte at least, got 0"),
        ("--rsize 0", "expected 1 byte at least, got 0"),
        ("--wsize 0", "expected 1 byte at least, got 0"),
        ("--page 511", "expected 512 to 1048576 as the bytes of a page of a directory (--page), got 511"),
        ("--page 0", "(--page), got 0"),
    ],
)
def test_an_option_that_makes_no_sense_is_refused(
    words: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line(["workload", "run", "dirlist", "--set", "files=10", *words.split()]) == Exit.USAGE
    assert why in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("version", ["2", "3", "4.1", "4.2"])
def test_the_smallest_page_has_room_for_an_entry(version: str) -> None:
    rsize = 8192 if version == "2" else 65536
    result = run(
        "dirlist",
        version=version,
        page=LEAST_PAGE,
        parameters={"files": 12, "attributes": True},
        rsize=rsize,
        wsize=rsize,
        duration=0.1,
        warmup=0.0,
    )
    assert (result.verdict, result.reasons) == (Verdict.PASS, ())


@pytest.mark.parametrize(("page", "verdict"), [(1024, Verdict.VOID), (8192, Verdict.FAIL)])
def test_a_page_that_is_too_small_says_nothing_about_the_server(page: int, verdict: Verdict) -> None:
    def prepare(server: Server) -> None:
        def refuse(_server: t.Any, _context: t.Any, _args: t.Any, _proceed: t.Any) -> t.Any:
            return nfs3.Readdir3Res(nfs3.Nfsstat3.NFS3ERR_TOOSMALL, resfail=nfs3.Readdir3ResFail())

        server.interpose(nfs3.READDIR, refuse)

    outcome, _ = run_whole(
        "dirlist", prepare=prepare, page=page, parameters={"files": 5}, duration=0.1, warmup=0.0
    )
    assert outcome.result.verdict is verdict
    assert "NFS3ERR_TOOSMALL" in outcome.result.reasons[0]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("run randread --mount {folder} --policy v3-like", "expected no --policy: with --mount the kernel"),
        ("run randread --mount {folder} --version 3 --rsize 8k", "expected no --version and no --rsize: "),
        ("run randread --mount {folder} --no-plus", "expected no --plus: "),
        ("run write10 --duration 5", "expected no --duration: write10 is a script"),
        (
            "run write10 --warmup 1 --arrivals 5",
            "expected no --warmup and no --arrivals: write10 is a script",
        ),
        ("run randread --mount {folder} --mutant x", "expected no --mutant: "),
        ("run write10 --callers 5 --dry-run", "expected no --callers: write10 is a script"),
        ("compare A B --pairs 7", "expected --run NAME with options after --, with --pairs,"),
        ("compare A B --pairs 5", "expected --run NAME with options after --, with --pairs,"),
        ("compare embedded embedded --run write10 -- --duration 5", "expected no --duration: write10 is a"),
        ("run lockedreads", "not here yet; use --version 4.1"),
        ("run sfs-like --mount {folder}", "does not run on a mounted directory: it imitates no client"),
        (
            "run write10 --version 2 --stable unstable --no-plus",
            "expected no --stable and no --plus: NFSv2 has",
        ),
        ("fio {folder}/../v2.fio --version 2", "[job]: expected no sync=dsync with --version 2"),
        ("run recall --version 3", "nor delegations; use --version 4.1"),
    ],
)
def test_an_option_that_would_do_nothing_is_refused_by_name(
    words: str, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    job = tmp_path.parent / "v2.fio"
    job.write_text("[job]\nrw=write\nsize=4k\nruntime=1\nsync=dsync\n", encoding="utf-8")
    assert run_command_line(["workload", *words.format(folder=tmp_path).split()]) == Exit.USAGE
    assert why in " ".join(capsys.readouterr().err.split())
    assert list(tmp_path.iterdir()) == []


_FEW = "--set files=5 --duration 0.2 --warmup 0"


@pytest.mark.parametrize(
    "command", ["run dirlist", "compare embedded embedded --run dirlist --", "fio", "paper"]
)
def test_a_defect_of_nfsproof_does_not_look_like_a_wrong_server(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    broken = replace(catalog.find("dirlist"), unit=_breaks)
    monkeypatch.setattr(catalog, "find", lambda _name: broken)
    job = tmp_path / "jobs.fio"
    job.write_text("[job]\nrw=read\nsize=4k\nruntime=1\n", encoding="utf-8")
    words = {"fio": f"fio {job}", "paper": "paper nfsv41 embedded"}.get(command, f"{command} {_FEW}")
    if command in {"fio", "paper"}:
        monkeypatch.setattr(workloading, "run", _is_broken)
    assert run_command_line(["workload", *words.split()]) == Exit.INTERNAL
    assert "ZeroDivisionError: on purpose" in capsys.readouterr().err


def _is_broken(*_: t.Any, **__: t.Any) -> t.NoReturn:
    raise ZeroDivisionError("on purpose")


@pytest.mark.parametrize(
    ("lag", "latency", "warns"),
    [
        ([50.0] * 100, [1000.0] * 100, False),
        (
            [50.0] * 97 + [900.0] * 3,
            [1000.0] * 100,
            False,
        ),  # some begin late, and it is less than what a unit takes
        ([50.0] * 97 + [1500.0] * 3, [1000.0] * 100, True),
        ([150.0] * 100, [1000.0] * 100, True),
        ([], [], False),
    ],
)
def test_late_starts_are_reported_in_proportion(lag: list[float], latency: list[float], warns: bool) -> None:
    assert bool(list(_late(Histogram(lag), Histogram(latency)))) == warns
