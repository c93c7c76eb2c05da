# SPDX-License-Identifier: MIT
"""Access control lists (RFC 5661 section 6.2)."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs4.types import Principal4
from nfsclient.xdr import Array, Struct, u32

ACL4_SUPPORT_ALLOW_ACL = 0x01
"""Attribute `aclsupport`: ALLOWED entries (section 6.2.1.2)."""
ACL4_SUPPORT_DENY_ACL = 0x02
ACL4_SUPPORT_AUDIT_ACL = 0x04
ACL4_SUPPORT_ALARM_ACL = 0x08
ACE4_ACCESS_ALLOWED_ACE_TYPE = 0
"""Grants what `access_mask` says (section 6.2.1.1)."""
ACE4_ACCESS_DENIED_ACE_TYPE = 1
"""Denies it."""
ACE4_SYSTEM_AUDIT_ACE_TYPE = 2
"""Logs attempts."""
ACE4_SYSTEM_ALARM_ACE_TYPE = 3
"""Raises an alarm at attempts."""
ACE4_FILE_INHERIT_ACE = 0x01
"""New files get it (section 6.2.1.4)."""
ACE4_DIRECTORY_INHERIT_ACE = 0x02
"""New directories get it."""
ACE4_NO_PROPAGATE_INHERIT_ACE = 0x04
"""What inherits it passes it on no further."""
ACE4_INHERIT_ONLY_ACE = 0x08
"""Without effect on the directory itself."""
ACE4_SUCCESSFUL_ACCESS_ACE_FLAG = 0x10
ACE4_FAILED_ACCESS_ACE_FLAG = 0x20
ACE4_IDENTIFIER_GROUP = 0x40
"""`who` is a group."""
ACE4_INHERITED_ACE = 0x80
"""Came from the parent directory; in `dacl` and `sacl` only."""
ACE4_READ_DATA = 0x0000_0001
"""The mask bits (section 6.2.1.3)."""
ACE4_LIST_DIRECTORY = 0x0000_0001
ACE4_WRITE_DATA = 0x0000_0002
ACE4_ADD_FILE = 0x0000_0002
ACE4_APPEND_DATA = 0x0000_0004
ACE4_ADD_SUBDIRECTORY = 0x0000_0004
ACE4_READ_NAMED_ATTRS = 0x0000_0008
ACE4_WRITE_NAMED_ATTRS = 0x0000_0010
ACE4_EXECUTE = 0x0000_0020
ACE4_DELETE_CHILD = 0x0000_0040
ACE4_READ_ATTRIBUTES = 0x0000_0080
ACE4_WRITE_ATTRIBUTES = 0x0000_0100
ACE4_WRITE_RETENTION = 0x0000_0200
ACE4_WRITE_RETENTION_HOLD = 0x0000_0400
ACE4_DELETE = 0x0001_0000
ACE4_READ_ACL = 0x0002_0000
ACE4_WRITE_ACL = 0x0004_0000
ACE4_WRITE_OWNER = 0x0008_0000
ACE4_SYNCHRONIZE = 0x0010_0000
ACE4_GENERIC_READ = 0x0012_0081
"""READ_ACL, READ_DATA, READ_ATTRIBUTES, SYNCHRONIZE."""
ACE4_GENERIC_WRITE = 0x0016_0106
ACE4_GENERIC_EXECUTE = 0x0012_00A0
ACL4_AUTO_INHERIT = 0x1
"""Flags of `dacl` and `sacl` (section 6.4.3.2)."""
ACL4_PROTECTED = 0x2
ACL4_DEFAULTED = 0x4
ACE4_WHO_OWNER = b"OWNER@"
"""Whoever owns the file (section 6.2.1.5)."""
ACE4_WHO_GROUP = b"GROUP@"
ACE4_WHO_EVERYONE = b"EVERYONE@"
"""Everybody, owner and group included."""
ACE4_WHO_INTERACTIVE = b"INTERACTIVE@"
ACE4_WHO_NETWORK = b"NETWORK@"
ACE4_WHO_DIALUP = b"DIALUP@"
ACE4_WHO_BATCH = b"BATCH@"
ACE4_WHO_ANONYMOUS = b"ANONYMOUS@"
ACE4_WHO_AUTHENTICATED = b"AUTHENTICATED@"
ACE4_WHO_SERVICE = b"SERVICE@"
Acetype4: t.TypeAlias = u32
"""What an entry does: one of ACE4_*_ACE_TYPE."""
Aceflag4: t.TypeAlias = u32
"""Bits of inheritance, audit, and whether `who` is a group."""
Acemask4: t.TypeAlias = u32
"""What an entry is about."""
Aclflag4: t.TypeAlias = u32
"""Bits of a whole list."""


class Nfsace4(Struct):
    """nfsace4: one entry (section 6.2.1)."""

    type: Acetype4
    flag: Aceflag4
    access_mask: Acemask4
    who: Principal4
    """`name@domain`, or one of the ACE4_WHO_*."""


class Nfsacl41(Struct):
    """nfsacl41: the list of `dacl` and `sacl` (section 6.2.2)."""

    na41_flag: Aclflag4
    na41_aces: t.Annotated[list[Nfsace4], Array()]
