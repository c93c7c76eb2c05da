# SPDX-License-Identifier: MIT
"""Operations of pNFS, by the knob `metadata_server`: no file has a layout, and there is no device.

RFC 5661 sections 18.40 to 18.44. Without the knob they get NOTSUPP (section 12.6).
"""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.rpc.service import CallContext
from nfsserver.handlers import ServerApi
from nfsserver.nfs4.common import Nfs4Error, current, require_file

_OK: t.Final = Nfsstat4.NFS4_OK


def _require(server: ServerApi, layout_type: p.Layouttype4 | None = None) -> None:
    """Raises NOTSUPP; UNKNOWN_LAYOUTTYPE for a type that is not defined."""
    if not server.knobs.now.metadata_server:
        raise Nfs4Error(Nfsstat4.NFS4ERR_NOTSUPP)
    if layout_type is not None and not layout_type.is_known:
        raise Nfs4Error(Nfsstat4.NFS4ERR_UNKNOWN_LAYOUTTYPE)


def layoutget4(server: ServerApi, context: CallContext, args: p.Layoutget4Args) -> p.Layoutget4Res:
    """LAYOUTGET; LAYOUTUNAVAILABLE for what it could have given."""
    _require(server, args.loga_layout_type)
    require_file(current(context))
    if args.loga_iomode not in {p.Layoutiomode4.LAYOUTIOMODE4_READ, p.Layoutiomode4.LAYOUTIOMODE4_RW}:
        raise Nfs4Error(Nfsstat4.NFS4ERR_BADIOMODE)
    raise Nfs4Error(Nfsstat4.NFS4ERR_LAYOUTUNAVAILABLE)


def layoutcommit4(server: ServerApi, _context: CallContext, _args: p.Layoutcommit4Args) -> p.Layoutcommit4Res:
    """LAYOUTCOMMIT of a layout that nobody has."""
    _require(server)
    raise Nfs4Error(Nfsstat4.NFS4ERR_BADLAYOUT)


def layoutreturn4(server: ServerApi, _context: CallContext, args: p.Layoutreturn4Args) -> p.Layoutreturn4Res:
    """LAYOUTRETURN; of all layouts, none of which there is, it succeeds."""
    _require(server, args.lora_layout_type)
    return p.Layoutreturn4Res(_OK, p.LayoutreturnStateid(False))


def getdeviceinfo4(
    server: ServerApi, _context: CallContext, args: p.Getdeviceinfo4Args
) -> p.Getdeviceinfo4Res:
    """GETDEVICEINFO of a device that there is not."""
    _require(server, args.gdia_layout_type)
    raise Nfs4Error(Nfsstat4.NFS4ERR_NOENT)


def getdevicelist4(
    server: ServerApi, _context: CallContext, args: p.Getdevicelist4Args
) -> p.Getdevicelist4Res:
    """GETDEVICELIST; it is empty."""
    _require(server, args.gdla_layout_type)
    return p.Getdevicelist4Res(_OK, p.Getdevicelist4ResOk(0, bytes(p.NFS4_VERIFIER_SIZE), [], True))
