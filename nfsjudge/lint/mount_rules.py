# SPDX-License-Identifier: MIT
"""Rules for MOUNT version 3 (RFC 1813 section 5). Version 1 answers any errno (RFC 1094 A.4.2)."""

from __future__ import annotations

from nfsclient.protocol.mount import MNT3
from nfsjudge.lint.case import Case
from nfsjudge.lint.rule import Breach, rule
from nfsjudge.requirement import stated

MOUNT_STATUS = stated(
    "RFC 1813",
    "5.1.5",
    "a status of MOUNT is one of the ten of mountstat3: those of NFS are not, and XDR allows no others",
)


@rule("mount3/status-defined", MOUNT_STATUS, of=(MNT3,), killed_by="mnt3-unknown-path-is-stale")
def status_defined(case: Case) -> Breach | None:
    """A status that mountstat3 does not have."""
    if case.result is None or case.result.fhs_status.is_known:
        return None
    return Breach("a status of mountstat3", f"status {int(case.result.fhs_status)}", "fhs_status")
