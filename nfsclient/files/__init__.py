# SPDX-License-Identifier: MIT
"""Files by handle: the same operations in NFSv2, NFSv3 and NFSv4, with neutral attributes.

    from nfsclient.clients import Nfs3
    from nfsclient.files import Blocking, Stable, v3

    files, do = v3.Files(), Blocking(Nfs3(rpc))
    made = do(files.create(root, b"name"))
    done = do(files.write(made.handle, 0, b"data", Stable.UNSTABLE))     # done.count: bytes that were written
    do(files.commit(made.handle))

With asyncio: ``do = OnAsyncio(rpc)`` and ``await do(files.create(...))``. For NFSv4 a driver is over a session.
`v4.Files` likewise; only programs that use NFSv4 load it.

    operations   what there is, and what it promises in each version (`Files`)
    v2, v3, v4   each operation once by version: which calls it needs, what their replies mean
    neutral      attributes, data, pages, limits
    steps        an operation without I/O is a generator of calls
    drivers      what performs it

What must stay true:

- Nothing here waits, connects or looks at a clock: a generator yields a call and is sent its reply. So both drivers
  have every operation, and the path clients and the suites bring their own drivers.
- An operation raises what the protocol says (`NfsStatusError` with its own status and the reply), and decides nothing
  about retries, lost connections or paths: that is for whoever performs it.
- READ, WRITE and COMMIT are one call at most, and their results say how many bytes there were. Going on after a short
  one is for callers, because many of them keep several calls under way (`result_of`).
- A reply that cannot be true (more data than requested, less stable data than requested, a type that there is not)
  raises `ServerViolation` before anything of it is given to the caller. What may be a file that changes meanwhile is
  no business of a single call: see `nfsclient.highlevel.extent`.
- Operations with stateids are built for each attempt, because a recovery changes stateids.
- What a version cannot do raises `NotInVersion` before the first call. Nothing is emulated by other calls but what
  the text of the operation says (GUARDED in NFSv2).
- Absent is None: no value is made up for an attribute that did not come.
"""

from __future__ import annotations

from nfsclient.errors import NotInVersion
from nfsclient.files.drivers import Blocking, OnAsyncio
from nfsclient.files.neutral import (
    ALL_ACCESS,
    SERVER_TIME,
    Access,
    Attributes,
    Create,
    Data,
    Entry,
    FileType,
    Found,
    Info,
    NewAttributes,
    Page,
    Position,
    Space,
    Stable,
    Time,
    Written,
)
from nfsclient.files.operations import Files
from nfsclient.files.steps import Ask, Call, Compound, Steps, perform, perform_async, result_of

__all__ = [
    "ALL_ACCESS",
    "SERVER_TIME",
    "Access",
    "Ask",
    "Attributes",
    "Blocking",
    "Call",
    "Compound",
    "Create",
    "Data",
    "Entry",
    "FileType",
    "Files",
    "Found",
    "Info",
    "NewAttributes",
    "NotInVersion",
    "OnAsyncio",
    "Page",
    "Position",
    "Space",
    "Stable",
    "Steps",
    "Time",
    "Written",
    "perform",
    "perform_async",
    "result_of",
]
