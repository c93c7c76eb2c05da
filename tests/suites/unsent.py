# SPDX-License-Identifier: MIT
"""What no check sends, with the reason: lines of `argument_values.gaps`, in which `*` stands for any text."""

from __future__ import annotations

import re
import typing as t
from collections.abc import Iterable

_OPTIONAL = "OPTIONAL, and not in the embedded server: no check could be proved by a mutant"
_REMOVED = "removed in NFSv4.1: a server refuses it before it looks at the arguments"
_DRIFTS = "others, or the server itself, may change it between two operations"
_SPELLINGS = "a server may spell or store it in several ways, so nobody knows what another value is"
_ONE_IS_ENOUGH = (
    "a value that no server has by chance: one that is stored, or reported, shows that others are, too"
)
_SAME_STATE = "the seqid of a state that has not changed; `stateids` has other ones at READ and CLOSE"
_NOT_SPECIAL = "sattr3 of a device is read like that of a FIFO, and few users may make devices"
_LINKS = "what servers do with the attributes of symbolic links varies too much for a claim"
_OTHER_HOW = "a time_how that is not defined is sent for mtime in SETATTR; it is one type in all procedures"
_PUBLIC = "all checks share one program that nobody has: what others have registered is not touched"
_IGNORED = "rpcbind ignores the field (RFC 1833 section 2.2.2)"
_SERVERS_OTHER = (
    "settime4 with another time_how means the time of the server (section 18.30.4): no value is an error"
)

UNSENT: t.Final[dict[str, str]] = {
    # ---------------------------------------------------------------- operations
    "NFS 4 NULL: never sent": "the library makes it, outside of checks; `rpc` is about NULL",
    "MOUNT 1 EXPORTALL: never sent": "another name of EXPORT, which no client calls",
    "NFS 4 *LAYOUT*": _OPTIONAL,
    "NFS 4 GETDEVICE*": _OPTIONAL,
    "NFS 4 GET_DIR_DELEGATION *": _OPTIONAL,
    "NFS 4 WANT_DELEGATION *": _OPTIONAL,
    "NFS 4 ALLOCATE *": _OPTIONAL,
    "NFS 4 COPY*": _OPTIONAL,
    "NFS 4 DEALLOCATE *": _OPTIONAL,
    "NFS 4 IO_ADVISE *": _OPTIONAL,
    "NFS 4 OFFLOAD_*": _OPTIONAL,
    "NFS 4 READ_PLUS *": _OPTIONAL,
    "NFS 4 SEEK *": _OPTIONAL,
    "NFS 4 WRITE_SAME *": _OPTIONAL,
    "NFS 4 CLONE: never sent": _OPTIONAL,
    "NFS 4 SET_SSV *": "needs RPCSEC_GSS, which the library does not have",
    # ---------------------------------------------------------------- arguments of removed operations
    "NFS 4 OPEN_CONFIRM *": _REMOVED,
    "NFS 4 SETCLIENTID *": _REMOVED,
    "NFS 4 SETCLIENTID_CONFIRM *": _REMOVED,
    "NFS 4 RELEASE_LOCKOWNER *": _REMOVED,
    # ---------------------------------------------------------------- NFSv2 and NFSv3
    "NFS 2 SYMLINK attributes.*": _LINKS,
    "NFS 3 SYMLINK symlink.symlink_attributes.*": _LINKS,
    "NFS 3 MKNOD what.device.dev_attributes.*": _NOT_SPECIAL,
    "NFS 3 MKNOD what.pipe_attributes.mode: never not there": "CREATE and MKDIR without a mode have their checks",
    "NFS 3 MKNOD what.pipe_attributes.size: never there": "a FIFO has no size",
    "NFS 3 MKDIR attributes.size: always *": "the size of a directory is the server's; one value shows what it does",
    "NFS 3 *.atime.set_it: never a value that the declaration does not have": _OTHER_HOW,
    "NFS 3 *.mtime.set_it: never a value that the declaration does not have": _OTHER_HOW,
    "NFS 3 *.uid: always 4242": _ONE_IS_ENOUGH,
    "NFS 3 *.atime.time.*: always *": _ONE_IS_ENOUGH,
    # ---------------------------------------------------------------- attributes of NFSv4
    "NFS 4 *VERIFY obj_attributes.files_*": _DRIFTS,
    "NFS 4 *VERIFY obj_attributes.space_*": _DRIFTS,
    "NFS 4 *VERIFY obj_attributes.quota_*": _DRIFTS,
    "NFS 4 *VERIFY obj_attributes.time_access: never there": _DRIFTS,
    "NFS 4 *VERIFY obj_attributes.acl*": _SPELLINGS,
    "NFS 4 *VERIFY obj_attributes.owner*": _SPELLINGS,
    "NFS 4 *VERIFY obj_attributes.fs_status.*": _SPELLINGS,
    "NFS 4 *VERIFY obj_attributes.rawdev.*": "has no meaning for the files that are compared",
    "NFS 4 *VERIFY obj_attributes.rdattr_error: *": "is refused, whatever it is",
    "NFS 4 *VERIFY obj_attributes.supported_attrs: never a bit*": "a server may not know how to compare it",
    "NFS 4 *VERIFY obj_attributes.suppattr_exclcreat: never a bit*": "a server may not know how to compare it",
    "NFS 4 *VERIFY obj_attributes.type: never *": "two types show the comparison",
    "NFS 4 *VERIFY obj_attributes.change_attr_type: never *": "two kinds show the comparison",
    "NFS 4 *VERIFY obj_attributes.*: always *": "the other part of the value differs",
    "NFS 4 CREATE createattrs.acl*: always *": _ONE_IS_ENOUGH,
    "NFS 4 CREATE createattrs.size: never there": "what CREATE makes has no size",
    "NFS 4 *.acl: never there": "the ACL of a new object is that of SETATTR, which has its own check",
    "NFS 4 *.time_create: never there": "SETATTR has its own check",
    "NFS 4 *.mode_umask: never there": "RFC 8275: not in the list of this suite's texts",
    "NFS 4 *.set_it: never a value that the declaration does not have": _SERVERS_OTHER,
    "NFS 4 *.set_it: never SET_TO_SERVER_TIME4": "the time that a new object has anyway",
    "NFS 4 *attr*.time_*: always *": _ONE_IS_ENOUGH,
    "NFS 4 *attr*.owner*: always *": _ONE_IS_ENOUGH,
    "NFS 4 *.mode_set_masked.*: always *": _ONE_IS_ENOUGH,
    "NFS 4 *createattrs.archive: always True": _ONE_IS_ENOUGH,
    "NFS 4 *createattrs.hidden: always True": _ONE_IS_ENOUGH,
    "NFS 4 *createattrs.system: always True": _ONE_IS_ENOUGH,
    "NFS 4 *createattrs.mimetype: always *": _ONE_IS_ENOUGH,
    "NFS 4 SETATTR obj_attributes.retention_hold: always 0": _ONE_IS_ENOUGH,
    "NFS 4 OPEN openhow.how.createattrs.owner*: never there": "CREATE has its own check",
    "NFS 4 OPEN openhow.how.ch_createboth.cva_attrs*": "few attributes may come with EXCLUSIVE4_1: the mode does",
    "NFS 4 CREATE objtype.devdata.*: always *": _ONE_IS_ENOUGH,
    # ---------------------------------------------------------------- state of NFSv4
    "NFS 4 *.seqid: always 1": _SAME_STATE,
    "NFS 4 OPEN share_access: never OPEN4_SHARE_ACCESS_WANT_*": "a wish that a server need not even understand",
    "NFS 4 OPEN claim.delegate_type: never *": "what was delegated before a restart is not judged",
    "NFS 4 OPEN claim.file_delegate_prev: always *": "the name of the file",
    "NFS 4 BIND_CONN_TO_SESSION bctsa_use_conn_in_rdma_mode: always False": "RDMA, which the library does not have",
    "NFS 4 CREATE_SESSION csa_flags: never CREATE_SESSION4_FLAG_CONN_RDMA": "RDMA, which the library does not have",
    "NFS 4 CREATE_SESSION *.ca_rdma_ird[]: always 8": _ONE_IS_ENOUGH,
    "NFS 4 BACKCHANNEL_CTL bca_sec_parms*": "no server has a handle of RPCSEC_GSS, which the library does not have",
    "NFS 4 CREATE_SESSION csa_sec_parms[].cbsp_sys_cred.*": "a credential of the client's, which a server sends back",
    "NFS 4 EXCHANGE_ID eia_state_protect.spa_*.*: always *": "needs RPCSEC_GSS, which the library does not have",
    "NFS 4 EXCHANGE_ID eia_flags: never EXCHGID4_FLAG_SUPP_FENCE_OPS": "a flag of 4.2, which 4.1 must refuse",
    "NFS 4 EXCHANGE_ID eia_client_impl_id[].*": "a server does nothing with it",
    "NFS 4 SETXATTR sxa_option: never a value *": "OPTIONAL; `nfs4/undefined` has those of REQUIRED operations",
    # ---------------------------------------------------------------- portmap and rpcbind
    "PORTMAP 2 *SET *: always *": _PUBLIC,
    "RPCBIND * *SET *: always *": _PUBLIC,
    "RPCBIND * GET* r_*: always *": _IGNORED,
    "PORTMAP 2 CALLIT args: always *": "only NULL is called for others: it has no arguments",
    "RPCBIND * args: always *": "only NULL is called for others: it has no arguments",
    "RPCBIND * TADDR2UADDR maxlen: always 16": "the size of an address of IPv4",
}


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, text.split("*"))))


def without_reason(gaps: Iterable[str], reasons: t.Mapping[str, str] = UNSENT) -> tuple[list[str], list[str]]:
    """The gaps for which no reason is given, and the reasons that are given for nothing."""
    patterns = {text: _pattern(text) for text in reasons}
    used: set[str] = set()
    left = []
    for gap in gaps:
        found = [text for text, pattern in patterns.items() if pattern.fullmatch(gap)]
        used.update(found)
        if not found:
            left.append(gap)
    return left, [text for text in reasons if text not in used]
