# SPDX-License-Identifier: MIT
"""Rules for Spritely NFS: versions of files, and the modes of callbacks (sections 3.1 and 3.2 of its paper).

A version is compared with the greatest one whose reply had come before the call was sent: replies to calls that overlap
may come in any order. An OPEN that is sent again with its XID may get its first reply again.
"""

from __future__ import annotations

from nfsclient.protocol import snfs
from nfsjudge.harm import Harm
from nfsjudge.lint.case import Case
from nfsjudge.lint.rule import Breach, rule
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
