# SPDX-License-Identifier: MIT
"""Fixtures that several files of NFSv4 checks share."""

from __future__ import annotations

import pytest

from fixtures.checks.target import KnobsView, TargetView
from nfsclient.clients.nfs4 import Compounds
from suites.nfs4.referrals import Referral, find_referral


@pytest.fixture
def referral(target: TargetView, knobs: KnobsView, compounds: Compounds) -> Referral:
    """A directory of the server whose file system is absent. UNSUPPORTED where none is known."""
    return find_referral(target, knobs, compounds)
