# SPDX-License-Identifier: MIT
"""Layouts, devices and their types (RFC 5661 sections 3.3.13 to 3.3.23, 12 and 13).

The layout of files is declared; those of objects and blocks, and any other, stay the opaque bytes that they are on
the wire.
"""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs4.types import (
    Bitmap4,
    Count4,
    Deviceid4,
    Length4,
    Netaddr4,
    NfsFh4,
    Offset4,
    Stateid4,
)
from nfsclient.xdr import Array, Case, Identity, Opaque, Struct, Union, XdrEnum, u32

NFL4_UFLG_MASK = 0x3F
"""The flags in `nfl_util`; the rest is the size of a stripe unit (section 13.3)."""
NFL4_UFLG_DENSE = 0x01
"""Stripes are packed densely on each data server (section 13.4.4)."""
NFL4_UFLG_COMMIT_THRU_MDS = 0x02
"""COMMIT goes to the metadata server."""
NFL4_UFLG_STRIPE_UNIT_SIZE_MASK = 0xFFFF_FFC0
TH4_READ_SIZE = 0
"""Bits of `thi_hintset` (section 3.3.22)."""
TH4_WRITE_SIZE = 1
TH4_READ_IOSIZE = 2
TH4_WRITE_IOSIZE = 3
NflUtil4: t.TypeAlias = u32
"""Flags of NFL4_UFLG_MASK, and the size of a stripe unit."""


class Layouttype4(XdrEnum):
    """layouttype4: how a layout is to be read (section 3.3.13)."""

    LAYOUT4_NFSV4_1_FILES = 1
    LAYOUT4_OSD2_OBJECTS = 2
    LAYOUT4_BLOCK_VOLUME = 3


class Layoutiomode4(XdrEnum):
    """layoutiomode4: what a layout is for; ANY only to return or recall (section 3.3.20)."""

    LAYOUTIOMODE4_READ = 1
    LAYOUTIOMODE4_RW = 2
    LAYOUTIOMODE4_ANY = 3


class LayoutreturnType4(XdrEnum):
    """layoutreturn_type4: how much is returned (section 18.44)."""

    LAYOUTRETURN4_FILE = 1
    LAYOUTRETURN4_FSID = 2
    LAYOUTRETURN4_ALL = 3


class FilelayoutHintCare4(XdrEnum):
    """filelayout_hint_care4: which parts of a hint count (section 13.2)."""

    NFLH4_CARE_DENSE = 1
    NFLH4_CARE_COMMIT_THRU_MDS = 2
    NFLH4_CARE_STRIPE_UNIT_SIZE = 0x40
    NFLH4_CARE_STRIPE_COUNT = 0x80


class LayoutContent4(Struct):
    """layout_content4: a layout of some type (section 3.3.16)."""

    loc_type: Layouttype4
    loc_body: t.Annotated[bytes, Opaque()]


class Layouthint4(Struct):
    """layouthint4: what layout a client would like (section 3.3.19)."""

    loh_type: Layouttype4
    loh_body: t.Annotated[bytes, Opaque()]


class Layout4(Struct):
    """layout4: how a range of a file is laid out (section 3.3.17)."""

    lo_offset: Offset4
    lo_length: Length4
    lo_iomode: Layoutiomode4
    lo_content: LayoutContent4


class DeviceAddr4(Struct):
    """device_addr4: where a storage device is (section 3.3.15)."""

    da_layout_type: Layouttype4
    da_addr_body: t.Annotated[bytes, Opaque(), Identity("body")]


class Layoutupdate4(Struct):
    """layoutupdate4: what LAYOUTCOMMIT says in the terms of the layout's type (section 3.3.18)."""

    lou_type: Layouttype4
    lou_body: t.Annotated[bytes, Opaque()]


class LayoutreturnFile4(Struct):
    """layoutreturn_file4: which range is returned (section 18.44)."""

    lrf_offset: Offset4
    lrf_length: Length4
    lrf_stateid: Stateid4
    lrf_body: t.Annotated[bytes, Opaque()]


class Layoutreturn4(Union):
    """layoutreturn4: one file, one file system, or all (section 18.44)."""

    lr_returntype: LayoutreturnType4
    lr_layout: t.Annotated[LayoutreturnFile4 | None, Case(LayoutreturnType4.LAYOUTRETURN4_FILE)] = None
    __void_default__ = True


class ThresholdItem4(Struct):
    """threshold_item4: from which size on a client should use pNFS (section 3.3.22)."""

    thi_layout_type: Layouttype4
    thi_hintset: Bitmap4
    thi_hintlist: t.Annotated[bytes, Opaque()]


class Mdsthreshold4(Struct):
    """mdsthreshold4: threshold_item4 by type of layout (section 3.3.23)."""

    mth_hints: t.Annotated[list[ThresholdItem4], Array()]


class Nfsv41FileLayouthint4(Struct):
    """nfsv4_1_file_layouthint4: the body of a Layouthint4 for files (section 13.2)."""

    nflh_care: u32
    nflh_util: NflUtil4
    nflh_stripe_count: Count4


MultipathList4 = t.Annotated[list[Netaddr4], Array()]
"""Addresses of one data server (section 13.2)."""


class Nfsv41FileLayoutDsAddr4(Struct):
    """nfsv4_1_file_layout_ds_addr4: the body of a DeviceAddr4 for files (section 13.2)."""

    nflda_stripe_indices: t.Annotated[list[u32], Array()]
    nflda_multipath_ds_list: t.Annotated[list[MultipathList4], Array()]


class Nfsv41FileLayout4(Struct):
    """nfsv4_1_file_layout4: the body of a LayoutContent4 for files (section 13.3)."""

    nfl_deviceid: Deviceid4
    nfl_util: NflUtil4
    nfl_first_stripe_index: u32
    nfl_pattern_offset: Offset4
    nfl_fh_list: t.Annotated[list[NfsFh4], Array()]
