# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs2/test_writecache.py catch."""

from __future__ import annotations

from nfsclient.protocol.nfs2 import WRITECACHE
from nfsclient.xdr import Void
from nfsmutants.form import mutant
from nfsmutants.nfs2.bending import _Word
from nfsmutants.nfs2.calls import Writecache


@mutant(WRITECACHE)
def writecache2_returns_a_status(_call: Writecache) -> Void:
    """WRITECACHE returns a status although it has no results"""
    return _Word()
