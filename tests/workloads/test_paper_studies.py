# SPDX-License-Identifier: MIT
"""Tables of the paper on sensitivity: their numbers, what studies fill in, and how the command comes to studies."""

from __future__ import annotations

import dataclasses
import typing as t
from pathlib import Path

import pytest

from nfsproof import paper_studies, sensing, workload_papers
from nfsproof.exits import Exit, Trouble
from nfsproof.workload_papers import carry_out, filled
from reports.workloads.papers import paper_markdown, table_text
from tests.workloads import samples
from workloads.papers import PAPERS
from workloads.papers.filling import Filled, fill
from workloads.papers.model import Plan, StudyPlan
from workloads.papers.sensitivity import PAPER, Studied, times_on
from workloads.result import Result
from workloads.sensitivity import study as studies
from workloads.sensitivity.queueing import RAID, SCSI
from workloads.sensitivity.study import SERVER, Setting, Study

PLANS = {plan.name: plan for plan in PAPER.studies()}


def _run(_plan: Plan, _target: str) -> Result:
    raise AssertionError("the paper has no runs")


def _measure(plan: StudyPlan, target: str, repeats: int, folder: Path) -> tuple[Study, Exit]:
    """The sample, as if it were of the plan: points that it does not have are refused."""
    wish = paper_studies.wish_of(plan, target, repeats, None)
    study = dataclasses.replace(
        samples.study(), callers=plan.callers, queue=wish.queue, packet=wish.packet, resend=wish.resend,
        shares=wish.shares, seconds=wish.seconds, repeats=repeats, bytes=wish.bytes or 1000,
        version=wish.version or "3", transport=wish.transport or "tcp",
    )  # fmt: skip
    points = list(study.points)
    if (SERVER, 80.0) in plan.settings:
        points = [
            dataclasses.replace(study.points[0], knob=knob, value=o, delivered=1e6 / (900 + 2.4 * o))
            for knob, o in (("base", 0.0), *plan.settings)
        ]
    known = {each.task for each in points}
    points += [
        sensing.unmeasured(task, 0.0, "a reason")
        for setting in (Setting(), *wish.settings)
        for task in studies.tasks(setting, wish.shares, repeats, study.seed)
        if task not in known
    ]
    study = dataclasses.replace(study, points=tuple(points))
    studies.write(study, folder / studies.FILE)
    return study, Exit.OK


def _tables(target: str, tmp_path: Path) -> dict[str, Filled]:
    made = carry_out(PAPER, target, _run, out=tmp_path, measure=_measure)
    return {each.table.name: each for each in filled(PAPER, made)}


def _row(table: Filled, name: str) -> list[tuple[t.Any, t.Any]]:
    (row,) = (row for row in table.rows if row.row.name.startswith(name))
    return [(cell.paper, cell.ours) for cell in row.cells]


# ---------------------------------------------------------------- the numbers of the paper


def test_the_printed_intercepts_of_raid_are_those_of_each_other() -> None:
    """A regression goes through the middle of its points, which is not below the lowest of them."""
    slopes, intercepts, bases = (
        next(row.paper for row in PAPER.tables[0].rows if row.name.startswith(name))
        for name in ("slope", "intercept", "base")
    )
    middle = (500 + 1400) / 2

    def height(slope: float | None, intercept: float | None) -> float:
        return (slope or 0) * middle / 1000 + (intercept or 0)

    model, measured = 4, 5
    assert height(slopes[model], intercepts[model]) < (bases[model] or 0)
    assert height(slopes[model], intercepts[measured]) > (bases[model] or 0)
    assert height(slopes[measured], intercepts[model]) > (bases[measured] or 0)


def test_the_regression_of_the_paper_is_that_of_fixed_times() -> None:
    """Base fits with both; the slope, the intercept of the other column, and r² of RAID fit with M/D/1 alone."""
    table = fill(PAPER.tables[0], {})
    rows = {name: [ours for _, ours in _row(table, name)] for name in ("slope", "intercept", "base", "r²")}
    assert rows["base"][0] == pytest.approx(8.6, rel=0.03)
    assert rows["base"][3] == pytest.approx(4.3, rel=0.03)
    assert rows["base"][4] == pytest.approx(4.3, rel=0.03)
    assert rows["slope"][4] == pytest.approx(10.4, rel=0.02)
    assert rows["intercept"][4] == pytest.approx(-0.04, abs=0.15)
    assert rows["r²"][4] == pytest.approx(0.98, abs=0.005)
    assert rows["slope"][3] > 1.2 * 10.4
    assert rows["slope"][0] > rows["slope"][1] > 8.5


def test_times_of_the_columns_are_those_of_the_models() -> None:
    """The memory is smaller by the same factor as the files."""
    for plan, server, mebibytes in ((PLANS["scsi"], SCSI, 0.6), (PLANS["raid"], RAID, 2.4)):
        times = dict(part.split("=") for part in times_on(plan, "embedded").split(","))
        assert float(times["service"]) == pytest.approx(1000 * server.service)
        assert float(times["memory"]) == pytest.approx(mebibytes)
        assert mebibytes * (1 << 20) / (0.1 * plan.bytes) == pytest.approx(server.cached)
    assert times_on(PLANS["wan-v3-tcp"], "nfs://host/export") == ""
    assert times_on(PLANS["wan-v3-tcp"], "embedded") == "service=0.9"
    assert times_on(PLANS["client-overhead"], "embedded") == ""


def test_curves_end_where_the_regressions_of_the_paper_end() -> None:
    """At 1050 of 1111 operations per second; beyond the peak is no steady state."""
    for plan in (PLANS["scsi"], PLANS["raid"], PLANS["server"]):
        assert plan.shares == (0.05, 0.2, 0.45, 0.6, 0.8, 0.95)
        assert paper_studies.wish_of(plan, "embedded", 1, None).shares == plan.shares


def test_the_study_across_a_wan_takes_minutes() -> None:
    """At 40 ms one call is under way, so the peak is 12.5/s, and it alone is measured; base is that of the others."""
    plan = PLANS["wan-v2-udp"]
    wish = paper_studies.wish_of(plan, "embedded", 1, None)
    (share,) = wish.shares
    lasts = [studies.seconds_of(share * peak, wish.seconds) for peak in (1100.0, 1100.0, 480.0, 12.5)]
    assert lasts[-1] > wish.longest
    assert sum(lasts[:-1]) < 120
    assert wish.bytes * 1100 < 3 << 20  # the least that a client has
    assert PLANS["wan-v3-tcp"].shares == plan.shares


# ---------------------------------------------------------------- ours next to them


def test_a_study_fills_the_tables_of_a_server(tmp_path: Path) -> None:
    found = _tables("nfs://host/export", tmp_path)
    latency = _row(found["section 5.1"], "base, µs for each")
    assert latency[0] == (3, None)
    assert latency[1] == (3, pytest.approx(2))
    k = _row(found["section 5.2"], "k, fitted")
    assert k[1] == (None, pytest.approx(2.4))
    assert found["section 5.2"].lacking == {
        "SCSI": "only the embedded server can have the times of this server"
    }
    assert "SCSI" in found["table 1"].lacking
    text = "\n".join(map(table_text, found.values()))
    assert "[?]" not in text
    assert paper_markdown(PAPER, {"URL": list(found.values())}).count("#### On URL") == len(PAPER.tables)


def test_the_embedded_server_fills_the_columns_of_the_paper(tmp_path: Path) -> None:
    found = _tables("embedded", tmp_path)
    assert found["table 1"].lacking == {
        "this server": "the embedded server stands in the other columns, with times"
    }
    assert _row(found["section 5.2"], "k, fitted")[0] == (2.4, pytest.approx(2.4))
    assert _row(found["section 5.2"], "service")[0] == (900, pytest.approx(900))
    assert _row(found["section 5.2"], "r²")[0] == (0.99, pytest.approx(1))


def test_the_share_of_a_peak_is_compared_with_what_the_callers_allow() -> None:
    plan = PLANS["wan-v3-tcp"]
    base, late = samples.study().points[0], Setting("latency", 40_000.0)
    slow = dataclasses.replace(base, knob=late.knob, value=late.value, delivered=400.0, messages=2.1)
    lowest = samples.study().points[1]
    study = dataclasses.replace(samples.study(), callers=45, points=(base, lowest, slow))
    table = fill(PAPER.tables[-1], {plan: [Studied(plan, study)]})
    assert _row(table, "peak at 40 ms")[1] == (0.5, pytest.approx(400 / base.delivered))
    allowed = 45 / (lowest.response / 1e6 + 0.08)
    assert _row(table, "of what")[1] == (None, pytest.approx(400 / allowed))
    assert _row(table, "messages")[1] == (None, pytest.approx(2.1))


# ---------------------------------------------------------------- the command


def test_studies_are_kept_and_used_again(tmp_path: Path) -> None:
    made = carry_out(PAPER, "embedded", _run, out=tmp_path, measure=_measure)
    kept = carry_out(PAPER, "embedded", _run, out=tmp_path)
    assert kept.results == made.results
    assert kept.lacking == made.lacking
    nothing = carry_out(PAPER, "ganesha", _run, out=tmp_path / "none")
    assert not nothing.has_run
    assert nothing.lacking[PLANS["server"]] == "not run"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"callers": 7}, "callers 7, not 32"),
        ({"queue": "service=3"}, "queue service=3, not service=0.9"),
        ({"packet": 9000}, "packet 9000, not 0"),
        ({"resend": 1.0}, "resend 1.0, not 0.0"),
        ({"shares": (0.5,)}, "shares (0.5,), not (0.05"),
        ({"bytes": 1}, "bytes 1, not 49152"),
    ],
)
def test_kept_studies_of_another_plan_fill_no_table(
    change: dict[str, t.Any], why: str, tmp_path: Path
) -> None:
    carry_out(PAPER, "embedded", _run, out=tmp_path, measure=_measure)
    path = tmp_path / paper_studies.folder_of(PLANS["scsi"]) / studies.FILE
    studies.write(dataclasses.replace(studies.read(path), **change), path)
    kept = carry_out(PAPER, "embedded", _run, out=tmp_path)
    assert PLANS["scsi"] not in kept.results
    assert kept.lacking[PLANS["scsi"]].startswith("not run as it is planned now: what is kept has ")
    assert why in kept.lacking[PLANS["scsi"]]
    assert PLANS["raid"] in kept.results


def test_whole_studies_are_not_measured_again(tmp_path: Path) -> None:
    """Nor those of more repeats; those of fewer are."""
    carry_out(PAPER, "embedded", _run, out=tmp_path, measure=_measure, repeat=2)

    def measure(plan: StudyPlan, _target: str, repeats: int, _folder: Path) -> tuple[Study, Exit]:
        raise Trouble(f"K is a study with --repeat 2, not {repeats}: use another --out, or the same options")

    again = carry_out(PAPER, "embedded", _run, out=tmp_path, measure=measure)
    assert PLANS["scsi"] in again.results
    with pytest.raises(Trouble, match="not run: what is in --out is a study with other options"):
        carry_out(PAPER, "embedded", _run, out=tmp_path, measure=measure, repeat=3)


def test_studies_that_did_not_end_fill_no_table(tmp_path: Path) -> None:
    """But where a peak could not be measured, its loads are not missing."""

    def cut(plan: StudyPlan, *words: t.Any) -> tuple[Study, Exit]:
        study, _ = _measure(plan, *words)
        points = study.points[1:] if plan.name == "raid" else study.points
        return dataclasses.replace(study, points=points), Exit.USAGE

    made = carry_out(PAPER, "embedded", _run, out=tmp_path, measure=cut)
    assert PLANS["scsi"] in made.results
    assert PLANS["raid"] not in made.results
    assert made.lacking[PLANS["raid"]] == "not run to the end: 1 of 1 points are missing"

    def refuse(plan: StudyPlan, *words: t.Any) -> tuple[Study, Exit]:
        study, _ = _measure(plan, *words)
        points = (each for each in study.points if each.value != 150 or not each.share)
        return dataclasses.replace(study, points=tuple(points)), Exit.USAGE

    assert PLANS["scsi"] in carry_out(PAPER, "embedded", _run, measure=refuse).results


def test_what_cannot_be_measured_says_why_once_more_later(tmp_path: Path) -> None:
    def refuse(plan: StudyPlan, target: str, repeats: int, folder: Path) -> tuple[Study, Exit]:
        if plan.version == "2":
            raise Trouble("MNT at 192.0.2.1: PROG_MISMATCH")
        return _measure(plan, target, repeats, folder)

    lines = list[str]()
    made = carry_out(PAPER, "ganesha", _run, out=tmp_path, measure=refuse, say=lines.append)
    assert made.lacking[PLANS["wan-v2-udp"]] == "the server does not have NFSv2"
    assert lines == ["study wan-v2-udp: MNT at 192.0.2.1: PROG_MISMATCH"]
    later = carry_out(PAPER, "ganesha", _run, out=tmp_path)
    assert later.lacking[PLANS["wan-v2-udp"]] == "the server does not have NFSv2"


def test_wrong_data_takes_the_numbers_away_and_an_interruption_ends_it(tmp_path: Path) -> None:
    def end(status: Exit) -> paper_studies.Measure:
        return lambda *words: (_measure(*words)[0], status)

    made = carry_out(PAPER, "embedded", _run, out=tmp_path, measure=end(Exit.FAIL))
    assert made.is_wrong
    assert not made.results
    with pytest.raises(KeyboardInterrupt):
        carry_out(PAPER, "embedded", _run, measure=end(Exit.INTERRUPTED))


def test_kept_tables_are_printed(tmp_path: Path) -> None:
    carry_out(PAPER, "embedded", _run, out=tmp_path / "embedded", measure=_measure)
    lines = list[str]()
    wish = workload_papers.Wish(["sensitivity"], ["embedded"], out=tmp_path, kept_only=True)
    assert workload_papers.run(wish, say=lines.append, progress=lines.append) == Exit.OK
    text = "\n".join(lines)
    for table in PAPERS["sensitivity"].tables:
        assert f"{table.name}: {table.title}" in text


def test_a_wish_is_that_of_the_command(tmp_path: Path) -> None:
    plan = PLANS["scsi"]
    wish = paper_studies.wish_of(plan, "embedded", 3, tmp_path)
    assert (wish.version, wish.transport, wish.repeats, wish.bytes) == ("2", "udp", 3, 48 << 10)
    assert [str(each) for each in wish.settings][:2] == ["latency 150 µs", "latency 1000 µs"]
    assert wish.queue.startswith("service=0.9,disk=12,disks=24")
    assert paper_studies.wish_of(PLANS["server"], "ganesha", 1, None).version is None
