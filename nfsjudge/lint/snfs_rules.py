# SPDX-License-Identifier: MIT
"""Rules for Spritely NFS: versions of files, caching, and callbacks (sections 3 and 4.3.4 of its paper).

A version is compared with the greatest one whose reply had come before the call was sent: replies to calls that overlap
may come in any order. An OPEN that is sent again with its XID may get its first reply again.

Who has a file open the exchanges show only in part: a server may have given a client up. A client that reads or writes
after that, and has not opened the file again, has not been given up, so what was granted to others next to it is judged
then. Both rules about this need the addresses of clients, which captures do not have: they speak of a run.
"""

from __future__ import annotations

from nfsclient.protocol import snfs
from nfsclient.protocol.snfs import CbMode
from nfsjudge.harm import Harm
from nfsjudge.lint.case import Case
from nfsjudge.lint.rule import Breach, rule
from nfsjudge.lint.snfs_views import openers_of
from nfsjudge.requirement import SPRITELY, stated

GROWS = stated(
    SPRITELY,
    "3.1",
    "the version of a file increases every time the file is opened for writing",
    harm=Harm.DATA,
)
IN_ORDER = stated(
    SPRITELY, "3.1", "OPEN returns the latest version and the previous one, which is not greater"
)
MODES = stated(SPRITELY, "3.2", "a callback has one of three modes")
CACHING = stated(
    SPRITELY,
    "4.3.4",
    "who opens a file that others have open may cache it only if nobody writes",
    harm=Harm.DATA,
)
CALLED = stated(
    SPRITELY,
    "4.3.4",
    "a callback goes to a client that has the file open or wrote it last, and for write-back to one that wrote",
)


@rule("snfs/version-grows", GROWS, of=(snfs.OPEN,), killed_by="snfs-version-stays")
def version_grows(case: Case) -> Breach | None:
    """A version that is smaller than one before, or that an OPEN for writing has not increased."""
    if case.ok is None or case.args is None:
        return None
    exchange, version = case.exchange, case.ok.cache_version
    known = case.world.versions.get(bytes(case.args.file))
    if known is None or known.source.at > exchange.sent_at or known.source.xid == exchange.xid:
        return None
    least = known.version + bool(case.args.write_mode)
    if version >= least:
        return None
    return Breach(f"at least {least}", f"version {version}", "openok.cache_version", known.source.number)


@rule("snfs/versions-in-order", IN_ORDER, of=(snfs.OPEN,), killed_by="snfs-versions-in-the-wrong-order")
def versions_in_order(case: Case) -> Breach | None:
    """A previous version that is greater than the latest one."""
    if case.ok is None or case.ok.old_cache_vers <= case.ok.cache_version:
        return None
    seen = f"version {case.ok.old_cache_vers}"
    return Breach(f"at most {case.ok.cache_version}", seen, "openok.old_cache_vers")


@rule("snfs/callback-mode", MODES, of=(snfs.CALLBACK,), killed_by="snfs-callback-has-no-mode")
def callback_mode(case: Case) -> Breach | None:
    """A callback in a mode that the paper does not have."""
    if case.args is None or case.args.cbmode.is_known:
        return None
    return Breach("a mode of the paper", f"mode {int(case.args.cbmode)}", "cbmode")


@rule(
    "snfs/caching-granted",
    CACHING,
    of=(snfs.READ, snfs.WRITE),
    killed_by="snfs-always-caches",
)
def caching_granted(case: Case) -> Breach | None:
    """An OPEN that enabled caching next to another client, which goes on with the file, where one of the two writes."""
    if case.ok is None or case.args is None:
        return None
    found = openers_of(case.world, bytes(case.args.file))
    grant = None if found is None else found.granted_with(case.exchange.local)
    if grant is None:
        return None
    mode = "writing" if grant.writes else "reading"
    seen = f"the OPEN for {mode} by another client enabled caching"
    return Breach(
        "no caching by others than this client, which had the file open", seen, "status", grant.source.number
    )


@rule(
    "snfs/callback-listed",
    CALLED,
    of=(snfs.CALLBACK,),
    killed_by=("snfs-calls-everybody", "snfs-calls-in-another-mode"),
)
def callback_listed(case: Case) -> Breach | None:
    """A callback to a client that has never opened the file, or for write-back to one that has only read it."""
    if case.args is None or not case.exchange.local:
        return None
    found = openers_of(case.world, bytes(case.args.file))
    if found is None:
        return None
    wrote = found.ever.get(case.exchange.local)
    if wrote is None:
        return Breach("a callback to a client that has opened the file", "one to another client", "file")
    if not wrote and case.args.cbmode in _WRITING_BACK:
        return Breach("SNFS_CBINVAL to a client that has only read the file", case.args.cbmode.name, "cbmode")
    return None


_WRITING_BACK = frozenset({CbMode.SNFS_CBWRITE, CbMode.SNFS_WRINVAL})
