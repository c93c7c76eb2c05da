# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_undefined.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsmutants.form import Call, Message, mutant, wire_mutant
from nfsmutants.rules import RFC5661_ATTRIBUTES, RFC5661_ERRORS
from nfsserver.middleware import Answer

_UNDEFINED: t.Final = bytes.fromhex("7ffffff0")
"""What `nfsclient.xdr.malformations` takes for a value that nobody defines."""


@wire_mutant(RFC5661_ERRORS)
def compound4_undefined_is_zero(message: Message) -> Answer:
    """A value that an enumeration does not define is taken for 0"""
    return message.proceed(message.data.replace(_UNDEFINED, bytes(4)))


@wire_mutant(RFC5661_ERRORS)
def compound4_undefined_is_two(message: Message) -> Answer:
    """A value that an enumeration does not define is taken for 2"""
    return message.proceed(message.data.replace(_UNDEFINED, bytes([0, 0, 0, 2])))


def _known(given: p.Fattr4) -> p.Fattr4:
    return p.Fattr4().changed(**given.values())


@mutant((p.SETATTR, p.CREATE, p.OPEN, p.VERIFY, p.NVERIFY), RFC5661_ATTRIBUTES)
def attributes4_ignores_unknown_ones(call: Call[t.Any, t.Any]) -> t.Any:
    """Attributes that nobody knows are ignored; VERIFY and NVERIFY then succeed"""
    args = call.args
    if isinstance(args, p.Create4Args):
        return call.proceed_with(createattrs=_known(args.createattrs))
    if isinstance(args, p.Open4Args):
        how = args.openhow.how
        if how is None or how.createattrs is None:
            return call.proceed()
        return call.proceed_with("openhow.how", createattrs=_known(how.createattrs))
    if isinstance(args, p.Nverify4Args) and args.obj_attributes.rest:
        return p.Nverify4Res(p.Nfsstat4.NFS4_OK)
    return call.proceed_with(obj_attributes=_known(args.obj_attributes))
