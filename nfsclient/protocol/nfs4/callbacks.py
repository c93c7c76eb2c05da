# SPDX-License-Identifier: MIT
"""Callbacks: operations that a server asks of a client (RFC 5661 section 20; CB_OFFLOAD in RFC 7862 section 16)."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs4.attributes import AttributeBits4, Fattr4
from nfsclient.protocol.nfs4.layouts import Layoutiomode4, Layouttype4
from nfsclient.protocol.nfs4.opens import OpenDelegation4
from nfsclient.protocol.nfs4.ranges import WriteResponse4
from nfsclient.protocol.nfs4.types import (
    Bitmap4,
    Component4,
    Deviceid4,
    Fsid4,
    Length4,
    NfsCookie4,
    NfsFh4,
    Nfsstat4,
    Offset4,
    Sequenceid4,
    Sessionid4,
    Slotid4,
    Stateid4,
    StateOwner4,
    Verifier4,
)
from nfsclient.xdr import Array, Case, Default, Identity, Opaque, Struct, Union, XdrEnum, u32

RCA4_TYPE_MASK_RDATA_DLG = 0
"""Bits of `craa_type_mask` by number (section 20.6)."""
RCA4_TYPE_MASK_WDATA_DLG = 1
RCA4_TYPE_MASK_DIR_DLG = 2
RCA4_TYPE_MASK_FILE_LAYOUT = 3
RCA4_TYPE_MASK_BLK_LAYOUT = 4
RCA4_TYPE_MASK_OBJ_LAYOUT_MIN = 8
RCA4_TYPE_MASK_OBJ_LAYOUT_MAX = 9
RCA4_TYPE_MASK_OTHER_LAYOUT_MIN = 12
RCA4_TYPE_MASK_OTHER_LAYOUT_MAX = 15
RCA4_TYPE_MASK_FF_LAYOUT_MIN = 16
"""RFC 8435."""
RCA4_TYPE_MASK_FF_LAYOUT_MAX = 17
RECALLABLE: t.Final = frozenset({*range(5), 8, 9, *range(12, 18)})
"""All bits of `craa_type_mask` that an RFC defines."""


class CbGetattr4Args(Struct):
    """CB_GETATTR4args (section 20.1)."""

    fh: NfsFh4
    attr_request: AttributeBits4


class CbGetattr4ResOk(Struct):
    """CB_GETATTR4resok (section 20.1)."""

    obj_attributes: Fattr4


class CbGetattr4Res(Union):
    """CB_GETATTR4res (section 20.1)."""

    status: Nfsstat4
    resok4: t.Annotated[CbGetattr4ResOk | None, Case(Nfsstat4.NFS4_OK)] = None
    __void_default__ = True


class CbRecall4Args(Struct):
    """CB_RECALL4args (section 20.2)."""

    stateid: Stateid4
    truncate: bool
    """A hint: the file is to be cut, so its data need not be written back."""
    fh: NfsFh4


class CbRecall4Res(Struct):
    """CB_RECALL4res (section 20.2)."""

    status: Nfsstat4


class CbIllegal4Args(Struct):
    """CB_ILLEGAL has no arguments (section 20.13)."""


class CbIllegal4Res(Struct):
    """CB_ILLEGAL4res (section 20.13)."""

    status: Nfsstat4


class LayoutrecallType4(XdrEnum):
    """layoutrecall_type4: how much is recalled (section 20.3)."""

    LAYOUTRECALL4_FILE = 1
    LAYOUTRECALL4_FSID = 2
    LAYOUTRECALL4_ALL = 3


class LayoutrecallFile4(Struct):
    """layoutrecall_file4 (section 20.3)."""

    lor_fh: NfsFh4
    lor_offset: Offset4
    lor_length: Length4
    lor_stateid: Stateid4


class Layoutrecall4(Union):
    """layoutrecall4 (section 20.3)."""

    lor_recalltype: LayoutrecallType4
    lor_layout: t.Annotated[LayoutrecallFile4 | None, Case(LayoutrecallType4.LAYOUTRECALL4_FILE)] = None
    lor_fsid: t.Annotated[Fsid4 | None, Case(LayoutrecallType4.LAYOUTRECALL4_FSID)] = None
    __void__ = (LayoutrecallType4.LAYOUTRECALL4_ALL,)


class CbLayoutrecall4Args(Struct):
    """CB_LAYOUTRECALL4args (section 20.3)."""

    clora_type: Layouttype4
    clora_iomode: Layoutiomode4
    clora_changed: bool
    clora_recall: Layoutrecall4


class CbLayoutrecall4Res(Struct):
    """CB_LAYOUTRECALL4res (section 20.3)."""

    clorr_status: Nfsstat4


class NotifyType4(XdrEnum):
    """notify_type4: bits of `notify_mask` by number, and which body each has (section 20.4)."""

    NOTIFY4_CHANGE_CHILD_ATTRS = 0
    NOTIFY4_CHANGE_DIR_ATTRS = 1
    NOTIFY4_REMOVE_ENTRY = 2
    NOTIFY4_ADD_ENTRY = 3
    NOTIFY4_RENAME_ENTRY = 4
    NOTIFY4_CHANGE_COOKIE_VERIFIER = 5


class NotifyEntry4(Struct):
    """notify_entry4 (section 20.4)."""

    ne_file: Component4
    ne_attrs: Fattr4


class PrevEntry4(Struct):
    """prev_entry4 (section 20.4)."""

    pe_prev_entry: NotifyEntry4
    pe_prev_entry_cookie: NfsCookie4


class NotifyRemove4(Struct):
    """notify_remove4 (section 20.4)."""

    nrm_old_entry: NotifyEntry4
    nrm_old_entry_cookie: NfsCookie4


class NotifyAdd4(Struct):
    """notify_add4 (section 20.4)."""

    nad_old_entry: t.Annotated[list[NotifyRemove4], Array(1)]
    nad_new_entry: NotifyEntry4
    nad_new_entry_cookie: t.Annotated[list[NfsCookie4], Array(1)]
    nad_prev_entry: t.Annotated[list[PrevEntry4], Array(1)]
    nad_last_entry: bool


class NotifyAttr4(Struct):
    """notify_attr4 (section 20.4)."""

    na_changed_entry: NotifyEntry4


class NotifyRename4(Struct):
    """notify_rename4 (section 20.4)."""

    nrn_old_entry: NotifyRemove4
    nrn_new_entry: NotifyAdd4


class NotifyVerifier4(Struct):
    """notify_verifier4 (section 20.4)."""

    nv_old_cookieverf: Verifier4
    nv_new_cookieverf: Verifier4


class Notify4(Struct):
    """notify4: bodies in the order of the bits of the mask, each of the type that its bit names (section
    20.4).
    """

    notify_mask: Bitmap4
    notify_vals: t.Annotated[bytes, Opaque(), Identity("body")]


class CbNotify4Args(Struct):
    """CB_NOTIFY4args (section 20.4)."""

    cna_stateid: Stateid4
    cna_fh: NfsFh4
    cna_changes: t.Annotated[list[Notify4], Array()]


class CbNotify4Res(Struct):
    """CB_NOTIFY4res (section 20.4)."""

    cnr_status: Nfsstat4


class CbPushDeleg4Args(Struct):
    """CB_PUSH_DELEG4args (section 20.5)."""

    cpda_fh: NfsFh4
    cpda_delegation: OpenDelegation4


class CbPushDeleg4Res(Struct):
    """CB_PUSH_DELEG4res (section 20.5)."""

    cpdr_status: Nfsstat4


class CbRecallAny4Args(Struct):
    """CB_RECALL_ANY4args (section 20.6)."""

    craa_objects_to_keep: u32
    craa_type_mask: Bitmap4


class CbRecallAny4Res(Struct):
    """CB_RECALL_ANY4res (section 20.6)."""

    crar_status: Nfsstat4


class CbRecallableObjAvail4Args(Struct):
    """CB_RECALLABLE_OBJ_AVAIL4args: the same as CB_RECALL_ANY4args (section 20.7)."""

    craa_objects_to_keep: u32
    craa_type_mask: Bitmap4


class CbRecallableObjAvail4Res(Struct):
    """CB_RECALLABLE_OBJ_AVAIL4res (section 20.7)."""

    croa_status: Nfsstat4


class CbRecallSlot4Args(Struct):
    """CB_RECALL_SLOT4args (section 20.8)."""

    rsa_target_highest_slotid: Slotid4


class CbRecallSlot4Res(Struct):
    """CB_RECALL_SLOT4res (section 20.8)."""

    rsr_status: Nfsstat4


class ReferringCall4(Struct):
    """referring_call4: a call of the client that brought this callback about (section 20.9)."""

    rc_sequenceid: Sequenceid4
    rc_slotid: Slotid4


class ReferringCallList4(Struct):
    """referring_call_list4 (section 20.9)."""

    rcl_sessionid: Sessionid4
    rcl_referring_calls: t.Annotated[list[ReferringCall4], Array()]


class CbSequence4Args(Struct):
    """CB_SEQUENCE4args (section 20.9)."""

    csa_sessionid: Sessionid4
    csa_sequenceid: Sequenceid4
    csa_slotid: Slotid4
    csa_highest_slotid: Slotid4
    csa_cachethis: bool
    csa_referring_call_lists: t.Annotated[list[ReferringCallList4], Array()]


class CbSequence4ResOk(Struct):
    """CB_SEQUENCE4resok (section 20.9)."""

    csr_sessionid: Sessionid4
    csr_sequenceid: Sequenceid4
    csr_slotid: Slotid4
    csr_highest_slotid: Slotid4
    csr_target_highest_slotid: Slotid4


class CbSequence4Res(Union):
    """CB_SEQUENCE4res (section 20.9)."""

    csr_status: Nfsstat4
    csr_resok4: t.Annotated[CbSequence4ResOk | None, Case(Nfsstat4.NFS4_OK)] = None
    __void_default__ = True


class CbWantsCancelled4Args(Struct):
    """CB_WANTS_CANCELLED4args (section 20.10)."""

    cwca_contended_wants_cancelled: bool
    cwca_resourced_wants_cancelled: bool


class CbWantsCancelled4Res(Struct):
    """CB_WANTS_CANCELLED4res (section 20.10)."""

    cwcr_status: Nfsstat4


class CbNotifyLock4Args(Struct):
    """CB_NOTIFY_LOCK4args (section 20.11)."""

    cnla_fh: NfsFh4
    cnla_lock_owner: StateOwner4


class CbNotifyLock4Res(Struct):
    """CB_NOTIFY_LOCK4res (section 20.11)."""

    cnlr_status: Nfsstat4


class NotifyDeviceidType4(XdrEnum):
    """notify_deviceid_type4: bits of `notify_mask` by number (section 20.12)."""

    NOTIFY_DEVICEID4_CHANGE = 1
    NOTIFY_DEVICEID4_DELETE = 2


class NotifyDeviceidDelete4(Struct):
    """notify_deviceid_delete4 (section 20.12)."""

    ndd_layouttype: Layouttype4
    ndd_deviceid: Deviceid4


class NotifyDeviceidChange4(Struct):
    """notify_deviceid_change4 (section 20.12)."""

    ndc_layouttype: Layouttype4
    ndc_deviceid: Deviceid4
    ndc_immediate: bool


class CbNotifyDeviceid4Args(Struct):
    """CB_NOTIFY_DEVICEID4args (section 20.12)."""

    cnda_changes: t.Annotated[list[Notify4], Array()]


class CbNotifyDeviceid4Res(Struct):
    """CB_NOTIFY_DEVICEID4res (section 20.12)."""

    cndr_status: Nfsstat4


class OffloadInfo4(Union):
    """offload_info4: how a copy ended (RFC 7862 section 16.1)."""

    coa_status: Nfsstat4
    coa_resok4: t.Annotated[WriteResponse4 | None, Case(Nfsstat4.NFS4_OK)] = None
    coa_bytes_copied: t.Annotated[Length4 | None, Default()] = None


class CbOffload4Args(Struct):
    """CB_OFFLOAD4args (RFC 7862 section 16.1)."""

    coa_fh: NfsFh4
    coa_stateid: Stateid4
    coa_offload_info: OffloadInfo4


class CbOffload4Res(Struct):
    """CB_OFFLOAD4res (RFC 7862 section 16.1)."""

    cor_status: Nfsstat4
