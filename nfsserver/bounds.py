# SPDX-License-Identifier: MIT
"""What a client can make the server keep, or work on, in one table: how much, and what is answered above it.

Who has the most of something is refused, and others are served on. The refusals are statuses that the RFCs list for
the operation; that there is a bound, and where, is this server's choice. `tests/nfsserver/test_bounds.py` fills each
one. What a file system may hold (bytes, objects, names, lengths) is in `nfsserver.fs.limits`, which NFS reports to its
clients.
"""

from __future__ import annotations

import dataclasses
import typing as t

_MIB: t.Final = 1 << 20


def _bound(most: int, what: str, above: str) -> t.Any:
    return dataclasses.field(default=most, metadata={"what": what, "above": above})


@dataclasses.dataclass(slots=True)
class Bounds:
    """The bounds; tests make them smaller. What each counts, and what happens above it, is in `rows`."""

    # what connections hold
    buffered_bytes: int = _bound(
        64 * _MIB,
        "bytes of half received calls and of replies that nobody reads, on all connections",
        "the connection with the most is closed",
    )
    dialed: int = _bound(
        32,
        "connections that the server makes to clients",
        "one without calls is closed; if all have calls, the client is not called",
    )
    waiting_calls: int = _bound(256, "calls that wait for a recall (knob `conflicts`)", "DELAY, JUKEBOX")
    waiting_bytes: int = _bound(16 * _MIB, "bytes of those calls", "DELAY, JUKEBOX")

    # one compound
    request_bytes: int = _bound(
        _MIB + (64 << 10),
        "bytes of a compound; a session may grant less",
        "SEQUENCE answers REQ_TOO_BIG, its slot stays; without a session the compound does",
    )
    operations: int = _bound(
        64,
        "operations of a compound; a session may grant less",
        "SEQUENCE answers TOO_MANY_OPS, its slot stays; without a session nothing is executed",
    )
    decoded_bytes: int = _bound(
        2 * (_MIB + (64 << 10)),
        "bytes of a compound that is decoded",
        "as above, before more than the first operation is decoded",
    )
    decoded_operations: int = _bound(
        1024,
        "operations of a compound that is decoded",
        "as above, before more than the first operation is decoded",
    )
    # No RFC bounds a bitmap4, and one with zeros at its end is well-formed. BADXDR is what is left to answer in
    # operations of every kind: no client that knows attributes, present or future, sends 2,048 bits.
    bitmap_words: int = _bound(
        64, "words of a bitmap in arguments: a bound of this server, not of an RFC", "BADXDR"
    )

    # NFSv4 clients, and what they hold
    clients: int = _bound(20_000, "client records", "EXCHANGE_ID answers DELAY")
    sessions: int = _bound(10_000, "sessions", "CREATE_SESSION answers NOSPC")
    reply_cache: int = _bound(
        64 * _MIB, "bytes of all reply caches, by what sessions were granted", "one slot"
    )
    cached_reply: int = _bound(8 << 10, "bytes of one reply that is kept", "REP_TOO_BIG_TO_CACHE")
    slot_bytes: int = _bound(512, "bytes that a slot counts in the reply cache besides its reply", "")
    callback_slots: int = _bound(16, "slots of a backchannel that are used", "callbacks wait")
    callback_flavors: int = _bound(8, "credentials for callbacks of a session", "the others are not used")
    connections: int = _bound(64, "connections of a session", "the oldest is not its connection any more")
    states: int = _bound(50_000, "stateids: opens, locks, delegations", "OPEN and LOCK answer DELAY")
    lock_ranges: int = _bound(10_000, "locked ranges of a file", "LOCK and LOCKU answer DELAY")
    lock_owners: int = _bound(1024, "owners with locks of a file", "LOCK answers DELAY")
    xattrs: int = _bound(
        64 << 10, "bytes of extended attributes of an object, names included", "SETXATTR answers NOSPC"
    )
    all_xattrs: int = _bound(16 * _MIB, "bytes of those of a file system", "SETXATTR answers NOSPC")

    acl_entries: int = _bound(64, "entries of an ACL", "ATTRNOTSUPP")
    all_acl_entries: int = _bound(
        100_000, "entries of all ACLs of a file system", "SETATTR, OPEN and CREATE answer NOSPC"
    )

    # the other protocols
    replays: int = _bound(1024, "replies in the cache of NFSv2, NFSv3 and rpcbind", "the oldest goes")
    replay_bytes: int = _bound(2048, "bytes of one of them", "it is not kept")
    mounts: int = _bound(1024, "entries of the mount list", "the oldest goes")
    mount_bytes: int = _bound(128 << 10, "bytes of their paths", "the oldest goes")
    registrations: int = _bound(1024, "registrations of others with rpcbind", "SET answers FALSE")
    universal_address: int = _bound(128, "bytes of the address of a registration", "SET answers FALSE")
    snfs_blocks: int = _bound(
        16_384, "clients of SNFS with something of a file, over all files", "OPEN and REOPEN answer NOSPC"
    )
    snfs_waiting: int = _bound(
        1024, "opens of SNFS that wait for callbacks about a file", "OPEN answers NOSPC"
    )
    counted: int = _bound(
        256, "programs, and calls passed on, of which rpcbind has statistics", "not counted"
    )

    @classmethod
    def rows(cls) -> list[tuple[str, int, str, str]]:
        """(name, most, what is counted, what happens above) of each."""
        return [
            (field.name, t.cast("int", field.default), field.metadata["what"], field.metadata["above"])
            for field in dataclasses.fields(cls)
        ]


MOST: t.Final = Bounds()
"""The bounds of all servers in this process."""
