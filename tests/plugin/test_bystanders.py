# SPDX-License-Identifier: MIT
"""Which answers of a server `why_not_served` waits for."""

from __future__ import annotations

import typing as t
from types import SimpleNamespace

import pytest

from fixtures.checks.bystanders import WhyNotServed
from fixtures.stage.liveness import shows_an_end
from nfsclient.errors import ConnectFailed, ConnectionLost, NfsClientError, RpcTimeout

CLOSED = ConnectionLost("NULL", "the server closed it")
REFUSED = ConnectFailed("192.0.2.1:2049", "[Errno 111] Connection refused")
TIMEOUT = RpcTimeout("NULL", 2.0)


class _Answers:
    """A stage whose server ends the first NULLs with these errors, and answers the next."""

    target = None

    def __init__(self, *errors: NfsClientError) -> None:
        self._errors = list(errors)
        self._now = 0.0
        self._last: NfsClientError | None = None
        self.loop = SimpleNamespace(clock=lambda: self._now, run_until=self._wait)
        self.connections = SimpleNamespace(call_timeout=5.0)
        self.liveness = self

    def _wait(self, _done: object, until: float) -> None:
        self._now = until

    def null_error(self) -> NfsClientError | None:
        self._last = self._errors.pop(0) if self._errors else None
        return self._last

    @property
    def is_refusing(self) -> bool:
        return shows_an_end(self._last)

    def note_death(self) -> None:
        """It is gone."""

    recover = note_death


def why(*errors: NfsClientError, meanwhile: bool = False) -> str | None:
    return WhyNotServed(t.cast("t.Any", _Answers(*errors)), None, None)(meanwhile=meanwhile)


@pytest.mark.parametrize("error", [CLOSED, REFUSED])
def test_a_server_that_closes_or_refuses_new_connections_has_the_time_of_a_call(
    error: NfsClientError,
) -> None:
    # One that serves 16 connections closes the next until it has noticed that those of the check are gone.
    assert why(*[error] * 10) is None
    assert why(*[error] * 1000) is not None


def test_others_meanwhile_are_probed_once_where_the_server_closes() -> None:
    assert why(CLOSED, meanwhile=True) is not None
    assert why(REFUSED, meanwhile=True) is None


def test_silence_is_not_waited_for_twice() -> None:
    assert why(TIMEOUT) is not None
