# SPDX-License-Identifier: MIT
"""The table of knobs: choices that the RFCs leave to a server, with the clauses that permit them.

Every value leaves the server correct. That distinguishes a knob from a mutant. Names, parsing, bounds and lists of
knobs are derived from the declarations (`nfsserver.knobs`).
"""

from __future__ import annotations

from dataclasses import dataclass

from nfsserver import declaring
from nfsserver.spritely_settings import SpritelySettings

Value = declaring.Value
_knob = declaring.knob


@dataclass(frozen=True, slots=True)
class Settings(SpritelySettings):
    """All knobs. Sizes are in bytes, globs are over names (the last component, the root's being ``/``)."""

    write_accepts: int | None = _knob(
        None,
        "WRITE accepts at most this many bytes",
        "RFC 1813 section 3.3.7",
        "RFC 5661 section 18.32.3",
        least=1,
        draws=(1000, 100, 333, 4096),
    )
    write_accepts_random: int | None = _knob(
        None,
        "WRITE accepts a random share, at least 1 byte; the value is the seed",
        "RFC 1813 section 3.3.7",
        "RFC 5661 section 18.32.3",
        least=0,
        draws=(1, 7, 23),
    )
    read_returns: int | None = _knob(
        None,
        "READ returns at most this many bytes",
        "RFC 1813 section 3.3.6",
        "RFC 1094 section 2.2.7",
        "RFC 5661 section 18.22.3",
        least=1,
        draws=(37, 100, 4000),
    )
    jukebox_calls: int = _knob(
        0,
        "the number of first calls about each file that are answered with JUKEBOX, in NFSv4 with DELAY",
        "RFC 1813 section 2.6",
        "RFC 5661 section 15.1.1.3",
        least=0,
        draws=(1, 2, 3),
    )
    jukebox_seconds: float = _knob(
        0.0,
        "seconds after the first call about a file in which its calls are answered with JUKEBOX or DELAY",
        "RFC 1813 section 2.6",
        "RFC 5661 section 15.1.1.3",
        least=0,
        draws=(0.001, 0.01),
    )
    jukebox_names: str = _knob(
        "*",
        "glob of the files whose calls answer JUKEBOX or DELAY",
        "RFC 1813 section 2.6",
        "RFC 5661 section 15.1.1.3",
        draws=("f*", "?"),
    )
    delegated_names: str = _knob(
        "",
        "glob of files on which an NFSv4 client holds a write delegation: until the knob is reset, calls that "
        "would need its recall are answered with JUKEBOX",
        "RFC 5661 section 10.2",
        "RFC 1813 section 2.6",
        draws=("one",),
        rarely=True,
    )
    withhold_pre_op: bool = _knob(
        False, "replies omit the attributes from before the operation", "RFC 1813 section 2.5", draws=(True,)
    )
    withhold_post_op: bool = _knob(
        False,
        "replies other than of GETATTR omit the attributes from after the operation",
        "RFC 1813 section 2.5",
        draws=(True,),
    )
    withhold_handles: bool = _knob(
        False,
        "replies other than of LOOKUP and MNT omit handles",
        "RFC 1813 section 2.5",
        "RFC 1813 section 3.3.8",
        draws=(True,),
    )
    readdir_page: int | None = _knob(
        None,
        "READDIR and READDIRPLUS return at most this many entries",
        "RFC 1813 section 3.3.16",
        "RFC 1094 section 2.2.17",
        least=1,
        draws=(1, 2, 3, 50),
    )
    time_granularity: float | None = _knob(
        None,
        "seconds between two times that the server can distinguish",
        "RFC 1813 section 3.3.19",
        least=1e-9,
        most=86400,
        draws=(1e-6, 0.01, 1.0, 2.0, 3600.0),
    )
    hard_links: bool = _knob(
        True,
        "the server supports hard links",
        "RFC 1813 section 3.3.15",
        "RFC 1813 section 3.3.19",
        limit="hard_links",
        draws=(False,),
        rarely=True,
    )
    symlinks: bool = _knob(
        True,
        "the server supports symbolic links",
        "RFC 1813 section 3.3.10",
        "RFC 1813 section 3.3.19",
        limit="symlinks",
        draws=(False,),
        rarely=True,
    )
    max_file_size: int | None = _knob(
        None,
        "the largest file",
        "RFC 1813 section 3.3.19",
        least=1,
        most=2**63 - 1,
        limit="max_file_size",
        draws=(2**32 - 1, 2**31 - 1, 1_000_000),
    )
    name_max: int | None = _knob(
        None,
        "the longest name",
        "RFC 1813 section 3.3.20",
        least=1,
        most=255,
        limit="name_max",
        draws=(64, 128, 200),
    )
    path_max: int | None = _knob(
        None,
        "the longest text of a symbolic link",
        "RFC 1813 section 3.3.10",
        least=1,
        most=65536,
        limit="path_max",
        draws=(255, 1023, 65536),
    )
    free_bytes: int | None = _knob(
        None,
        "free space at the moment it is set, as if others used the rest",
        "RFC 1813 section 2.6",
        least=0,
        draws=(0, 20_000),
        rarely=True,
    )
    free_files: int | None = _knob(
        None,
        "number of objects that can still be created",
        "RFC 1813 section 2.6",
        least=0,
        draws=(0, 3),
        rarely=True,
    )
    quota_bytes: int | None = _knob(
        None,
        "space for the data of one user's files, counted in pages",
        "RFC 1813 section 2.6",
        least=0,
        limit="quota",
        draws=(0, 20_000),
        rarely=True,
    )
    read_only: bool = _knob(
        False, "the exports are read-only", "RFC 1813 section 2.6", draws=(True,), rarely=True
    )
    root_squash: bool = _knob(False, "root is treated as nobody", "RFC 1813 section 4.4", draws=(True,))
    all_squash: bool = _knob(
        False, "every user is treated as nobody", "RFC 1813 section 4.4", draws=(True,), rarely=True
    )
    read_only_names: str = _knob(
        "",
        "glob of files whose data and attributes nobody may change",
        "RFC 1813 section 4.4",
        limit="read_only_names",
        nonstrict=(
            "RFC 1094 section 2.3.5: what it permits all of them",
            "RFC 1094 section 2.2.3: not denied for every attribute",
        ),
        draws=("f", "*"),
        rarely=True,
    )
    offline_names: str = _knob(
        "",
        "glob of files whose data is fetched from slow storage first: READ, WRITE, COMMIT and a size in SETATTR are "
        "answered with JUKEBOX once (NFSv2 waits for it)",
        "RFC 1813 section 2.6",
        draws=("*", "f*"),
    )
    rtmax: int | None = _knob(
        None,
        "the largest READ, as in FSINFO",
        "RFC 1813 section 3.3.19",
        least=1,
        most=2**32 - 1,
        limit="read_max",
        draws=(64, 512, 4096, 65536),
    )
    wtmax: int | None = _knob(
        None,
        "the largest WRITE, as in FSINFO",
        "RFC 1813 section 3.3.19",
        least=1,
        most=2**32 - 1,
        limit="write_max",
        draws=(64, 512, 4096, 65536),
    )
    dtmax: int | None = _knob(
        None,
        "the largest page of a directory listing",
        "RFC 1813 section 3.3.19",
        least=512,
        most=2**32 - 1,
        limit="directory_max",
        draws=(512, 4096),
    )
    case_insensitive: bool = _knob(
        False,
        "names that differ only in the case of ASCII letters are the same",
        "RFC 1813 section 3.3.20",
        limit="case_insensitive",
        draws=(True,),
    )
    stale_on_remove: bool = _knob(
        True,
        "handles of a file become stale when its last name is removed, also when it is removed without NFS; "
        "with `no` they work until the server restarts",
        "RFC 1813 section 3.3.12",
        limit="stale_on_remove",
        draws=(False,),
    )
    # ------------------------------------------------------------ data and stable storage
    always_commits: bool = _knob(
        False,
        "WRITE makes all data stable: `committed` is FILE_SYNC whatever was requested",
        "RFC 1813 section 3.3.7",
        "RFC 5661 section 18.32.3",
        draws=(True,),
    )
    commit: bool = _knob(
        True,
        "the server supports COMMIT; otherwise WRITE makes all data stable, as with `always_commits` (NFSv3 only)",
        "RFC 1813 section 1.6",
        "RFC 1813 section 3.3.7",
        draws=(False,),
    )
    empty_write_moves_times: bool = _knob(
        False,
        "WRITE of no data updates the times of the file",
        "RFC 1813 section 3.3.7",
        limit="empty_write_moves_times",
        nonstrict=("RFC 1813 section 3.3.7: does not change mtime",),
        draws=(True,),
    )
    nonvolatile_memory: bool = _knob(
        False,
        "uncommitted data survives crashes, so the write verifier never changes",
        "RFC 1813 section 4.12",
        "RFC 1813 section 3.3.7",
        nonstrict=("RFC 5661 section 18.32.4: also where a restart",),
        draws=(True,),
    )
    crash_loses: int | None = _knob(
        None,
        "a crash loses only a random part of the uncommitted data; the value is the seed",
        "RFC 1813 section 3.3.7",
        least=0,
        draws=(3, 5),
    )
    write_back_fails: bool = _knob(
        False,
        "when the disk becomes full, all uncommitted data is lost, and the write verifier changes without a restart",
        "RFC 1813 section 3.3.7",
        "RFC 1813 section 3.3.21",
        draws=(True,),
    )
    # ------------------------------------------------------------ directory listings
    list_dots: bool = _knob(
        True,
        "READDIR and READDIRPLUS return the entries . and .. of a directory",
        "RFC 1813 section 3.2",
        limit="list_dots",
        draws=(False,),
    )
    late_eof: bool = _knob(
        False,
        "`eof` is FALSE on the page with the last entry; an empty page with `eof` TRUE follows (NFSv3 only)",
        "RFC 1813 section 3.3.16",
        draws=(True,),
    )
    opaque_cookies: bool = _knob(
        False,
        "cookies use all their bits, do not increase, and differ between READDIR and READDIRPLUS",
        "RFC 1813 section 3.3.16",
        "RFC 1094 section 2.2.17",
        draws=(True,),
    )
    cookies_expire: bool = _knob(
        False,
        "a change of a directory invalidates the cookies and the verifier of its listings: BAD_COOKIE (NFSv3 only); "
        "with `opaque_cookies` an entry has another cookie after the change",
        "RFC 1813 section 3.3.16",
        draws=(True,),
    )
    # ------------------------------------------------------------ attributes, handles and names
    plain_directories: bool = _knob(
        False,
        "attributes of directories are simulated: nlink is 1, size is 0",
        "RFC 1813 section 1.6",
        limit="plain_directories",
        draws=(True,),
    )
    directory_times_lag: float = _knob(
        0.0,
        "seconds until the times of a directory show that an entry was added or removed",
        "RFC 1813 section 1.6",
        least=0,
        most=3600,
        nonstrict=(
            "RFC 1813 section 2.5: of a directory",
            "RFC 1094 section 2.3.5: of a directory",
            "RFC 5661 section 5.8.2.43: of a directory",
            "RFC 1813 section 2.5: have the times of the",
        ),
        draws=(0.002, 3.0),
    )
    ctime_is_mtime: bool = _knob(
        False,
        "ctime is simulated: it is a copy of mtime",
        "RFC 1813 section 1.6",
        limit="ctime_is_mtime",
        draws=(True,),
    )
    several_handles: bool = _knob(
        False,
        "an object has several file handles, of which replies return one after the other",
        "RFC 1813 section 2.5",
        draws=(True,),
    )
    stale_on_rename: bool = _knob(
        False,
        "RENAME makes the handles of the renamed object stale",
        "RFC 1813 section 3.3.14",
        limit="stale_on_rename",
        nonstrict=("RFC 1813 section 2.5: renamed", "RFC 1813 section 3.3.14: file handle"),
        draws=(True,),
    )
    truncates_names: bool = _knob(
        False,
        "names longer than name_max are truncated: PATHCONF returns no_trunc FALSE (NFSv3 only)",
        "RFC 1813 section 3.2",
        "RFC 1813 section 3.3.20",
        draws=(True,),
    )
    restricted_names: bool = _knob(
        False,
        "names must be UTF-8 without control characters and without any of " + '\\ : * ? " < > |',
        "RFC 1813 section 3.2",
        limit="restricted_names",
        draws=(True,),
    )
    # ------------------------------------------------------------ what the server lacks or denies
    mknod: bool = _knob(True, "the server supports MKNOD", "RFC 1813 section 3.3.11", draws=(False,))
    readdirplus: bool = _knob(
        True, "the server supports READDIRPLUS", "RFC 1813 section 3.3.17", draws=(False,)
    )
    exclusive_create: bool = _knob(
        True, "the server supports CREATE with EXCLUSIVE", "RFC 1813 section 3.3.8", draws=(False,)
    )
    access_grants: int = _knob(
        63,
        "mask of the bits that ACCESS may grant; it denies the others although the calls succeed",
        "RFC 1813 section 3.3.4",
        "RFC 1813 section 4.4",
        least=0,
        most=63,
        nonstrict=("RFC 1813 section 4.4: expected to check permissions",),
        draws=(31, 47),
    )
    mount_list: bool = _knob(
        True,
        "the server keeps a list of mounts; otherwise DUMP returns an empty list",
        "RFC 1094 section A.1",
        "RFC 1813 section 5.2.2",
        nonstrict=(
            "RFC 1094 section A.5.2: list that DUMP returns",
            "RFC 1813 section 5.2.1: list that DUMP returns",
        ),
        draws=(False,),
    )
    # ------------------------------------------------------------ NFSv4
    lease_time: float = _knob(
        90.0,
        "seconds of a lease, of the grace period, and until a delegation that is not returned is revoked",
        "RFC 5661 section 8.3",
        "RFC 5661 section 5.8.1.11",
        least=1,
        most=3600,
        draws=(30.0, 600.0),
        of_nfs4=True,
    )
    courteous: bool = _knob(
        True,
        "an expired client keeps its state until another client needs what it holds",
        "RFC 5661 section 8.4.3",
        draws=(False,),
        of_nfs4=True,
    )
    one_principal: bool = _knob(
        False,
        "client owners are not bound to a principal: all users are one",
        "RFC 5661 section 18.35.4",
        draws=(True,),
        of_nfs4=True,
    )
    session_slots: int = _knob(
        64,
        "the most slots that a session gets",
        "RFC 5661 section 18.36.3",
        least=1,
        most=1024,
        draws=(1, 2),
        of_nfs4=True,
    )
    decodes_first: bool = _knob(
        False,
        "all operations of a compound are decoded before one is executed: GARBAGE_ARGS instead of BADXDR",
        "RFC 5661 section 15.1.1.1",
        draws=(True,),
        of_nfs4=True,
    )
    refuses_large_first: bool = _knob(
        False,
        "SEQUENCE answers TOO_MANY_OPS and REQ_TOO_BIG; otherwise the operation that exceeds the limit of the session",
        "RFC 5661 section 2.10.6.4",
        draws=(True,),
        of_nfs4=True,
    )
    caches_all_replies: bool = _knob(
        False,
        "replies are kept for retries although the request does not ask for that",
        "RFC 5661 section 2.10.6.1.3",
        draws=(True,),
        of_nfs4=True,
    )
    detects_false_retries: bool = _knob(
        True,
        "another request with the slot and sequence id of the last one gets SEQ_FALSE_RETRY; otherwise it is taken "
        "for a retry",
        "RFC 5661 section 2.10.6.1.3.1",
        draws=(False,),
        of_nfs4=True,
    )
    atomic_change_info: bool = _knob(
        True, "change_info is atomic", "RFC 5661 section 3.3.8", draws=(False,), of_nfs4=True
    )
    owner_names: bool = _knob(
        False,
        "owners and groups are names with a domain instead of digits",
        "RFC 5661 section 5.9",
        draws=(True,),
        of_nfs4=True,
    )
    utf8_names: bool = _knob(
        True, "names that are no UTF-8 get INVAL", "RFC 5661 section 14.4", draws=(False,), of_nfs4=True
    )
    named_attributes: bool = _knob(
        True,
        "objects may have named attributes; otherwise OPENATTR gets NOTSUPP",
        "RFC 5661 section 5.3",
        draws=(False,),
        of_nfs4=True,
    )
    optional_attributes: bool = _knob(
        True,
        "objects have the attributes archive, hidden, system, mimetype, time_backup, quota_*, fs_locations, "
        "fs_locations_info and fs_status",
        "RFC 5661 section 5.2",
        draws=(False,),
        of_nfs4=True,
    )
    referral: bool = _knob(
        False,
        "the directory /referrals/absent is a referral: the root of a file system that is absent here",
        "RFC 5661 section 11.4.3",
        draws=(True,),
        of_nfs4=True,
    )
    metadata_server: bool = _knob(
        False,
        "EXCHANGE_ID returns USE_PNFS_MDS; no file has a layout",
        "RFC 5661 section 18.43.3",
        draws=(True,),
        of_nfs4=True,
    )
    posix_locks: bool = _knob(
        True, "OPEN sets LOCKTYPE_POSIX", "RFC 5661 section 18.16.3", draws=(False,), of_nfs4=True
    )
    mandatory_locks: bool = _knob(
        False,
        "READ and WRITE by NFSv4 get LOCKED where a lock of another owner excludes them",
        "RFC 5661 section 9.1.2",
        draws=(True,),
        of_nfs4=True,
    )
    lock_needs_access: bool = _knob(
        True,
        "LOCK gets OPENMODE if the open does not permit what the lock is for; otherwise any open will do",
        "RFC 5661 section 18.10.3",
        draws=(False,),
        of_nfs4=True,
    )
    close_frees_locks: bool = _knob(
        True, "CLOSE frees locks, or gets LOCKS_HELD", "RFC 5661 section 18.2.3", draws=(False,), of_nfs4=True
    )
    # ------------------------------------------------------------ RPC
    replay_cache: bool = _knob(
        True,
        "a retransmitted call gets its first reply again; otherwise it is executed again",
        "RFC 1813 section 4.5",
        "RFC 1831 section 4",
        draws=(False,),
    )
    on_garbage: str = _knob(
        "reply",
        "what follows a call whose arguments do not decode: a reply (GARBAGE_ARGS), silence, or the end of the "
        "connection (over UDP: silence)",
        "RFC 1831 section 9",
        choices=("reply", "silence", "close"),
        is_of_rpc=True,
        draws=("silence", "close"),
    )
    reversed_replies: bool = _knob(
        False,
        "calls that arrive together on a connection are answered in reverse order",
        "RFC 1831 section 3",
        is_of_rpc=True,
        draws=(True,),
    )
    auth_stat: int = _knob(
        5,
        "the auth_stat with which the server refuses AUTH_NONE and unknown flavors (1 AUTH_BADCRED, "
        "2 AUTH_REJECTEDCRED, 5 AUTH_TOOWEAK, 7 AUTH_FAILED)",
        "RFC 1831 section 8.2",
        least=1,
        most=7,
        is_of_rpc=True,
        draws=(1, 2, 7),
    )
    idle_close: float | None = _knob(
        None,
        "seconds after which a connection on which nothing comes or goes is closed; by default minutes",
        "RFC 1813 section 4.5",
        "RFC 5661 section 2.10.13.1.2",
        least=0.2,
        is_of_rpc=True,
        draws=(0.2, 0.5),
    )
    jukebox_tries: int = _knob(
        0,
        "the number of first tries of each call that are answered with JUKEBOX, and of each operation of NFSv4, "
        "SEQUENCE included, that are answered with DELAY: another call is one with other arguments",
        "RFC 1813 section 2.6",
        "RFC 5661 section 15.1.1.3",
        "RFC 5661 section 15.2",
        least=0,
        draws=(1,),
        rarely=True,
    )
    jukebox_tries_random: int | None = _knob(
        None,
        "JUKEBOX or DELAY for a quarter of the first two tries of each call and operation; the value is the seed",
        "RFC 1813 section 2.6",
        "RFC 5661 section 15.1.1.3",
        "RFC 5661 section 15.2",
        least=0,
        draws=(1, 7, 23),
    )
    holes: bool = _knob(
        True, "`used` of a file leaves out its holes", "RFC 1813 section 2.5", limit="holes", draws=(False,)
    )
