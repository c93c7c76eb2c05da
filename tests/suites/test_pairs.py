# SPDX-License-Identifier: MIT
"""The model of `suites.pairs`: with servers that do wrong in the second of two changes, and with right ones."""

from __future__ import annotations

import contextlib
import typing as t

import pytest

from nfsclient.errors import SystemErr
from nfsclient.protocol.nfs3 import Nfsstat3
from nfsjudge import Harm, Nonconformance, Skipped, Unsupported
from nfsjudge.outcome import Proof, running
from suites.changes import CHANGES, Clauses, World, is_failure
from suites.common_client import Answer
from suites.nfs3.test_pairs import CLAUSES
from suites.nfs4.test_pairs import CLAUSES as CLAUSES_OF_NFS4
from suites.pairs import every_change, every_pair, seconds
from tests.suites.toy_file_system import LOSES_AFTER_RENAME, Reply, Toy, ToyClient, ToyScratch


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


def test_of_fewer_pairs_each_change_has_its_share() -> None:
    assert all(seconds(first, len(CHANGES)) == [*CHANGES] for first in CHANGES)
    few = {first: seconds(first, 4) for first in CHANGES}
    assert {len(chosen) for chosen in few.values()} == {4, 5}
    assert all("extend" in chosen for chosen in few.values())
    assert all(sum(name in chosen for chosen in few.values()) >= 4 for name in CHANGES)


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
    t.cast("ToyClient", world.maker).toy.fault = "handles expire"
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


# ---------------------------------------------------------------- changes that are refused


class _Refuses(ToyClient):
    """A client whose server refuses each RENAME."""

    def rename(self, _where: bytes, _name: bytes, _to_name: bytes) -> t.Any:
        return Answer(Reply(Nfsstat3.NFS3ERR_INVAL))


@pytest.mark.parametrize(("clauses", "version"), [(CLAUSES, "3"), (CLAUSES_OF_NFS4, "4.1")])
def test_a_change_that_is_refused_alone_is_left_out(clauses: Clauses, version: str) -> None:
    """The checks of the operation judge that, also where the clause is stated by several versions."""
    toy = Toy("")
    scratch: t.Any = ToyScratch(toy)
    proof = Proof((clauses.works,), (), ()).of(version)
    with running(proof) as state:
        every_change(World(_Refuses(toy), _Refuses(toy), scratch, clauses, has_links=True))
    assert "rename" in str(state.observations)


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
    first, other = (_FailsInside(toy, always=always) for _ in range(2))
    return World(first, other, scratch, CLAUSES, has_links=True)


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


# ---------------------------------------------------------------- calls that are made again


class _CallsAgain(ToyClient):
    """A client whose calls of one kind are executed twice or late: replies are lost, or the server puts calls off."""

    def __init__(self, toy: Toy, what: str, *, is_put_off: bool = False, is_late: bool = False) -> None:
        super().__init__(toy)
        self._what, self._is_put_off, self._is_late = what, is_put_off, is_late
        self._copies = self._put_off = 0
        self._late: t.Callable[[], t.Any] | None = None

    def copies_sent(self) -> int:
        return self._copies

    def calls_repeated(self) -> int:
        return self._copies + self._put_off

    def _made(self, what: str, done: t.Any, again: t.Callable[[], t.Any]) -> t.Any:
        """The second answer to a call whose first one nobody got, or one whose copy is still on its way."""
        if what != self._what:
            return done
        self._copies, self._put_off = self._copies + (not self._is_put_off), self._put_off + self._is_put_off
        if self._is_late:
            self._late = again
            return done
        return again()

    def rename(self, where: bytes, name: bytes, to_name: bytes) -> t.Any:
        done = super().rename(where, name, to_name)
        return self._made("rename", done, lambda: Answer(Reply(Nfsstat3.NFS3ERR_NOENT)))

    def remove(self, where: bytes, name: bytes) -> t.Any:
        done = super().remove(where, name)
        return self._made("remove", done, lambda: Answer(Reply(Nfsstat3.NFS3ERR_NOENT)))

    def mkdir(self, where: bytes, name: bytes) -> t.Any:
        done = super().mkdir(where, name)
        return self._made("mkdir", done, lambda: Answer(Reply(Nfsstat3.NFS3ERR_EXIST)))

    def set(self, handle: bytes, **values: t.Any) -> t.Any:
        done = super().set(handle, **values)
        return self._made("set", done, lambda: super(_CallsAgain, self).set(handle, **values))

    def write(self, handle: bytes, offset: int, data: bytes) -> t.Any:
        done = super().write(handle, offset, data)
        if self._late is not None:  # the copy of the call before this one arrives
            self._late()
            self._late = None
        return done


def _again(what: str, fault: str = "", **options: bool) -> World:
    toy = Toy(fault)
    scratch: t.Any = ToyScratch(toy)
    return World(_CallsAgain(toy, what, **options), ToyClient(toy), scratch, CLAUSES, has_links=True)


@pytest.mark.parametrize("is_put_off", [False, True], ids=["sent again", "put off"])
@pytest.mark.parametrize("what", ["rename", "remove", "mkdir"])
def test_a_change_that_was_made_twice_is_not_judged(what: str, is_put_off: bool) -> None:
    every_change(_again(what, is_put_off=is_put_off))
    for first in CHANGES:
        with contextlib.suppress(Skipped):  # where no pair of it could be made
            every_pair(_again(what, is_put_off=is_put_off), first)


def test_what_an_old_copy_of_a_call_did_is_not_judged() -> None:
    """Truncate and write: the copy of the first comes after the second (RFC 1813 section 4.5)."""
    every_pair(_again("set", is_late=True), "extend")
    with pytest.raises(Nonconformance, match="after rename-directory, then write"):
        every_pair(
            _again("set", "files cannot be written after their directory was renamed", is_late=True),
            "rename-directory",
        )


class _PutsOff(ToyClient):
    """A client whose server answers JUKEBOX, until patience ends, to one look in seven."""

    looks = 0

    def look(self, handle: bytes, count: int) -> t.Any:
        self.looks += 1
        if self.looks % 7 == 0:
            return Answer(Reply(Nfsstat3.NFS3ERR_JUKEBOX))
        return super().look(handle, count)


def test_pairs_after_one_that_is_put_off_are_judged() -> None:
    toy = Toy("what was cut off comes back")
    scratch: t.Any = ToyScratch(toy)
    world = World(ToyClient(toy), _PutsOff(toy), scratch, CLAUSES, has_links=True)
    with pytest.raises(Nonconformance, match="after shorten, then extend"):
        every_pair(world, "shorten")
    toy.fault = ""
    with running(None) as notes:
        every_pair(world, "shorten")
    assert "left out" in notes.observations


def test_a_name_that_stays_is_no_lost_data() -> None:
    assert CLAUSES.misses.harm is Harm.SUCCESS
    assert CLAUSES.finds.harm is Harm.DATA
