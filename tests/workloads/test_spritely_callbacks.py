# SPDX-License-Identifier: MIT
"""Callbacks that reach the policy of Spritely NFS while it opens a file, or cannot write."""

from __future__ import annotations

import types
import typing as t
from collections import Counter

import pytest

from nfsclient.errors import NfsClientError
from nfsclient.files import Attributes, FileType
from nfsclient.protocol import snfs as p
from workloads.attributes import AttributeChecks
from workloads.contents import Contents
from workloads.engine import Work
from workloads.ledger import Ledger
from workloads.policies import spritely
from workloads.policies.data import Node
from workloads.policies.spritely import SpritelyClient
from workloads.policies.table import POLICIES

HANDLE: t.Final = b"f"
NODE: t.Final = Node("f", HANDLE, 1)
ATTRIBUTES: t.Final = Attributes(type=FileType.REGULAR, size=0)


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> SpritelyClient:
    monkeypatch.setattr(spritely, "attributes_of", lambda given: given)
    ledger, troubles = Ledger(Contents(1)), Counter[str]()
    return SpritelyClient(
        POLICIES["spritely"], "snfs", b"root", ledger, AttributeChecks(ledger, troubles),
        clock=lambda: 0.0, troubles=troubles,
    )  # fmt: skip


class Callback:
    """A CALLBACK, and how it was answered."""

    def __init__(self, mode: p.CbMode) -> None:
        self.args = types.SimpleNamespace(file=HANDLE, cbmode=mode)
        self.answers: list[p.Snfsstat] = []

    def answer(self, status: p.Snfsstat = p.Snfsstat.NFS_OK) -> None:
        self.answers.append(status)


def call_back(client: SpritelyClient, mode: p.CbMode) -> list[p.Snfsstat]:
    """The answers to a callback for which nothing is to be written."""
    callback = Callback(mode)
    assert list(client.answer(callback)) == []  # type: ignore[arg-type]
    return callback.answers


def end(work: Work[None], version: int) -> None:
    """The reply to OPEN: caching is enabled."""
    given = types.SimpleNamespace(
        cache_version=version, old_cache_vers=version, cache_enabled=True, attributes=ATTRIBUTES
    )
    with pytest.raises(StopIteration):
        work.send(types.SimpleNamespace(resok=given))


def test_a_callback_before_the_reply_to_open_is_expected_and_not_forgotten(client: SpritelyClient) -> None:
    work = client._open(NODE, writes=False)
    next(work)
    assert call_back(client, p.CbMode.SNFS_CBINVAL) == [p.Snfsstat.NFS_OK]
    end(work, 1)
    assert not client.cache.file(HANDLE).enabled
    again = client._open(NODE, writes=False)
    next(again)
    end(again, 1)
    assert client.cache.file(HANDLE).enabled


def test_a_callback_that_only_writes_back_leaves_the_cache_of_the_open_under_way(
    client: SpritelyClient,
) -> None:
    work = client._open(NODE, writes=False)
    next(work)
    assert call_back(client, p.CbMode.SNFS_CBWRITE) == [p.Snfsstat.NFS_OK]
    end(work, 1)
    assert client.cache.file(HANDLE).enabled


def test_a_callback_for_a_file_that_nobody_opened_is_stale(client: SpritelyClient) -> None:
    assert call_back(client, p.CbMode.SNFS_CBINVAL) == [p.Snfsstat.NFSERR_STALE]


def test_a_callback_is_answered_even_if_what_waits_cannot_be_written(client: SpritelyClient) -> None:
    work = client._open(NODE, writes=True)
    next(work)
    end(work, 1)
    client.cache.write(client.cache.file(HANDLE), 0, b"waits", 0.0)
    callback = Callback(p.CbMode.SNFS_WRINVAL)
    answering = client.answer(callback)  # type: ignore[arg-type]
    next(answering)
    with pytest.raises(NfsClientError):
        answering.throw(NfsClientError("the disk is full"))
    assert callback.answers == [p.Snfsstat.NFSERR_IO]
