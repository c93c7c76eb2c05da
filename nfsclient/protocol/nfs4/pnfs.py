# SPDX-License-Identifier: MIT
"""Parallel NFS (RFC 5661 sections 18.40 to 18.44; LAYOUTERROR and LAYOUTSTATS in RFC 7862 section 15)."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs4.layouts import (
    DeviceAddr4,
    Layout4,
    Layoutiomode4,
    Layoutreturn4,
    Layouttype4,
    Layoutupdate4,
)
from nfsclient.protocol.nfs4.types import (
    Bitmap4,
    Count4,
    Deviceid4,
    Length4,
    NfsCookie4,
    Nfsstat4,
    Nfstime4,
    Offset4,
    Stateid4,
    Verifier4,
)
from nfsclient.xdr import Array, Case, Struct, Union, u32, u64


class Getdeviceinfo4Args(Struct):
    """GETDEVICEINFO4args (section 18.40)."""

    gdia_device_id: Deviceid4
    gdia_layout_type: Layouttype4
    gdia_maxcount: Count4
    gdia_notify_types: Bitmap4


class Getdeviceinfo4ResOk(Struct):
    """GETDEVICEINFO4resok (section 18.40)."""

    gdir_device_addr: DeviceAddr4
    gdir_notification: Bitmap4


class Getdeviceinfo4Res(Union):
    """GETDEVICEINFO4res (section 18.40)."""

    gdir_status: Nfsstat4
    gdir_resok4: t.Annotated[Getdeviceinfo4ResOk | None, Case(Nfsstat4.NFS4_OK)] = None
    gdir_mincount: t.Annotated[Count4 | None, Case(Nfsstat4.NFS4ERR_TOOSMALL)] = None
    __void_default__ = True


class Getdevicelist4Args(Struct):
    """GETDEVICELIST4args (section 18.41)."""

    gdla_layout_type: Layouttype4
    gdla_maxdevices: Count4
    gdla_cookie: NfsCookie4
    gdla_cookieverf: Verifier4


class Getdevicelist4ResOk(Struct):
    """GETDEVICELIST4resok (section 18.41)."""

    gdlr_cookie: NfsCookie4
    gdlr_cookieverf: Verifier4
    gdlr_deviceid_list: t.Annotated[list[Deviceid4], Array()]
    gdlr_eof: bool


class Getdevicelist4Res(Union):
    """GETDEVICELIST4res (section 18.41)."""

    gdlr_status: Nfsstat4
    gdlr_resok4: t.Annotated[Getdevicelist4ResOk | None, Case(Nfsstat4.NFS4_OK)] = None
    __void_default__ = True


class Layoutcommit4Args(Struct):
    """LAYOUTCOMMIT4args (section 18.42)."""

    loca_offset: Offset4
    loca_length: Length4
    loca_reclaim: bool
    loca_stateid: Stateid4
    loca_last_write_offset: Offset4 | None
    """newoffset4: None where nothing was written."""
    loca_time_modify: Nfstime4 | None
    """newtime4: None where the client has no time to say."""
    loca_layoutupdate: Layoutupdate4


class Layoutcommit4ResOk(Struct):
    """LAYOUTCOMMIT4resok (section 18.42)."""

    locr_newsize: Length4 | None
    """newsize4: None where the size is as it was."""


class Layoutcommit4Res(Union):
    """LAYOUTCOMMIT4res (section 18.42)."""

    locr_status: Nfsstat4
    locr_resok4: t.Annotated[Layoutcommit4ResOk | None, Case(Nfsstat4.NFS4_OK)] = None
    __void_default__ = True


class Layoutget4Args(Struct):
    """LAYOUTGET4args (section 18.43)."""

    loga_signal_layout_avail: bool
    loga_layout_type: Layouttype4
    loga_iomode: Layoutiomode4
    loga_offset: Offset4
    loga_length: Length4
    loga_minlength: Length4
    loga_stateid: Stateid4
    loga_maxcount: Count4


class Layoutget4ResOk(Struct):
    """LAYOUTGET4resok (section 18.43)."""

    logr_return_on_close: bool
    logr_stateid: Stateid4
    logr_layout: t.Annotated[list[Layout4], Array()]


class Layoutget4Res(Union):
    """LAYOUTGET4res (section 18.43)."""

    logr_status: Nfsstat4
    logr_resok4: t.Annotated[Layoutget4ResOk | None, Case(Nfsstat4.NFS4_OK)] = None
    logr_will_signal_layout_avail: t.Annotated[bool | None, Case(Nfsstat4.NFS4ERR_LAYOUTTRYLATER)] = None
    __void_default__ = True


class Layoutreturn4Args(Struct):
    """LAYOUTRETURN4args (section 18.44)."""

    lora_reclaim: bool
    lora_layout_type: Layouttype4
    lora_iomode: Layoutiomode4
    lora_layoutreturn: Layoutreturn4


class LayoutreturnStateid(Union):
    """layoutreturn_stateid: none where the whole layout went (section 18.44)."""

    lrs_present: bool
    lrs_stateid: t.Annotated[Stateid4 | None, Case(True)] = None
    __void__ = (False,)


class Layoutreturn4Res(Union):
    """LAYOUTRETURN4res (section 18.44)."""

    lorr_status: Nfsstat4
    lorr_stateid: t.Annotated[LayoutreturnStateid | None, Case(Nfsstat4.NFS4_OK)] = None
    __void_default__ = True


class DeviceError4(Struct):
    """device_error4: what went wrong at a device (RFC 7862 section 15.6)."""

    de_deviceid: Deviceid4
    de_status: Nfsstat4
    de_opnum: u32
    """nfs_opnum4: the number of the operation that failed."""


class Layouterror4Args(Struct):
    """LAYOUTERROR4args (RFC 7862 section 15.6)."""

    lea_offset: Offset4
    lea_length: Length4
    lea_stateid: Stateid4
    lea_errors: t.Annotated[list[DeviceError4], Array()]


class Layouterror4Res(Struct):
    """LAYOUTERROR4res (RFC 7862 section 15.6)."""

    ler_status: Nfsstat4


class IoInfo4(Struct):
    """io_info4 (RFC 7862 section 15.7)."""

    ii_count: u64
    ii_bytes: u64


class Layoutstats4Args(Struct):
    """LAYOUTSTATS4args (RFC 7862 section 15.7)."""

    lsa_offset: Offset4
    lsa_length: Length4
    lsa_stateid: Stateid4
    lsa_read: IoInfo4
    lsa_write: IoInfo4
    lsa_deviceid: Deviceid4
    lsa_layoutupdate: Layoutupdate4


class Layoutstats4Res(Struct):
    """LAYOUTSTATS4res (RFC 7862 section 15.7)."""

    lsr_status: Nfsstat4
