# SPDX-License-Identifier: MIT
"""Programs of two clients that may get delegations of a file, and of one of NFSv3 in addition, drawn at random.

A server that grants nothing runs the same programs: the steps that need a delegation are left out there.
"""

from __future__ import annotations

import random
import typing as t
from collections.abc import Iterator

from nfsclient.protocol import nfs4 as p
from suites.model.delegated_things import OF_NAMES, DelegatedFile, imitate_delegated, may_do
from suites.model.state_steps import ANONYMOUS, DELEGATION, NFS3, StateStep, Verb
from suites.model.state_things import NFS3_CLIENT, READ, SIZE, WRITE, Owner

SHORTEST: t.Final = 15
LONGEST: t.Final = 30
"""Steps in a program."""
OTHER_VERSION: t.Final = Owner(NFS3_CLIENT, 0)
_BOTH: t.Final = READ | WRITE
_OF_NFS3: t.Final[tuple[Verb, ...]] = (
    *("READ", "READ", "READ", "WRITE", "WRITE", "WRITE", "SETATTR", "SETATTR", "CREATE"),
    *("LINK", "LINK", "RENAME", "REPLACE", "REMOVE"),
)
_OF_NFS4: t.Final[tuple[tuple[Verb, str], ...]] = (
    *(("OPEN", ""),) * 5,
    *(("CLOSE", ""),) * 3,
    *(("DELEGRETURN", ""),) * 2,
    *(("READ", DELEGATION), ("WRITE", DELEGATION)) * 2,
    *(("READ", ""), ("WRITE", ""), ("LOCK", ""), ("LOCKU", "")),
    *(("READ", ANONYMOUS), ("WRITE", ANONYMOUS)) * 2,
    *(("SETATTR", ""), ("LINK", ""), ("RENAME", ""), ("REPLACE", ""), ("REMOVE", "")),
)
"""Verbs, and by which stateid, by how often they are drawn."""
_WANTS: t.Final = (
    *(0, 0, p.OPEN4_SHARE_ACCESS_WANT_ANY_DELEG),
    *(p.OPEN4_SHARE_ACCESS_WANT_READ_DELEG, p.OPEN4_SHARE_ACCESS_WANT_WRITE_DELEG),
)
_SIZES: t.Final = (0, 1, 30, SIZE, 100)


class DelegatedDrawing:
    """Draws a program: the model goes along, so that most steps are possible."""

    def __init__(self, seed: str, *, with_nfs3: bool) -> None:
        self._random = random.Random(seed)
        self._with_nfs3 = with_nfs3
        self._file = DelegatedFile()

    def program(self) -> tuple[StateStep, ...]:
        """From `SHORTEST` to `LONGEST` steps, and the rest of a phrase."""
        length, steps = self._random.randint(SHORTEST, LONGEST), list[StateStep]()
        while len(steps) < length:
            for step in self._some():
                if may_do(self._file, step):
                    imitate_delegated(self._file, step)
                    steps.append(step)
        return tuple(steps)

    def _some(self) -> Iterator[StateStep]:
        rng, file = self._random, self._file
        if not file.delegations and rng.random() < 0.6:
            yield from self._delegated()
        elif self._with_nfs3 and rng.random() < 0.5:
            yield self._of_nfs3()
        else:
            yield self._of_nfs4()

    def _delegated(self) -> Iterator[StateStep]:
        """The others close the file, and a client opens it, which may bring a delegation."""
        rng = self._random
        client, wants_write = rng.choice((1, 2)), rng.random() < 0.5
        for owner, opening in list(self._file.opens.items()):
            if owner.client != client and (wants_write or opening.access & WRITE or opening.deny):
                yield StateStep(owner=owner, verb="CLOSE")
        owner = Owner(client, rng.choice((0, 1)))
        if owner in self._file.opens:
            yield StateStep(owner=owner, verb="CLOSE")
        if len(self._file.names) == 1 and rng.random() < 0.5:
            yield StateStep(owner=owner, verb="LINK")  # so that REMOVE leaves a name
        yield self._opening(owner, _BOTH if wants_write else READ)
        if rng.random() < 0.3:
            yield StateStep(owner=owner, verb="CLOSE")

    def _opening(self, owner: Owner, access: int) -> StateStep:
        rng = self._random
        want = rng.choice(_WANTS)
        is_in_the_way = any(each.client != owner.client for each in self._file.delegations)
        return StateStep(
            owner=owner,
            verb="OPEN",
            access=access,
            deny=rng.choice((0,) * (2 if is_in_the_way else 8) + (READ, WRITE)),
            want=want,
            late=rng.choice((-1, 0, 1, 2, 3)),
            salt=rng.randint(1, 255),
        )

    def _of_nfs3(self) -> StateStep:
        rng = self._random
        verb = rng.choice(_OF_NFS3)
        offset = rng.choice((0, 1, 10, 30, 50))
        length = rng.choice(_SIZES) if verb == "SETATTR" else rng.choice((1, 5, 20, SIZE))
        return StateStep(
            owner=OTHER_VERSION,
            verb=verb,
            how=NFS3,
            offset=offset,
            length=length,
            late=rng.choice((0, 0, 1, 2)),
            salt=rng.randint(1, 255),
        )

    def _of_nfs4(self) -> StateStep:
        rng, file = self._random, self._file
        owner = Owner(rng.choice((1, 2)), rng.choice((0, 1)))
        verb, how = rng.choice(_OF_NFS4)
        if how == DELEGATION and file.of_client(owner.client) is None:
            owner = Owner(3 - owner.client, owner.number)
        opening = file.opens.get(owner)
        is_of_an_open = verb in {"CLOSE", "LOCK", "LOCKU"} or (verb in {"READ", "WRITE"} and not how)
        if verb == "OPEN" or (is_of_an_open and opening is None):
            return self._opening(owner, rng.choice((READ, READ, WRITE, _BOTH)))
        offset = rng.choice((0, 1, 10, 30, 50))
        return StateStep(
            owner=owner,
            verb=verb,
            how=how,
            offset=offset,
            length=rng.choice((1, 5, 10, SIZE - offset)),
            is_write=rng.random() < 0.5 and opening is not None and bool(opening.access & WRITE),
            late=rng.choice((-1, 0, 1, 2, 3)) if how == ANONYMOUS or verb in {"SETATTR", *OF_NAMES} else 0,
            salt=rng.randint(1, 255),
        )
