# SPDX-License-Identifier: MIT
"""A server that truncates long names and says so is right: claim and effect agree (RFC 1813 section 3.3.20)."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from nfsjudge import Level, Nonconformance
from suites.nfs3.test_pathconf import test_no_trunc as check_no_trunc
from tests.nfsserver.conftest import Rig, rig

__all__ = ["rig"]
SAYS_SO, TRUNCATES = "pathconf3-denies-no-trunc", "names3-too-long-are-cut"


@pytest.mark.parametrize("mutants", [(), (SAYS_SO, TRUNCATES)], ids=["refuses", "truncates"])
def test_claim_and_effect_agree(rig: Rig, mutants: tuple[str, ...]) -> None:
    for name in mutants:
        rig.mutants.add(name)
    client = rig.nfs3()
    check_no_trunc(client, Nfs3Scratch(client, rig.root))


@pytest.mark.parametrize(("mutant", "level"), [(SAYS_SO, Level.SHOULD), (TRUNCATES, Level.STATED)])
def test_claim_and_effect_differ(rig: Rig, mutant: str, level: Level) -> None:
    rig.mutants.add(mutant)
    client = rig.nfs3()
    with pytest.raises(Nonconformance) as failure:
        check_no_trunc(client, Nfs3Scratch(client, rig.root))
    assert failure.value.requirement is not None
    assert failure.value.requirement.level is level
