# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs3/test_fsstat.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import FSSTAT, Fsstat3Res, Fsstat3ResFail, Nfsstat3
from nfsmutants.form import mutant
from nfsmutants.nfs3.bending import is_not_directory
from nfsmutants.nfs3.calls import Fsstat
from nfsmutants.rules import RFC1813_FSSTAT

# ---------------------------------------------------------------- FSSTAT, FSINFO


@mutant(FSSTAT, RFC1813_FSSTAT)
def fsstat3_refuses_a_file(call: Fsstat) -> t.Any:
    """FSSTAT answers SERVERFAULT for an object that is not a directory"""
    if not is_not_directory(call.server, call.args.fsroot):
        return call.proceed()
    return Fsstat3Res(Nfsstat3.NFS3ERR_SERVERFAULT, resfail=Fsstat3ResFail(None))
