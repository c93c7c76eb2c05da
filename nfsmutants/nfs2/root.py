# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs2/test_root.py catch."""

from __future__ import annotations

from nfsclient.protocol.nfs2 import ROOT
from nfsclient.xdr import Void
from nfsmutants.form import mutant
from nfsmutants.nfs2.bending import _Word
from nfsmutants.nfs2.calls import Root


@mutant(ROOT)
def root2_returns_a_status(_call: Root) -> Void:
    """ROOT returns a status although it has no results"""
    return _Word()
