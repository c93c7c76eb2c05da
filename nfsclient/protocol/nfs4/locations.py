# SPDX-License-Identifier: MIT
"""Where a file system is or has gone (RFC 5661 sections 11.9 and 11.10)."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs4.types import Nfstime4, ServerName4, ServerPath4
from nfsclient.xdr import Array, Opaque, Struct, XdrEnum, i32, u32

FSLI4BX_GFLAGS = 0
"""Bytes of `fls_info` by index (section 11.10.1)."""
FSLI4BX_TFLAGS = 1
FSLI4BX_CLSIMUL = 2
FSLI4BX_CLHANDLE = 3
FSLI4BX_CLFILEID = 4
FSLI4BX_CLWRITEVER = 5
FSLI4BX_CLCHANGE = 6
FSLI4BX_CLREADDIR = 7
FSLI4BX_READRANK = 8
FSLI4BX_WRITERANK = 9
FSLI4BX_READORDER = 10
FSLI4BX_WRITEORDER = 11
FSLI4GF_WRITABLE = 0x01
"""Bits of the byte at FSLI4BX_GFLAGS."""
FSLI4GF_CUR_REQ = 0x02
FSLI4GF_ABSENT = 0x04
FSLI4GF_GOING = 0x08
FSLI4GF_SPLIT = 0x10
FSLI4TF_RDMA = 0x01
"""A bit of the byte at FSLI4BX_TFLAGS."""
FSLI4IF_VAR_SUB = 0x1
"""A bit of `fli_flags`: paths have variables (section 11.10.3)."""


class Fs4StatusType(XdrEnum):
    """fs4_status_type: how far a replica follows its source (section 11.11)."""

    STATUS4_FIXED = 1
    STATUS4_UPDATED = 2
    STATUS4_VERSIONED = 3
    STATUS4_WRITABLE = 4
    STATUS4_REFERRAL = 5


class FsLocation4(Struct):
    """fs_location4: servers with a file system under one path (section 11.9)."""

    server: t.Annotated[list[ServerName4], Array()]
    rootpath: ServerPath4


class FsLocations4(Struct):
    """fs_locations4: where else a file system is (section 11.9)."""

    fs_root: ServerPath4
    """Its path on this server."""
    locations: t.Annotated[list[FsLocation4], Array()]


class FsLocationsServer4(Struct):
    """fs_locations_server4: one server of an item (section 11.10.1)."""

    fls_currency: i32
    fls_info: t.Annotated[bytes, Opaque()]
    """Bytes at the FSLI4BX_* indices."""
    fls_server: ServerName4


class FsLocationsItem4(Struct):
    """fs_locations_item4: servers with one path (section 11.10.2)."""

    fli_entries: t.Annotated[list[FsLocationsServer4], Array()]
    fli_rootpath: ServerPath4


class FsLocationsInfo4(Struct):
    """fs_locations_info4: replicas with what each is good for (section 11.10)."""

    fli_flags: u32
    fli_valid_for: i32
    """Seconds."""
    fli_fs_root: ServerPath4
    fli_items: t.Annotated[list[FsLocationsItem4], Array()]


class Fs4Status(Struct):
    """fs4_status: what a replica is (section 11.11)."""

    fss_absent: bool
    fss_type: Fs4StatusType
    fss_source: ServerName4
    fss_current: ServerName4
    fss_age: i32
    fss_version: Nfstime4
