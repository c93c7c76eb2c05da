# SPDX-License-Identifier: MIT
"""Operations without I/O: a generator yields the calls that it needs, is sent their replies, and returns its result.

    steps    ->  Call or Compound      `next(steps)`
    driver   ->  reply                 `steps.send(reply)`, until the generator returns

So an operation is written once, and blocking and asyncio drivers perform it. An error of a call is thrown into the
generator, which may know what to do; else it comes out at the caller of the driver.
"""

from __future__ import annotations

import typing as t
from collections.abc import Awaitable, Callable, Generator, Sequence
from dataclasses import dataclass

from nfsclient.rpc.program import Procedure
from nfsclient.xdr import XdrType


@dataclass(slots=True, eq=False)  # frozen, it would take three times as long to make
class Call:
    """One call of NFSv2 or NFSv3."""

    procedure: Procedure[t.Any, t.Any]
    args: XdrType
    into: memoryview | None = None
    """Where the data of a READ is to be received, if the connection can do that."""


@dataclass(frozen=True, slots=True, eq=False)
class Compound:
    """One compound of NFSv4, without its SEQUENCE."""

    build: Callable[[], Sequence[XdrType]]
    """The operations; called for each attempt, since a recovery changes stateids."""
    into: memoryview | None = None
    repeatable: bool = False
    """Whether operations before one that got DELAY may be executed again although they change something."""


Ask: t.TypeAlias = Call | Compound
T = t.TypeVar("T")
Steps: t.TypeAlias = Generator[Ask, t.Any, T]
"""An operation whose result is a `T`."""
Answer: t.TypeAlias = Callable[[Ask], t.Any]
"""Makes a call and returns its reply. Raises `RpcError`, `XdrError`."""


def perform(steps: Steps[T], answer: Answer) -> T:
    """The result of an operation whose calls `answer` makes. Raises what the operation and `answer` raise."""
    try:
        ask = next(steps)
        while True:
            try:
                reply = answer(ask)
            except Exception as error:  # noqa: BLE001  (the operation decides)
                ask = steps.throw(error)
            else:
                ask = steps.send(reply)
    except StopIteration as end:
        result: T = end.value
        return result


async def perform_async(steps: Steps[T], answer: Callable[[Ask], Awaitable[t.Any]]) -> T:
    """As `perform`, for coroutines."""
    try:
        ask = next(steps)
        while True:
            try:
                reply = await answer(ask)
            except Exception as error:  # noqa: BLE001
                ask = steps.throw(error)
            else:
                ask = steps.send(reply)
    except StopIteration as end:
        result: T = end.value
        return result


def result_of(steps: Steps[T], reply: t.Any) -> T:
    """The result of an operation of one call, whose reply this is: READ, WRITE and COMMIT have no more than one."""
    try:
        steps.send(reply)
    except StopIteration as end:
        result: T = end.value
        return result
    raise TypeError("expected an operation of one call")
