# SPDX-License-Identifier: MIT
"""What a client of a program does, in the same form for all versions of NFS."""

from __future__ import annotations

import hashlib
import typing as t
from abc import ABC, abstractmethod

from suites.model.seen import Answer, Entry
from suites.model.steps import Step
from suites.model.things import World

SECOND: t.Final = 1_000_000_000
MOST_PAGES: t.Final = 60
"""Of a listing, before it is given up: a server may return an entry in each."""
FIFO: t.Final = "FIFO"
KINDS: t.Final = {1: "file", 2: "directory", 5: "symbolic link", 7: FIFO}
"""ftype3 and nfs_ftype4 have the same numbers."""
PAGE: t.Final = 32_768
"""Bytes of a page."""


def verifier_of(step: Step) -> bytes:
    """Of an exclusive CREATE. Any two differ in all their parts: a server may keep some bits only."""
    return hashlib.sha256(b"verifier %d" % step.salt).digest()[:8]


class Inconclusive(Exception):
    """The server refuses or withholds what a program needs: it ends here, and is judged as far as it came."""


class Silence(Inconclusive):
    """A call has no reply, which is what NFSv2 has in place of JUKEBOX."""


class Player(ABC):
    """One client, on a separate connection. Objects are named by their handles."""

    version: t.ClassVar[str]
    """Handles, file ids and values of `change` mean something within one version only."""
    title: t.ClassVar[str]
    per_read: int = 8192
    """Bytes in one READ, and in one WRITE."""
    per_write: int = 8192
    time_delta: int = SECOND
    """Accuracy of times, in nanoseconds."""
    can_set_times: bool = True

    def copies_sent(self) -> int:
        """How many calls this client has sent again: as `suites.replies.copies_sent`."""
        return 0

    def adapt(self, step: Step, world: World) -> Step | None:
        """The step as this version can make it; None if it cannot."""
        return step

    @abstractmethod
    def getattr(self, handle: bytes) -> Answer:
        """GETATTR."""

    @abstractmethod
    def setattr(self, handle: bytes, step: Step) -> Answer:
        """SETATTR of all that the step sets."""

    @abstractmethod
    def lookup(self, directory: bytes, name: bytes) -> Answer:
        """LOOKUP: handle, and attributes if the reply has them."""

    @abstractmethod
    def access(self, handle: bytes) -> Answer:
        """ACCESS."""

    @abstractmethod
    def read_link(self, handle: bytes) -> Answer:
        """READLINK: the text is the data."""

    @abstractmethod
    def read(self, handle: bytes, offset: int, count: int) -> Answer:
        """READ."""

    @abstractmethod
    def write(self, handle: bytes, offset: int, data: bytes, level: int) -> Answer:
        """WRITE."""

    @abstractmethod
    def commit(self, handle: bytes) -> Answer:
        """COMMIT of the whole file."""

    @abstractmethod
    def make(self, directory: bytes, name: bytes, step: Step) -> Answer:
        """CREATE, MKDIR, SYMLINK or MKNOD. The handle is there if the reply has it."""

    @abstractmethod
    def link(self, handle: bytes, directory: bytes, name: bytes) -> Answer:
        """LINK."""

    @abstractmethod
    def remove(self, directory: bytes, name: bytes, *, is_directory: bool) -> Answer:
        """REMOVE, or RMDIR."""

    @abstractmethod
    def rename(self, source: bytes, name: bytes, target: bytes, new: bytes) -> Answer:
        """RENAME."""

    @abstractmethod
    def page(self, directory: bytes, cookie: int, verifier: bytes, *, plain: bool) -> tuple[Answer, bytes]:
        """A page of a listing and its cookie verifier; `plain`: without attributes, where the version has that."""

    def listing(self, directory: bytes, *, plain: bool) -> Answer:
        """All pages of a listing. Raises `Inconclusive` if it does not end soon."""
        found, cookie, verifier = list[Entry](), 0, bytes(8)
        for _ in range(MOST_PAGES):
            answer, verifier = self.page(directory, cookie, verifier, plain=plain)
            found += answer.entries
            if not answer.is_ok or answer.is_end:
                answer.entries = found
                return answer
            if not answer.entries:
                raise Inconclusive
            cookie = answer.entries[-1].cookie
        raise Inconclusive
