# SPDX-License-Identifier: MIT
"""The basic types of NFSv4 that operations, attributes and callbacks share (RFC 5661 section 3.3).

Names are those of the RFC, in snake case for fields. One set of types serves all minor versions: what RFC 7530 (4.0),
RFC 7862 (4.2) and RFC 8276 (extended attributes) add or still have stands among the rest. Sections are those of
RFC 5661 where no other RFC is named.
"""

from __future__ import annotations

import typing as t

from nfsclient.xdr import (
    Array,
    Case,
    FixedOpaque,
    Identity,
    Opaque,
    String,
    Struct,
    Union,
    XdrEnum,
    i64,
    u32,
    u64,
)

NFS4_FHSIZE = 128
"""Largest file handle, in bytes."""
NFS4_VERIFIER_SIZE = 8
"""Size of every verifier, in bytes."""
NFS4_OPAQUE_LIMIT = 1024
"""Longest owner of a client, a session or a state, in bytes."""
NFS4_SESSIONID_SIZE = 16
"""Size of a session id, in bytes."""
NFS4_DEVICEID4_SIZE = 16
"""Size of a device id, in bytes."""
NFS4_INT64_MAX = 0x7FFF_FFFF_FFFF_FFFF
NFS4_UINT64_MAX = 0xFFFF_FFFF_FFFF_FFFF
NFS4_INT32_MAX = 0x7FFF_FFFF
NFS4_UINT32_MAX = 0xFFFF_FFFF
NFS4_MAXFILELEN = 0xFFFF_FFFF_FFFF_FFFF
"""As a length: to the end of the file, wherever that is."""
NFS4_MAXFILEOFF = 0xFFFF_FFFF_FFFF_FFFE
"""The last offset that a file can have."""
Bitmap4 = t.Annotated[list[u32], Array()]
"""Bits by number: bit n is bit n mod 32 of word n div 32. Words that are all zero may follow (section 3.2)."""


NfsFh4 = t.Annotated[bytes, Opaque(NFS4_FHSIZE)]
"""A file handle: bytes that only the server can read (section 4)."""
Utf8string = t.Annotated[bytes, String()]
"""UTF-8 by the rules of section 14; what a peer sends may be anything."""
Utf8strCis: t.TypeAlias = Utf8string
"""Compared without regard to case."""
Utf8strCs: t.TypeAlias = Utf8string
"""Compared as it is."""
Utf8strMixed: t.TypeAlias = Utf8string
"""A part that is compared as it is, then `@` and a domain that is not."""
Principal4 = t.Annotated[bytes, String(), Identity("principal")]
"""A utf8str_mixed that names a user or a group: `name@domain`, decimal digits, or one of the ACE4_WHO_*."""
ServerName4 = t.Annotated[bytes, String(), Identity("host")]
"""A utf8str_cis that names a server, or where one is."""
ServerPath4 = t.Annotated[list[t.Annotated[bytes, String(), Identity("path")]], Array()]
"""A pathname4 of a file system on some server."""
Component4: t.TypeAlias = Utf8string
"""One component of a path."""
Linktext4: t.TypeAlias = Utf8string
"""The text of a symbolic link."""
Pathname4 = t.Annotated[list[Component4], Array()]
"""A path, component by component."""
Verifier4 = t.Annotated[bytes, FixedOpaque(NFS4_VERIFIER_SIZE)]
"""Tells one instance (of a client, a cookie, stored data) from another."""
Sessionid4 = t.Annotated[bytes, FixedOpaque(NFS4_SESSIONID_SIZE)]
"""A session, on any of its connections (section 2.10)."""
Deviceid4 = t.Annotated[bytes, FixedOpaque(NFS4_DEVICEID4_SIZE)]
"""A storage device, within a layout type and a server (section 12.2.10)."""
SecOid4 = t.Annotated[bytes, Opaque()]
"""An object identifier of a GSS mechanism, in DER (section 2.2.1)."""
Changeid4: t.TypeAlias = u64
"""The value of attribute `change`."""
Clientid4: t.TypeAlias = u64
"""What the server calls a client instance."""
Count4: t.TypeAlias = u32
"""A number of bytes in one operation."""
Length4: t.TypeAlias = u64
"""A number of bytes in a file."""
Mode4: t.TypeAlias = u32
"""Permission bits as in UNIX, 07777 has them all (section 6.2.4)."""
NfsCookie4: t.TypeAlias = u64
"""A position in a directory: 0 is the start, 1 and 2 are reserved (section 18.23.3)."""
Offset4: t.TypeAlias = u64
"""A position in a file."""
Qop4: t.TypeAlias = u32
"""Quality of protection of RPCSEC_GSS."""
Sequenceid4: t.TypeAlias = u32
"""Counts the requests of a slot, or CREATE_SESSIONs of a client; wraps to 0."""
Seqid4: t.TypeAlias = u32
"""Counts the uses of an open or lock owner in 4.0; 0 and ignored since 4.1."""
Slotid4: t.TypeAlias = u32
"""A slot of a session."""
NfsLease4: t.TypeAlias = u32
"""A lease, in seconds."""
Policy4: t.TypeAlias = u32
"""Who registered a security label format (RFC 7862 section 12.2.4)."""
MODE4_SUID = 0x800
"""Set user id on execution."""
MODE4_SGID = 0x400
"""Set group id on execution."""
MODE4_SVTX = 0x200
"""Save text: in a directory, only owners remove."""
MODE4_RUSR = 0x100
MODE4_WUSR = 0x080
MODE4_XUSR = 0x040
MODE4_RGRP = 0x020
MODE4_WGRP = 0x010
MODE4_XGRP = 0x008
MODE4_ROTH = 0x004
MODE4_WOTH = 0x002
MODE4_XOTH = 0x001


class Nfsstat4(XdrEnum):
    """nfsstat4: how an operation or a compound ended (section 15; RFC 7862 section 11; RFC 8276 section 8.3)."""

    NFS4_OK = 0
    NFS4ERR_PERM = 1
    NFS4ERR_NOENT = 2
    NFS4ERR_IO = 5
    NFS4ERR_NXIO = 6
    NFS4ERR_ACCESS = 13
    NFS4ERR_EXIST = 17
    NFS4ERR_XDEV = 18
    NFS4ERR_NOTDIR = 20
    NFS4ERR_ISDIR = 21
    NFS4ERR_INVAL = 22
    NFS4ERR_FBIG = 27
    NFS4ERR_NOSPC = 28
    NFS4ERR_ROFS = 30
    NFS4ERR_MLINK = 31
    NFS4ERR_NAMETOOLONG = 63
    NFS4ERR_NOTEMPTY = 66
    NFS4ERR_DQUOT = 69
    NFS4ERR_STALE = 70
    NFS4ERR_BADHANDLE = 10001
    NFS4ERR_BAD_COOKIE = 10003
    NFS4ERR_NOTSUPP = 10004
    NFS4ERR_TOOSMALL = 10005
    NFS4ERR_SERVERFAULT = 10006
    NFS4ERR_BADTYPE = 10007
    NFS4ERR_DELAY = 10008
    NFS4ERR_SAME = 10009
    NFS4ERR_DENIED = 10010
    NFS4ERR_EXPIRED = 10011
    NFS4ERR_LOCKED = 10012
    NFS4ERR_GRACE = 10013
    NFS4ERR_FHEXPIRED = 10014
    NFS4ERR_SHARE_DENIED = 10015
    NFS4ERR_WRONGSEC = 10016
    NFS4ERR_CLID_INUSE = 10017
    NFS4ERR_RESOURCE = 10018
    NFS4ERR_MOVED = 10019
    NFS4ERR_NOFILEHANDLE = 10020
    NFS4ERR_MINOR_VERS_MISMATCH = 10021
    NFS4ERR_STALE_CLIENTID = 10022
    NFS4ERR_STALE_STATEID = 10023
    NFS4ERR_OLD_STATEID = 10024
    NFS4ERR_BAD_STATEID = 10025
    NFS4ERR_BAD_SEQID = 10026
    NFS4ERR_NOT_SAME = 10027
    NFS4ERR_LOCK_RANGE = 10028
    NFS4ERR_SYMLINK = 10029
    NFS4ERR_RESTOREFH = 10030
    NFS4ERR_LEASE_MOVED = 10031
    NFS4ERR_ATTRNOTSUPP = 10032
    NFS4ERR_NO_GRACE = 10033
    NFS4ERR_RECLAIM_BAD = 10034
    NFS4ERR_RECLAIM_CONFLICT = 10035
    NFS4ERR_BADXDR = 10036
    NFS4ERR_LOCKS_HELD = 10037
    NFS4ERR_OPENMODE = 10038
    NFS4ERR_BADOWNER = 10039
    NFS4ERR_BADCHAR = 10040
    NFS4ERR_BADNAME = 10041
    NFS4ERR_BAD_RANGE = 10042
    NFS4ERR_LOCK_NOTSUPP = 10043
    NFS4ERR_OP_ILLEGAL = 10044
    NFS4ERR_DEADLOCK = 10045
    NFS4ERR_FILE_OPEN = 10046
    NFS4ERR_ADMIN_REVOKED = 10047
    NFS4ERR_CB_PATH_DOWN = 10048
    NFS4ERR_BADIOMODE = 10049
    NFS4ERR_BADLAYOUT = 10050
    NFS4ERR_BAD_SESSION_DIGEST = 10051
    NFS4ERR_BADSESSION = 10052
    NFS4ERR_BADSLOT = 10053
    NFS4ERR_COMPLETE_ALREADY = 10054
    NFS4ERR_CONN_NOT_BOUND_TO_SESSION = 10055
    NFS4ERR_DELEG_ALREADY_WANTED = 10056
    NFS4ERR_BACK_CHAN_BUSY = 10057
    NFS4ERR_LAYOUTTRYLATER = 10058
    NFS4ERR_LAYOUTUNAVAILABLE = 10059
    NFS4ERR_NOMATCHING_LAYOUT = 10060
    NFS4ERR_RECALLCONFLICT = 10061
    NFS4ERR_UNKNOWN_LAYOUTTYPE = 10062
    NFS4ERR_SEQ_MISORDERED = 10063
    NFS4ERR_SEQUENCE_POS = 10064
    NFS4ERR_REQ_TOO_BIG = 10065
    NFS4ERR_REP_TOO_BIG = 10066
    NFS4ERR_REP_TOO_BIG_TO_CACHE = 10067
    NFS4ERR_RETRY_UNCACHED_REP = 10068
    NFS4ERR_UNSAFE_COMPOUND = 10069
    NFS4ERR_TOO_MANY_OPS = 10070
    NFS4ERR_OP_NOT_IN_SESSION = 10071
    NFS4ERR_HASH_ALG_UNSUPP = 10072
    NFS4ERR_CLIENTID_BUSY = 10074
    NFS4ERR_PNFS_IO_HOLE = 10075
    NFS4ERR_SEQ_FALSE_RETRY = 10076
    NFS4ERR_BAD_HIGH_SLOT = 10077
    NFS4ERR_DEADSESSION = 10078
    NFS4ERR_ENCR_ALG_UNSUPP = 10079
    NFS4ERR_PNFS_NO_LAYOUT = 10080
    NFS4ERR_NOT_ONLY_OP = 10081
    NFS4ERR_WRONG_CRED = 10082
    NFS4ERR_WRONG_TYPE = 10083
    NFS4ERR_DIRDELEG_UNAVAIL = 10084
    NFS4ERR_REJECT_DELEG = 10085
    NFS4ERR_RETURNCONFLICT = 10086
    NFS4ERR_DELEG_REVOKED = 10087
    NFS4ERR_PARTNER_NOTSUPP = 10088
    NFS4ERR_PARTNER_NO_AUTH = 10089
    NFS4ERR_UNION_NOTSUPP = 10090
    NFS4ERR_OFFLOAD_DENIED = 10091
    NFS4ERR_WRONG_LFS = 10092
    NFS4ERR_BADLABEL = 10093
    NFS4ERR_OFFLOAD_NO_REQS = 10094
    NFS4ERR_NOXATTR = 10095
    NFS4ERR_XATTR2BIG = 10096


class NfsFtype4(XdrEnum):
    """nfs_ftype4: what kind of object a file is (section 3.2)."""

    NF4REG = 1
    NF4DIR = 2
    NF4BLK = 3
    NF4CHR = 4
    NF4LNK = 5
    NF4SOCK = 6
    NF4FIFO = 7
    NF4ATTRDIR = 8
    NF4NAMEDATTR = 9


class TimeHow4(XdrEnum):
    """time_how4: whose clock a time is set by (section 3.3.2)."""

    SET_TO_SERVER_TIME4 = 0
    SET_TO_CLIENT_TIME4 = 1


class StableHow4(XdrEnum):
    """stable_how4: how firmly data are stored before the reply; larger is firmer (section 18.32)."""

    UNSTABLE4 = 0
    DATA_SYNC4 = 1
    FILE_SYNC4 = 2


class NfsLockType4(XdrEnum):
    """nfs_lock_type4: shared or exclusive; the W forms say that the client would wait (section 18.10)."""

    READ_LT = 1
    WRITE_LT = 2
    READW_LT = 3
    WRITEW_LT = 4


class Nfstime4(Struct):
    """nfstime4: a time since 1970-01-01 00:00 UTC, which may be before it (section 3.3.1)."""

    seconds: i64
    nseconds: u32 = 0
    """0 to 999,999,999, though the wire allows more."""


class Settime4(Union):
    """settime4: what SETATTR does with a time (section 3.3.3)."""

    set_it: TimeHow4
    time: t.Annotated[Nfstime4 | None, Case(TimeHow4.SET_TO_CLIENT_TIME4)] = None
    __void_default__ = True


class Fsid4(Struct):
    """fsid4: a file system, unique within its server (section 3.3.5)."""

    major: u64
    minor: u64


class ChangePolicy4(Struct):
    """change_policy4: changes when the policies of a file system do (section 3.3.6)."""

    cp_major: u64
    cp_minor: u64


class Specdata4(Struct):
    """specdata4: major and minor number of a device (section 3.3.4)."""

    specdata1: u32 = 0
    specdata2: u32 = 0


class ChangeInfo4(Struct):
    """change_info4: attribute `change` of a directory before and after an operation (section 3.3.8)."""

    atomic: bool
    """Whether nothing else changed the directory in between; without it the values bind nothing."""
    before: Changeid4
    after: Changeid4


class Netaddr4(Struct):
    """netaddr4: a network address in the universal form of rpcbind (section 3.3.9)."""

    na_r_netid: t.Annotated[bytes, String()]
    na_r_addr: t.Annotated[bytes, String(), Identity("address")]


class Stateid4(Struct):
    """stateid4: a lock, an open, a delegation or a layout (section 8.2)."""

    seqid: u32
    """Counts the changes of that state; 0 means the most recent."""
    other: t.Annotated[bytes, FixedOpaque(12)]


class StateOwner4(Struct):
    """state_owner4: who holds opens or locks, as the client tells them apart (section 3.3.10)."""

    clientid: Clientid4
    """Ignored since 4.1: the session says it."""
    owner: t.Annotated[bytes, Opaque(NFS4_OPAQUE_LIMIT), Identity("client")]


class ClientOwner4(Struct):
    """client_owner4: a client, and which of its instances (section 2.4)."""

    co_verifier: Verifier4
    """Changes when the client restarts."""
    co_ownerid: t.Annotated[bytes, Opaque(NFS4_OPAQUE_LIMIT), Identity("client")]


class ServerOwner4(Struct):
    """server_owner4: a server, and which of its identities (section 2.5)."""

    so_minor_id: u64
    so_major_id: t.Annotated[bytes, Opaque(NFS4_OPAQUE_LIMIT), Identity("host")]


class NfsClientId4(Struct):
    """nfs_client_id4: a client of 4.0 (RFC 7530 section 9.1.1)."""

    verifier: Verifier4
    id: t.Annotated[bytes, Opaque(NFS4_OPAQUE_LIMIT), Identity("client")]


class CbClient4(Struct):
    """cb_client4: where a client of 4.0 takes callbacks (RFC 7530 section 2.2.12)."""

    cb_program: u32
    cb_location: Netaddr4


class NfsImplId4(Struct):
    """nfs_impl_id4: which program a peer is; for people only (section 3.3.21)."""

    nii_domain: t.Annotated[bytes, String(), Identity("product")]
    nii_name: t.Annotated[bytes, String(), Identity("product")]
    nii_date: Nfstime4


ANONYMOUS_STATEID = Stateid4(0, bytes(12))
"""All zeros: no state (section 8.2.3)."""
READ_BYPASS_STATEID = Stateid4(0xFFFF_FFFF, b"\xff" * 12)
"""All ones: as the anonymous one, and READ may pass over locks (section 8.2.3)."""
CURRENT_STATEID = Stateid4(1, bytes(12))
"""The one that an earlier operation of the compound left (section 16.2.3.1.2)."""
INVALID_STATEID = Stateid4(0xFFFF_FFFF, bytes(12))
"""Never valid (section 8.2.3)."""
SERVER_TIME = Settime4(TimeHow4.SET_TO_SERVER_TIME4)
"""Sets a time to the server's clock."""


def client_time(seconds: int, nseconds: int = 0) -> Settime4:
    """Sets a time to a value of the client's."""
    return Settime4(TimeHow4.SET_TO_CLIENT_TIME4, Nfstime4(seconds, nseconds))
