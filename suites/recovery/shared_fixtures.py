# SPDX-License-Identifier: MIT
"""Fixtures that several files of the checks of crashes share. The plugin loads this module."""

from __future__ import annotations

import typing as t

import pytest

from fixtures.checks.scratch import Scratch
from fixtures.checks.target import TargetView
from suites.recovery.either import Either


@pytest.fixture
def either(nfs_version: str, scratch: Scratch[t.Any, t.Any], target: TargetView) -> Either:
    """NFSv2 or NFSv3, by the parameter `nfs_version`."""
    return Either(nfs_version, scratch, target)
