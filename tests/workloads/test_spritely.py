# SPDX-License-Identifier: MIT
"""The policies of Spritely NFS: what is written and when, what several clients see of each other, figures over time."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from nfsjudge.verdict import Verdict
from nfsproof import workload_figures, workload_papers
from nfsproof.exits import Trouble
from nfsproof.workloading import Wish, order_of
from reports.workloads.timelines import axes, timeline_picture
from tests.workloads import samples
from tests.workloads.rig import calls_of, run
from tests.workloads.toys import SIZE, TOY
from workloads import calls as c
from workloads import catalog
from workloads.papers import PAPERS
from workloads.papers.model import Plan
from workloads.policies.client_clock import ClientClock
from workloads.policies.spritely import CALLBACKS, CANCELLED
from workloads.result import Result
from workloads.spec import PhaseDef
from workloads.timeline import Sample, Timeline
from workloads.trouble import Refused

_SMALL = {"scale": 0.1, "ends": 0}


def sort(policy: str, **parameters: float) -> Result:
    version = "2" if policy == "v2-like" else "snfs"
    result = run(
        "sort",
        version=version,
        policy=policy,
        parameters={**_SMALL, **parameters},
        window=4,
        rsize=4096,
        wsize=4096,
    )
    assert (result.verdict, result.reasons) == (Verdict.PASS, ())
    return result


def andrew(version: str, policy: str, **parameters: float) -> Result:
    result = run(
        "andrew",
        version=version,
        policy=policy,
        parameters={"files": 12, "bytes": 20_000, **parameters},
        window=4,
        rsize=4096,
        wsize=4096,
    )
    assert (result.verdict, result.reasons) == (Verdict.PASS, ())
    return result


def test_temporary_files_cost_no_read_and_without_update_no_write() -> None:
    """Sections 5.3 and 5.4."""
    lazy, old = sort("spritely-lazy"), sort("v2-like")
    assert lazy.calls.get("READ", 0) == lazy.calls.get("WRITE", 0) == 0
    assert lazy.events[CANCELLED] == sum(phase.written for phase in lazy.phases)
    assert old.calls["READ"] == old.calls["WRITE"] > 50
    assert lazy.calls["OPEN"] == lazy.calls["CLOSE"] == 2 * lazy.calls["CREATE"]


def test_update_writes_each_thirty_seconds_of_the_clock_of_the_paper() -> None:
    """The slower the machine, the more it finds; what it finds once, it does not write again."""
    slow, faster = sort("spritely", pace2816=1.0), sort("spritely", pace2816=0.05)
    assert slow.calls["WRITE"] > faster.calls.get("WRITE", 0)
    assert slow.calls["WRITE"] <= sort("v2-like").calls["WRITE"]
    assert slow.calls == sort("spritely", pace2816=1.0).calls


def test_each_sort_has_its_own_pace_and_its_clock_begins_with_it() -> None:
    """What passed before it, on another clock, brings no write-back into it."""
    alone = calls_of(sort("spritely", pace1408=0.5), "1408 KB")
    after = sort("spritely", pace281=0.7, pace1408=0.5)
    assert calls_of(after, "1408 KB") == alone
    assert alone["WRITE"] > 0
    assert calls_of(after, "2816 KB").get("WRITE", 0) == 0


def test_attributes_grow_old_by_the_pace_in_every_policy() -> None:
    """Section 5.1: NFS looks every few seconds whether a file has changed."""
    for version, policy in (("2", "v2-like"), ("3", "v3-like"), ("4.1", "delegated"), ("snfs", "spritely")):
        slow, quick = (andrew(version, policy, pace=pace).calls["GETATTR"] for pace in (3.0, 0.001))
        assert slow > quick, policy


def test_a_clock_never_goes_back() -> None:
    machine = 100.0
    clock = ClientClock(lambda: machine)
    assert clock() == 100
    clock.begin(2.0)
    clock.go_on()
    clock.go_on()
    machine = 101.0
    assert clock() == 104
    clock.begin(0.0)
    machine = 105.0
    clock.go_on()
    assert clock() == 108
    clock.begin(0.5)
    assert clock() == 108


def test_stat_of_a_file_just_written_has_its_size_and_asks_the_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Section 5.2, ScanDir: nothing but the size is known here, and nobody calls back about a closed file."""
    sizes = list[int | None]()
    stats = dataclasses.replace(TOY, phases=(*TOY.phases[:1], PhaseDef("stat", lambda _: [_stats(sizes)])))
    monkeypatch.setitem(catalog._KNOWN, TOY.name, stats)
    result = run("toy", version="snfs", policy="spritely-lazy", clients=1, rsize=4096, wsize=4096)
    assert (result.verdict, result.reasons) == (Verdict.PASS, ())
    assert sizes == [SIZE, SIZE, SIZE + 100]
    assert calls_of(result, "stat")["GETATTR"] == 2 + calls_of(result, "stat").get("READDIR", 0)


def _stats(sizes: list[int | None]) -> c.Program[None]:
    """Of a file of which data waits: closed, closed again, open with more data."""
    sizes.append((yield c.Stat("d0/f")).size)
    sizes.append((yield c.Stat("d0/f")).size)
    file = yield c.Open("d0/f", writes=True)
    yield c.Write(file, SIZE, 100)
    sizes.append((yield c.Stat("d0/f")).size)
    yield c.Close(file)


def test_scandir_costs_as_much_as_with_nfs() -> None:
    """No file is open: LOOKUP or GETATTR brings its attributes."""
    snfs, nfs = (calls_of(andrew(*each), "ScanDir") for each in (("snfs", "spritely"), ("2", "v2-like")))
    assert snfs == nfs
    assert snfs["GETATTR"] + snfs["LOOKUP"] >= 12


def test_each_client_sees_what_others_have_not_written_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(catalog._KNOWN, TOY.name, TOY)
    result = run("toy", version="snfs", policy="spritely-lazy", clients=3, rsize=4096, wsize=4096, window=2)
    assert (result.verdict, result.reasons) == (Verdict.PASS, ())
    assert calls_of(result, "write").get("WRITE", 0) == 0
    assert calls_of(result, "read")["WRITE"] == 9
    assert calls_of(result, "read again")["WRITE"] == 1
    assert result.events[CALLBACKS] == 4


def test_andrew_with_all_that_programs_do() -> None:
    result = andrew("snfs", "spritely", pace=1.0)
    assert calls_of(result, "ReadAll").get("READ", 0) == 0
    assert result.calls["WRITE"] > 0


@pytest.mark.parametrize("policy", ["spritely", "spritely-lazy"])
def test_andrew_pays_for_what_waits_at_its_end(policy: str) -> None:
    """Section 5.2: runs in a row, so that each pays for what the one before has left."""
    result = andrew("snfs", policy)
    written = sum(phase.written for phase in result.phases)
    temporaries = result.events[CANCELLED]
    assert 0 < temporaries < written
    assert calls_of(result, "Make")["WRITE"] * 4096 >= written - temporaries


def test_a_client_has_one_connection() -> None:
    with pytest.raises(Refused, match="one connection"):
        order_of(Wish(workload="sort", version="snfs", connections=2), None, 1)


@pytest.mark.parametrize(("version", "policy"), [("2", "spritely"), ("snfs", "v2-like"), ("snfs", "raw")])
def test_policies_and_versions_belong_together(version: str, policy: str) -> None:
    with pytest.raises(Refused, match="is for"):
        order_of(Wish(workload="sort", version=version, policy=policy), None, 1)


def test_workloads_of_other_versions_say_so() -> None:
    with pytest.raises(Refused, match="Spritely NFS"):
        order_of(Wish(workload="find", version="snfs"), None, 1)


# ---------------------------------------------------------------- figures

TIMELINE = Timeline(
    [Sample(0.0, 0.0, 0, 0, 0), Sample(1.0, 0.5, 100, 10, 0), Sample(3.0, 0.5, 100, 10, 40)],
    [("Copy", 0.0), ("Make", 1.0)],
)


def test_spans_count_each_sample_in_proportion() -> None:
    spans = TIMELINE.spans(6)
    assert [span.calls for span in spans] == pytest.approx([100, 100, 0, 0, 0, 0])
    assert [span.processor for span in spans] == pytest.approx([0.5, 0.5, 0, 0, 0, 0])
    assert [span.writes for span in spans] == pytest.approx([0, 0, 20, 20, 20, 20])
    assert Timeline().spans(6) == []


def test_a_picture_has_four_graphs_and_names_for_phases() -> None:
    svg = ET.fromstring(timeline_picture("Figure 9", TIMELINE))
    texts = [element.text for element in svg.iter() if element.tag.endswith("text")]
    assert {"server processor, ms/s", "calls/s", "READ/s", "WRITE/s", "Copy", "Make"} <= set(texts)
    assert not any(element.get("fill", "").startswith("#") for element in svg.iter())
    assert axes(TIMELINE) == pytest.approx([500, 100, 10, 20])
    assert timeline_picture("Figure 9", Timeline()) == ""


def test_figures_are_kept_and_drawn_with_the_same_axes(tmp_path: Path) -> None:
    figures, measured = PAPERS["spritely"].figures, list[str]()

    def measure(plan: Plan) -> Timeline:
        measured.append(plan.version)
        factor = len(measured)
        return Timeline(
            [Sample(each.at, each.processor, each.calls * factor, 1, 1) for each in TIMELINE.samples],
            TIMELINE.phases,
        )

    paths = workload_figures.draw(figures, tmp_path, measure, say=lambda _text: None)
    assert [path.name for path in paths] == ["figure-1.svg", "figure-2.svg"]
    assert measured == ["2", "snfs"]
    assert all(">200<" in path.read_text(encoding="utf-8") for path in paths)
    assert workload_figures.draw(figures, tmp_path, None, say=lambda _text: None) == paths
    (tmp_path / "figure-1.json").write_text(json.dumps({"phases": 1}), encoding="utf-8")
    with pytest.raises(Trouble, match="expected a timeline"):
        workload_figures.draw(figures, tmp_path, None, say=lambda _text: None)
    assert workload_figures.draw(figures, tmp_path / "none", None, say=lambda _text: None) == []


def test_a_run_is_sampled_with_the_processor_time_of_the_server() -> None:
    parameters = {"scale": "0.05", "ends": "0", "pace281": "0.5", "pace1408": "0.5", "pace2816": "0.5"}
    plan = Plan(workload="sort", version="snfs", policy="spritely", size=4096, parameters=parameters)

    def wish_of(_plan: Plan, target: str) -> Wish:
        return Wish(
            workload="sort",
            target=target,
            version=plan.version,
            policy=plan.policy,
            parameters=plan.parameters,
        )

    timeline = workload_figures.measured(plan, wish_of)
    assert [name for name, _ in timeline.phases] == ["281 KB", "1408 KB", "2816 KB"]
    last = timeline.samples[-1]
    assert last.calls > 100
    assert last.processor > 0
    assert [each.at for each in timeline.samples] == sorted(each.at for each in timeline.samples)
    made = run("sort", version="3", parameters={name: float(text) for name, text in parameters.items()})
    operations = [phase.operations for phase in made.phases]
    second, third = (at for _, at in timeline.phases[1:])
    paced = [each * 0.5 for each in operations]
    assert third - second == pytest.approx(paced[1]), "the clock of the pace, not that of the machine"
    assert last.at - third == pytest.approx(paced[2])


def test_a_page_shows_the_pictures_next_to_it_and_goes_on_to_do_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workload_figures, "measured", lambda _plan, wish_of: TIMELINE)
    page, link = tmp_path / "docs" / "papers.md", "(images/spritely-figure-1.svg)"
    page.parent.mkdir()
    drawn = print_paper("embedded", out=tmp_path / "out", markdown=page)
    assert [line for line in drawn if line.startswith("picture: ")] == [
        f"picture: {tmp_path / 'out' / name}" for name in ("figure-1.svg", "figure-2.svg")
    ]
    assert {each.name for each in (page.parent / "images").iterdir()} == {
        "spritely-figure-1.svg",
        "spritely-figure-2.svg",
    }
    assert f"![Figure 1: server utilization and call rates for NFS]{link}" in page.read_text(encoding="utf-8")
    print_paper("ganesha:vfs", markdown=page)
    text = page.read_text(encoding="utf-8")
    assert text.count(link) == 1
    assert "#### On ganesha:vfs" in text
    print_paper("ganesha:vfs", paper="nfsv41", markdown=page)
    assert page.read_text(encoding="utf-8").count(link) == 1


def test_without_a_folder_it_is_said_where_pictures_would_be() -> None:
    assert any(
        "--out DIR writes DIR/figure-1.svg, DIR/figure-2.svg" in line for line in print_paper("embedded")
    )


def print_paper(
    target: str, *, paper: str = "spritely", out: Path | None = None, markdown: Path | None = None
) -> list[str]:
    """What is said, without any run that counts."""
    said = list[str]()
    wish = workload_papers.Wish([paper], [target], out=out, markdown=markdown)
    workload_papers.run(wish, say=said.append, progress=said.append, runner=nothing_counted)
    return said


def nothing_counted(_plan: Plan, _target: str) -> Result:
    setup = samples.SCRIPT.setup
    return dataclasses.replace(
        samples.SCRIPT, setup=dataclasses.replace(setup, parameters={**setup.parameters, "files": 1})
    )
