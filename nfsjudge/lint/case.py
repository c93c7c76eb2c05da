# SPDX-License-Identifier: MIT
"""A case: one operation of an exchange as the rules see it, with what earlier ones showed."""

from __future__ import annotations

import typing as t
from collections.abc import Sequence
from functools import cached_property

from nfsclient.errors import NfsClientError
from nfsclient.rpc.exchange import Exchange
from nfsclient.rpc.messages import parse_reply
from nfsclient.rpc.program import Step
from nfsjudge.lint.seen import View
from nfsjudge.lint.world import Facts, World


class Case:
    """One step of an exchange, or an exchange as a whole. `ok` are its results where it succeeded."""

    def __init__(
        self,
        exchange: Exchange,
        world: World,
        step: Step | None,
        views: Sequence[View],
        *,
        is_retry: bool = False,
    ) -> None:
        self.is_retry = is_retry
        """Whether the reply may be that of another request with the same slot and sequence id."""
        self.exchange = exchange
        self.world = world
        self.views = views
        self._step = step
        self.operation = None if step is None else step.operation
        self.args: t.Any = None if step is None else step.args
        self.result: t.Any = None if step is None else step.result
        self.status: t.Any = None if step is None else step.status
        self.ok: t.Any = getattr(self.result, "resok", None)

    @property
    def step(self) -> Step:
        """What a rule over operations looks at; bytes that a check made itself have none."""
        assert self._step is not None
        return self._step

    @cached_property
    def error(self) -> Exception | None:
        """Why there is no result: the library's error, also of calls that a check made itself from bytes."""
        exchange = self.exchange
        if exchange.error is not None or exchange.procedure is not None or exchange.reply is None:
            return exchange.error
        try:
            return parse_reply(exchange.reply, 0, "the call")[1]
        except NfsClientError as error:
            return error

    def known(self, handle: bytes) -> Facts | None:
        """What was last said of an object that cannot have changed since; None if it may have."""
        return self.world.quiet(handle, self.exchange)

    def is_alone(self, handle: bytes) -> bool:
        """Whether nobody but those whose exchanges are seen can have used the object while this one went on."""
        return self.world.is_alone(handle)
