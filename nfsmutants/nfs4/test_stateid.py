# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_test_stateid.py catch."""

from __future__ import annotations

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import Call, mutant
from nfsmutants.nfs4.bending import amend4

TestStateid = Call[p.TestStateid4Args, p.TestStateid4Res]


@mutant(p.TEST_STATEID)
def teststateid4_nothing_is_valid(call: TestStateid) -> p.TestStateid4Res:
    """TEST_STATEID says of all stateids but the first that they are bad"""
    codes = [Nfsstat4.NFS4_OK, *[Nfsstat4.NFS4ERR_BAD_STATEID] * (len(call.args.ts_stateids) - 1)]
    return amend4(call.proceed(), tsr_status_codes=codes)


@mutant(p.TEST_STATEID)
def teststateid4_all_are_valid(call: TestStateid) -> p.TestStateid4Res:
    """TEST_STATEID says of all stateids that they are valid"""
    return amend4(call.proceed(), tsr_status_codes=[Nfsstat4.NFS4_OK] * len(call.args.ts_stateids))


@mutant(p.TEST_STATEID)
def teststateid4_ignores_the_seqid(call: TestStateid) -> p.TestStateid4Res:
    """TEST_STATEID ignores the seqid of stateids"""
    return call.proceed_with(
        ts_stateids=[
            p.Stateid4(0, stateid.other) if any(stateid.other) else stateid
            for stateid in call.args.ts_stateids
        ]
    )
