# SPDX-License-Identifier: MIT
"""Opens and delegations (RFC 5661 section 18; OPEN_CONFIRM in RFC 7530 section 16.18; RFC 9754)."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs4.acl import Nfsace4
from nfsclient.protocol.nfs4.attributes import AttributeBits4, Fattr4
from nfsclient.protocol.nfs4.types import (
    Bitmap4,
    ChangeInfo4,
    Clientid4,
    Component4,
    Nfsstat4,
    Nfstime4,
    Seqid4,
    Stateid4,
    StateOwner4,
    Verifier4,
)
from nfsclient.xdr import Case, Struct, Union, XdrEnum, u32, u64

OPEN4_SHARE_ACCESS_READ = 0x1
"""What an open may do (section 18.16)."""
OPEN4_SHARE_ACCESS_WRITE = 0x2
OPEN4_SHARE_ACCESS_BOTH = 0x3
OPEN4_SHARE_DENY_NONE = 0x0
"""What an open denies others."""
OPEN4_SHARE_DENY_READ = 0x1
OPEN4_SHARE_DENY_WRITE = 0x2
OPEN4_SHARE_DENY_BOTH = 0x3
OPEN4_SHARE_ACCESS_WANT_DELEG_MASK = 0xFF00
"""Since 4.1, in `share_access`: which delegation is wanted."""
OPEN4_SHARE_ACCESS_WANT_NO_PREFERENCE = 0x0000
OPEN4_SHARE_ACCESS_WANT_READ_DELEG = 0x0100
OPEN4_SHARE_ACCESS_WANT_WRITE_DELEG = 0x0200
OPEN4_SHARE_ACCESS_WANT_ANY_DELEG = 0x0300
OPEN4_SHARE_ACCESS_WANT_NO_DELEG = 0x0400
OPEN4_SHARE_ACCESS_WANT_CANCEL = 0x0500
OPEN4_SHARE_ACCESS_WANT_SIGNAL_DELEG_WHEN_RESRC_AVAIL = 0x1_0000
OPEN4_SHARE_ACCESS_WANT_PUSH_DELEG_WHEN_UNCONTENDED = 0x2_0000
OPEN4_SHARE_ACCESS_WANT_DELEG_TIMESTAMPS = 0x10_0000
"""RFC 9754: with a delegation, also the times of the file."""
OPEN4_SHARE_ACCESS_WANT_OPEN_XOR_DELEGATION = 0x20_0000
"""RFC 9754: a delegation or an open stateid, and not both."""
OPEN4_RESULT_CONFIRM = 0x02
"""In `rflags`: OPEN_CONFIRM must follow; 4.0 only."""
OPEN4_RESULT_LOCKTYPE_POSIX = 0x04
OPEN4_RESULT_PRESERVE_UNLINKED = 0x08
OPEN4_RESULT_NO_OPEN_STATEID = 0x10
"""RFC 9754: the stateid of the result is none."""
OPEN4_RESULT_MAY_NOTIFY_LOCK = 0x20


class Createmode4(XdrEnum):
    """createmode4: what OPEN does when the name exists (section 18.16)."""

    UNCHECKED4 = 0
    GUARDED4 = 1
    EXCLUSIVE4 = 2
    EXCLUSIVE4_1 = 3


class Opentype4(XdrEnum):
    """opentype4: whether OPEN may create (section 18.16)."""

    OPEN4_NOCREATE = 0
    OPEN4_CREATE = 1


class LimitBy4(XdrEnum):
    """limit_by4: in what a space limit is counted (section 18.16)."""

    NFS_LIMIT_SIZE = 1
    NFS_LIMIT_BLOCKS = 2


class OpenDelegationType4(XdrEnum):
    """open_delegation_type4: NONE_EXT since 4.1 (section 18.16); the last two in RFC 9754, with the times."""

    OPEN_DELEGATE_NONE = 0
    OPEN_DELEGATE_READ = 1
    OPEN_DELEGATE_WRITE = 2
    OPEN_DELEGATE_NONE_EXT = 3
    OPEN_DELEGATE_READ_ATTRS_DELEG = 4
    OPEN_DELEGATE_WRITE_ATTRS_DELEG = 5


class OpenClaimType4(XdrEnum):
    """open_claim_type4: how OPEN names its file; the last three since 4.1 (section 18.16)."""

    CLAIM_NULL = 0
    CLAIM_PREVIOUS = 1
    CLAIM_DELEGATE_CUR = 2
    CLAIM_DELEGATE_PREV = 3
    CLAIM_FH = 4
    CLAIM_DELEG_CUR_FH = 5
    CLAIM_DELEG_PREV_FH = 6


class WhyNoDelegation4(XdrEnum):
    """why_no_delegation4: why a wanted delegation was not granted (section 18.16)."""

    WND4_NOT_WANTED = 0
    WND4_CONTENTION = 1
    WND4_RESOURCE = 2
    WND4_NOT_SUPP_FTYPE = 3
    WND4_WRITE_DELEG_NOT_SUPP_FTYPE = 4
    WND4_NOT_SUPP_UPGRADE = 5
    WND4_NOT_SUPP_DOWNGRADE = 6
    WND4_CANCELLED = 7
    WND4_IS_DIR = 8


class Creatverfattr(Struct):
    """creatverfattr: verifier and attributes of EXCLUSIVE4_1 (section 18.16)."""

    cva_verf: Verifier4
    cva_attrs: Fattr4


class Createhow4(Union):
    """createhow4 (section 18.16)."""

    mode: Createmode4
    createattrs: t.Annotated[Fattr4 | None, Case(Createmode4.UNCHECKED4, Createmode4.GUARDED4)] = None
    createverf: t.Annotated[Verifier4 | None, Case(Createmode4.EXCLUSIVE4)] = None
    ch_createboth: t.Annotated[Creatverfattr | None, Case(Createmode4.EXCLUSIVE4_1)] = None


class Openflag4(Union):
    """openflag4 (section 18.16)."""

    opentype: Opentype4
    how: t.Annotated[Createhow4 | None, Case(Opentype4.OPEN4_CREATE)] = None
    __void_default__ = True


class NfsModifiedLimit4(Struct):
    """nfs_modified_limit4 (section 18.16)."""

    num_blocks: u32
    bytes_per_block: u32


class NfsSpaceLimit4(Union):
    """nfs_space_limit4: how far the holder of a write delegation may grow the file (section 18.16)."""

    limitby: LimitBy4
    filesize: t.Annotated[u64 | None, Case(LimitBy4.NFS_LIMIT_SIZE)] = None
    mod_blocks: t.Annotated[NfsModifiedLimit4 | None, Case(LimitBy4.NFS_LIMIT_BLOCKS)] = None


class OpenClaimDelegateCur4(Struct):
    """open_claim_delegate_cur4 (section 18.16)."""

    delegate_stateid: Stateid4
    file: Component4


class OpenClaim4(Union):
    """open_claim4 (section 18.16)."""

    claim: OpenClaimType4
    file: t.Annotated[Component4 | None, Case(OpenClaimType4.CLAIM_NULL)] = None
    delegate_type: t.Annotated[OpenDelegationType4 | None, Case(OpenClaimType4.CLAIM_PREVIOUS)] = None
    delegate_cur_info: t.Annotated[OpenClaimDelegateCur4 | None, Case(OpenClaimType4.CLAIM_DELEGATE_CUR)] = (
        None
    )
    file_delegate_prev: t.Annotated[Component4 | None, Case(OpenClaimType4.CLAIM_DELEGATE_PREV)] = None
    oc_delegate_stateid: t.Annotated[Stateid4 | None, Case(OpenClaimType4.CLAIM_DELEG_CUR_FH)] = None
    __void__ = (
        OpenClaimType4.CLAIM_FH,
        OpenClaimType4.CLAIM_DELEG_PREV_FH,
    )


class Open4Args(Struct):
    """OPEN4args (section 18.16)."""

    seqid: Seqid4
    share_access: u32
    """OPEN4_SHARE_ACCESS_* bits."""
    share_deny: u32
    """OPEN4_SHARE_DENY_* bits."""
    owner: StateOwner4
    openhow: Openflag4
    claim: OpenClaim4


class OpenReadDelegation4(Struct):
    """open_read_delegation4 (section 18.16)."""

    stateid: Stateid4
    recall: bool
    """Whether it is recalled at once: only when it was claimed after a restart."""
    permissions: Nfsace4


class OpenWriteDelegation4(Struct):
    """open_write_delegation4 (section 18.16)."""

    stateid: Stateid4
    recall: bool
    space_limit: NfsSpaceLimit4
    permissions: Nfsace4


class OpenNoneDelegation4(Union):
    """open_none_delegation4 (section 18.16)."""

    ond_why: WhyNoDelegation4
    ond_server_will_push_deleg: t.Annotated[bool | None, Case(WhyNoDelegation4.WND4_CONTENTION)] = None
    ond_server_will_signal_avail: t.Annotated[bool | None, Case(WhyNoDelegation4.WND4_RESOURCE)] = None
    __void_default__ = True


class OpenDelegation4(Union):
    """open_delegation4 (section 18.16, RFC 9754)."""

    delegation_type: OpenDelegationType4
    read: t.Annotated[
        OpenReadDelegation4 | None,
        Case(OpenDelegationType4.OPEN_DELEGATE_READ, OpenDelegationType4.OPEN_DELEGATE_READ_ATTRS_DELEG),
    ] = None
    write: t.Annotated[
        OpenWriteDelegation4 | None,
        Case(OpenDelegationType4.OPEN_DELEGATE_WRITE, OpenDelegationType4.OPEN_DELEGATE_WRITE_ATTRS_DELEG),
    ] = None
    od_whynone: t.Annotated[OpenNoneDelegation4 | None, Case(OpenDelegationType4.OPEN_DELEGATE_NONE_EXT)] = (
        None
    )
    __void__ = (OpenDelegationType4.OPEN_DELEGATE_NONE,)


class Open4ResOk(Struct):
    """OPEN4resok (section 18.16)."""

    stateid: Stateid4
    cinfo: ChangeInfo4
    rflags: u32
    """OPEN4_RESULT_* bits."""
    attrset: AttributeBits4
    delegation: OpenDelegation4


class Open4Res(Union):
    """OPEN4res (section 18.16)."""

    status: Nfsstat4
    resok4: t.Annotated[Open4ResOk | None, Case(Nfsstat4.NFS4_OK)] = None
    __void_default__ = True


class OpenConfirm4Args(Struct):
    """OPEN_CONFIRM4args (RFC 7530 section 16.18)."""

    open_stateid: Stateid4
    seqid: Seqid4


class OpenConfirm4ResOk(Struct):
    """OPEN_CONFIRM4resok (RFC 7530 section 16.18)."""

    open_stateid: Stateid4


class OpenConfirm4Res(Union):
    """OPEN_CONFIRM4res (RFC 7530 section 16.18)."""

    status: Nfsstat4
    resok4: t.Annotated[OpenConfirm4ResOk | None, Case(Nfsstat4.NFS4_OK)] = None
    __void_default__ = True


class OpenDowngrade4Args(Struct):
    """OPEN_DOWNGRADE4args (section 18.18)."""

    open_stateid: Stateid4
    seqid: Seqid4
    share_access: u32
    share_deny: u32


class OpenDowngrade4ResOk(Struct):
    """OPEN_DOWNGRADE4resok (section 18.18)."""

    open_stateid: Stateid4


class OpenDowngrade4Res(Union):
    """OPEN_DOWNGRADE4res (section 18.18)."""

    status: Nfsstat4
    resok4: t.Annotated[OpenDowngrade4ResOk | None, Case(Nfsstat4.NFS4_OK)] = None
    __void_default__ = True


class Close4Args(Struct):
    """CLOSE4args (section 18.2)."""

    seqid: Seqid4
    open_stateid: Stateid4


class Close4Res(Union):
    """CLOSE4res: the stateid has no meaning any more (section 18.2)."""

    status: Nfsstat4
    open_stateid: t.Annotated[Stateid4 | None, Case(Nfsstat4.NFS4_OK)] = None
    __void_default__ = True


class Delegpurge4Args(Struct):
    """DELEGPURGE4args (section 18.5)."""

    clientid: Clientid4


class Delegpurge4Res(Struct):
    """DELEGPURGE4res (section 18.5)."""

    status: Nfsstat4


class Delegreturn4Args(Struct):
    """DELEGRETURN4args (section 18.6)."""

    deleg_stateid: Stateid4


class Delegreturn4Res(Struct):
    """DELEGRETURN4res (section 18.6)."""

    status: Nfsstat4


AttrNotice4: t.TypeAlias = Nfstime4
"""How long a notification about attributes may wait."""


class GetDirDelegation4Args(Struct):
    """GET_DIR_DELEGATION4args (section 18.39)."""

    gdda_signal_deleg_avail: bool
    gdda_notification_types: Bitmap4
    gdda_child_attr_delay: AttrNotice4
    gdda_dir_attr_delay: AttrNotice4
    gdda_child_attributes: AttributeBits4
    gdda_dir_attributes: AttributeBits4


class GetDirDelegation4ResOk(Struct):
    """GET_DIR_DELEGATION4resok (section 18.39)."""

    gddr_cookieverf: Verifier4
    gddr_stateid: Stateid4
    gddr_notification: Bitmap4
    gddr_child_attributes: AttributeBits4
    gddr_dir_attributes: AttributeBits4


class Gddrnf4Status(XdrEnum):
    """gddrnf4_status: whether there is a directory delegation (section 18.39)."""

    GDD4_OK = 0
    GDD4_UNAVAIL = 1


class GetDirDelegation4ResNonFatal(Union):
    """GET_DIR_DELEGATION4res_non_fatal (section 18.39)."""

    gddrnf_status: Gddrnf4Status
    gddrnf_resok4: t.Annotated[GetDirDelegation4ResOk | None, Case(Gddrnf4Status.GDD4_OK)] = None
    gddrnf_will_signal_deleg_avail: t.Annotated[bool | None, Case(Gddrnf4Status.GDD4_UNAVAIL)] = None


class GetDirDelegation4Res(Union):
    """GET_DIR_DELEGATION4res (section 18.39)."""

    gddr_status: Nfsstat4
    gddr_res_non_fatal4: t.Annotated[GetDirDelegation4ResNonFatal | None, Case(Nfsstat4.NFS4_OK)] = None
    __void_default__ = True


class DelegClaim4(Union):
    """deleg_claim4: how WANT_DELEGATION names its file (section 18.49)."""

    dc_claim: OpenClaimType4
    dc_delegate_type: t.Annotated[OpenDelegationType4 | None, Case(OpenClaimType4.CLAIM_PREVIOUS)] = None
    __void__ = (
        OpenClaimType4.CLAIM_FH,
        OpenClaimType4.CLAIM_DELEG_PREV_FH,
    )


class WantDelegation4Args(Struct):
    """WANT_DELEGATION4args (section 18.49)."""

    wda_want: u32
    wda_claim: DelegClaim4


class WantDelegation4Res(Union):
    """WANT_DELEGATION4res (section 18.49)."""

    wdr_status: Nfsstat4
    wdr_resok4: t.Annotated[OpenDelegation4 | None, Case(Nfsstat4.NFS4_OK)] = None
    __void_default__ = True
