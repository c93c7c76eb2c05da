# SPDX-License-Identifier: MIT
"""Knobs of Spritely NFS: each does what it says."""

from __future__ import annotations

import typing as t

import pytest

from nfsclient.protocol import snfs as p
from nfsclient.protocol.snfs import CbMode, Snfsstat
from tests.nfsserver.conftest import Rig
from tests.nfsserver.test_snfs import Client

Make: t.TypeAlias = t.Callable[..., Rig]


@pytest.mark.parametrize("versions", ["file", "counter"])
def test_versions_may_grow_by_more_than_one(make_rig: Make, versions: str) -> None:
    rig = make_rig(knobs={"snfs_version_growth": 7, "snfs_versions": versions})
    a, file = Client(rig), rig.file(b"f")
    first = a.snfs.open(file, write_mode=True).resok
    second = a.snfs.open(file, write_mode=True).resok
    assert first.cache_version - first.old_cache_vers == 7
    assert second.cache_version - first.cache_version == 7


def test_a_reader_that_ends_caching_for_all_may_be_called_itself(make_rig: Make) -> None:
    rig = make_rig(knobs={"snfs_calls_opener": True})
    a, b, file = Client(rig), Client(rig), rig.file(b"f")
    a.snfs.open(file)
    b.snfs.open(file)
    opened = a.snfs.open(file, write_mode=True)
    assert (opened.status, opened.resok.cache_enabled) == (Snfsstat.NFS_OK, False)
    assert a.called == b.called == [CbMode.SNFS_CBINVAL]


def test_clients_may_read_and_write_without_an_open_unless_they_were_given_up(make_rig: Make) -> None:
    rig = make_rig(knobs={"snfs_needs_open": False, "snfs_callback_timeout": 0.05})
    a, b, file = Client(rig), Client(rig), rig.file(b"f")
    assert a.snfs.write(file, 0, b"data").status == 0
    assert bytes(a.snfs.read(file, 0, 10).resok.data) == b"data"
    a.snfs.open(file, write_mode=True)
    a.callbacks.silent = True
    assert b.snfs.open(file).status is Snfsstat.SNFS_INCONSISTENT
    for _ in range(2):
        assert a.snfs.write(file, 0, b"late").status == Snfsstat.NFSERR_STALE
        assert a.snfs.read(file, 0, 10).status == Snfsstat.NFSERR_STALE
        a.snfs.lookup(rig.root, b"f")  # a new handle is not enough
    a.callbacks.silent = False
    a.snfs.open(file)
    assert a.snfs.read(file, 0, 10).status == 0


def test_closed_files_may_be_reclaimed_early(make_rig: Make) -> None:
    rig = make_rig(knobs={"snfs_dirty_kept": 1})
    a, files = Client(rig), [rig.file(name) for name in (b"f", b"g")]
    for file in files:
        assert not a.called
        a.snfs.open(file, write_mode=True)
        a.snfs.close(file, write_mode=True)
    assert a.called == [CbMode.SNFS_CBWRITE]
    assert bytes(a.callbacks.received[0].file) == files[0]
    assert len(rig.server.spritely.entries) == 1


def test_a_client_that_answers_with_an_error_may_have_the_rest_of_its_time(make_rig: Make) -> None:
    rig = make_rig(knobs={"snfs_waits_after_error": True, "snfs_callback_timeout": 0.3})
    a, b, file = Client(rig), Client(rig), rig.file(b"f")
    a.snfs.open(file, write_mode=True)
    a.callbacks.on = lambda _args: Snfsstat.NFSERR_IO
    opening = b.rpc.submit(p.OPEN, p.Openargs(file, 0, False))
    b.rpc.loop.catch_up()
    assert a.called
    assert not opening.done
    assert a.snfs.write(file, 0, b"data").status == 0
    assert b.rpc.wait(opening).status is Snfsstat.SNFS_INCONSISTENT
    assert len(a.callbacks.received) == 1
