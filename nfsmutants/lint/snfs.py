# SPDX-License-Identifier: MIT
"""Mutants of Spritely NFS that a rule of the lint catches, and no check."""

from __future__ import annotations

from nfsclient.protocol import snfs as p
from nfsclient.protocol.snfs import CbMode
from nfsmutants.form import mutant
from nfsmutants.snfs.bending import Open, swapped
from nfsserver.snfs import calling


@mutant(p.OPEN, kills_many="checks compare the modes of callbacks")
def snfs_callback_has_no_mode(call: Open) -> p.Openopres:
    """Callbacks have mode 0"""
    with swapped(calling, MODES=dict.fromkeys(calling.MODES, CbMode(0))):
        return call.proceed()
