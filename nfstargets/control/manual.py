# SPDX-License-Identifier: MIT
"""Asks a person at the terminal to do something to a server."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import termios
import time
from collections.abc import Callable

from nfstargets.base import ControlDeclined, ControlFailed

_TERMINAL = "/dev/tty"
_MOST_UNANSWERED = 3
"""Prompts without an answer, one after the other, after which nobody is there: hundreds of checks may have one."""
_NO = frozenset({"n", "no", "s", "skip"})


class Person:
    """The person at the terminal of the run. Ends asking after one no, or three prompts without an answer."""

    def __init__(self, terminal: str = _TERMINAL, clock: Callable[[], float] = time.monotonic) -> None:
        self._terminal = terminal
        self._clock = clock
        self._has_declined = False
        self._unanswered = 0

    def ask(self, name: str, instruction: str, seconds: float, asked_for: str = "") -> None:
        """Print what is to be done and what for, and wait for Enter.

        Raises `ControlDeclined`; `ControlFailed` without terminal or answer in time.
        """
        if self._has_declined:
            raise ControlDeclined(f"control {name}: declined at the terminal")
        if self._unanswered >= _MOST_UNANSWERED:
            raise ControlFailed(
                f"control {name}: nobody pressed Enter at {self._unanswered} prompts, so nfsproof prompts no more"
            )
        try:
            descriptor = os.open(self._terminal, os.O_RDWR | os.O_NOCTTY)
        except OSError as error:
            raise ControlFailed(
                f"control {name}: manual control needs a terminal: {self._terminal}: {error.strerror}"
            ) from error
        # The progress repaints the terminal at each SIGALRM: not while a person reads and types.
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})
        try:
            with contextlib.suppress(termios.error):  # what was typed before the question is no answer
                termios.tcflush(descriptor, termios.TCIFLUSH)
            purpose = f"for {asked_for}:\r\n" if asked_for else ""
            text = (
                f"\r\n\a{purpose}{instruction}\r\n"
                f"Then press Enter. Type n and Enter to skip this and all later ones ({seconds:g} s): "
            )
            os.write(descriptor, text.encode())
            answer = self._line(descriptor, name, seconds)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
            os.close(descriptor)
        if answer.strip().casefold() in _NO:
            self._has_declined = True
            raise ControlDeclined(f"control {name}: declined at the terminal")

    def _line(self, descriptor: int, name: str, seconds: float) -> str:
        deadline = self._clock() + seconds
        typed = bytearray()
        while not typed.endswith(b"\n"):
            left = deadline - self._clock()
            readable = select.select([descriptor], [], [], left)[0] if left > 0 else []
            data = os.read(descriptor, 256) if readable else b""
            if not data:
                self._unanswered += 1
                raise ControlFailed(f"control {name}: nobody pressed Enter within {seconds:g} s")
            typed += data
        self._unanswered = 0
        return typed.decode(errors="replace")
