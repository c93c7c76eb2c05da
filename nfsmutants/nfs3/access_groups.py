# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs3/test_access_groups.py catch."""

from __future__ import annotations

import dataclasses

from nfsclient.protocol.nfs3 import ACCESS, Access3Res
from nfsclient.rpc.auth import AuthSys
from nfsmutants.form import mutant
from nfsmutants.nfs3.calls import Access


@mutant(ACCESS)
def auth3_eight_groups_count(call: Access) -> Access3Res:
    """Of the groups of a caller, only the first eight count"""
    known = call.context.credential
    if not isinstance(known, AuthSys):
        return call.proceed()
    first = dataclasses.replace(known, gids=known.gids[:8])
    return call.handler(dataclasses.replace(call.context, credential=first), call.args)
