# SPDX-License-Identifier: MIT
"""What the start of a run does without, and what it must not leave switched off."""

from __future__ import annotations

import gc
import typing as t

import pytest
from _pytest.config import PytestPluginManager

from fixtures.plugin import PARTS
from tests.plugin.conftest import Suite

CHECK = """
import gc

@proves(RULE, killed_by=MUTANT)
def test_collector(request):
    observe("collects", str(gc.isenabled()))
    observe("parts", str(sum(map(request.config.pluginmanager.has_plugin, {parts!r}))))
"""


def test_garbage_is_collected_while_checks_run(suite: Suite) -> None:
    """`nfsproof.starter` switches the collector off until the checks are known."""
    suite.write(CHECK.format(parts=PARTS))
    gc.disable()
    try:
        outcome = suite.run("--target", "embedded")
        assert gc.isenabled()
    finally:
        gc.enable()
    assert outcome.checks["collector"].observations["collects"] == "True"


def test_parts_are_loaded_without_entry_points(suite: Suite, monkeypatch: pytest.MonkeyPatch) -> None:
    """For each name of `pytest_plugins`, pytest would read the metadata of all distributions."""
    asked: list[object] = []
    load = PytestPluginManager.load_setuptools_entrypoints

    def count(manager: PytestPluginManager, group: str, name: str | None = None) -> int:
        asked.append(name)
        return load(manager, group, name)

    monkeypatch.setattr(PytestPluginManager, "load_setuptools_entrypoints", count)
    suite.write(CHECK.format(parts=PARTS))
    outcome = suite.run("--target", "embedded")
    assert outcome.checks["collector"].observations["parts"] == str(len(PARTS))
    assert t.cast("set[object]", {*PARTS}).isdisjoint(asked)
