# SPDX-License-Identifier: MIT
"""One file by NFSv3 and by NFSv4: what a call of one version does, the other version sees at once.

Data, names and `change` belong to the object, not to the protocol that it is reached by. A server with a cache for each
version must drop what the other one has changed. Each check is UNSUPPORTED where the target serves one version only,
and SKIP where both do not find the same directory: versions may have different exports.
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable

import pytest

from fixtures.checks.dialects.nfs3 import Nfs3Dialect
from fixtures.checks.dialects.nfs4 import Nfs4Dialect, list_names
from fixtures.checks.scratch import Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Nfstime3, Sattr3, StableHow
from nfsjudge import Requirement, expect, expect_names, proves, skip
from nfsjudge.expect import StatusReply
from suites.clauses import DATA_IS_CURRENT, LISTS_ARE_CURRENT, NEW_BYTES_ARE_ZERO
from suites.common_client import CommittingClient, CommonClient
from suites.kept_data import OVERLAPS_BY_OTHER, KeptFile, keeps
from suites.model.claims import V3, V4, Property
from suites.nfs3.clauses import (
    EXTENSION_READS_AS_ZEROS,
    READ_RETURNS_CURRENT_DATA,
    READDIR_LISTS_ENTRIES,
    VERIFIER_CHANGES_ON_LOSS,
)
from suites.nfs3.common import CommonNfs3
from suites.nfs3.listing import page, plus_page, read_all
from suites.nfs3.test_kept_data import clauses_of as clauses_of_nfs3
from suites.nfs4.common import CommonNfs4, OpenNfs4
from suites.nfs4.test_kept_data import NOTHING_IS_DESTROYED
from suites.nfs4.test_kept_data import clauses_of as clauses_of_nfs4

CHANGE_TELLS: t.Final = V4[Property.CHANGE]
_TICKS: t.Final = 64
"""Calls until a server of coarse times has given up: another ctime shows that it has seen a change."""
_FILE: t.Final = b"file"


class _Both(t.NamedTuple):
    """A client of each version, and the scratch directory as each of them has it."""

    nfs3: Nfs3
    three: CommonNfs3
    here3: bytes
    four: CommonNfs4
    here4: bytes


def _both(v3: Nfs3Dialect, v4: Nfs4Dialect) -> _Both:
    """The directory is made by NFSv4. SKIP where NFSv3 does not find it."""
    status, here3 = v3.lookup(v3.root, v4.scratch.name)
    if here3 is None:
        skip(f"NFSv3 does not find the directory that NFSv4 has made: LOOKUP answers {status}")
    nfs3 = v3.client()
    return _Both(nfs3, CommonNfs3(nfs3), here3, CommonNfs4(v4.session), v4.scratch.handle)


def _found(client: CommonNfs3, where: bytes, name: bytes) -> bytes:
    """The handle that NFSv3 finds for a name that NFSv4 has made."""
    answer = client.lookup(where, name)
    expect(answer.reply, because=V3[Property.NAMES]).ok()
    assert answer.value is not None
    return answer.value[0]


# ---------------------------------------------------------------- uncommitted data


def _shared(v3: Nfs3Dialect, v4: Nfs4Dialect, first: str) -> KeptFile:
    """A file that `first` writes without a commitment before the other version does."""
    writer: CommittingClient
    other: CommittingClient
    scratch: Scratch[t.Any, t.Any]
    if first == "v4":
        both = _both(v3, v4)
        writer, other = OpenNfs4(v4.session), both.three  # CLOSE may commit, so the file stays open
        scratch, top = v4.scratch, both.here3
        clauses = clauses_of_nfs3(READ_RETURNS_CURRENT_DATA, EXTENSION_READS_AS_ZEROS)
    else:
        status, found = v4.lookup(v4.root, v3.scratch.name)
        if found is None:
            skip(f"NFSv4 does not find the directory that NFSv3 has made: LOOKUP answers {status}")
        writer, other, scratch, top = CommonNfs3(v3.client()), CommonNfs4(v4.session), v3.scratch, found
        clauses = clauses_of_nfs4(DATA_IS_CURRENT, NEW_BYTES_ARE_ZERO)
    return KeptFile(writer, other, scratch, clauses, top)


@pytest.mark.parametrize("change", OVERLAPS_BY_OTHER)
@proves(NOTHING_IS_DESTROYED, killed_by="commit3-undoes-writes-of-nfs4")
def test_over_nfs3(v3: Nfs3Dialect, v4: Nfs4Dialect, change: str) -> None:
    """What NFSv4 has written over uncommitted data of NFSv3 is the data, before COMMIT and after it by either."""
    keeps(_shared(v3, v4, "v3"), OVERLAPS_BY_OTHER[change])


@pytest.mark.parametrize("change", OVERLAPS_BY_OTHER)
@proves(VERIFIER_CHANGES_ON_LOSS, killed_by="commit4-undoes-writes-of-nfs3")
def test_over_nfs4(v3: Nfs3Dialect, v4: Nfs4Dialect, change: str) -> None:
    """What NFSv3 has written over uncommitted data of NFSv4 is the data, before COMMIT and after it by either."""
    keeps(_shared(v3, v4, "v4"), OVERLAPS_BY_OTHER[change])


# ---------------------------------------------------------------- change


class _Act(t.NamedTuple):
    """A call of NFSv3 on the file or in the directory: the more often it was made, the greater the number."""

    make: Callable[[Nfs3, bytes, bytes, int], StatusReply]
    """(client, directory, file, number) -> reply."""
    arrange: Callable[[Nfs3, bytes, bytes, int], StatusReply | None] = lambda *_: None
    """What the call needs, before `change` is read."""


def _name(number: int) -> bytes:
    return b"name-%d" % number


_OF_FILES: t.Final = {
    "write": _Act(lambda nfs3, _, file, number: nfs3.write(file, 0, b"data-%02d" % number)),
    "unstable": _Act(
        lambda nfs3, _, file, number: nfs3.write(file, 0, b"data-%02d" % number, StableHow.UNSTABLE)
    ),
    "mode": _Act(lambda nfs3, _, file, number: nfs3.setattr(file, Sattr3(mode=0o600 + number % 8))),
    "size": _Act(lambda nfs3, _, file, number: nfs3.setattr(file, Sattr3(size=100 + number))),
    "link": _Act(lambda nfs3, here, file, number: nfs3.link(file, here, _name(number))),
}
_OF_DIRECTORIES: t.Final = {
    "create": _Act(lambda nfs3, here, _, number: nfs3.create(here, _name(number))),
    "mkdir": _Act(lambda nfs3, here, _, number: nfs3.mkdir(here, _name(number))),
    "symlink": _Act(lambda nfs3, here, _, number: nfs3.symlink(here, _name(number), b"target")),
    "link": _OF_FILES["link"],
    "remove": _Act(
        lambda nfs3, here, _, number: nfs3.remove(here, _name(number)),
        lambda nfs3, here, _, number: nfs3.create(here, _name(number)),
    ),
    "rmdir": _Act(
        lambda nfs3, here, _, number: nfs3.rmdir(here, _name(number)),
        lambda nfs3, here, _, number: nfs3.mkdir(here, _name(number)),
    ),
    "rename": _Act(
        lambda nfs3, here, _, number: nfs3.rename(here, _name(number), here, _name(number) + b"-new"),
        lambda nfs3, here, _, number: nfs3.create(here, _name(number)),
    ),
}


def _expect_change(v3: Nfs3Dialect, v4: Nfs4Dialect, act: _Act, *, of_directory: bool) -> None:
    """Make a call until NFSv4 shows another `change`; fail if ctime, which NFSv3 shows, has moved and it has not.

    A server may take `change` from a clock, and ctime of NFSv3 may be coarse: then both wait for the next tick. SKIP
    if ctime never moves.
    """
    __tracebackhide__ = True
    both = _both(v3, v4)
    file4 = v4.scratch.file(_FILE, b"data")
    file3 = _found(both.three, both.here3, _FILE)
    three, four = (both.here3, both.here4) if of_directory else (file3, file4)

    def change() -> int | None:
        return v4.scratch.attributes(four, "change").change

    def ctime() -> Nfstime3:
        return expect(both.nfs3.getattr(three)).ok().obj_attributes.ctime

    for number in range(_TICKS):
        arranged = act.arrange(both.nfs3, both.here3, file3, number)
        if arranged is not None:
            expect(arranged).ok()
        before, known = change(), ctime()
        expect(act.make(both.nfs3, both.here3, file3, number)).ok()
        has_moved = ctime() != known
        seen = change()
        if seen != before:
            return
        if has_moved:
            expect(
                seen, "change by NFSv4 after a call of NFSv3, which has moved ctime", field="change"
            ).differs_from(before)
    skip(
        f"{_TICKS} calls have moved neither ctime nor change: the clock may be coarse, and other checks judge that"
    )


@pytest.mark.parametrize("act", _OF_FILES)
@proves(CHANGE_TELLS, killed_by="nfs3-leaves-change-of-files")
def test_change_of_file(v3: Nfs3Dialect, v4: Nfs4Dialect, act: str) -> None:
    """A call of NFSv3 that modifies a file gives its attribute change another value."""
    _expect_change(v3, v4, _OF_FILES[act], of_directory=False)


@pytest.mark.parametrize("act", _OF_DIRECTORIES)
@proves(CHANGE_TELLS, killed_by="nfs3-leaves-change-of-directories")
def test_change_of_directory(v3: Nfs3Dialect, v4: Nfs4Dialect, act: str) -> None:
    """A call of NFSv3 that modifies a directory gives its attribute change another value."""
    _expect_change(v3, v4, _OF_DIRECTORIES[act], of_directory=True)


# ---------------------------------------------------------------- listings


def _expect_listed(
    names: Callable[[], list[bytes]], other: CommonClient, where: bytes, because: Requirement
) -> None:
    """List the directory before and after each change that the other version makes."""
    __tracebackhide__ = True
    for what, change, wanted in (
        ("creating a file", lambda: other.create(where, b"one"), [b"one"]),
        ("creating another one", lambda: other.create(where, b"two"), [b"one", b"two"]),
        ("creating a directory", lambda: other.mkdir(where, b"sub"), [b"one", b"sub", b"two"]),
        ("RENAME of a file", lambda: other.rename(where, b"two", b"three"), [b"one", b"sub", b"three"]),
        ("removing it", lambda: other.remove(where, b"three"), [b"one", b"sub"]),
        ("removing the directory", lambda: other.rmdir(where, b"sub"), [b"one"]),
    ):
        expect(change().reply).ok()
        expect_names(names(), wanted, f"names after {what} by the other version", because=because)


@proves(LISTS_ARE_CURRENT, killed_by="readdir4-lists-what-nfs4-left")
def test_readdir4(v3: Nfs3Dialect, v4: Nfs4Dialect) -> None:
    """READDIR of NFSv4 lists the names that NFSv3 has made, and none that it has removed."""
    both = _both(v3, v4)
    _expect_listed(lambda: list_names(v4.session, both.here4), both.three, both.here3, LISTS_ARE_CURRENT)


@pytest.mark.parametrize("procedure", ["readdir", "readdirplus"])
@proves(READDIR_LISTS_ENTRIES, killed_by="list3-lists-what-nfs3-left")
def test_readdir3(v3: Nfs3Dialect, v4: Nfs4Dialect, procedure: str) -> None:
    """READDIR and READDIRPLUS of NFSv3 list the names that NFSv4 has made, and none that it has removed."""
    both = _both(v3, v4)
    read = page if procedure == "readdir" else plus_page

    def names() -> list[bytes]:
        return read_all(read, both.nfs3, both.here3).names

    _expect_listed(names, both.four, both.here4, READDIR_LISTS_ENTRIES)
