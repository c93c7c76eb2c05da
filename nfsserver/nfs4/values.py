# SPDX-License-Identifier: MIT
"""The values of attributes: how each is read from an object, and what SETATTR makes of what it is given.

RFC 5661 section 5; attributes of 4.2 by RFC 7862 section 12 and RFC 8276.
"""

from __future__ import annotations

import dataclasses
import errno
import functools
import typing as t
from collections.abc import Callable
from dataclasses import dataclass

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import ATTRIBUTES, NUMBERS, Fattr4, Nfsstat4
from nfsclient.xdr import bits_of, mask_of
from nfsserver.fs import NOW, Changes, FsError, Inode, Kind, Time
from nfsserver.fs.inode import Reported
from nfsserver.handlers import ServerApi
from nfsserver.nfs4 import acls, locations, optional, owners
from nfsserver.nfs4.common import Nfs4Error

SECOND: t.Final = 1_000_000_000
"""In nanoseconds."""


class View:
    """An object whose attributes are read."""

    def __init__(self, server: ServerApi, inode: Inode, minor: int) -> None:
        self.server = server
        self.inode = inode
        self.minor = minor
        self.reported: Reported = inode.reported()
        self.limits = inode.fs.limits


def nfstime4(nanoseconds: int) -> p.Nfstime4:
    """A time as the wire has it."""
    return p.Nfstime4(*divmod(nanoseconds, SECOND))


def _mounted_on(view: View) -> int:
    covered = view.server.backend.pseudo.covered(view.inode)
    return view.inode.fileid if covered is None else covered.fileid


def _expiry(view: View) -> int:
    return p.FH4_VOL_RENAME if view.limits.stale_on_rename else p.FH4_PERSISTENT


_TYPES: t.Final = {kind: p.NfsFtype4(kind) for kind in Kind}


def _type(view: View) -> p.NfsFtype4:
    inode = view.inode
    if inode.attribute_of is None:
        return _TYPES[inode.kind]
    return p.NfsFtype4.NF4ATTRDIR if inode.kind is Kind.DIRECTORY else p.NfsFtype4.NF4NAMEDATTR


def _has_named_attributes(view: View) -> bool:
    directory = view.inode.attributes if view.server.knobs.now.named_attributes else None
    return directory is not None and bool(len(directory.directory or ()))


def lacking(server: ServerApi) -> frozenset[str]:
    """Attributes that the server does not have, by its knobs: whoever answers MOVED says where to (section 11.2)."""
    now = server.knobs.now
    if now.optional_attributes:
        return frozenset()
    return frozenset(optional.READERS).difference(locations.READERS if now.referral else ())


def _at_creation(view: View) -> list[int]:
    lacks = lacking(view.server)
    return list(mask_of(number for number in bits_of(AT_CREATION) if ATTRIBUTES[number].name not in lacks))


def _optional(reading: Callable[[ServerApi, Inode], t.Any]) -> Callable[[View], t.Any]:
    return lambda view: reading(view.server, view.inode)


_READERS: t.Final[dict[str, Callable[[View], t.Any]]] = {
    "supported_attrs": lambda view: list(supported(view.minor, lacking(view.server))),
    "type": _type,
    "fh_expire_type": _expiry,
    "change": lambda view: view.inode.change,
    "size": lambda view: view.reported.size,
    "link_support": lambda view: view.limits.hard_links,
    "symlink_support": lambda view: view.limits.symlinks,
    "named_attr": _has_named_attributes,
    "fsid": lambda view: p.Fsid4(view.inode.fs.fsid, 0),
    "unique_handles": lambda view: not view.server.knobs.now.several_handles,
    "lease_time": lambda view: int(view.server.states.lease),
    "rdattr_error": lambda _view: Nfsstat4.NFS4_OK,
    "acl": lambda view: acls.acl_of(view.inode),
    "aclsupport": lambda _view: p.ACL4_SUPPORT_ALLOW_ACL | p.ACL4_SUPPORT_DENY_ACL,
    "cansettime": lambda _view: True,
    "case_insensitive": lambda view: view.limits.case_insensitive,
    "case_preserving": lambda _view: True,
    "chown_restricted": lambda _view: True,
    "filehandle": lambda view: view.server.backend.handle_of(view.inode),
    "fileid": lambda view: view.inode.fileid,
    "files_avail": lambda view: view.inode.fs.statistics().free_files,
    "files_free": lambda view: view.inode.fs.statistics().free_files,
    "files_total": lambda view: view.inode.fs.statistics().total_files,
    "homogeneous": lambda _view: True,
    "maxfilesize": lambda view: view.limits.max_file_size,
    "maxlink": lambda view: view.limits.link_max,
    "maxname": lambda view: view.limits.name_max,
    "maxread": lambda view: view.limits.read_max,
    "maxwrite": lambda view: view.limits.write_max,
    "mode": lambda view: view.inode.mode,
    "no_trunc": lambda _view: True,
    "numlinks": lambda view: view.reported.nlink,
    "owner": lambda view: owners.spell(view.server, view.inode.uid, "user"),
    "owner_group": lambda view: owners.spell(view.server, view.inode.gid, "group"),
    "rawdev": lambda view: p.Specdata4(*view.inode.rdev),
    "space_avail": lambda view: view.inode.fs.statistics().free_bytes,
    "space_free": lambda view: view.inode.fs.statistics().free_bytes,
    "space_total": lambda view: view.inode.fs.statistics().total_bytes,
    "space_used": lambda view: view.reported.used,
    "time_access": lambda view: nfstime4(view.inode.atime),
    "time_create": lambda view: nfstime4(view.inode.born),
    "time_delta": lambda view: nfstime4(view.limits.time_granularity),
    "time_metadata": lambda view: nfstime4(view.reported.ctime),
    "time_modify": lambda view: nfstime4(view.reported.mtime),
    "mounted_on_fileid": _mounted_on,
    "suppattr_exclcreat": _at_creation,
    "fs_charset_cap": lambda view: (
        p.FSCHARSET_CAP4_ALLOWS_ONLY_UTF8
        if view.server.knobs.now.utf8_names
        else p.FSCHARSET_CAP4_CONTAINS_NON_UTF8
    ),
    "change_attr_type": lambda _view: p.ChangeAttrType4.NFS4_CHANGE_TYPE_IS_MONOTONIC_INCR,
    "xattr_support": lambda _view: True,
    **{name: _optional(read) for name, read in optional.READERS.items()},
}
"""How an attribute is read. What is not here is not supported, those that can only be set apart."""
_SET_ONLY: t.Final = ("time_access_set", "time_modify_set", "mode_set_masked", "mode_umask")
AT_CREATION: t.Final[tuple[int, ...]] = mask_of(
    NUMBERS[name]
    for name in (
        "size",
        "mode",
        "owner",
        "owner_group",
        "time_access_set",
        "time_modify_set",
        "time_create",
        "acl",
        *optional.MARKS,
    )
)
"""What EXCLUSIVE4_1 sets: `mode_set_masked` is for SETATTR only (section 6.2.5)."""
_MODES: t.Final = frozenset({"mode", "mode_set_masked", "mode_umask", "acl"})
_SETTABLE: t.Final = frozenset(
    {"size", "acl", "mode", "owner", "owner_group", "time_create", *_SET_ONLY, *optional.MARKS}
)
_BITS: t.Final = {NUMBERS[name]: (name, read) for name, read in _READERS.items()}


def supported(minor: int, lacks: frozenset[str] = frozenset()) -> tuple[int, ...]:
    """The bitmap of the attributes that the server has in a minor version, without those that it lacks."""
    names = [name for name in (*_READERS, *_SET_ONLY) if name not in lacks]
    return mask_of(NUMBERS[name] for name in names if ATTRIBUTES[NUMBERS[name]].about.since <= minor)


def read(view: View, asked: t.Iterable[int]) -> Fattr4:
    """The attributes of a bitmap that the server supports. Raises INVAL for one that can only be set.

    Of an absent file system those that it has; MOVED if none of them says where it is (section 11.3.1).
    """
    if view.server.backend.pseudo.is_absent(view.inode):
        names = _names(asked, view.minor)
        if not locations.has_location(names):
            raise Nfs4Error(Nfsstat4.NFS4ERR_MOVED)
        return _of_absent(view, names)
    mask, readers = _readers_of(tuple(asked), view.minor, lacking(view.server))
    return Fattr4(attrmask=mask, **{name: reader(view) for name, reader in readers})


def read_entry(view: View, asked: t.Iterable[int]) -> Fattr4:
    """The same for an entry of READDIR: with `rdattr_error`, absence is no error of the page (section 11.3.2)."""
    if not view.server.backend.pseudo.is_absent(view.inode):
        return read(view, asked)
    names = _names(asked, view.minor)
    if locations.has_location(names) or "rdattr_error" not in names:
        return read(view, asked)
    return _of_absent(view, names).changed(rdattr_error=Nfsstat4.NFS4ERR_MOVED)


def _names(asked: t.Iterable[int], minor: int) -> list[str]:
    return [
        ATTRIBUTES[number].name
        for number in bits_of(asked)
        if number in ATTRIBUTES and ATTRIBUTES[number].about.since <= minor
    ]


def _of_absent(view: View, names: list[str]) -> Fattr4:
    given = [name for name in names if name in locations.OF_ABSENT]
    mask = mask_of(NUMBERS[name] for name in given)
    return Fattr4(attrmask=mask, **{name: _READERS[name](view) for name in given})


@functools.lru_cache(maxsize=256)
def _readers_of(
    asked: tuple[int, ...], minor: int, lacks: frozenset[str]
) -> tuple[tuple[int, ...], tuple[tuple[str, Callable[[View], t.Any]], ...]]:
    """The bitmap of what is supported of `asked`, and what reads it. Raises INVAL."""
    numbers: list[int] = []
    for number in bits_of(asked):
        info = ATTRIBUTES.get(number)
        if info is None or info.about.since > minor:
            continue
        if not info.about.is_readable:
            raise Nfs4Error(Nfsstat4.NFS4ERR_INVAL)
        if number in _BITS and info.name not in lacks:
            numbers.append(number)
    return mask_of(numbers), tuple(_BITS[number] for number in numbers)


# ---------------------------------------------------------------- setting


@dataclass(frozen=True, slots=True)
class Setting:
    """What attributes ask for."""

    changes: Changes
    acl: list[p.Nfsace4] | None
    names: tuple[str, ...]
    """The attributes, by name."""

    def without_mode(self) -> Setting:
        """The same, except for the mode."""
        names = tuple(name for name in self.names if name not in _MODES)
        return Setting(dataclasses.replace(self.changes, mode=None), None, names)

    @property
    def mask(self) -> list[int]:
        """Their bitmap."""
        return list(mask_of(NUMBERS[name] for name in self.names))


def setting_of(server: ServerApi, given: Fattr4, minor: int, mode: int | None = None) -> Setting:
    """What is to be set on an object whose mode is `mode`; None: on one that is being made.

    Raises ATTRNOTSUPP for attributes that the server does not have, INVAL for those that nobody can set and for values
    that none can have, BADOWNER.
    """
    names, lacks = [], lacking(server)
    for number in bits_of(given.attrmask):
        info = ATTRIBUTES.get(number)
        is_known = info is not None and info.about.since <= minor and info.name not in lacks
        if not is_known or info is None or not (number in _BITS or info.name in _SET_ONLY):
            raise Nfs4Error(Nfsstat4.NFS4ERR_ATTRNOTSUPP)
        if info.name not in _SETTABLE:
            raise Nfs4Error(Nfsstat4.NFS4ERR_INVAL)
        names.append(info.name)
    if sum(name in names for name in ("mode", "mode_set_masked", "mode_umask")) > 1:
        raise Nfs4Error(Nfsstat4.NFS4ERR_INVAL)
    wanted = _mode(given, mode)
    if given.acl is not None:
        wanted = acls.mode_of(given.acl, (mode or 0) if wanted is None else wanted)
    changes = Changes(
        mode=wanted,
        uid=None if given.owner is None else owners.parse(given.owner),
        gid=None if given.owner_group is None else owners.parse(given.owner_group),
        size=given.size,
        atime=_time(given.time_access_set),
        mtime=_time(given.time_modify_set),
        born=None if given.time_create is None else nanoseconds(given.time_create),
        marks=optional.marks_of(given) or None,
    )
    return Setting(changes, given.acl, tuple(names))


def _mode(given: Fattr4, mode: int | None) -> int | None:
    """The mode. Raises INVAL; `mode_set_masked` is for objects that exist, `mode_umask` for new ones (RFC 8275)."""
    masked, umasked = given.mode_set_masked, given.mode_umask
    if (umasked if mode is not None else masked) is not None:
        raise Nfs4Error(Nfsstat4.NFS4ERR_INVAL)
    if given.mode is not None:
        if given.mode & ~0o7777:
            raise Nfs4Error(Nfsstat4.NFS4ERR_INVAL)
        return given.mode
    if masked is not None:
        if (masked.mm_value_to_set | masked.mm_mask_bits) & ~0o7777:
            raise Nfs4Error(Nfsstat4.NFS4ERR_INVAL)
        return (mode or 0) & ~masked.mm_mask_bits | masked.mm_value_to_set & masked.mm_mask_bits
    return None if umasked is None else umasked.mu_mode & ~umasked.mu_umask & 0o7777


def _time(asked: p.Settime4 | None) -> Time | None:
    if asked is None:
        return None
    if asked.time is None:
        return NOW
    return nanoseconds(asked.time)


def nanoseconds(time: p.Nfstime4) -> int:
    """A time of the wire as the file system has it. Raises `FsError` (EINVAL)."""
    if time.nseconds >= SECOND:
        raise FsError(errno.EINVAL, "nseconds are no part of a second")
    return time.seconds * SECOND + time.nseconds
