# SPDX-License-Identifier: MIT
"""The policies as tables: what each call of a program becomes, and where that is described.

The steps of a row are carried out one after the other by `policies.client`, so the table is what happens:

    step          what it does
    parent        finds the directory of the name: a LOOKUP for each name on the way that the policy does not keep
    directory     finds the directory that the call is about, in the same way
    lookup        finds the name: LOOKUP, unless the policy keeps it
    find          LOOKUP of the name, also if the policy keeps it
    kept          the object of the name: a LOOKUP only if it was never found
    absent        LOOKUP of a name that must not exist, as a kernel's path walk does before it creates
    getattr       GETATTR
    attributes    GETATTR, unless attributes are kept that are not too old
    access        ACCESS
    revalidate    attributes of the server; if the file has changed, its kept data goes (GETATTR, unless they just came)
    known_...     the step without known_, if the file was found before: its first OPEN brings both
    open, close   OPEN and CLOSE in NFSv4 and Spritely NFS; in others, a file is open only in the client
    delegated     the rest of the row is skipped if the file is open and delegated to this client
    data          READ, unless the data is kept
    put           WRITE: at once, or by write daemons (`Policy.delays_writes`)
    flush         WRITE of what waits, and the answers to all
    commit        COMMIT, if something of the file is not on stable storage
    commit_all    COMMIT in any case
    forget        the kept data of the file goes
    other steps   the procedure or operation with this name
"""

from __future__ import annotations

import math
import typing as t
from collections.abc import Mapping
from dataclasses import dataclass, field

DESIGN: t.Final = "Pawlowski et al., NFS Version 3 Design and Implementation, 1994"
STUDY: t.Final = "Chen et al., Newer Is Sometimes Better: An Evaluation of NFSv4.1, 2015"
SENSITIVITY: t.Final = "Martin, Culler, NFS Sensitivity to High Performance Networks, 1999"
SPRITELY: t.Final = "Srinivasan, Mogul, Spritely NFS, 1989"


@dataclass(frozen=True, slots=True)
class Row:
    """What one call of a program becomes."""

    steps: tuple[str, ...]
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """How a client behaves between a program and the server."""

    name: str
    about: str
    versions: tuple[str, ...]
    """Of NFS in which it can be said."""
    rows: Mapping[str, Row]
    rows4: Mapping[str, Row] = field(default_factory=dict)
    """Those that are different in NFSv4."""
    names: t.Literal["directories", "all"]
    """Which names are kept: of directories only, or all, until the directory is seen to change."""
    attributes: tuple[float, float] = (0.0, 0.0)
    """Seconds for which attributes are kept, at least and at most; it doubles each time that nothing has changed."""
    directory_attributes: float = 0.0
    """The least for directories."""
    keeps_data: bool = False
    delays_writes: bool = False
    """Whether writes wait in the client and go out by daemons, as many as the window."""
    trusts_own_writes: bool = False
    """Whether kept data survives the client's own writes: pre-operation attributes tell them from those of others."""
    wants_delegations: bool = False
    is_spritely: bool = False
    """Whether the server says what may be kept of a file, and for how long (`policies.spritely`)."""
    delay: float = 0.0
    """Of Spritely NFS: seconds after which all that waits is written, as `/etc/update` does; infinite: never."""

    def rows_for(self, version: str) -> Mapping[str, Row]:
        """The table for a version of NFS."""
        return {**self.rows, **self.rows4} if version.startswith("4") else self.rows


def _rows(source: str, rows: Mapping[str, str]) -> dict[str, Row]:
    return {name: Row(tuple(steps.split()), source) for name, steps in rows.items()}


_RAW = _rows(
    "a fixed list, so that calls can be counted from the program alone",
    {
        "mkdir": "parent mkdir",
        "rmdir": "parent rmdir",
        "create": "parent create",
        "open": "parent lookup open",
        "close": "flush commit close",
        "read": "data",
        "write": "put",
        "fsync": "flush commit",
        "stat": "parent lookup getattr",
        "absent": "parent absent",
        "chmod": "parent lookup setattr",
        "rename": "parent rename",
        "link": "parent lookup link",
        "symlink": "parent symlink",
        "readlink": "parent lookup readlink",
        "chdir": "directory",
        "readdir": "directory readdir",
        "statfs": "directory statfs",
        "remove": "parent remove",
        "lock": "lock",
        "unlock": "unlock",
    },
)
_DIRECT = _rows(
    "each call of the program is one procedure, as generators of load send them that imitate no client",
    {
        "mkdir": "parent mkdir",
        "symlink": "parent symlink",
        "create": "parent create",
        "open": "kept open",
        "close": "flush commit close",
        "lookup": "parent find",
        "stat": "kept getattr",
        "chmod": "kept setattr",
        "access": "kept access",
        "readlink": "kept readlink",
        "read": "data",
        "write": "put",
        "commit": "commit_all",
        "readdir": "directory readdir",
        "statfs": "directory statfs",
        "remove": "parent remove",
    },
)
_V2 = _rows(
    f"{DESIGN}, sections 2 and 5.3: LOOKUP of each new name, attributes 3 to 60 s, GETATTR at open",
    {
        "mkdir": "parent absent mkdir",
        "rmdir": "parent lookup rmdir",
        "create": "parent absent create",
        "open": "parent lookup revalidate open",
        "close": "flush",
        "read": "data",
        "write": "put",
        "fsync": "flush",
        "stat": "parent lookup attributes",
        "absent": "parent absent",
        "chmod": "parent lookup setattr",
        "rename": "parent lookup rename",
        "link": "parent lookup link",
        "symlink": "parent absent symlink",
        "readlink": "parent lookup readlink",
        "chdir": "directory",
        "readdir": "directory revalidate readdir",
        "statfs": "directory statfs",
        "remove": "parent lookup remove",
        "lock": "lock",
        "unlock": "unlock",
    },
)
_V3 = _V2 | _rows(
    f"{DESIGN}, section 3: ACCESS at open, UNSTABLE writes, COMMIT at close; {STUDY}, table of locked reads: "
    "ACCESS and GETATTR at each open, GETATTR at each lock",
    {
        "open": "parent lookup access revalidate open",
        "close": "flush commit",
        "fsync": "flush commit",
        "chdir": "directory access",
        "readdir": "directory access revalidate readdir",
        "lock": "flush commit lock forget revalidate",
        "unlock": "flush commit unlock",
    },
)
_V4 = _V3 | _rows(
    f"{STUDY}, table of locked reads without delegations: OPEN and CLOSE for each, FREE_STATEID after the last unlock",
    {
        "create": "parent create",
        "open": "parent known_access known_revalidate open",
        "close": "flush commit close",
        "unlock": "flush commit unlock free_stateid",
    },
)
_DELEGATED = _V4 | _rows(
    f"{STUDY}, table of locked reads with delegations: a delegated file is opened, locked and read locally",
    {
        "open": "parent delegated known_access known_revalidate open",
        "lock": "delegated flush commit lock forget revalidate",
        "unlock": "delegated flush commit unlock free_stateid",
    },
)
_SPRITELY = _V2 | _rows(
    f"{SPRITELY}, sections 3.1 and 4.2.2: OPEN brings the attributes, CLOSE leaves data that waits to be written",
    {
        "create": "parent absent create",
        "open": "parent lookup open",
        "close": "close",
    },
)

POLICIES: t.Final[Mapping[str, Policy]] = {
    policy.name: policy
    for policy in (
        Policy(
            name="raw",
            about="a fixed list of calls for each call of the program, nothing kept but handles of directories",
            versions=("2", "3", "4.1", "4.2"),
            rows=_RAW,
            rows4=_rows("OPEN finds the name itself", {"open": "parent open"}),
            names="directories",
        ),
        Policy(
            name="direct",
            about="no client at all: each call is one procedure with a handle that was found before",
            versions=("2", "3", "4.1", "4.2"),
            rows=_DIRECT,
            rows4=_rows("OPEN finds the name itself, and CLOSE ends it", {"open": "parent open"}),
            names="directories",
        ),
        Policy(
            name="v2-like",
            about="a kernel's client of NFSv2: names, attributes and data kept, write daemons, flush at close",
            versions=("2",),
            rows=_V2,
            names="all",
            attributes=(3.0, 60.0),
            directory_attributes=30.0,
            keeps_data=True,
            delays_writes=True,
        ),
        Policy(
            name="v3-like",
            about="a kernel's client of NFSv3: as v2-like, with ACCESS at open and COMMIT at close",
            versions=("3",),
            rows=_V3,
            names="all",
            attributes=(3.0, 60.0),
            directory_attributes=30.0,
            keeps_data=True,
            delays_writes=True,
            trusts_own_writes=True,
        ),
        Policy(
            name="v4-like",
            about="a kernel's client of NFSv4.1 without delegations: OPEN and CLOSE for each open",
            versions=("4.1", "4.2"),
            rows=_V4,
            names="all",
            attributes=(3.0, 60.0),
            directory_attributes=30.0,
            keeps_data=True,
            delays_writes=True,
            trusts_own_writes=True,
        ),
        Policy(
            name="delegated",
            about="a client of NFSv4.1 that uses delegations: opens, locks and reads of a delegated file stay local",
            versions=("4.1", "4.2"),
            rows=_DELEGATED,
            names="all",
            attributes=(3.0, 60.0),
            directory_attributes=30.0,
            keeps_data=True,
            delays_writes=True,
            trusts_own_writes=True,
            wants_delegations=True,
        ),
        Policy(
            name="spritely",
            about="a client of Spritely NFS: OPEN and CLOSE, consistent data in memory, written every 30 s",
            versions=("snfs",),
            rows=_SPRITELY,
            names="all",
            attributes=(3.0, 60.0),
            directory_attributes=30.0,
            is_spritely=True,
            delay=30.0,
        ),
        Policy(
            name="spritely-lazy",
            about="as spritely, without /etc/update: data is written when another client or the memory needs it",
            versions=("snfs",),
            rows=_SPRITELY,
            names="all",
            attributes=(3.0, 60.0),
            directory_attributes=30.0,
            is_spritely=True,
            delay=math.inf,
        ),
    )
}
DIRECT: t.Final = "direct"
"""The policy of workloads that imitate no client: it has rows for their calls only, and they have no other."""
USUAL: t.Final[Mapping[str, str]] = {"2": "raw", "3": "raw", "4.1": "raw", "4.2": "raw"}
"""The policy of a version if none is named."""
