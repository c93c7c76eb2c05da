# SPDX-License-Identifier: MIT
"""`nfsproof sensitivity TARGET`: how a study is measured, ends, and goes on."""

from __future__ import annotations

import contextlib
import os
import subprocess
import typing as t
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from nfsclient.rpc.loop import Loop
from nfsjudge.verdict import Verdict
from nfsproof import sensing, study_planning
from nfsproof.cli import run_command_line
from nfsproof.exits import Exit, Trouble
from nfsproof.fault_plans import parse_plan
from nfsproof.workload_carriers import Workers
from nfstargets import TargetAddress
from nfstargets.embedded import EmbeddedTarget
from tests.workloads import samples
from tests.workloads.samples import rate
from workloads.histogram import Histogram
from workloads.result import Latency, Result
from workloads.running import Outcome
from workloads.safety import Limits
from workloads.sensitivity import study as studies
from workloads.sensitivity.study import PEAK, Setting, Study, Task
from workloads.shape import Plain
from workloads.trouble import LostWorker, Refused, Stopped


@pytest.mark.parametrize(
    ("setting", "field", "value"),
    [
        (Setting(), "latency", 0.0),
        (Setting("latency", 150.0), "latency", 150e-6),
        (Setting("overhead", 80.0), "overhead", 80e-6),
        (Setting("bandwidth", 2.5), "gap_per_byte", 0.4e-6),
    ],
)
def test_a_setting_is_a_shared_link_in_both_directions(setting: Setting, field: str, value: float) -> None:
    links = parse_plan(sensing.link_plan(setting), "plan.toml").links
    assert [(link.toward, link.shared) for link in links] == [("server", True), ("client", True)]
    assert all(getattr(link, field) == pytest.approx(value) for link in links)


_SERVER: t.Final = Setting(studies.SERVER, 100.0)


def _wish(**more: t.Any) -> study_planning.Wish:
    facts: dict[str, t.Any] = {
        "target": "embedded", "version": "3", "transport": "tcp", "settings": (Setting("latency", 1000.0),),
        "shares": (0.1, 0.5, 1.1), "repeats": 2, "seconds": 1.0, "callers": 4, "seed": 1, "limits": Limits(),
        "out": None, "label": "", **more,
    }  # fmt: skip
    return study_planning.Wish(**facts)


def _outcome(verdict: Verdict = Verdict.PASS, *, interrupted: bool = False) -> Outcome:
    result: Result = replace(rate(), latency=Latency(operations=Histogram([40_000.0] * 300)))
    result = replace(result, client=replace(result.client, null_rtt_us=2100.0))
    if verdict is not Verdict.PASS:
        result = replace(result, verdict=verdict, reasons=("a reason",))
    return Outcome(result, (), interrupted)


class _Fake:
    """Runs of a study without any server: each does 100 operations per second."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, ends: dict[int, Outcome | BaseException] | None = None
    ) -> None:
        self.rates: list[float] = []
        self.loads: list[float] = []
        self.linked: list[str] = []
        self.tasks: list[Task] = []
        self.ended: dict[int, int] = {}
        """Operations of a run, by its number; else 300."""
        self.ends = ends or {}
        self.mount_port = 1
        fake = self

        def run(
            _measuring: t.Any,
            task: Task,
            _address: t.Any,
            rate: float,
            load: float,
            seconds: float | None = None,
        ) -> tuple[Outcome, list[Plain]]:
            fake.rates.append(rate)
            fake.loads.append(load)
            fake.tasks.append(task)
            arrivals, met = (10, 40) if rate else (0, 0)
            seen = {
                "ended": fake.ended.get(len(fake.rates), 300),
                "arrivals": arrivals,
                "met": met,
                "messages": 600,
                "batches": [{"count": 15, "sum": 6e5}] * 20,
            }
            end = fake.ends.get(len(fake.rates), _outcome())
            if isinstance(end, BaseException):
                raise end
            return end, [seen]

        @contextlib.contextmanager
        def linked(_measuring: t.Any, setting: Setting) -> Iterator[None]:
            fake.linked.append(str(setting))
            yield None

        @contextlib.contextmanager
        def serving(wish: study_planning.Wish, _times: str) -> Iterator[TargetAddress]:
            yield TargetAddress(host="127.0.0.1", nfs_port=1, mount_port=fake.mount_port, export=wish.target)

        monkeypatch.setattr(sensing._Measuring, "_run", run)
        monkeypatch.setattr(sensing._Measuring, "_linked", linked)
        monkeypatch.setattr(sensing, "_serving", serving)


def test_a_study_measures_all_points_of_all_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake, lines = _Fake(monkeypatch), list[str]()
    study, status = sensing.run(_wish(out=tmp_path), say=lines.append, progress=lambda _: None)
    assert status is Exit.OK
    assert len(study.points) == 2 * 2 * 4
    assert fake.linked == ["base", "latency 1000 µs"]
    assert len(fake.rates) == 1 + len(study.points)  # and the first look at the peak
    peak = study.peaks(Setting())[0]
    assert {round(rate / peak, 3) for rate in fake.rates} == {0, 0.1, 0.5, 1.1}
    assert studies.read(tmp_path / studies.FILE) == study
    assert (tmp_path / "curves.csv").read_text().count("\n") == 1 + len(study.points)
    assert lines[1].startswith("points: 16, 2 for each of 3 loads and the peak")
    assert any("the other settings take some" in line for line in lines)
    assert all(not each.refused for each in study.points if each.share == PEAK)
    assert {each.messages for each in study.points} == {2.0}
    assert {each.null_rtt for each in study.points} == {2100.0}


def test_the_estimate_has_the_files_and_what_is_left() -> None:
    """Making 1 MiB for each operation per second takes minutes, and a point that is there none."""
    wish = _wish(shares=(0.5,), repeats=1)
    assert study_planning.duration(wish, wish.settings, 1800.0, 0) == "1 minute"
    assert study_planning.duration(wish, wish.settings, 1800.0, 1 << 20) == "5 minutes"
    (setting,) = wish.settings
    peak = Task(setting, PEAK, 0)
    assert study_planning.duration(wish, wish.settings, 1800.0, 1 << 20, {peak}) == "2 minutes"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (
            {"target": "nfs://192.0.2.1/e", "settings": (_SERVER,)},
            "only the embedded server with --queue has",
        ),
        ({"settings": (_SERVER,)}, "only the embedded server with --queue has"),
        ({"settings": (_SERVER,), "queue": "service=1, overhead=2"}, "--queue has overhead, which"),
        ({"settings": (_SERVER,), "queue": "packet=3500,service=1"}, "--queue has packet, which"),
        ({"target": "ganesha", "queue": "service=1"}, "only the embedded server has knobs and a queue"),
        ({"target": "ganesha", "knobs": ("a=b",)}, "only the embedded server has knobs and a queue"),
    ],
)
def test_what_is_impossible_is_known_before_anything_is_measured(
    change: dict[str, t.Any], why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = _Fake(monkeypatch)
    with pytest.raises(Trouble, match=why):
        _quietly(_wish(**change))
    with pytest.raises(Trouble, match=why):
        list(study_planning.plan_lines(_wish(**change)))
    assert not fake.rates


def test_files_that_are_too_many_are_known_after_the_first_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of the largest load: it may come after hours."""
    fake = _Fake(monkeypatch)
    with pytest.raises(Trouble, match=r"the largest load would have .* and --max-bytes is 1000000"):
        _quietly(_wish(bytes=20_000, limits=Limits(bytes=1_000_000)))
    assert len(fake.rates) == 1


def test_a_study_that_was_interrupted_goes_on_by_point(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    _Fake(monkeypatch, {7: _outcome(interrupted=True)})
    cut, status = sensing.run(_wish(out=tmp_path), say=lambda _: None, progress=lambda _: None)
    assert (status, len(cut.points)) == (Exit.INTERRUPTED, 5)
    fake = _Fake(monkeypatch)
    whole, status = sensing.run(_wish(out=tmp_path), say=lambda _: None, progress=lambda _: None)
    assert (status, len(whole.points), len(fake.rates)) == (Exit.OK, 16, 11)
    assert whole.points[:5] == cut.points
    assert len({each.task for each in whole.points}) == 16


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"version": "2"}, "is a study with --version 3, not 2"),
        ({"knobs": ("a=b",)}, r"is a study with --knob \(\), not \('a=b',\)"),
        ({"workers": Workers(hosts=("a",))}, "is a study with workers here, not hosts"),
        ({"bytes": 4096}, r"is a study with \d+ --bytes, not 4096"),
        ({"transport": "udp"}, "is a study with --proto tcp, not udp"),
        ({"target": "nfs://192.0.2.1/other"}, "is a study of a server at another address"),
    ],
)
def test_a_study_does_not_go_on_as_another_one(
    change: dict[str, t.Any], why: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    _Fake(monkeypatch)
    target = "embedded" if "knobs" in change else "nfs://192.0.2.1/export"
    _quietly(_wish(out=tmp_path, target=target))
    with pytest.raises(Trouble, match=why):
        _quietly(_wish(out=tmp_path, **{"target": target, **change}))
    assert "192.0.2.1" not in (tmp_path / studies.FILE).read_text()


def test_a_study_does_not_go_on_on_another_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Whose load, though, is always another one."""
    _Fake(monkeypatch)
    study, _ = _quietly(_wish(out=tmp_path))
    path = tmp_path / studies.FILE
    studies.write(replace(study, environment=replace(study.environment, load=77.0)), path)
    _quietly(_wish(out=tmp_path))
    studies.write(replace(study, environment=replace(study.environment, processors=77)), path)
    with pytest.raises(Trouble, match="is a study with processors: 77"):
        _quietly(_wish(out=tmp_path))


def test_a_study_goes_on_after_an_upgrade_and_a_restart_of_the_server(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """MOUNT is at another port then, which rpcbind knows."""
    fake = _Fake(monkeypatch)
    study, _ = _quietly(_wish(out=tmp_path, target="nfs://192.0.2.1/export"))
    newer = replace(study.environment, nfsproof="9.9", python="CPython 3.99.0", system="Linux 9.9", memory=1)
    studies.write(replace(study, environment=newer), tmp_path / studies.FILE)
    fake.mount_port = 2
    again, status = _quietly(_wish(out=tmp_path, target="nfs://192.0.2.1/export"))
    assert (status, again.points) == (Exit.OK, study.points)


def test_early_timers_are_of_udp(monkeypatch: pytest.MonkeyPatch) -> None:
    _Fake(monkeypatch)
    with pytest.raises(Trouble, match="over UDP alone"):
        _quietly(_wish(resend=0.06))


def test_a_point_that_would_take_too_long_is_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where a window of one call makes a few operations per second: 1,800 of them take minutes."""
    fake = _Fake(monkeypatch)
    wish = _wish(settings=(), shares=(0.05, 0.5), repeats=1, longest=120.0)
    study, status = sensing.run(wish, say=lambda _: None, progress=lambda _: None)
    assert status is Exit.OK
    peak = study.peaks(Setting())[0]
    assert {round(rate / peak, 3) for rate in fake.rates} == {0, 0.5}
    (long,) = (each for each in study.points if each.share == 0.05)
    assert long.refused == f"it would take {studies.seconds_of(0.05 * peak, 1):.0f} s, and 120 s are the most"


def test_files_of_a_peak_with_early_timers_are_those_of_the_slowest_setting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They are made as slowly as the setting is: those for the peak of base would take most of an hour."""
    settings = tuple(Setting("latency", each) for each in (10e3, 20e3, 40e3))
    for resend, expected in ((0.06, [1.0, 0.9, 0.9]), (0.0, [1.0, 1.0, 1.0])):
        fake = _Fake(monkeypatch)
        fake.ended[3] = 270
        wish = _wish(settings=settings, shares=(), repeats=1, resend=resend, transport="udp", version="2")
        study, _ = sensing.run(wish, say=lambda _: None, progress=lambda _: None)
        base = study.points[0].delivered
        assert [round(load / base, 3) for load in fake.loads[2:]] == expected


def test_wrong_data_ends_a_study_red(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = list[str]()
    _Fake(monkeypatch, {4: _outcome(Verdict.FAIL)})
    study, status = sensing.run(_wish(), say=lines.append, progress=lambda _: None)
    assert (status, len(study.points)) == (Exit.FAIL, 2)
    assert "a reason" in lines


def _quietly(wish: study_planning.Wish) -> tuple[Study, Exit]:
    return sensing.run(wish, say=lambda _: None, progress=lambda _: None)


def test_a_point_that_cannot_be_measured_is_refused_and_measured_again_later(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Such as beyond the peak, where the queue grows until the server is too slow."""
    fake = _Fake(monkeypatch, {5: _outcome(Verdict.VOID)})
    study, status = _quietly(_wish(out=tmp_path))
    (void,) = (each for each in study.points if each.refused == "a reason")
    assert (status, len(study.points), void.task) == (Exit.OK, 16, fake.tasks[4])
    fake = _Fake(monkeypatch)
    whole, status = _quietly(_wish(out=tmp_path))
    assert (status, fake.tasks) == (Exit.OK, [void.task])
    assert len({each.task for each in whole.points}) == len(whole.points) == 16
    assert not any(each.refused for each in whole.points)
    assert studies.read(tmp_path / studies.FILE) == whole


def test_what_the_proxy_said_is_a_reason_of_a_point_that_could_not_be_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _Fake(monkeypatch, {4: _outcome(Verdict.VOID), 6: _outcome(Verdict.VOID)})
    lines = iter(["", "", "", "cannot connect to a", *["cannot connect to a"] * 20])
    monkeypatch.setattr(sensing._Measuring, "_of_proxy", lambda _: next(lines))
    said: list[str] = []
    study, _ = sensing.run(_wish(settings=()), say=said.append, progress=lambda _text: None)
    refused = [each.refused for each in study.points if each.refused]
    assert refused == ["a reason; the proxy had trouble with the server", "a reason"]
    assert said.count("the proxy: cannot connect to a") == 1  # what has addresses is said, and not kept


def test_the_output_of_a_process_is_read_while_it_runs() -> None:
    """A pipe that is full would stop it."""
    reading, writing = os.pipe()
    try:
        running = sensing._Started(reading, "2049")
        assert running.last_line() == ""
        os.write(writing, b"one\ntwo\n")
        assert running.last_line() == running.last_line() == "two"
        os.write(writing, b"x\n" * 30_000 + b"three\n")
        assert running.last_line() == "three"
    finally:
        os.close(reading)
        os.close(writing)


def test_a_process_that_does_not_end_is_killed() -> None:
    done = list[str]()

    class Deaf:
        stdout = None

        def terminate(self) -> None:
            done.append("terminate")

        def kill(self) -> None:
            done.append("kill")

        def wait(self, timeout: float | None = None) -> None:
            done.append("wait")
            if timeout is not None:
                raise subprocess.TimeoutExpired("it", timeout)

    sensing._end(t.cast("subprocess.Popen[bytes]", Deaf()))
    assert done == ["terminate", "wait", "kill", "wait"]


def test_a_setting_without_a_peak_leaves_the_others_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """And has its peak and its loads when it is tried again."""
    lines = list[str]()
    fake = _Fake(monkeypatch, {2: _outcome(Verdict.VOID), 3: _outcome(Verdict.VOID)})
    study, status = sensing.run(_wish(out=tmp_path), say=lines.append, progress=lambda _: None)
    assert (status, fake.linked) == (Exit.USAGE, ["base", "latency 1000 µs"])
    assert "base: its peak could not be measured, so it has no loads" in lines
    assert len([each for each in study.points if each.knob == "latency"]) == 8
    whole, status = _quietly(_wish(out=tmp_path))
    assert (status, len(whole.points)) == (Exit.OK, 16)


def test_a_point_beyond_the_peak_lasts_no_longer_than_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its queue grows by a tenth of the peak each second: after 100 s a call waits for longer than any client does."""
    assert study_planning.seconds_of_point(_wish(), 1.1, 11.0) == 1.0
    assert study_planning.seconds_of_point(_wish(), 0.95, 9.5) == studies.seconds_of(9.5, 1.0)
    assert study_planning.seconds_of_point(_wish(), PEAK, 0.0) == 1.0


@pytest.mark.parametrize(
    "error", [Refused("no room"), Stopped("connection", "gone"), LostWorker("lost"), OSError(28, "full")]
)
def test_what_ends_a_study_leaves_what_was_measured(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = list[str]()
    fake = _Fake(monkeypatch, {7: error})
    study, status = sensing.run(_wish(), say=lines.append, progress=lambda _: None)
    assert (status, len(study.points), len(fake.rates)) == (Exit.USAGE, 5, 7)
    assert lines[-1].startswith("the study could not go on: ")
    _Fake(monkeypatch, {1: error})
    with pytest.raises(Trouble):  # there is nothing to show
        _quietly(_wish())


@pytest.mark.parametrize(("number", "points"), [(1, 0), (2, 0), (7, 5)])
@pytest.mark.parametrize("end", [_outcome(interrupted=True), KeyboardInterrupt()])
def test_an_interruption_ends_with_what_was_measured(
    number: int, points: int, end: Outcome | BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Within a run, between two, and at the first look at the peak."""
    _Fake(monkeypatch, {number: end})
    study, status = _quietly(_wish())
    assert (status, len(study.points)) == (Exit.INTERRUPTED, points)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("", "expected a TARGET or --from, and not both"),
        ("embedded --from x.csv", "expected a TARGET or --from, and not both"),
        ("--from x.csv --seconds 3", "--seconds is about measuring"),
        ("embedded --disk-ms 3", "--disk-ms is about the model of --from"),
        ("embedded --latency 10,x", "expected numbers with commas between them, got '10,x'"),
        ("embedded --overhead 0", "expected up to 20 numbers from 0.001 to 1e+07, got '0'"),
        ("embedded --client-overhead 1e9", "expected up to 20 numbers from 0.001 to 1e+07, got '1e9'"),
        ("embedded --bandwidth inf", "expected up to 20 numbers from 0.001 to 1e+06, got 'inf'"),
        ("embedded --packet 1", "expected 64 bytes or more, or 0, got 1"),
        ("embedded --max-seconds 0", "expected a number above 0"),
        ("--from x.csv --proto udp", "--proto is about measuring"),
        ("--from x.csv --repeat 2", "--repeat is about measuring"),
        ("--from x.csv --knob a=b", "--knob is about measuring"),
        ("--from x.csv --max-seconds 9", "--max-seconds is about measuring"),
        ("embedded --seconds nan", "expected a number above 0"),
        ("embedded --cluster tcp://a:1", "--cluster needs --workers"),
        ("embedded --cluster tcp://a:1 --hosts b --workers 2", "expected --cluster or --hosts, got both"),
    ],
)
def test_words_that_make_no_sense_are_refused(
    words: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line(["sensitivity", *words.split()]) == Exit.USAGE
    assert why in " ".join(capsys.readouterr().err.split())


def test_what_a_point_may_take_and_have_is_that_of_the_options(monkeypatch: pytest.MonkeyPatch) -> None:
    """No message is about an option that the command does not have: bytes bound the files."""
    seen = list[study_planning.Wish]()

    def plan_lines(wish: study_planning.Wish) -> list[str]:
        seen.append(wish)
        return []

    monkeypatch.setattr(study_planning, "plan_lines", plan_lines)
    for words in ("", "--max-seconds 60", "--max-seconds 7200", "--seconds 9000"):
        assert run_command_line(["sensitivity", "embedded", "--dry-run", *words.split()]) == Exit.OK
    assert [each.longest for each in seen] == [3600, 60, 7200, 3600]
    assert [each.limits.seconds for each in seen] == [3600, 3600, 7200, 9000]
    assert {each.limits.files > each.limits.bytes for each in seen} == {True}


def test_a_dry_run_says_what_would_be_measured(capsys: pytest.CaptureFixture[str]) -> None:
    words = "sensitivity embedded --dry-run --latency 4000,150 --bandwidth 2.5 --repeat 2"
    assert run_command_line(words.split()) == Exit.OK
    assert capsys.readouterr().out.splitlines()[:2] == [
        "settings: base, latency 150 µs, latency 4000 µs, bandwidth 2.5 MB/s",
        "points: 88, 2 for each of 10 loads and the peak, of each setting",
    ]


def test_a_study_of_the_embedded_server(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """With the server and the proxy in other processes. How much of it is refused depends on the machine."""
    monkeypatch.setattr(studies, "LEAST_ARRIVALS", 20)
    words = f"sensitivity embedded --loads 3 --repeat 1 --seconds 0.4 --callers 4 --max-bytes 24M --out {tmp_path}"
    assert run_command_line([*words.split(), "--latency", "2000"]) == Exit.OK
    output = capsys.readouterr().out
    study = studies.read(tmp_path / studies.FILE)
    assert len(study.points) == 8
    assert all(each.operations > 0 for each in study.points)
    assert study.peaks(Setting())
    assert "sfs-like on embedded, NFSv3 over tcp, 4 callers at the peak" in output
    at_peak = {each.knob: each.response for each in study.points if each.share == PEAK}
    assert at_peak["latency"] >= 4000


def test_an_overhead_of_the_server_needs_the_embedded_one_with_a_queue(tmp_path: Path) -> None:
    wish = _wish(settings=(Setting(studies.SERVER, 100.0),), target="nfs://127.0.0.1/export")
    measuring = object.__new__(sensing._Measuring)
    measuring.wish, measuring.folder = wish, tmp_path
    with (
        pytest.raises(Refused, match="only the embedded server with --queue"),
        measuring._linked(Setting(studies.SERVER, 100.0)),
    ):
        pass


def test_several_workers_load_a_server_together(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """With an overhead of the client, of which each has a processor, and one of the server."""
    monkeypatch.setattr(studies, "LEAST_ARRIVALS", 20)
    words = "sensitivity embedded --loads 0 --repeat 1 --seconds 1 --callers 4 --workers 2 --max-bytes 24M"
    more = "--queue service=0.2 --client-overhead 100 --server-overhead 300 --packet 3500 --out"
    assert run_command_line([*words.split(), *more.split(), str(tmp_path)]) == Exit.OK
    output = capsys.readouterr().out
    assert "4 callers at the peak in each of 2 workers" in output
    study = studies.read(tmp_path / studies.FILE)
    assert (study.workers, {each.share for each in study.points}) == (2, {PEAK})
    peaks = {each.knob: each for each in study.points}
    assert set(peaks) == {"base", studies.CLIENT, studies.SERVER}
    assert peaks["base"].in_flight == 8
    assert all(each.messages > 2 for each in peaks.values())


@pytest.mark.parametrize(("version", "major", "minor"), [("2", 2, None), ("3", 3, None), ("4.1", 4, 1)])
def test_the_directory_is_found_without_the_proxy(version: str, major: int, minor: int | None) -> None:
    """The proxy is no MOUNT server: a server at another address than the proxy's has its own."""
    with closing(Loop()) as loop:
        target = EmbeddedTarget()
        target.loop = loop
        target.start()
        measuring = object.__new__(sensing._Measuring)
        measuring.loop, measuring.study = loop, replace(samples.study(), version=version, transport="tcp")
        found = measuring._found(target.address())
        target.stop()
    assert found.root_handle
    assert (found.version, found.minor) == (major, minor)
    assert replace(found, mount_port=1, export="/elsewhere").root_handle == found.root_handle
