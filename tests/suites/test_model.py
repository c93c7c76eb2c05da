# SPDX-License-Identifier: MIT
"""Random programs: the same seed makes the same ones, any part of one is one, and what breaks is shown short."""

from __future__ import annotations

import itertools
import time
import typing as t
from collections.abc import Callable, Iterator
from types import SimpleNamespace

import pytest

from nfsclient.protocol.nfs3 import NFS3, NULL, READ, SETATTR, WRITE, Nfsstat3
from nfsjudge import Nonconformance
from nfsjudge.outcome import running
from nfsmutants.bending import amend, change
from suites.model.campaign import Campaign
from suites.model.claims import CLAIMS, GROUPS, V2, V3, V4, Property, claims_of
from suites.model.judging import Broken, Judge
from suites.model.player2 import Player2
from suites.model.player3 import Player3
from suites.model.players import SECOND, Inconclusive
from suites.model.seen import Answer, Seen
from suites.model.steps import LONGEST, PHRASES, Drawing, Step, imitate, possible
from suites.model.things import Thing, World
from tests.suites.grounds import LocalGround

Make: t.TypeAlias = Callable[..., LocalGround]


@pytest.fixture
def ground() -> Iterator[Make]:
    made: list[LocalGround] = []

    def make(*versions: str, **options: t.Any) -> LocalGround:
        made.append(LocalGround(versions, **options))
        return made[-1]

    yield make
    for each in made:
        each.close()


def campaign(place: LocalGround, group: str, seed: int = 1) -> Campaign:
    return Campaign(place, time.monotonic, name="test", group=group, seed=seed)


# ---------------------------------------------------------------- programs


def test_the_same_seed_makes_the_same_programs() -> None:
    first, again, other = (Drawing(seed).program() for seed in ("1", "1", "2"))
    assert first == again != other
    assert len(first) <= LONGEST + len(PHRASES)
    assert {step.client for step in first} == {1, 2}


def test_a_few_programs_have_all_verbs_and_phrases() -> None:
    deck: list[t.Any] = []
    programs = [Drawing(str(number), deck).program() for number in range(3)]
    verbs = {step.verb for program in programs for step in program}
    assert verbs >= {
        "CREATE",
        "MKDIR",
        "SYMLINK",
        "LINK",
        "REMOVE",
        "RENAME",
        "WRITE",
        "SETATTR",
        "COMMIT",
        "LIST",
    }
    assert {step.how for program in programs for step in program} >= {"GUARDED", "UNCHECKED", "EXCLUSIVE"}
    assert any((step.size or 0) > 65_536 for program in programs for step in program if step.verb == "WRITE")


@pytest.mark.parametrize("seed", range(20))
def test_each_step_is_possible_after_those_before_it(seed: int) -> None:
    world = World()
    for step in Drawing(str(seed), is_root=True).program():
        assert possible(world, step)
        imitate(world, step)
    for path, thing in world.walk():
        assert thing.names == sum(other is thing for _, other in world.walk()), path


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (
            Step(client=1, verb="CREATE", path="a/b", how="UNCHECKED", size=0, mode=0o640),
            "CREATE a/b UNCHECKED size 0, mode 0640",
        ),
        (Step(client=1, verb="RENAME", path="a", other="b/c"), "RENAME a to b/c"),
        (Step(client=1, verb="LINK", path="a", other="b"), "LINK b to a"),
        (
            Step(client=1, verb="WRITE", path="a", offset=4096, size=100, level=0),
            "WRITE 100 bytes at 4096 of a, UNSTABLE",
        ),
        (Step(client=1, verb="READ", path="a", offset=1, size=2), "READ 2 bytes at 1 of a"),
        (
            Step(client=1, verb="SETATTR", path="a", mode=0o600, mtime=-1, owner=(1, 2)),
            "SETATTR mode 0600, uid 1 gid 2, mtime now of a",
        ),
        (Step(client=1, verb="LIST", path=""), "LIST the directory"),
    ],
)
def test_words(step: Step, words: str) -> None:
    assert step.words() == f"client 1: {words}"


def test_each_property_is_judged_by_one_group_and_has_a_clause() -> None:
    judged = [which for group in GROUPS.values() for which in group]
    assert sorted(judged) == sorted(Property)
    assert {which for claims in CLAIMS.values() for which in claims} == set(Property)
    assert all(claims_of(group, claims) for group in GROUPS for claims in (V3, V4))
    assert all(claims_of(group, V2) for group in GROUPS if group != "change")  # NFSv2 has no such thing


# ---------------------------------------------------------------- on servers


_VERSIONS: t.Final = [("v3", "v3"), ("v4", "v4"), ("v3", "v4"), ("v3", "v4", "v2")]


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("versions", _VERSIONS, ids="+".join)
def test_a_right_server_passes(ground: Make, versions: tuple[str, ...], group: str) -> None:
    made = campaign(ground(*versions), group)
    made.judge(1)
    assert made.steps >= 20


AWKWARD: t.Final[dict[str, dict[str, t.Any]]] = {
    "pieces": {"write_accepts": 100, "read_returns": 500, "readdir_page": 1, "rtmax": 512, "wtmax": 512},
    "handles": {"several_handles": True, "stale_on_rename": True, "stale_on_remove": False},
    "withheld": {
        "withhold_handles": True,
        "withhold_post_op": True,
        "withhold_pre_op": True,
        "atomic_change_info": False,
    },
    "times": {
        "time_granularity": 60.0,
        "ctime_is_mtime": True,
        "directory_times_lag": 1.0,
        "plain_directories": True,
    },
    "lacking": {
        "hard_links": False,
        "symlinks": False,
        "mknod": False,
        "readdirplus": False,
        "exclusive_create": False,
    },
    "later": {"jukebox_calls": 2, "offline_names": "a"},
    "room": {"max_file_size": 5000, "quota_bytes": 20_000, "free_files": 6},
    "denied": {"read_only_names": "a", "root_squash": True},
}


@pytest.mark.parametrize("knobs", AWKWARD)
@pytest.mark.parametrize("versions", _VERSIONS, ids="+".join)
def test_a_right_but_awkward_server_passes(ground: Make, versions: tuple[str, ...], knobs: str) -> None:
    place = ground(*versions, knobs=AWKWARD[knobs])
    for group in GROUPS:
        campaign(place, group).judge(1)


def test_what_breaks_is_shown_as_a_short_program(ground: Make) -> None:
    place = ground("v3", "v3", mutants=["setattr3-size-drops-the-mode"])
    with running(None) as notes, pytest.raises(Nonconformance, match=r"mode of \w+(/\w+)? by NFSv3") as found:
        campaign(place, "attributes").judge(8)
    assert found.value.requirement is CLAIMS["v3"][Property.SET]
    program = notes.observations["program"].removeprefix("in an empty directory: ").split("; ")
    assert len(program) <= 4
    assert "SETATTR size" in program[-1]
    assert notes.observations["seed"] == "1"


def test_a_breach_that_is_not_binding_does_not_hide_one_that_is(ground: Make) -> None:
    place = ground(
        "v3", "v3", mutants=["rename3-keeps-nlink-of-replaced-files", "setattr3-size-drops-the-mode"]
    )
    with running(None), pytest.raises(Nonconformance) as found:
        campaign(place, "attributes").judge(8)
    assert found.value.requirement is CLAIMS["v3"][Property.SET]


def test_what_does_harm_is_not_hidden_by_what_does_none(ground: Make) -> None:
    """Bytes in a gap break a SHOULD, and are red; link counts of NFSv3 are not."""
    place = ground("v3", "v3", mutants=["write3-fills-gap", "symlink3-adds-a-byte"])
    with running(None), pytest.raises(Nonconformance) as found:
        campaign(place, "data").judge(8)
    wrong = found.value
    assert wrong.requirement is not None
    assert wrong.requirement.is_red(wrong.outcome)


# ---------------------------------------------------------------- one fact, one level


@pytest.mark.parametrize("seed", range(20))
def test_the_owner_of_a_directory_can_always_search_it(seed: int) -> None:
    world = World()
    for step in Drawing(str(seed)).program():
        if step.verb == "SETATTR" and step.mode is not None:
            thing = world.find(step.path)
            assert thing is not None
            assert thing.kind != "directory" or step.mode & 0o100, step.words()
        imitate(world, step)


class _Look:
    """A judge of two files, and what GETATTR of them answers."""

    def __init__(self) -> None:
        self.world = World()
        for name in ("a", "b"):
            self.world.add(name, Thing("file"))
        self.judge = Judge(self.world, frozenset(Property))
        self.player: t.Any = SimpleNamespace(version="v3", title="NFSv3", time_delta=1)

    def see(self, name: str, fileid: int, mtime: int = 5) -> None:
        seen = Seen(
            kind="file",
            size=0,
            nlink=1,
            mode=None,
            uid=None,
            gid=None,
            fileid=(1, fileid),
            mtime=mtime,
            ctime=mtime,
        )
        thing = self.world.find(name)
        assert thing is not None
        self.judge.attributes(self.player, thing, name, Answer(Nfsstat3(0), None, attributes=seen))


def test_a_time_that_moves_later_is_milder_than_one_that_was_not_set() -> None:
    look, wrong = _Look(), 10**18
    thing = look.world.find("a")
    assert thing is not None
    thing.mtime, look.judge.just_set = 5, thing
    with pytest.raises(Broken):
        look.see("a", 1, mtime=wrong)
    look.judge.just_set = None
    look.see("a", 1, mtime=wrong)
    assert set(look.judge.weak) == {Property.MTIME_STAYS}


def test_a_file_id_may_change_with_the_name_and_stays_unique() -> None:
    """A server may make it of the path: then a new object gets the number of one that has been renamed."""
    look = _Look()
    look.see("a", 1)
    look.world.rename("a", "c")
    look.see("b", 1)
    look.see("c", 3)
    assert set(look.judge.weak) == {Property.FILEID_STAYS}
    with pytest.raises(Broken):
        look.see("b", 3)


def test_nobody_believes_in_a_truncation_that_was_not_seen() -> None:
    look = _Look()
    with pytest.raises(Inconclusive):
        look.judge.is_truncated(look.player, look.world.root, "a", Answer(Nfsstat3(13), None))


# ---------------------------------------------------------------- what happens once, or twice


def _resolve(server: t.Any, handle: bytes) -> t.Any:
    return server.backend.resolve(handle)


def test_a_time_that_moves_by_itself_once_is_no_failure(ground: Make) -> None:
    """A server of servers replaces the time of a WRITE by that of its disk, whenever it likes (`suites.steady`)."""
    place, writes = ground("v3", "v3"), itertools.count()

    def around(server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
        if next(writes) == 3:
            found = _resolve(server, args.file)
            found.mtime = found.ctime = found.mtime + 3 * SECOND
        return proceed(context, args)

    place.interpose(WRITE, around)
    with running(None) as notes:
        campaign(place, "change").judge(3)
    assert "mtime before the change of" in notes.observations["once, and not again"]


def test_a_time_that_was_set_may_be_replaced_once(ground: Make) -> None:
    place, times = ground("v3", "v3"), itertools.count()

    def around(server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
        reply = proceed(context, args)
        if args.new_attributes.mtime.time is not None and next(times) == 1:
            _resolve(server, args.object).mtime += 3 * SECOND
            return amend(reply, "obj_wcc", after=None)
        return reply

    place.interpose(SETATTR, around)
    with running(None) as notes:
        campaign(place, "attributes").judge(3)
    assert next(times) > 2
    assert "mtime of" in notes.observations["once, and not again"]


def test_ctime_may_move_with_the_time_of_an_access(ground: Make) -> None:
    """It is the time when the attributes were changed, and atime is one (RFC 1813 section 2.5)."""
    place = ground("v3", "v3")

    def around(server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
        reply = proceed(context, args)
        if reply.resok is not None:
            found = _resolve(server, args.file)
            found.ctime += SECOND
        return amend(reply, file_attributes=None)

    place.interpose(READ, around)
    campaign(place, "change").judge(3)


def test_a_call_that_was_sent_again_may_have_been_executed_late(
    ground: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = ground("v3", "v3", mutants=["setattr3-size-drops-the-mode"])
    copies = itertools.count()
    monkeypatch.setattr(Player3, "copies_sent", lambda _self: next(copies))
    campaign(place, "attributes").judge(8)


class _HandlesArePaths:
    """After a RENAME the server answers NOENT for the handles that it gave before, and not STALE."""

    def around_calls(self, operation: t.Any, /) -> list[t.Any]:
        return [self._says_noent] if operation in NFS3.procedures and operation is not NULL else []

    def around_messages(self) -> list[t.Any]:
        return []

    def below_messages(self) -> list[t.Any]:
        return []

    @staticmethod
    def _says_noent(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
        reply = proceed(context, args)
        return (
            change(reply, status=Nfsstat3.NFS3ERR_NOENT) if reply.status == Nfsstat3.NFS3ERR_STALE else reply
        )


def test_a_server_whose_handles_are_paths_is_judged_after_a_rename(ground: Make) -> None:
    knobs = {"stale_on_rename": True}
    steps = []
    for is_path in (False, True):
        place = ground("v3", "v3", knobs=knobs)
        if is_path:
            place.surround(_HandlesArePaths())
        made = campaign(place, "data")
        made.judge(4)
        steps.append(made.steps)
    assert steps[0] == steps[1] > 60


# ---------------------------------------------------------------- three versions


def _adapted(step: Step, size: int | None = 10) -> Step | None:
    world = World()
    if size is not None:
        world.add("a", Thing("file", data=bytearray(size)))
    return Player2.adapt(t.cast("Player2", None), step, world)


def test_nfs2_gets_the_steps_that_it_has() -> None:
    assert _adapted(Step(client=3, verb="COMMIT", path="a")) is None
    assert _adapted(Step(client=3, verb="CREATE", path="a", how="UNCHECKED")) is None
    made = _adapted(Step(client=3, verb="CREATE", path="a", how="EXCLUSIVE"), None)
    assert made is not None
    assert made.how == "GUARDED"
    written = _adapted(Step(client=3, verb="WRITE", path="a", offset=50, size=5, level=0))
    assert written is not None
    assert (written.offset, written.level) == (10, 2)
    assert _adapted(Step(client=3, verb="SETATTR", path="a", mtime=-1)) is None
    cut = _adapted(Step(client=3, verb="SETATTR", path="a", size=50, mode=0o600))
    assert cut is not None
    assert (cut.size, cut.mode) == (10, 0o600)


def test_times_of_nfs2_are_as_coarse_as_those_of_the_others(ground: Make) -> None:
    place = ground("v3", "v4", "v2", knobs={"time_granularity": 2000.0})
    campaign(place, "attributes").judge(6)
    assert place.join(recorded=False)[2].time_delta > SECOND


def test_what_one_version_breaks_others_see(ground: Make) -> None:
    place = ground("v3", "v4", "v2", mutants=["getattr2-reports-one-link-too-many"])
    with running(None), pytest.raises(Nonconformance, match=r"nlink of .* by NFSv2") as found:
        campaign(place, "attributes").judge(8)
    assert found.value.requirement is CLAIMS["v2"][Property.NLINK]
