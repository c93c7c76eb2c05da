# SPDX-License-Identifier: MIT
"""Fixtures that several files of the checks of crashes share. The plugin loads this module."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

import pytest

from fixtures.checks.scratch import Scratch
from fixtures.checks.target import TargetView
from nfsclient.rpc.blocking import RpcClient
from suites.losses import Losses
from suites.recovery.either import Either
from suites.recovery.streams import Stream


@pytest.fixture
def either(nfs_version: str, scratch: Scratch[t.Any, t.Any], target: TargetView) -> Either:
    """NFSv2 or NFSv3, by the parameter `nfs_version`."""
    return Either(nfs_version, scratch, target)


@pytest.fixture
def stream(rpc_connect: Callable[..., RpcClient], losses: Losses, seed: int) -> Stream:
    """Two clients, and a crash in the middle of what they do."""
    return Stream(rpc_connect, losses, seed)
