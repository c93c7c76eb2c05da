# SPDX-License-Identifier: MIT
"""The limits of the server that FSINFO and PATHCONF return, and how far the checks go to reach them."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Fsinfo3ResOk, Nfsstat3, Sattr3
from nfsjudge import Requirement, expect, skip, unsupported
from suites.gaps import Far, need_gaps
from suites.nfs3.clauses import (
    LONG_NAMES_RETURN_NAMETOOLONG,
    MAXFILESIZE_IS_LIMIT,
    NO_TRUNC,
    RETURNS_NAMETOOLONG,
    TREATS_LONG_NAMES_ALIKE,
    TWO_GIB_FIT_BELOW_MAXFILESIZE,
)

MOST_AT_ONCE: t.Final = 1024 * 1024
"""Bytes: the checks send and read no more in one call, even if the server allows it."""
MOST_LINKS: t.Final = 2000
"""The checks do not try a linkmax above this."""
LONGEST_NAME: t.Final = 4096
"""The checks do not try a name_max above this: it means "no limit"."""
FAR: t.Final = {"2^31": 2**31, "2^32": 2**32, "2^40": 2**40, "2^53": 2**53, "2^63-9": 2**63 - 9}
"""Offsets at the limits of arithmetic with fewer than 64 bits. The data is in the 8 bytes before and after."""
FAR_IDS: t.Final = ("2g", "4g", "1t", "8p", "int64max-8")
WITHIN: t.Final = {"2^31": 2**31 + 8, "2^32": 2**32 + 8, "2^40": 2**40 + 8}
"""Sizes that a server refuses if it has fewer bits for them than it says in maxfilesize."""
WITHIN_IDS: t.Final = FAR_IDS[: len(WITHIN)]
MakeMany: t.TypeAlias = Callable[[bytes, int], t.Any]
"""(handle, count) -> the first reply that is not OK, or None: makes many links or subdirectories."""


def fsinfo(nfs3: Nfs3, handle: bytes) -> Fsinfo3ResOk:
    """The limits of the file system on the transport of this client. SKIP if FSINFO fails."""
    reply = nfs3.fsinfo(handle)
    if reply.resok is None:
        skip(f"the limits of the server are unknown: FSINFO answers {reply.status}", reply)
    return reply.resok


def need_far(nfs3: Nfs3, scratch: Nfs3Scratch, far: int, *, by_setattr: bool = False) -> Far:
    """SKIP where the gap of a file of `far` bytes would be filled, and that takes too long."""
    file = scratch.file("gap", b"x")

    def grow(offset: int) -> int:
        if by_setattr:
            return nfs3.setattr(file, Sattr3(size=offset + 1)).status
        return nfs3.write(file, offset, b"x").status

    def used() -> int | None:
        reply = nfs3.getattr(file)
        return None if reply.resok is None else reply.resok.obj_attributes.used

    return need_gaps(nfs3.rpc, far, grow, used)


def clause_within(place: str) -> Requirement:
    """What a server breaks that refuses the size `place` of `WITHIN`, which is below its maxfilesize."""
    return TWO_GIB_FIT_BELOW_MAXFILESIZE if WITHIN[place] < 2**32 else MAXFILESIZE_IS_LIMIT


def need_size(
    nfs3: Nfs3, root: bytes, scratch: Nfs3Scratch, file: bytes, size: int, *, by_setattr: bool = False
) -> Far:
    """UNSUPPORTED if a file of this size is larger than maxfilesize, or cannot have gaps; SKIP as `need_far`."""
    most = fsinfo(nfs3, root).maxfilesize
    if size > most:
        unsupported(f"maxfilesize is {most}: this check makes a file of {size} bytes")
    near = nfs3.write(file, 10_000, b"data")
    if near.status == Nfsstat3.NFS3ERR_INVAL:
        unsupported(f"files cannot have gaps: WRITE beyond the end answers {near.status}", near)
    if near.resok is None:
        skip(f"the file cannot be written: WRITE answers {near.status}", near)
    if by_setattr and (larger := nfs3.setattr(file, Sattr3(size=20_000))).resok is None:
        skip(
            f"SETATTR of a larger size answers {larger.status}, whatever it is: another check judges that",
            larger,
        )
    return need_far(nfs3, scratch, size, by_setattr=by_setattr)


def transfer_size(limit: int) -> int:
    """How many bytes to transfer in one call if the server allows `limit`."""
    return max(1, min(limit, MOST_AT_ONCE))


def need_name_max(name_max: int) -> int:
    """SKIP the check if name_max is missing or unlimited; return it otherwise."""
    if not 1 <= name_max <= LONGEST_NAME:
        skip(f"PATHCONF returns name_max {name_max}: the check has no longest name to try")
    return name_max


class NameLimit(t.NamedTuple):
    """What PATHCONF says of long names, and the clauses for longer ones.

    Without no_trunc, checks run on servers that refuse long names all the same. Truncation is then what the server
    says, so that no clause but SHOULD forbids it.
    """

    name_max: int
    no_trunc: bool

    @property
    def effect(self) -> Requirement:
        """A longer name is used, whole or truncated."""
        return NO_TRUNC if self.no_trunc else TREATS_LONG_NAMES_ALIKE

    @property
    def status(self) -> Requirement:
        """A longer name is refused with another error than NAMETOOLONG."""
        return LONG_NAMES_RETURN_NAMETOOLONG if self.no_trunc else RETURNS_NAMETOOLONG

    @property
    def status_if_new(self) -> Requirement:
        """The same for the name of a new object."""
        return NO_TRUNC if self.no_trunc else RETURNS_NAMETOOLONG


def name_limit_of(nfs3: Nfs3, directory: bytes) -> NameLimit:
    """What PATHCONF says of long names. SKIP if name_max is missing or unlimited."""
    pathconf = expect(nfs3.pathconf(directory)).ok()
    return NameLimit(need_name_max(pathconf.name_max), pathconf.no_trunc)


def name_max_of(nfs3: Nfs3, directory: bytes) -> int:
    """name_max of PATHCONF. SKIP if it is missing or unlimited."""
    return name_limit_of(nfs3, directory).name_max
