# SPDX-License-Identifier: MIT
"""The attributes of NFSv4 in one table: the annotations of `Fattr4`.

Sections are those of RFC 5661; attributes 77 to 80 are of RFC 7862, 81 of RFC 8275, 82 of RFC 8276. What RFC 7530 (4.0)
has of them differs in nothing but section numbers. `ATTRIBUTES` has the same by number.
"""

from __future__ import annotations

import functools
import itertools
import typing as t
from collections.abc import Iterable
from dataclasses import dataclass

from nfsclient.errors import NfsClientError
from nfsclient.protocol.nfs4.acl import Nfsace4, Nfsacl41
from nfsclient.protocol.nfs4.layouts import Layouthint4, Layouttype4, Mdsthreshold4
from nfsclient.protocol.nfs4.locations import Fs4Status, FsLocations4, FsLocationsInfo4
from nfsclient.protocol.nfs4.types import (
    Changeid4,
    ChangePolicy4,
    Fsid4,
    Length4,
    Mode4,
    NfsFh4,
    NfsFtype4,
    NfsLease4,
    Nfsstat4,
    Nfstime4,
    Policy4,
    Principal4,
    Settime4,
    Specdata4,
    Utf8strCs,
)
from nfsclient.xdr import (
    Array,
    AttributeMap,
    Bit,
    Lazy,
    Opaque,
    Struct,
    XdrEnum,
    attributes_of,
    bits_of,
    mask_of,
    u32,
    u64,
)

FH4_PERSISTENT = 0x0
"""Attribute `fh_expire_type`: a filehandle is valid as long as its object exists (section 4.2.3)."""
FH4_NOEXPIRE_WITH_OPEN = 0x1
FH4_VOLATILE_ANY = 0x2
FH4_VOL_MIGRATION = 0x4
FH4_VOL_RENAME = 0x8
FSCHARSET_CAP4_CONTAINS_NON_UTF8 = 0x1
"""Attribute `fs_charset_cap` (section 14.4)."""
FSCHARSET_CAP4_ALLOWS_ONLY_UTF8 = 0x2
RET4_DURATION_INFINITE = 0xFFFF_FFFF_FFFF_FFFF
"""A retention that never ends (section 5.13)."""


class ChangeAttrType4(XdrEnum):
    """change_attr_type4: what the values of attribute `change` promise (RFC 7862 section 12.2.3)."""

    NFS4_CHANGE_TYPE_IS_MONOTONIC_INCR = 0
    NFS4_CHANGE_TYPE_IS_VERSION_COUNTER = 1
    NFS4_CHANGE_TYPE_IS_VERSION_COUNTER_NOPNFS = 2
    NFS4_CHANGE_TYPE_IS_TIME_METADATA = 3
    NFS4_CHANGE_TYPE_IS_UNDEFINED = 4


class LabelformatSpec4(Struct):
    """labelformat_spec4: how a security label is to be read (RFC 7862 section 12.2.4)."""

    lfs_lfs: Policy4
    lfs_pi: Policy4


class SecLabel4(Struct):
    """sec_label4: a label of mandatory access control (RFC 7862 section 12.2.4)."""

    slai_lfs: LabelformatSpec4
    slai_data: t.Annotated[bytes, Opaque()]


class ModeMasked4(Struct):
    """mode_masked4: sets some bits of `mode` (section 6.2.5)."""

    mm_value_to_set: Mode4
    mm_mask_bits: Mode4


class ModeUmask4(Struct):
    """mode_umask4: a mode and the umask of its creator, which an inherited ACL makes void (RFC 8275 section 4)."""

    mu_mode: Mode4
    mu_umask: Mode4


class RetentionGet4(Struct):
    """retention_get4: how long an object is retained, and since when (section 5.13)."""

    rg_duration: u64
    rg_begin_time: t.Annotated[list[Nfstime4], Array(1)]


class RetentionSet4(Struct):
    """retention_set4: begins a retention, or sets how long one will be (section 5.13)."""

    rs_enable: bool
    rs_duration: t.Annotated[list[u64], Array(1)]


@dataclass(frozen=True, slots=True)
class Attribute(Bit):
    """What the RFCs say of an attribute besides its name and type."""

    access: t.Literal["R", "W", "RW"]
    """GETATTR gives it (R), SETATTR takes it (W)."""
    per: t.Literal["object", "fs", "server"] = "object"
    """What shares one value (section 5.4)."""
    since: int = 0
    """The minor version that brought it."""
    required: bool = False
    """REQUIRED of a server of those minor versions; the others are RECOMMENDED."""

    @property
    def is_readable(self) -> bool:
        return "R" in self.access

    @property
    def is_settable(self) -> bool:
        return "W" in self.access


_MOST_NAMES = 4096


def names_of(words: Iterable[int]) -> list[str]:
    """The names of the attributes in a bitmap4; unknown ones by their numbers, the first few thousand of them."""
    bits = itertools.islice(bits_of(words), _MOST_NAMES)
    return [ATTRIBUTES[bit].name if bit in ATTRIBUTES else str(bit) for bit in bits]


AttributeBits4 = t.Annotated[list[u32], Array(bits=names_of)]
"""A bitmap4 whose bits are attributes."""


class Fattr4(AttributeMap):
    """fattr4: the attributes that are there, others are None (section 3.3.7).

    Unknown ones, and all after them, stay as bytes in `rest`, with their bits in `attrmask`.
    """

    supported_attrs: t.Annotated[AttributeBits4 | None, Attribute(0, "R", per="fs", required=True)] = None
    """Section 5.8.1.1. The attributes that the object's file system supports."""
    type: t.Annotated[NfsFtype4 | None, Attribute(1, "R", required=True)] = None
    """Section 5.8.1.2."""
    fh_expire_type: t.Annotated[u32 | None, Attribute(2, "R", per="fs", required=True)] = None
    """Section 5.8.1.3. FH4_* bits: when filehandles expire."""
    change: t.Annotated[Changeid4 | None, Attribute(3, "R", required=True)] = None
    """Section 5.8.1.4. Another value whenever data or attributes change; need not grow."""
    size: t.Annotated[u64 | None, Attribute(4, "RW", required=True)] = None
    """Section 5.8.1.5."""
    link_support: t.Annotated[bool | None, Attribute(5, "R", per="fs", required=True)] = None
    """Section 5.8.1.6."""
    symlink_support: t.Annotated[bool | None, Attribute(6, "R", per="fs", required=True)] = None
    """Section 5.8.1.7."""
    named_attr: t.Annotated[bool | None, Attribute(7, "R", required=True)] = None
    """Section 5.8.1.8. Whether the object has named attributes."""
    fsid: t.Annotated[Fsid4 | None, Attribute(8, "R", required=True), Lazy()] = None
    """Section 5.8.1.9."""
    unique_handles: t.Annotated[bool | None, Attribute(9, "R", per="fs", required=True)] = None
    """Section 5.8.1.10."""
    lease_time: t.Annotated[NfsLease4 | None, Attribute(10, "R", per="server", required=True)] = None
    """Section 5.8.1.11."""
    rdattr_error: t.Annotated[Nfsstat4 | None, Attribute(11, "R", required=True)] = None
    """Section 5.8.1.12. Why READDIR could not give the attributes of this entry."""
    acl: t.Annotated[list[Nfsace4] | None, Array(), Attribute(12, "RW")] = None
    """Section 6.2.1."""
    aclsupport: t.Annotated[u32 | None, Attribute(13, "R", per="fs")] = None
    """Section 6.2.1.2. ACL4_SUPPORT_* bits."""
    archive: t.Annotated[bool | None, Attribute(14, "RW")] = None
    """Section 5.8.2.1."""
    cansettime: t.Annotated[bool | None, Attribute(15, "R", per="fs")] = None
    """Section 5.8.2.2."""
    case_insensitive: t.Annotated[bool | None, Attribute(16, "R", per="fs")] = None
    """Section 5.8.2.3."""
    case_preserving: t.Annotated[bool | None, Attribute(17, "R", per="fs")] = None
    """Section 5.8.2.4."""
    chown_restricted: t.Annotated[bool | None, Attribute(18, "R", per="fs")] = None
    """Section 5.8.2.6."""
    filehandle: t.Annotated[NfsFh4 | None, Attribute(19, "R", required=True)] = None
    """Section 5.8.1.13."""
    fileid: t.Annotated[u64 | None, Attribute(20, "R")] = None
    """Section 5.8.2.7."""
    files_avail: t.Annotated[u64 | None, Attribute(21, "R", per="fs")] = None
    """Section 5.8.2.8."""
    files_free: t.Annotated[u64 | None, Attribute(22, "R", per="fs")] = None
    """Section 5.8.2.9."""
    files_total: t.Annotated[u64 | None, Attribute(23, "R", per="fs")] = None
    """Section 5.8.2.10."""
    fs_locations: t.Annotated[FsLocations4 | None, Attribute(24, "R", per="fs")] = None
    """Section 5.8.2.12."""
    hidden: t.Annotated[bool | None, Attribute(25, "RW")] = None
    """Section 5.8.2.15."""
    homogeneous: t.Annotated[bool | None, Attribute(26, "R", per="fs")] = None
    """Section 5.8.2.16."""
    maxfilesize: t.Annotated[u64 | None, Attribute(27, "R", per="fs")] = None
    """Section 5.8.2.17."""
    maxlink: t.Annotated[u32 | None, Attribute(28, "R")] = None
    """Section 5.8.2.18."""
    maxname: t.Annotated[u32 | None, Attribute(29, "R", per="fs")] = None
    """Section 5.8.2.19."""
    maxread: t.Annotated[u64 | None, Attribute(30, "R", per="fs")] = None
    """Section 5.8.2.20."""
    maxwrite: t.Annotated[u64 | None, Attribute(31, "R", per="fs")] = None
    """Section 5.8.2.21."""
    mimetype: t.Annotated[Utf8strCs | None, Attribute(32, "RW")] = None
    """Section 5.8.2.22."""
    mode: t.Annotated[Mode4 | None, Attribute(33, "RW")] = None
    """Section 6.2.4."""
    no_trunc: t.Annotated[bool | None, Attribute(34, "R", per="fs")] = None
    """Section 5.8.2.24."""
    numlinks: t.Annotated[u32 | None, Attribute(35, "R")] = None
    """Section 5.8.2.25."""
    owner: t.Annotated[Principal4 | None, Attribute(36, "RW")] = None
    """Section 5.8.2.26. `name@domain`, or decimal digits."""
    owner_group: t.Annotated[Principal4 | None, Attribute(37, "RW")] = None
    """Section 5.8.2.27."""
    quota_avail_hard: t.Annotated[u64 | None, Attribute(38, "R")] = None
    """Section 5.8.2.28."""
    quota_avail_soft: t.Annotated[u64 | None, Attribute(39, "R")] = None
    """Section 5.8.2.29."""
    quota_used: t.Annotated[u64 | None, Attribute(40, "R")] = None
    """Section 5.8.2.30."""
    rawdev: t.Annotated[Specdata4 | None, Attribute(41, "R"), Lazy()] = None
    """Section 5.8.2.31."""
    space_avail: t.Annotated[u64 | None, Attribute(42, "R", per="fs")] = None
    """Section 5.8.2.32."""
    space_free: t.Annotated[u64 | None, Attribute(43, "R", per="fs")] = None
    """Section 5.8.2.33."""
    space_total: t.Annotated[u64 | None, Attribute(44, "R", per="fs")] = None
    """Section 5.8.2.34."""
    space_used: t.Annotated[u64 | None, Attribute(45, "R")] = None
    """Section 5.8.2.35."""
    system: t.Annotated[bool | None, Attribute(46, "RW")] = None
    """Section 5.8.2.36."""
    time_access: t.Annotated[Nfstime4 | None, Attribute(47, "R"), Lazy()] = None
    """Section 5.8.2.37."""
    time_access_set: t.Annotated[Settime4 | None, Attribute(48, "W")] = None
    """Section 5.8.2.38."""
    time_backup: t.Annotated[Nfstime4 | None, Attribute(49, "RW"), Lazy()] = None
    """Section 5.8.2.39."""
    time_create: t.Annotated[Nfstime4 | None, Attribute(50, "RW"), Lazy()] = None
    """Section 5.8.2.40."""
    time_delta: t.Annotated[Nfstime4 | None, Attribute(51, "R", per="fs"), Lazy()] = None
    """Section 5.8.2.41."""
    time_metadata: t.Annotated[Nfstime4 | None, Attribute(52, "R"), Lazy()] = None
    """Section 5.8.2.42."""
    time_modify: t.Annotated[Nfstime4 | None, Attribute(53, "R"), Lazy()] = None
    """Section 5.8.2.43."""
    time_modify_set: t.Annotated[Settime4 | None, Attribute(54, "W")] = None
    """Section 5.8.2.44."""
    mounted_on_fileid: t.Annotated[u64 | None, Attribute(55, "R")] = None
    """Section 5.8.2.23. At the root of a file system the fileid of the directory under it."""
    dir_notif_delay: t.Annotated[Nfstime4 | None, Attribute(56, "R", since=1), Lazy()] = None
    """Section 5.11.1."""
    dirent_notif_delay: t.Annotated[Nfstime4 | None, Attribute(57, "R", since=1), Lazy()] = None
    """Section 5.11.2."""
    dacl: t.Annotated[Nfsacl41 | None, Attribute(58, "RW", since=1)] = None
    """Section 6.2.2."""
    sacl: t.Annotated[Nfsacl41 | None, Attribute(59, "RW", since=1)] = None
    """Section 6.2.3."""
    change_policy: t.Annotated[ChangePolicy4 | None, Attribute(60, "R", per="fs", since=1)] = None
    """Section 5.8.2.5."""
    fs_status: t.Annotated[Fs4Status | None, Attribute(61, "R", per="fs", since=1)] = None
    """Section 5.8.2.14."""
    fs_layout_types: t.Annotated[list[Layouttype4] | None, Array(), Attribute(62, "R", per="fs", since=1)] = (
        None
    )
    """Section 5.12.1. The table of section 5.7 calls it fs_layout_type."""
    layout_hint: t.Annotated[Layouthint4 | None, Attribute(63, "W", since=1)] = None
    """Section 5.12.4."""
    layout_types: t.Annotated[list[Layouttype4] | None, Array(), Attribute(64, "R", since=1)] = None
    """Section 5.12.5. The table of section 5.7 calls it layout_type."""
    layout_blksize: t.Annotated[u32 | None, Attribute(65, "R", since=1)] = None
    """Section 5.12.3."""
    layout_alignment: t.Annotated[u32 | None, Attribute(66, "R", since=1)] = None
    """Section 5.12.2."""
    fs_locations_info: t.Annotated[FsLocationsInfo4 | None, Attribute(67, "R", per="fs", since=1)] = None
    """Section 5.8.2.13."""
    mdsthreshold: t.Annotated[Mdsthreshold4 | None, Attribute(68, "R", since=1)] = None
    """Section 5.12.6."""
    retention_get: t.Annotated[RetentionGet4 | None, Attribute(69, "R", since=1)] = None
    """Section 5.13.1."""
    retention_set: t.Annotated[RetentionSet4 | None, Attribute(70, "W", since=1)] = None
    """Section 5.13.2."""
    retentevt_get: t.Annotated[RetentionGet4 | None, Attribute(71, "R", since=1)] = None
    """Section 5.13.3."""
    retentevt_set: t.Annotated[RetentionSet4 | None, Attribute(72, "W", since=1)] = None
    """Section 5.13.4."""
    retention_hold: t.Annotated[u64 | None, Attribute(73, "RW", since=1)] = None
    """Section 5.13.5."""
    mode_set_masked: t.Annotated[ModeMasked4 | None, Attribute(74, "W", since=1)] = None
    """Section 6.2.5."""
    suppattr_exclcreat: t.Annotated[
        AttributeBits4 | None, Attribute(75, "R", per="fs", since=1, required=True)
    ] = None
    """Section 5.8.1.14. What EXCLUSIVE4_1 can set."""
    fs_charset_cap: t.Annotated[u32 | None, Attribute(76, "R", per="fs", since=1)] = None
    """Section 5.8.2.11. FSCHARSET_CAP4_* bits."""
    clone_blksize: t.Annotated[u32 | None, Attribute(77, "R", per="fs", since=2)] = None
    """RFC 7862 section 12.2.1."""
    space_freed: t.Annotated[Length4 | None, Attribute(78, "R", since=2)] = None
    """RFC 7862 section 12.2.2. Bytes that removing the object would free."""
    change_attr_type: t.Annotated[ChangeAttrType4 | None, Attribute(79, "R", per="fs", since=2)] = None
    """RFC 7862 section 12.2.3."""
    sec_label: t.Annotated[SecLabel4 | None, Attribute(80, "RW", since=2)] = None
    """RFC 7862 section 12.2.4."""
    mode_umask: t.Annotated[ModeUmask4 | None, Attribute(81, "W", since=2)] = None
    """RFC 8275 section 4."""
    xattr_support: t.Annotated[bool | None, Attribute(82, "R", per="fs", since=2)] = None
    """RFC 8276 section 8.2.1."""


class AttributeInfo(t.NamedTuple):
    """One attribute with its number and name."""

    number: int
    name: str
    about: Attribute


ATTRIBUTES: t.Final[dict[int, AttributeInfo]] = {
    number: AttributeInfo(number, field.name, t.cast("Attribute", field.bit))
    for number, field in attributes_of(Fattr4).items()
}
"""Number -> attribute."""
NUMBERS: t.Final[dict[str, int]] = {attribute.name: number for number, attribute in ATTRIBUTES.items()}
"""Name -> number."""


def attributes_since(minor: int) -> tuple[AttributeInfo, ...]:
    """The attributes that a minor version has."""
    return tuple(attribute for attribute in ATTRIBUTES.values() if attribute.about.since <= minor)


def bitmap(*names: str) -> list[int]:
    """A bitmap4 with these attributes, to ask for them. Raises KeyError for a name that is none."""
    return list(_mask_named(names))


@functools.lru_cache(maxsize=256)
def _mask_named(names: tuple[str, ...]) -> tuple[int, ...]:
    return mask_of(NUMBERS[name] for name in names)


class NotSettable(NfsClientError):
    """Attributes that no SETATTR or creation can set were to be set."""


def settable(attributes: Fattr4) -> Fattr4:
    """The same attributes. Raises `NotSettable` if one of them cannot be set, or is none that is known."""
    refused = [
        name
        for bit, name in zip(bits_of(attributes.attrmask), names_of(attributes.attrmask), strict=False)
        if bit not in ATTRIBUTES or not ATTRIBUTES[bit].about.is_settable
    ]
    if refused:
        raise NotSettable(f"no SETATTR can set {', '.join(refused)}")
    return attributes
