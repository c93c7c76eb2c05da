# SPDX-License-Identifier: MIT
"""What NFSv4.2 does with ranges of files: copy, clone, allocate, holes, advice (RFC 7862 section 15).

Sections are those of RFC 7862.
"""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs4.types import (
    Bitmap4,
    Count4,
    Length4,
    Netaddr4,
    Nfsstat4,
    Nfstime4,
    Offset4,
    Principal4,
    ServerName4,
    StableHow4,
    Stateid4,
    Verifier4,
)
from nfsclient.xdr import Array, Buffer, Bulk, Case, Opaque, Struct, Union, XdrEnum


class NetlocType4(XdrEnum):
    """netloc_type4: how a server is named (section 4.6)."""

    NL4_NAME = 1
    NL4_URL = 2
    NL4_NETADDR = 3


class Netloc4(Union):
    """netloc4: a server (section 4.6)."""

    nl_type: NetlocType4
    nl_name: t.Annotated[ServerName4 | None, Case(NetlocType4.NL4_NAME)] = None
    nl_url: t.Annotated[ServerName4 | None, Case(NetlocType4.NL4_URL)] = None
    nl_addr: t.Annotated[Netaddr4 | None, Case(NetlocType4.NL4_NETADDR)] = None


class Allocate4Args(Struct):
    """ALLOCATE4args (section 15.1)."""

    aa_stateid: Stateid4
    aa_offset: Offset4
    aa_length: Length4


class Allocate4Res(Struct):
    """ALLOCATE4res (section 15.1)."""

    ar_status: Nfsstat4


class Copy4Args(Struct):
    """COPY4args: from the saved filehandle to the current one (section 15.2)."""

    ca_src_stateid: Stateid4
    ca_dst_stateid: Stateid4
    ca_src_offset: Offset4
    ca_dst_offset: Offset4
    ca_count: Length4
    """0 means to the end of the source."""
    ca_consecutive: bool
    ca_synchronous: bool
    ca_source_server: t.Annotated[list[Netloc4], Array()]
    """Empty: this server."""


class WriteResponse4(Struct):
    """write_response4: how much was written, or the stateid under which CB_OFFLOAD will say it (section 15.2)."""

    wr_callback_id: t.Annotated[list[Stateid4], Array(1)]
    wr_count: Length4
    wr_committed: StableHow4
    wr_writeverf: Verifier4


class CopyRequirements4(Struct):
    """copy_requirements4: what the server would need (section 15.2)."""

    cr_consecutive: bool
    cr_synchronous: bool


class Copy4ResOk(Struct):
    """COPY4resok (section 15.2)."""

    cr_response: WriteResponse4
    cr_requirements: CopyRequirements4


class Copy4Res(Union):
    """COPY4res (section 15.2)."""

    cr_status: Nfsstat4
    cr_resok4: t.Annotated[Copy4ResOk | None, Case(Nfsstat4.NFS4_OK)] = None
    cr_requirements: t.Annotated[CopyRequirements4 | None, Case(Nfsstat4.NFS4ERR_OFFLOAD_NO_REQS)] = None
    __void_default__ = True


class CopyNotify4Args(Struct):
    """COPY_NOTIFY4args (section 15.3)."""

    cna_src_stateid: Stateid4
    cna_destination_server: Netloc4


class CopyNotify4ResOk(Struct):
    """COPY_NOTIFY4resok (section 15.3)."""

    cnr_lease_time: Nfstime4
    cnr_stateid: Stateid4
    cnr_source_server: t.Annotated[list[Netloc4], Array()]


class CopyNotify4Res(Union):
    """COPY_NOTIFY4res (section 15.3)."""

    cnr_status: Nfsstat4
    resok4: t.Annotated[CopyNotify4ResOk | None, Case(Nfsstat4.NFS4_OK)] = None
    __void_default__ = True


class Deallocate4Args(Struct):
    """DEALLOCATE4args (section 15.4)."""

    da_stateid: Stateid4
    da_offset: Offset4
    da_length: Length4


class Deallocate4Res(Struct):
    """DEALLOCATE4res (section 15.4)."""

    dr_status: Nfsstat4


class IoAdviseType4(XdrEnum):
    """IO_ADVISE_type4: bits of `iaa_hints` by number (section 15.5)."""

    IO_ADVISE4_NORMAL = 0
    IO_ADVISE4_SEQUENTIAL = 1
    IO_ADVISE4_SEQUENTIAL_BACKWARDS = 2
    IO_ADVISE4_RANDOM = 3
    IO_ADVISE4_WILLNEED = 4
    IO_ADVISE4_WILLNEED_OPPORTUNISTIC = 5
    IO_ADVISE4_DONTNEED = 6
    IO_ADVISE4_NOREUSE = 7
    IO_ADVISE4_READ = 8
    IO_ADVISE4_WRITE = 9
    IO_ADVISE4_INIT_PROXIMITY = 10


class IoAdvise4Args(Struct):
    """IO_ADVISE4args (section 15.5)."""

    iaa_stateid: Stateid4
    iaa_offset: Offset4
    iaa_count: Length4
    iaa_hints: Bitmap4


class IoAdvise4ResOk(Struct):
    """IO_ADVISE4resok (section 15.5)."""

    ior_hints: Bitmap4


class IoAdvise4Res(Union):
    """IO_ADVISE4res (section 15.5)."""

    ior_status: Nfsstat4
    resok4: t.Annotated[IoAdvise4ResOk | None, Case(Nfsstat4.NFS4_OK)] = None
    __void_default__ = True


class OffloadCancel4Args(Struct):
    """OFFLOAD_CANCEL4args (section 15.8)."""

    oca_stateid: Stateid4


class OffloadCancel4Res(Struct):
    """OFFLOAD_CANCEL4res (section 15.8)."""

    ocr_status: Nfsstat4


class OffloadStatus4Args(Struct):
    """OFFLOAD_STATUS4args (section 15.9)."""

    osa_stateid: Stateid4


class OffloadStatus4ResOk(Struct):
    """OFFLOAD_STATUS4resok (section 15.9)."""

    osr_count: Length4
    osr_complete: t.Annotated[list[Nfsstat4], Array(1)]
    """Empty while the work goes on."""


class OffloadStatus4Res(Union):
    """OFFLOAD_STATUS4res (section 15.9)."""

    osr_status: Nfsstat4
    osr_resok4: t.Annotated[OffloadStatus4ResOk | None, Case(Nfsstat4.NFS4_OK)] = None
    __void_default__ = True


class DataContent4(XdrEnum):
    """data_content4: data or a hole (section 15.10)."""

    NFS4_CONTENT_DATA = 0
    NFS4_CONTENT_HOLE = 1


class ReadPlus4Args(Struct):
    """READ_PLUS4args (section 15.10)."""

    rpa_stateid: Stateid4
    rpa_offset: Offset4
    rpa_count: Count4


class DataInfo4(Struct):
    """data_info4: where a hole is (section 15.10)."""

    di_offset: Offset4
    di_length: Length4


class Data4(Struct):
    """data4: data, and where they are (section 15.10)."""

    d_offset: Offset4
    d_data: t.Annotated[Buffer, Bulk()]


class ReadPlusContent(Union):
    """read_plus_content (section 15.10)."""

    rpc_content: DataContent4
    rpc_data: t.Annotated[Data4 | None, Case(DataContent4.NFS4_CONTENT_DATA)] = None
    rpc_hole: t.Annotated[DataInfo4 | None, Case(DataContent4.NFS4_CONTENT_HOLE)] = None
    __void_default__ = True


class ReadPlusRes4(Struct):
    """read_plus_res4 (section 15.10)."""

    rpr_eof: bool
    rpr_contents: t.Annotated[list[ReadPlusContent], Array()]


class ReadPlus4Res(Union):
    """READ_PLUS4res (section 15.10)."""

    rp_status: Nfsstat4
    rp_resok4: t.Annotated[ReadPlusRes4 | None, Case(Nfsstat4.NFS4_OK)] = None
    __void_default__ = True


class Seek4Args(Struct):
    """SEEK4args (section 15.11)."""

    sa_stateid: Stateid4
    sa_offset: Offset4
    sa_what: DataContent4


class SeekRes4(Struct):
    """seek_res4 (section 15.11)."""

    sr_eof: bool
    sr_offset: Offset4


class Seek4Res(Union):
    """SEEK4res (section 15.11)."""

    sa_status: Nfsstat4
    resok4: t.Annotated[SeekRes4 | None, Case(Nfsstat4.NFS4_OK)] = None
    __void_default__ = True


class AppDataBlock4(Struct):
    """app_data_block4: a pattern to write many times (section 8.1.1)."""

    adb_offset: Offset4
    adb_block_size: Length4
    adb_block_count: Length4
    adb_reloff_blocknum: Length4
    adb_block_num: Count4
    adb_reloff_pattern: Length4
    adb_pattern: t.Annotated[bytes, Opaque()]


class WriteSame4Args(Struct):
    """WRITE_SAME4args (section 15.12)."""

    wsa_stateid: Stateid4
    wsa_stable: StableHow4
    wsa_adb: AppDataBlock4


class WriteSame4Res(Union):
    """WRITE_SAME4res (section 15.12)."""

    wsr_status: Nfsstat4
    resok4: t.Annotated[WriteResponse4 | None, Case(Nfsstat4.NFS4_OK)] = None
    __void_default__ = True


class Clone4Args(Struct):
    """CLONE4args: from the saved filehandle to the current one (section 15.13)."""

    cl_src_stateid: Stateid4
    cl_dst_stateid: Stateid4
    cl_src_offset: Offset4
    cl_dst_offset: Offset4
    cl_count: Length4
    """0 means to the end of the source."""


class Clone4Res(Struct):
    """CLONE4res (section 15.13)."""

    cl_status: Nfsstat4


Secret4 = t.Annotated[bytes, Opaque()]
"""secret4: a shared secret of an inter-server copy (section 4.9.1.1)."""


class CopyFromAuthPriv(Struct):
    """copy_from_auth_priv: an RPCSEC_GSSv3 privilege (section 4.9.1.1)."""

    cfap_shared_secret: Secret4
    cfap_destination: Netloc4
    cfap_username: Principal4


class CopyToAuthPriv(Struct):
    """copy_to_auth_priv (section 4.9.1.1)."""

    ctap_shared_secret: Secret4
    ctap_source: t.Annotated[list[Netloc4], Array()]
    ctap_username: Principal4


class CopyConfirmAuthPriv(Struct):
    """copy_confirm_auth_priv (section 4.9.1.1)."""

    ccap_shared_secret_mic: t.Annotated[bytes, Opaque()]
    ccap_username: Principal4
