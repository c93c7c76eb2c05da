# SPDX-License-Identifier: MIT
"""Clauses of the paper on Spritely NFS that checks in several files prove, each declared once.

The paper describes what an implementation does, so nearly all of it is in plain prose. Table 1 is in section 4.3.4.
"""

from __future__ import annotations

import typing as t

from nfsjudge import Harm, must, should, stated

PAPER: t.Final = "Spritely NFS"

# ---------------------------------------------------------------- section 1

NO_OLD_COPIES = should(  # it is said of opens; a client of the paper opens a file before it empties it
    PAPER, "1", "no client has a cached copy that another one's change has made old"
)

# ---------------------------------------------------------------- section 3.1: OPEN and CLOSE

VERSION_GROWS = stated(
    PAPER, "3.1", "the version of a file increases every time the file is opened for writing", harm=Harm.DATA
)
VERSIONS_FIT = stated(
    PAPER,
    "3.1",
    "OPEN returns the latest version and the one before: cached data of any other version is invalid",
    harm=Harm.DATA,
)
VERSIONS_KEEP = stated(PAPER, "3.1", "cached data of the current or of the previous version can be retained")
ATTRIBUTES_ARE_GETATTRS = stated(
    PAPER,
    "3.1",
    "the attributes in the reply of OPEN are those that GETATTR would have returned",
    harm=Harm.DATA,
)
CLOSE_ENDS_ONE_OPEN = stated(
    PAPER, "3.1", "CLOSE ends one open of its mode: OPEN may have been called several times on a handle"
)

CLOSE_IN_ANOTHER_MODE = should(  # the mode "should be the same as the one that was provided"
    PAPER, "3.1", "CLOSE in a mode in which the client has nothing open ends no open"
)

# ---------------------------------------------------------------- section 3.2: callbacks

CALLBACK_COMES = stated(
    PAPER, "3.2", "whenever the server needs to notify a client, it calls that client", harm=Harm.DATA
)
CALLBACK_SAYS_WHICH = stated(
    PAPER, "3.2", "a callback identifies the file by the mdev of the OPEN and by the fileid in its attributes"
)
HANDLE_IS_FOR_WRITING = stated(
    PAPER, "3.2", "the handle in a callback is for the client to use while it writes the file back"
)
WAITS_FOR_WRITE_BACK = stated(
    PAPER,
    "3.2",
    "an open that needs a write-back succeeds when the client has returned from the callback",
    harm=Harm.DATA,
)
SERVES_WRITE_BACK = must(
    PAPER, "3.2", "the server serves the writes that a callback causes while it waits for the callback"
)
REPEATED_OPEN_IS_HARMLESS = stated(
    PAPER, "3.2", "an open that times out and is sent again does no harm: it counts once"
)
MAY_BE_INCONSISTENT = should(
    PAPER,
    "3.2",
    "a client whose open was honored although another one did not write back learns of that",
)
SAYS_NO_MORE = stated(
    PAPER,
    "3.2",
    "an open learns that the file may be inconsistent if a client that serves a callback is down",
)
DEAD_OPEN_IS_HONORED = should(  # "the SNFS can honor the new open operation"
    PAPER, "3.2", "a client that is down does not keep others from opening the file"
)
DEAD_IS_KEPT_OUT = must(
    PAPER,
    "3.2",
    "a client that was given up makes no use of the file until it obtains a new handle and opens it again",
    harm=Harm.DATA,
)

# ---------------------------------------------------------------- section 4.3: the state table

CACHING = stated(
    PAPER, "4.3.4", "an OPEN enables or disables caching as table 1 says of its transition", harm=Harm.DATA
)
CALLS = stated(
    PAPER, "4.3.4", "the other clients are called for what table 1 says of the transition", harm=Harm.DATA
)
CALLS_NOBODY = stated(PAPER, "4.3.4", "nobody is called where table 1 has no callback")
STATES = stated(PAPER, "4.3.4", "the file is then in the state that table 1 says", harm=Harm.DATA)
NO_TRANSITION = stated(
    PAPER,
    "4.3.4",
    "an open by a client that has the file open in this mode, or for writing, changes no state",
)
NO_EARLY_CLOSE = stated(
    PAPER,
    "4.3.4",
    "a close changes the state only if it is the last one, or leaves one reader",
    harm=Harm.DATA,
)
ENTRY_IS_LOCKED = stated(
    PAPER, "4.3.4", "while a callback is under way, the entry of the file stays locked for OPEN and CLOSE"
)
TABLE_IS_RECLAIMED = should(  # "may be reclaimed"
    PAPER,
    "4.3.1",
    "when entries are short, a closed file with dirty blocks is reclaimed by a callback to its last writer",
)
CALLBACKS_END_FIRST = stated(
    PAPER,
    "4.3.4",
    "all transitions of a file occur serially, and one is not over before its callbacks are",
    harm=Harm.DATA,
)
OPEN_FILES_STAY = stated(
    PAPER,
    "4.3.1",
    "the table has an entry for each open file: its size limits the files that are open at a time",
)
VERSIONS_SURVIVE = stated(
    PAPER, "4.3.3", "no version comes a second time, although the server has crashed between", harm=Harm.DATA
)

STATES_ARE_OF_FILES = stated(
    PAPER,
    "4.3.2",
    "an entry is found by the handle of its file: it is that of no other file, and of no name",
    harm=Harm.DATA,
)

# ---------------------------------------------------------------- section 2.4: recovery

CLIENTS_KNOW = stated(
    PAPER, "2.4", "after a crash the server reconstructs the state of a file from its clients", harm=Harm.DATA
)
STATE_STANDS_STILL = stated(
    PAPER,
    "2.4",
    "the state of a file does not change while the server is down, nor before its clients have come back",
    harm=Harm.DATA,
)

# ---------------------------------------------------------------- section 6.2: delayed closes

CLOSED_IS_A_STATUS = should(  # "the client could return a special status code"
    PAPER, "6.2", "a status of the callback tells the server to treat the file as closed by that client"
)

# ---------------------------------------------------------------- section 6.1: other versions of NFS

# The section describes one approach; a server with none at all lets clients read what is old.
NFS_COUNTS = should(
    PAPER,
    "6.1",
    "an access by NFS to a file that is open by SNFS counts as an open: clients are called as table 1 says",
)
NFS_WRITES_COUNT = should(
    PAPER, "6.1", "after a write by NFS, cached data of the version of before is not valid", harm=Harm.DATA
)
