# SPDX-License-Identifier: MIT
"""Attributes of NFSv3 whose device and times are converted when one of them is read."""

from __future__ import annotations

import copy
import dataclasses
import pickle

import pytest

from nfsclient.files import Attributes, FileType, Time
from nfsclient.files.v3 import attributes_of
from nfsclient.protocol import nfs3 as p

WHOLE = Attributes(
    type=FileType.REGULAR,
    mode=0o640,
    nlink=2,
    uid=3,
    gid=4,
    size=5,
    used=6,
    rdev=(7, 8),
    fsid=(9, 0),
    fileid=10,
    atime=Time(11, 12),
    mtime=Time(13, 14),
    ctime=Time(15, 16),
)


def _late() -> Attributes:
    times = (p.Nfstime3(seconds, seconds + 1) for seconds in (11, 13, 15))
    given = p.Fattr3(p.Ftype3.NF3REG, 0o640, 2, 3, 4, 5, 6, p.Specdata3(7, 8), 9, 10, *times)
    return attributes_of(p.Fattr3.from_xdr(given.to_xdr()))


@pytest.mark.parametrize("name", ["rdev", "atime", "mtime", "ctime"])
def test_each_is_there_when_it_is_read(name: str) -> None:
    found = _late()
    assert getattr(found, name) == getattr(WHOLE, name)
    assert found == WHOLE


def test_they_are_as_any_others() -> None:
    assert repr(_late()) == repr(WHOLE)
    assert dataclasses.asdict(_late()) | {"late": None} == dataclasses.asdict(WHOLE)
    assert dataclasses.replace(_late(), size=1) == dataclasses.replace(WHOLE, size=1)
    assert copy.copy(_late()) == WHOLE
    assert copy.deepcopy(_late()) == WHOLE
    assert pickle.loads(pickle.dumps(_late())) == WHOLE


def test_what_it_does_not_have_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="'Attributes' object has no attribute 'colour'"):
        _late().colour  # type: ignore[attr-defined]  # noqa: B018
