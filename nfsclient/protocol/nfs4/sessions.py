# SPDX-License-Identifier: MIT
"""Clients, sessions and their state as a whole (RFC 5661 section 18; those of 4.0 in RFC 7530 section 16)."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs4.security import CallbackSecParms4, StateProtect4A, StateProtect4R
from nfsclient.protocol.nfs4.types import (
    NFS4_OPAQUE_LIMIT,
    CbClient4,
    Clientid4,
    ClientOwner4,
    Count4,
    Netaddr4,
    NfsClientId4,
    NfsImplId4,
    Nfsstat4,
    Sequenceid4,
    ServerOwner4,
    Sessionid4,
    Slotid4,
    Stateid4,
    Verifier4,
)
from nfsclient.xdr import Array, Case, Identity, Opaque, Struct, Union, XdrEnum, u32

EXCHGID4_FLAG_SUPP_MOVED_REFER = 0x0000_0001
"""Flags of EXCHANGE_ID (section 18.35)."""
EXCHGID4_FLAG_SUPP_MOVED_MIGR = 0x0000_0002
EXCHGID4_FLAG_SUPP_FENCE_OPS = 0x0000_0004
"""Since 4.2 (RFC 7862 section 14.1)."""
EXCHGID4_FLAG_BIND_PRINC_STATEID = 0x0000_0100
EXCHGID4_FLAG_USE_NON_PNFS = 0x0001_0000
EXCHGID4_FLAG_USE_PNFS_MDS = 0x0002_0000
EXCHGID4_FLAG_USE_PNFS_DS = 0x0004_0000
EXCHGID4_FLAG_MASK_PNFS = 0x0007_0000
EXCHGID4_FLAG_UPD_CONFIRMED_REC_A = 0x4000_0000
EXCHGID4_FLAG_CONFIRMED_R = 0x8000_0000
CREATE_SESSION4_FLAG_PERSIST = 0x1
"""Flags of CREATE_SESSION (section 18.36)."""
CREATE_SESSION4_FLAG_CONN_BACK_CHAN = 0x2
CREATE_SESSION4_FLAG_CONN_RDMA = 0x4
SEQ4_STATUS_CB_PATH_DOWN = 0x0001
"""Bits of `sr_status_flags` (section 18.46)."""
SEQ4_STATUS_CB_GSS_CONTEXTS_EXPIRING = 0x0002
SEQ4_STATUS_CB_GSS_CONTEXTS_EXPIRED = 0x0004
SEQ4_STATUS_EXPIRED_ALL_STATE_REVOKED = 0x0008
SEQ4_STATUS_EXPIRED_SOME_STATE_REVOKED = 0x0010
SEQ4_STATUS_ADMIN_STATE_REVOKED = 0x0020
SEQ4_STATUS_RECALLABLE_STATE_REVOKED = 0x0040
SEQ4_STATUS_LEASE_MOVED = 0x0080
SEQ4_STATUS_RESTART_RECLAIM_NEEDED = 0x0100
SEQ4_STATUS_CB_PATH_DOWN_SESSION = 0x0200
SEQ4_STATUS_BACKCHANNEL_FAULT = 0x0400
SEQ4_STATUS_DEVID_CHANGED = 0x0800
SEQ4_STATUS_DEVID_DELETED = 0x1000


class ChannelDirFromClient4(XdrEnum):
    """channel_dir_from_client4: what a connection is to be used for (section 18.34)."""

    CDFC4_FORE = 1
    CDFC4_BACK = 2
    CDFC4_FORE_OR_BOTH = 3
    CDFC4_BACK_OR_BOTH = 7


class ChannelDirFromServer4(XdrEnum):
    """channel_dir_from_server4: what it is used for (section 18.34)."""

    CDFS4_FORE = 1
    CDFS4_BACK = 2
    CDFS4_BOTH = 3


class Setclientid4Args(Struct):
    """SETCLIENTID4args (RFC 7530 section 16.33)."""

    client: NfsClientId4
    callback: CbClient4
    callback_ident: u32


class Setclientid4ResOk(Struct):
    """SETCLIENTID4resok (RFC 7530 section 16.33)."""

    clientid: Clientid4
    setclientid_confirm: Verifier4


class Setclientid4Res(Union):
    """SETCLIENTID4res (RFC 7530 section 16.33)."""

    status: Nfsstat4
    resok4: t.Annotated[Setclientid4ResOk | None, Case(Nfsstat4.NFS4_OK)] = None
    client_using: t.Annotated[Netaddr4 | None, Case(Nfsstat4.NFS4ERR_CLID_INUSE)] = None
    __void_default__ = True


class SetclientidConfirm4Args(Struct):
    """SETCLIENTID_CONFIRM4args (RFC 7530 section 16.34)."""

    clientid: Clientid4
    setclientid_confirm: Verifier4


class SetclientidConfirm4Res(Struct):
    """SETCLIENTID_CONFIRM4res (RFC 7530 section 16.34)."""

    status: Nfsstat4


class Renew4Args(Struct):
    """RENEW4args (RFC 7530 section 16.28)."""

    clientid: Clientid4


class Renew4Res(Struct):
    """RENEW4res (RFC 7530 section 16.28)."""

    status: Nfsstat4


class BackchannelCtl4Args(Struct):
    """BACKCHANNEL_CTL4args (section 18.33)."""

    bca_cb_program: u32
    bca_sec_parms: t.Annotated[list[CallbackSecParms4], Array()]


class BackchannelCtl4Res(Struct):
    """BACKCHANNEL_CTL4res (section 18.33)."""

    bcr_status: Nfsstat4


class BindConnToSession4Args(Struct):
    """BIND_CONN_TO_SESSION4args (section 18.34)."""

    bctsa_sessid: Sessionid4
    bctsa_dir: ChannelDirFromClient4
    bctsa_use_conn_in_rdma_mode: bool


class BindConnToSession4ResOk(Struct):
    """BIND_CONN_TO_SESSION4resok (section 18.34)."""

    bctsr_sessid: Sessionid4
    bctsr_dir: ChannelDirFromServer4
    bctsr_use_conn_in_rdma_mode: bool


class BindConnToSession4Res(Union):
    """BIND_CONN_TO_SESSION4res (section 18.34)."""

    bctsr_status: Nfsstat4
    bctsr_resok4: t.Annotated[BindConnToSession4ResOk | None, Case(Nfsstat4.NFS4_OK)] = None
    __void_default__ = True


class ExchangeId4Args(Struct):
    """EXCHANGE_ID4args (section 18.35)."""

    eia_clientowner: ClientOwner4
    eia_flags: u32
    eia_state_protect: StateProtect4A
    eia_client_impl_id: t.Annotated[list[NfsImplId4], Array(1)]


class ExchangeId4ResOk(Struct):
    """EXCHANGE_ID4resok (section 18.35)."""

    eir_clientid: Clientid4
    eir_sequenceid: Sequenceid4
    """For the next CREATE_SESSION; without meaning where CONFIRMED_R is set."""
    eir_flags: u32
    eir_state_protect: StateProtect4R
    eir_server_owner: ServerOwner4
    eir_server_scope: t.Annotated[bytes, Opaque(NFS4_OPAQUE_LIMIT), Identity("host")]
    eir_server_impl_id: t.Annotated[list[NfsImplId4], Array(1)]


class ExchangeId4Res(Union):
    """EXCHANGE_ID4res (section 18.35)."""

    eir_status: Nfsstat4
    eir_resok4: t.Annotated[ExchangeId4ResOk | None, Case(Nfsstat4.NFS4_OK)] = None
    __void_default__ = True


class ChannelAttrs4(Struct):
    """channel_attrs4: limits of a channel of a session (section 18.36)."""

    ca_headerpadsize: Count4
    ca_maxrequestsize: Count4
    ca_maxresponsesize: Count4
    ca_maxresponsesize_cached: Count4
    ca_maxoperations: Count4
    ca_maxrequests: Count4
    """Slots."""
    ca_rdma_ird: t.Annotated[list[u32], Array(1)]


class CreateSession4Args(Struct):
    """CREATE_SESSION4args (section 18.36)."""

    csa_clientid: Clientid4
    csa_sequence: Sequenceid4
    csa_flags: u32
    csa_fore_chan_attrs: ChannelAttrs4
    csa_back_chan_attrs: ChannelAttrs4
    csa_cb_program: u32
    csa_sec_parms: t.Annotated[list[CallbackSecParms4], Array()]


class CreateSession4ResOk(Struct):
    """CREATE_SESSION4resok (section 18.36)."""

    csr_sessionid: Sessionid4
    csr_sequence: Sequenceid4
    csr_flags: u32
    csr_fore_chan_attrs: ChannelAttrs4
    csr_back_chan_attrs: ChannelAttrs4


class CreateSession4Res(Union):
    """CREATE_SESSION4res (section 18.36)."""

    csr_status: Nfsstat4
    csr_resok4: t.Annotated[CreateSession4ResOk | None, Case(Nfsstat4.NFS4_OK)] = None
    __void_default__ = True


class DestroySession4Args(Struct):
    """DESTROY_SESSION4args (section 18.37)."""

    dsa_sessionid: Sessionid4


class DestroySession4Res(Struct):
    """DESTROY_SESSION4res (section 18.37)."""

    dsr_status: Nfsstat4


class FreeStateid4Args(Struct):
    """FREE_STATEID4args (section 18.38)."""

    fsa_stateid: Stateid4


class FreeStateid4Res(Struct):
    """FREE_STATEID4res (section 18.38)."""

    fsr_status: Nfsstat4


class Sequence4Args(Struct):
    """SEQUENCE4args (section 18.46)."""

    sa_sessionid: Sessionid4
    sa_sequenceid: Sequenceid4
    sa_slotid: Slotid4
    sa_highest_slotid: Slotid4
    """The highest slot that the client uses at the moment."""
    sa_cachethis: bool


class Sequence4ResOk(Struct):
    """SEQUENCE4resok (section 18.46)."""

    sr_sessionid: Sessionid4
    sr_sequenceid: Sequenceid4
    sr_slotid: Slotid4
    sr_highest_slotid: Slotid4
    sr_target_highest_slotid: Slotid4
    sr_status_flags: u32
    """SEQ4_STATUS_* bits."""


class Sequence4Res(Union):
    """SEQUENCE4res (section 18.46)."""

    sr_status: Nfsstat4
    sr_resok4: t.Annotated[Sequence4ResOk | None, Case(Nfsstat4.NFS4_OK)] = None
    __void_default__ = True


class SsaDigestInput4(Struct):
    """ssa_digest_input4: what the digest of SET_SSV's arguments is of (section 18.47)."""

    sdi_seqargs: Sequence4Args


class SsrDigestInput4(Struct):
    """ssr_digest_input4: what the digest of its results is of (section 18.47)."""

    sdi_seqres: Sequence4Res


class SetSsv4Args(Struct):
    """SET_SSV4args (section 18.47)."""

    ssa_ssv: t.Annotated[bytes, Opaque()]
    ssa_digest: t.Annotated[bytes, Opaque()]


class SetSsv4ResOk(Struct):
    """SET_SSV4resok (section 18.47)."""

    ssr_digest: t.Annotated[bytes, Opaque()]


class SetSsv4Res(Union):
    """SET_SSV4res (section 18.47)."""

    ssr_status: Nfsstat4
    ssr_resok4: t.Annotated[SetSsv4ResOk | None, Case(Nfsstat4.NFS4_OK)] = None
    __void_default__ = True


class TestStateid4Args(Struct):
    """TEST_STATEID4args (section 18.48)."""

    ts_stateids: t.Annotated[list[Stateid4], Array()]


class TestStateid4ResOk(Struct):
    """TEST_STATEID4resok: a status for each stateid, in their order (section 18.48)."""

    tsr_status_codes: t.Annotated[list[Nfsstat4], Array()]


class TestStateid4Res(Union):
    """TEST_STATEID4res (section 18.48)."""

    tsr_status: Nfsstat4
    tsr_resok4: t.Annotated[TestStateid4ResOk | None, Case(Nfsstat4.NFS4_OK)] = None
    __void_default__ = True


class DestroyClientid4Args(Struct):
    """DESTROY_CLIENTID4args (section 18.50)."""

    dca_clientid: Clientid4


class DestroyClientid4Res(Struct):
    """DESTROY_CLIENTID4res (section 18.50)."""

    dcr_status: Nfsstat4


class ReclaimComplete4Args(Struct):
    """RECLAIM_COMPLETE4args (section 18.51)."""

    rca_one_fs: bool
    """For the file system of the current filehandle only."""


class ReclaimComplete4Res(Struct):
    """RECLAIM_COMPLETE4res (section 18.51)."""

    rcr_status: Nfsstat4
