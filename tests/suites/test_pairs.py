# SPDX-License-Identifier: MIT
"""The model of `suites.pairs`: with servers that do wrong in the second of two changes, and with right ones."""

from __future__ import annotations

import typing as t

import pytest

from nfsclient.errors import SystemErr
from nfsjudge import Nonconformance, Skipped, Unsupported
from suites.changes import CHANGES, World, is_failure
from suites.nfs3.test_pairs import CLAUSES
from suites.pairs import every_change, every_pair
from tests.suites.toy_file_system import LOSES_AFTER_RENAME, Toy, ToyClient, ToyScratch


def _world(fault: str, *, has_links: bool = True, handles_may_expire: bool = False) -> World:
    toy = Toy(fault)
    scratch: t.Any = ToyScratch(toy)
    return World(
        ToyClient(toy), ToyClient(toy), scratch, CLAUSES, has_links, handles_may_expire=handles_may_expire
    )


def _failures(fault: str) -> dict[str, Nonconformance]:
    """What fails, by the first change of the pair."""
    found = {}
    for first in CHANGES:
        try:
            every_pair(_world(fault), first)
        except Nonconformance as failure:
            found[first] = failure
        except Unsupported:
            pass
    return found


@pytest.mark.parametrize(
    "freedom", ["", "handles become stale", "no gaps", "modes of the owner only", "hidden files"]
)
def test_a_right_server_passes(freedom: str) -> None:
    every_change(_world(freedom))
    assert not _failures(freedom)


def test_handles_that_expire_are_found_again() -> None:
    for first in CHANGES:
        every_pair(_world("handles expire", handles_may_expire=True), first)


def test_persistent_handles_are_not_found_again() -> None:
    """The server does not return FHEXPIRED for them (RFC 5661 section 4.2.3): what it answers is the answer."""
    world = _world("")
    t.cast("ToyClient", world.one).toy.fault = "handles expire"
    with pytest.raises(Skipped, match="write alone is refused or wrong"):
        every_pair(world, "write")


def test_hard_links_are_left_out_where_the_server_has_none() -> None:
    every_change(_world("", has_links=False))
    every_pair(_world("", has_links=False), "write")
    with pytest.raises(Unsupported, match="hard links"):
        every_pair(_world("", has_links=False), "hard-link")


@pytest.mark.parametrize(
    ("fault", "firsts", "text"),
    [
        ("what was cut off comes back", {"shorten"}, "after shorten, then extend"),
        ("a write sets mtime when somebody looks", {"write", "write-beyond"}, "then mtime"),
        (
            "files cannot be written after their directory was renamed",
            {"rename-directory"},
            "after rename-directory, then write",
        ),
    ],
)
def test_a_fault_of_the_second_change_is_found_in_its_pairs_only(
    fault: str, firsts: set[str], text: str
) -> None:
    every_change(_world(fault))
    found = _failures(fault)
    assert found.keys() == firsts
    assert all(text in str(failure) for failure in found.values())


def test_what_one_change_does_oddly_hides_no_loss_after_it() -> None:
    with pytest.raises(Nonconformance, match="nlink") as odd:
        every_change(_world(LOSES_AFTER_RENAME))
    assert not is_failure(odd.value)
    with pytest.raises(Nonconformance, match="after rename, then write: ") as lost:
        every_pair(_world(LOSES_AFTER_RENAME), "rename")
    assert is_failure(lost.value)


def test_a_size_that_leaves_the_time_is_milder_than_a_write_that_does() -> None:
    found = _failures("sizes leave mtime")
    assert found.keys() == {"mtime"}
    assert not is_failure(found["mtime"])


# ---------------------------------------------------------------- SYSTEM_ERR


class _FailsInside(ToyClient):
    """A client whose server fails inside: in each RENAME, or in one of a file that was written before."""

    def __init__(self, toy: Toy, *, always: bool) -> None:
        super().__init__(toy)
        self._always = always

    def rename(self, where: bytes, name: bytes, to_name: bytes) -> t.Any:
        node = self.toy.handles[where].names or {}
        if self._always or node[name].was_written:
            raise SystemErr("RENAME")
        return super().rename(where, name, to_name)


class _MakesFewFiles(ToyScratch):
    """A directory in which each fourth file, or each of another number, cannot be made."""

    def __init__(self, toy: Toy, each: int, error: Exception) -> None:
        super().__init__(toy)
        self._each, self._error, self._count = each, error, 0

    def file(self, name: str | bytes, data: bytes = b"", *, directory: bytes | None = None) -> bytes:
        self._count += 1
        if self._count > 1 and self._count % self._each == 0:  # the first one is of the world itself
            raise self._error
        return super().file(name, data, directory=directory)


def _failing(*, always: bool = True, fault: str = "") -> World:
    toy = Toy(fault)
    scratch: t.Any = ToyScratch(toy)
    one, other = (_FailsInside(toy, always=always) for _ in range(2))
    return World(one, other, scratch, CLAUSES, has_links=True)


def _with_few_files(each: int, error: Exception, fault: str = "") -> World:
    toy = Toy(fault)
    scratch: t.Any = _MakesFewFiles(toy, each, error)
    return World(ToyClient(toy), ToyClient(toy), scratch, CLAUSES, has_links=True)


def test_a_change_that_fails_inside_is_left_out_of_the_pairs() -> None:
    every_pair(_failing(), "write")
    with pytest.raises(Skipped, match="rename alone is answered with SYSTEM_ERR"):
        every_pair(_failing(), "rename")


def test_pairs_after_one_that_fails_inside_are_judged() -> None:
    with pytest.raises(SystemErr):
        every_pair(_failing(always=False), "write")
    with pytest.raises(Nonconformance, match="after shorten, then extend"):
        every_pair(_failing(fault="what was cut off comes back"), "shorten")


@pytest.mark.parametrize("error", [SystemErr("CREATE"), Skipped("a file cannot be made")])
def test_a_pair_that_cannot_be_set_up_is_left_out(error: Exception) -> None:
    every_pair(_with_few_files(4, error), "write")
    every_change(_with_few_files(4, error))
    with pytest.raises(Nonconformance, match="after shorten, then extend"):
        every_pair(_with_few_files(20, error, "what was cut off comes back"), "shorten")


def test_nothing_is_judged_where_nothing_can_be_set_up() -> None:
    with pytest.raises(Skipped, match="nothing could be set up: CREATE"):
        every_pair(_with_few_files(1, SystemErr("CREATE")), "write")
