# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs2/test_delegations.py catch."""

from __future__ import annotations

import contextlib
import typing as t

from nfsclient.protocol.nfs2 import SETATTR, WRITE
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.delegation import unseen_delegations
from nfsserver.conflicts import clear_way
from nfsserver.fs import FsError
from nfsserver.state.stateids import StateError

AnyCall = Call[t.Any, t.Any]


@mutant((WRITE, SETATTR))
def nfs2_ignores_delegations(call: AnyCall) -> t.Any:
    """NFSv2 knows nothing of the delegations of NFSv4 clients"""
    with unseen_delegations(call.server):
        return call.proceed()


@mutant((WRITE, SETATTR))
def nfs2_executes_while_it_recalls(call: AnyCall) -> t.Any:
    """A change by NFSv2 recalls a delegation, and does not wait for its return"""
    with contextlib.suppress(StateError, FsError):  # the recall is on its way
        clear_way(call.server, call.backend.resolve(call.args.file), None, changes=True)
    with unseen_delegations(call.server):
        return call.proceed()
