# SPDX-License-Identifier: MIT
"""Knobs that change replies of NFSv3, not the file system: functions around handlers, which do not know of them.

One module per subject; the table says which operations each function is around. See `nfsserver.settings`.
"""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs3 as protocol
from nfsserver.deciding import accepts_less, matches
from nfsserver.freedom import Freedom, decided_by_call
from nfsserver.nfs3.freedoms.counts import accept_less, commit_always, return_less
from nfsserver.nfs3.freedoms.jukebox import (
    delays,
    fetch,
    jukebox,
    names_of,
    names_of_data,
    recall,
    try_again,
)
from nfsserver.nfs3.freedoms.lacking import (
    grant_less,
    lack,
    lack_commit,
    lack_exclusive,
    lack_mknod,
    long_names,
    report_truncation,
    truncate_names,
)
from nfsserver.nfs3.freedoms.listings import count_entries, disguise_cookies, end_late, list_less
from nfsserver.nfs3.freedoms.withheld import reply_with_nothing, withhold

_EVERY: t.Final = tuple(procedure for procedure in protocol.NFS3.procedures if procedure is not protocol.NULL)
_LISTINGS: t.Final = (protocol.READDIR, protocol.READDIRPLUS)
_OF_DATA: t.Final = (protocol.READ, protocol.WRITE, protocol.COMMIT, protocol.SETATTR)
_RECALLING: t.Final = (
    *_OF_DATA,
    protocol.CREATE,
    protocol.REMOVE,
    protocol.RENAME,
    protocol.LINK,
)
"""Calls that conflict with a write delegation that somebody else holds (RFC 5661 section 10.2)."""
_NAMING: t.Final = (
    protocol.LOOKUP,
    protocol.CREATE,
    protocol.MKDIR,
    protocol.SYMLINK,
    protocol.MKNOD,
    protocol.REMOVE,
    protocol.RMDIR,
    protocol.RENAME,
    protocol.LINK,
)


FREEDOMS: t.Final = (
    Freedom(
        (protocol.WRITE,),
        ("write_accepts", "write_accepts_random"),
        accept_less,
        of_call=lambda _, args: [args.count],
        of_reply=decided_by_call,
        differs=accepts_less,
    ),
    Freedom((protocol.WRITE,), ("always_commits", "commit"), commit_always),
    Freedom((protocol.COMMIT,), ("commit",), lack_commit),
    Freedom(
        (protocol.READ,),
        ("read_returns",),
        return_less,
        of_reply=lambda reply: [len(reply.resok.data) if reply.resok is not None else 0],
        differs=lambda now, size: size > now.read_returns,
    ),
    Freedom(
        _LISTINGS,
        ("readdir_page",),
        list_less,
        of_reply=count_entries,
        differs=lambda now, entries: entries > now.readdir_page,
    ),
    Freedom(_LISTINGS, ("opaque_cookies",), disguise_cookies),
    Freedom(
        _LISTINGS,
        ("late_eof",),
        end_late,
        of_reply=count_entries,
        differs=lambda now, entries: now.late_eof and entries > 0,
    ),
    Freedom(
        (protocol.ACCESS,),
        ("access_grants",),
        grant_less,
        of_reply=lambda reply: [] if reply.resok is None else [reply.resok.access],
    ),
    Freedom((protocol.MKNOD,), ("mknod",), lack_mknod),
    Freedom((protocol.READDIRPLUS,), ("readdirplus",), lack),
    Freedom((protocol.CREATE,), ("exclusive_create",), lack_exclusive),
    Freedom((protocol.PATHCONF,), ("truncates_names",), report_truncation),
    Freedom(
        _NAMING,
        ("truncates_names",),
        truncate_names,
        of_call=long_names,
        of_reply=decided_by_call,
        differs=lambda now, size: size > (now.name_max or 255),
    ),
    Freedom(_EVERY, ("withhold_pre_op", "withhold_post_op", "withhold_handles"), withhold),
    Freedom(
        _OF_DATA,
        ("offline_names",),
        fetch,
        of_call=names_of_data,
        of_reply=decided_by_call,
        differs=lambda now, name: matches(name, now.offline_names),
    ),
    Freedom(
        _RECALLING,
        ("delegated_names",),
        recall,
        of_call=names_of,
        of_reply=decided_by_call,
        differs=lambda now, name: matches(name, now.delegated_names),
    ),
    Freedom(
        _EVERY,
        ("jukebox_calls", "jukebox_seconds", "jukebox_names"),
        jukebox,
        of_call=names_of,
        of_reply=decided_by_call,
        differs=delays,
    ),
    Freedom(_EVERY, ("jukebox_tries", "jukebox_tries_random"), try_again),
)
"""The innermost first."""

__all__ = ["FREEDOMS", "reply_with_nothing"]
