# SPDX-License-Identifier: MIT
"""Every rule fires on its mutants and is silent about a right server."""

from __future__ import annotations

import pytest

from nfsclient.rpc.program import AnyOperation
from nfsjudge.lint import Rule, all_rules, engine, lint
from nfsmutants import find_mutant
from tests.nfsjudge.lint.scenes import SCENES, Scene
from tests.nfsserver.conftest import Rig

RULES = {rule.name: rule for rule in all_rules() if not rule.name.startswith("nfs4/")}
"""Those for NFSv4 are in `test_nfs4_rules`."""
PAIRS = [(rule.name, mutant) for rule in RULES.values() for mutant in rule.killed_by]


def found(scene: Scene) -> dict[str, str]:
    """What the lint says of a scene: rule -> severity."""
    return {finding.rule.name: finding.severity for finding in lint(scene.exchanges)}


@pytest.mark.parametrize("name", RULES)
def test_a_right_server_breaks_no_rule(rig: Rig, name: str) -> None:
    scene = Scene(rig)
    SCENES[name](scene)
    assert {rule for rule, severity in found(scene).items() if severity != "INFO"} == set()


@pytest.mark.parametrize(("name", "mutant"), PAIRS)
def test_a_rule_fires_on_its_mutant(rig: Rig, name: str, mutant: str) -> None:
    find_mutant(mutant)
    scene = Scene(rig)
    rig.mutants.add(mutant)
    SCENES[name](scene)
    severities = found(scene)
    assert severities.get(name) == RULES[name].severity, severities


@pytest.mark.parametrize(("name", "mutant"), PAIRS)
def test_no_rule_is_left_out_that_would_say_something(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, name: str, mutant: str
) -> None:
    """What `when` of a rule declares is true: asked about every case, the rules find the same."""
    scene = Scene(rig)
    rig.mutants.add(mutant)
    SCENES[name](scene)
    expected, every = found(scene), engine.rules_for

    def all_of(operation: AnyOperation | None, *, of_all: bool = True, **_kind: bool) -> tuple[Rule, ...]:
        return every(operation, of_all=of_all)

    monkeypatch.setattr(engine, "rules_for", all_of)
    assert found(scene) == expected


def test_every_rule_has_a_mutant_and_a_scene() -> None:
    assert set(SCENES) == set(RULES)
    assert [rule.name for rule in all_rules() if not rule.killed_by] == []


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.name)
def test_rules_are_declared_in_full(rule: Rule) -> None:
    protocol, _, what = rule.name.partition("/")
    assert protocol in {"rpc", "mount3", "nfs2", "nfs3", "nfs4", "snfs"}
    assert what == what.lower()
    assert (rule.look.__doc__ or "").strip().endswith(".")
    assert rule.severity in {"FAIL", "NONSTRICT", "INFO"}
