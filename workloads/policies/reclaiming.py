# SPDX-License-Identifier: MIT
"""What a client of NFSv4 has open and locked is reclaimed after a restart of the server (RFC 5661 section 8.4.2.1)."""

from __future__ import annotations

import itertools
import typing as t

from nfsclient.clients.nfs4 import Session
from nfsclient.protocol import nfs4 as p
from workloads import recovering
from workloads.policies.known import Kept
from workloads.recovering import RECLAIMED, Renamed

if t.TYPE_CHECKING:
    from workloads.policies.client import PolicyClient

_OWNERS = itertools.count(1)


def reclaim(client: PolicyClient, renamed: Renamed, session: Session) -> None:
    """Opens with their locks; delegations are not reclaimed: files that are open by them only are opened.

    Raises `NfsClientError`. Nobody else changes what is open here, so what the server does not have back is opened
    again.
    """
    refused = list[tuple[bytes, int, Kept]]()
    for node, files in client.open_files.items():
        for file in files:
            access = p.OPEN4_SHARE_ACCESS_BOTH if file.is_written else p.OPEN4_SHARE_ACCESS_READ
            stateid = recovering.reclaim_open(session, node.handle, access, _owner())
            if stateid is None:
                refused.append((node.handle, access, file.kept))
                continue
            client.troubles[RECLAIMED] += 1
            _take(session, node.handle, file.kept, stateid, renamed)
    recovering.complete(session)
    for handle, access, kept in refused:
        _take(session, handle, kept, recovering.open_again(session, handle, access, _owner()), renamed)
    for node in client.nodes():
        if node.delegation is not None:
            node.delegation, node.attributes = None, None
            client.drop_data(node)


def _owner() -> bytes:
    return b"reclaimer %d" % next(_OWNERS)


def _take(session: Session, handle: bytes, kept: Kept, stateid: p.Stateid4, renamed: Renamed) -> None:
    """The file is open with this stateid from now on. What is locked is locked again."""
    if kept.opened is not None:
        renamed.put(kept.opened, stateid)
    elif kept.node.delegation is not None:
        renamed.put(kept.node.delegation, stateid)
    kept.opened, kept.files = stateid, None
    if kept.lock is None:
        return
    old, kept.lock = kept.lock, None
    if kept.range is not None:
        kept.lock = recovering.lock_again(session, handle, stateid, kept.range, kept.owner)
        renamed.put(old, kept.lock)
