# SPDX-License-Identifier: MIT
"""The client ID in open-owners and lock-owners.

A server of NFSv4.1 must ignore it (RFC 5661 sections 18.10.3, 18.11.3 and 18.16.3). Some do not, and compare it with
that of the session. So a request has the right one, unless the caller gives another than 0.
"""

from __future__ import annotations

import typing as t
from collections.abc import Sequence

from nfsclient.protocol.nfs4 import Lock4Args, Lockt4Args, Open4Args, StateOwner4
from nfsclient.xdr import XdrType, replace

HAVE_OWNERS: t.Final = frozenset({Open4Args, Lock4Args, Lockt4Args})
"""Operations with an owner."""


def with_clientid(operations: Sequence[XdrType], clientid: int) -> Sequence[XdrType]:
    """The operations; those with an owner whose client ID is 0 as copies that have this client ID."""
    if HAVE_OWNERS.isdisjoint(map(type, operations)):
        return operations
    return [_owned(operation, clientid) for operation in operations]


def _owned(operation: XdrType, clientid: int) -> XdrType:
    match operation:
        case Open4Args(owner=StateOwner4(clientid=0)) | Lockt4Args(owner=StateOwner4(clientid=0)):
            return replace(operation, owner=StateOwner4(clientid, operation.owner.owner))
        case Lock4Args():
            new = operation.locker.open_owner
            if new is None or new.lock_owner.clientid:
                return operation
            owned = replace(new, lock_owner=StateOwner4(clientid, new.lock_owner.owner))
            return replace(operation, locker=replace(operation.locker, open_owner=owned))
        case _:
            return operation
