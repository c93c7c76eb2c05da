# SPDX-License-Identifier: MIT
"""The model of delegations knows what is in whose way; right servers pass whatever they choose, others do not."""

from __future__ import annotations

import time
import typing as t
from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nfsclient.clients import Nfs3
from nfsclient.clients.nfs4 import Session
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol.nfs3 import WRITE as WRITE3
from nfsclient.protocol.nfs3 import Nfsstat3
from nfsclient.protocol.nfs4 import Fattr4
from nfsclient.rpc.auth import AuthSys
from nfsserver.nfs3.freedoms.withheld import reply_with_nothing
from suites.model.delegated_machine import DelegatedMachine
from suites.model.delegated_players import DelegatedPlayer, Nfs3Player, Patience, Place
from suites.model.delegated_steps import LONGEST, OTHER_VERSION, SHORTEST, DelegatedDrawing
from suites.model.delegated_things import DelegatedFile, Delegation, imitate_delegated, may_do
from suites.model.judging import Broken
from suites.model.machine import Experience
from suites.model.state_claims import StateProperty
from suites.model.state_steps import ANONYMOUS, DELEGATION, NFS3, StateStep
from suites.model.state_things import READ, SIZE, WRITE, Opening, Owner
from tests.suites.grounds import LocalGround

FIRST, SECOND = Owner(1, 0), Owner(2, 0)
BOTH: t.Final = READ | WRITE
WANTS_READ, WANTS_WRITE, WANTS_NONE = 0x100, 0x200, 0x400


@given(st.integers(0, 2000), st.booleans())
def test_programs_are_possible_and_come_again(seed: int, with_nfs3: bool) -> None:
    program = DelegatedDrawing(str(seed), with_nfs3=with_nfs3).program()
    assert program == DelegatedDrawing(str(seed), with_nfs3=with_nfs3).program()
    assert SHORTEST <= len(program) <= LONGEST + 6
    file = DelegatedFile()
    for step in program:
        assert may_do(file, step)
        imitate_delegated(file, step)
        assert step.words().startswith(f"{step.owner}: {step.verb}")
        assert with_nfs3 or step.how != NFS3


def test_a_few_programs_have_all_that_delegations_are_in_the_way_of() -> None:
    contested = set()
    for seed in range(80):
        file = DelegatedFile()
        for step in DelegatedDrawing(str(seed), with_nfs3=True).program():
            if file.in_the_way(step):
                contested.add((step.verb, step.how))
            imitate_delegated(file, step)
    assert contested >= {
        *(("OPEN", ""), ("SETATTR", ""), ("LINK", ""), ("RENAME", ""), ("REMOVE", "")),
        *(("READ", ANONYMOUS), ("WRITE", ANONYMOUS)),
        *((verb, NFS3) for verb in ("READ", "WRITE", "SETATTR", "CREATE", "LINK", "RENAME", "REMOVE")),
    }


def _step(
    owner: Owner, verb: t.Any, how: str = "", access: int = 0, deny: int = 0, **more: t.Any
) -> StateStep:
    return StateStep(owner=owner, verb=verb, how=how, access=access, deny=deny, **more)


@pytest.mark.parametrize(
    ("step", "by_read", "by_write"),
    [
        (_step(SECOND, "OPEN", access=READ), False, True),
        (_step(SECOND, "OPEN", access=READ, deny=WRITE), False, True),
        (_step(SECOND, "OPEN", access=READ, deny=READ), True, True),
        (_step(SECOND, "OPEN", access=WRITE), True, True),
        (_step(FIRST, "OPEN", access=BOTH), False, False),
        (_step(SECOND, "READ", ANONYMOUS), False, True),
        (_step(SECOND, "WRITE", ANONYMOUS), True, True),
        (_step(FIRST, "WRITE", ANONYMOUS), False, False),
        (_step(SECOND, "WRITE"), False, False),
        (_step(SECOND, "LOCK"), False, False),
        (_step(SECOND, "CLOSE"), False, False),
        (_step(SECOND, "REMOVE"), True, True),
        (_step(FIRST, "REMOVE"), False, False),
        (_step(OTHER_VERSION, "READ", NFS3), False, True),
        (_step(OTHER_VERSION, "WRITE", NFS3), True, True),
        (_step(OTHER_VERSION, "LINK", NFS3), True, True),
    ],
    ids=lambda value: value.words() if isinstance(value, StateStep) else None,
)
def test_what_a_delegation_is_in_the_way_of(step: StateStep, by_read: bool, by_write: bool) -> None:
    for is_write, expected in ((False, by_read), (True, by_write)):
        file = DelegatedFile()
        file.delegations.append(Delegation(1, is_write))
        assert bool(file.in_the_way(step)) is expected


@pytest.mark.parametrize("is_write", [False, True])
def test_what_contradicts_a_grant(is_write: bool) -> None:
    file = DelegatedFile()
    file.opens[FIRST] = Opening([(BOTH, 0)])
    assert not file.refuses(1, is_write=is_write)
    assert file.refuses(2, is_write=is_write)
    file.opens[FIRST] = Opening([(READ, 0)])
    assert file.refuses(2, is_write=is_write) is is_write
    file.opens.clear()
    file.delegations.append(Delegation(1, False))
    assert file.refuses(2, is_write=is_write) is is_write


def test_names() -> None:
    file = DelegatedFile()
    for verb in ("LINK", "RENAME", "LINK", "REPLACE", "REMOVE"):
        step = _step(SECOND, verb)
        assert may_do(file, step)
        file.apply_to_names(step, file.new_name())
    assert (file.names, file.gone, file.replaced) == ([b"-3"], [b"", b"-1"], [b"-2"])
    assert not may_do(file, _step(SECOND, "REMOVE"))


# ---------------------------------------------------------------- on servers


class _Stage:
    """Two clients with backchannels and one of NFSv3 at a server in this process."""

    def __init__(self, **options: t.Any) -> None:
        self.ground = LocalGround(("v4", "v3"), **options)
        self._players = [self._player(number) for number in (1, 2)]
        self._other = Nfs3Player(self.ground.rpc(3), AuthSys(0, 0, (), b"client-3"))
        self._maker = self.ground.session(4)
        self._files = 0
        self.granted: Counter[str] = Counter()

    def _player(self, number: int) -> DelegatedPlayer:
        session = self.ground.session(number, callbacks=True)
        return DelegatedPlayer(session, f"client {number}", time.monotonic)

    def machine(self) -> DelegatedMachine:
        self._files += 1
        name = f"file {self._files}".encode()
        maker = self._maker
        root = maker.compound(op.putrootfh(), op.lookup(b"export"), op.getfh()).handle
        _make(maker, root, name)
        file = maker.compound(op.putfh(root), op.lookup(name), op.getfh()).handle
        nfs3, root3 = Nfs3(self.ground.rpc(3)), self.ground.root()
        found = nfs3.lookup(root3, name).resok
        assert found is not None
        return DelegatedMachine(
            self._players,
            self._other,
            Place(name, root, file, root3, found.object),
            lambda another: _make(maker, root, another),
            Patience(recall=0.05, reply=0.002, end=0.2, pause=0.001, call=5.0, renew=maker.renew),
            Experience(),
            frozenset(StateProperty),
            self.granted,
            links_count=True,
            is_over=lambda: False,
        )


def _make(maker: Session, root: bytes, name: bytes) -> None:
    how = op.unchecked(Fattr4(mode=0o666))
    made = maker.compound(op.putfh(root), op.open(name, WRITE, owner=b"maker", how=how), op.getfh())
    maker.compound(op.putfh(made.handle), op.setattr(Fattr4(size=SIZE)))
    maker.compound(op.putfh(made.handle), op.close(made.stateid))


Make: t.TypeAlias = t.Callable[..., _Stage]


@pytest.fixture
def stage() -> Iterator[Make]:
    made: list[_Stage] = []

    def make(**options: t.Any) -> _Stage:
        made.append(_Stage(**options))
        return made[-1]

    yield make
    for each in made:
        each.ground.close()


def _run(stage: _Stage, programs: range) -> int:
    """Programs on a server; how many steps were made."""
    steps = 0
    for seed in programs:
        machine = stage.machine()
        machine.run(DelegatedDrawing(str(seed), with_nfs3=seed % 2 == 1).program())
        assert not machine.weak
        steps += len(machine.done)
    return steps


_CHOICES: t.Final[dict[str, dict[str, t.Any]]] = {
    "usual": {},
    "waits": {"conflicts": "wait"},
    "reads": {"delegations": "read"},
    "none": {"delegations": "none"},
    "later": {"jukebox_calls": 2, "conflicts": "wait"},
    "pieces": {"write_accepts": 3, "read_returns": 7},
    "handles": {"stale_on_rename": True},
    "locks": {"posix_locks": False},
}


@pytest.mark.parametrize("knobs", _CHOICES)
def test_a_right_server_passes(stage: Make, knobs: str) -> None:
    made = stage(knobs=_CHOICES[knobs])
    assert _run(made, range(6)) > 20
    assert bool(made.granted) is (knobs != "none")
    assert knobs != "reads" or set(made.granted) == {"read"}


def test_nothing_is_claimed_of_a_revoked_delegation(stage: Make) -> None:
    """Another check judges whether it had to wait: the server says that the delegation was revoked."""
    made = stage(mutants=["open4-revokes-delegations-at-once"])
    _run(made, range(8))
    assert made.granted


@pytest.mark.parametrize(
    ("mutant", "steps", "which"),
    [
        (
            "open4-ignores-delegations",
            [_step(FIRST, "OPEN", access=READ), _step(SECOND, "OPEN", access=WRITE)],
            StateProperty.EXCLUDES,
        ),
        (
            "nfs3-ignores-delegations",
            [_step(FIRST, "OPEN", access=BOTH), _step(OTHER_VERSION, "READ", NFS3, length=5)],
            StateProperty.EXCLUDES_READ3,
        ),
        (
            "nfs3-executes-while-it-recalls",
            [_step(FIRST, "OPEN", access=READ), _step(OTHER_VERSION, "CREATE", NFS3)],
            StateProperty.EXCLUDES_NFS3,
        ),
        (
            "changes4-delay-after-the-return",
            [_step(FIRST, "OPEN", access=READ), _step(SECOND, "SETATTR")],
            StateProperty.ENDS,
        ),
        (
            "read4-refuses-delegations",
            [_step(FIRST, "OPEN", access=READ), _step(FIRST, "READ", DELEGATION)],
            StateProperty.SERVED,
        ),
        (
            "open4-invents-delegations",
            [_step(FIRST, "OPEN", access=READ, want=WANTS_READ), _step(FIRST, "DELEGRETURN")],
            StateProperty.RETURNED,
        ),
        (
            "open4-delegates-writing-against-readers",
            [
                _step(SECOND, "OPEN", access=READ, want=WANTS_NONE),
                _step(FIRST, "OPEN", access=BOTH, want=WANTS_WRITE),
            ],
            StateProperty.GRANTS,
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_what_is_found(stage: Make, mutant: str, steps: list[StateStep], which: StateProperty) -> None:
    made = stage(mutants=[mutant])
    with pytest.raises(Broken) as caught:
        made.machine().run(steps)
    assert caught.value.property is which


def test_bytes_that_jukebox_may_still_write_are_unknown(stage: Make) -> None:
    """A server may refuse what an open denies with JUKEBOX, and may go on with it later (RFC 1813 section 2.6)."""
    made = stage()

    def around(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
        proceed(context, args)
        return reply_with_nothing(WRITE3.res, Nfsstat3.NFS3ERR_JUKEBOX)

    made.ground.interpose(WRITE3, around)
    machine = made.machine()
    machine.run(
        [
            _step(FIRST, "OPEN", access=READ, deny=WRITE, want=WANTS_NONE),
            _step(OTHER_VERSION, "WRITE", NFS3, offset=10, length=5, salt=7),
            _step(FIRST, "READ", length=SIZE),
        ]
    )
    assert len(machine.done) == 3
