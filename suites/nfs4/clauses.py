# SPDX-License-Identifier: MIT
"""Clauses that checks in more than one file prove, each declared once, by section of RFC 5661."""

from __future__ import annotations

from nfsjudge import Harm, Part, must, should, stated

# ---------------------------------------------------------------- section 2.10.6: exactly-once semantics

RETRY_GETS_THE_CACHED_REPLY = stated(
    "RFC 5661",
    "2.10.6.1",
    "a request with the sequence id that its slot has is a retry: the replier returns the cached reply",
)
RETRY_IS_NOT_EXECUTED = must(
    "RFC 5661",
    "2.10.6.1.3",
    "a retry is answered from the reply cache or with an error, and is not executed again",
    harm=Harm.DATA,
)
MISORDERED_IS_REFUSED = must(
    "RFC 5661",
    "2.10.6.1",
    "a sequence id that is neither that of the slot nor the next one gets NFS4ERR_SEQ_MISORDERED from SEQUENCE",
)

# ---------------------------------------------------------------- section 3.3.8: change_info4

OWNERS_CLIENTID_IS_IGNORED = must(
    "RFC 5661",
    "18.16.3",
    "the client may set the clientid in an open-owner to any value, and the server ignores it",
)
CHANGE_INFO = should(  # a directory may get another value by itself, just before and after (section 5.8.1.4)
    "RFC 5661",
    "3.3.8",
    "change_info4 has the change attribute of the directory before and after the operation",
    also={"4.0": ("RFC 7530", "2.2.9")},
)

# ---------------------------------------------------------------- section 15: errors

NEEDS_A_FILEHANDLE = stated(
    "RFC 5661",
    "15.1.2.5",
    "an operation that needs a current or saved filehandle which is not set fails with NFS4ERR_NOFILEHANDLE",
    also={"4.0": ("RFC 7530", "13.1.2.5")},
)

# ---------------------------------------------------------------- section 16.2: COMPOUND

MINOR_VERSION_IS_KNOWN = must(
    "RFC 5661",
    "16.2.3",
    "a minor version that the server does not support gets NFS4ERR_MINOR_VERS_MISMATCH and no results",
    also={"4.0": ("RFC 7530", "15.2.4")},
)
ENDS_AT_THE_FIRST_ERROR = stated(
    "RFC 5661",
    "16.2.3",
    "operations are executed until one fails; the status of COMPOUND is that of the last one executed",
    also={"4.0": ("RFC 7530", "15.2.4")},
)

# ---------------------------------------------------------------- section 18: operations

NOT_ONLY_OP = must(
    "RFC 5661",
    "18.35.3",
    "an operation that may stand without SEQUENCE must then be the only one: NFS4ERR_NOT_ONLY_OP",
)
WRITER_GETS_A_CALL = must(
    "RFC 5661",
    "18.7.4",
    "GETATTR of size or change waits for CB_GETATTR, or for the end of a write delegation of another client",
    part=Part.IMPLEMENTATION,
    says_must=True,
)
