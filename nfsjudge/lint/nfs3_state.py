# SPDX-License-Identifier: MIT
"""Rules for NFSv3 replies that contradict what the same server said before (RFC 1813).

What was said before binds only while nothing that is seen, and nobody unseen, can have changed it: see `world`.
"""

from __future__ import annotations

import re
import typing as t
from operator import attrgetter

from nfsclient.protocol import nfs3
from nfsclient.protocol.nfs2 import Timeval
from nfsclient.protocol.nfs3 import (
    ACCESS3_EXTEND,
    ACCESS3_LOOKUP,
    ACCESS3_MODIFY,
    ACCESS3_READ,
    FSF3_LINK,
    FSF3_SYMLINK,
    CreateMode3,
    Ftype3,
    Nfsstat3,
    Nfstime3,
    Sattr3,
    StableHow,
    WccAttr,
)
from nfsjudge.harm import Harm
from nfsjudge.lint.case import Case
from nfsjudge.lint.nfs3_rules import ALL
from nfsjudge.lint.nfs3_views import MAKERS, sets_times
from nfsjudge.lint.rule import Breach, rule
from nfsjudge.lint.seen import Attributes, Source, View
from nfsjudge.lint.world import Named, is_directory, moment, same_user
from nfsjudge.requirement import may, must, should, stated

_HOUR: t.Final = 3600
_SECOND: t.Final = 1_000_000_000
_TICK: t.Final = 25_000_000
"""Nanoseconds: clocks of servers tick at least this often, unless their times show that they are coarser."""
_COARSE_TICK: t.Final = 2 * _SECOND
"""The same where times have whole seconds, and between times of two objects, which two clocks may give."""


# ---------------------------------------------------------------- objects

ONE_HANDLE_ONE_FILE = must(
    "RFC 1813",
    "2.5",
    "equal file handles refer to the same file: its type, fsid and fileid stay what they are",
    harm=Harm.DATA,
)
ATTRIBUTES_AGREE = stated(
    "RFC 1813",
    "2.5",
    "attributes that a reply carries are those of the object: nothing changed them since the last ones",
)
BEFORE_IS_BEFORE = stated(
    "RFC 1813",
    "2.5",
    "the attributes before an operation are those that the object had: nothing changed them since",
)
BEFORE_OF_DIRECTORIES = should(
    "RFC 1813",
    "2.5",
    "the size and times of a directory before an operation are those that it had, unless they are updated later",
)
CTIME_MOVES = should(  # what changed the file is not known here
    "RFC 1813", "2.5", "writing to a file, or changing its size, changes its ctime in addition to its mtime"
)
TIMES_GO_ON = should(
    "RFC 1813", "2.5", "ctime is when attributes were last changed: a later change is not at an earlier time"
)
_STILL: t.Final = ("type", "mode", "uid", "gid", "fsid", "fileid")
_REGULAR, _DIRECTORY, _BLOCK, _CHARACTER, _LINK = 1, 2, 3, 4, 5
"""Types of objects, the same in both versions."""


def _still(kind: int) -> tuple[str, ...]:
    """Fields that cannot drift. Sizes and link counts of directories, and fields without meaning, may."""
    if kind == _DIRECTORY:
        return _STILL
    if kind in {_BLOCK, _CHARACTER}:
        return (*_STILL, "nlink", "rdev")
    return (*_STILL, "nlink", "size") if kind in {_REGULAR, _LINK} else (*_STILL, "nlink")


@rule(
    "nfs3/handle-same-object",
    ONE_HANDLE_ONE_FILE,
    of=ALL,
    killed_by=("getattr3-wrong-type", "commit3-after-has-another-fileid"),
    when="shown",
)
def handle_same_object(case: Case) -> Breach | None:
    """A different object for the same handle."""
    for view in case.views:
        first = case.world.first(view.handle)
        if view.after is None or first is None:
            continue
        # Over UDP a server may have restarted unnoticed, and that may change fsid.
        names = ("type", "fileid") if case.exchange.transport == "udp" else ("type", "fsid", "fileid")
        for name in names:
            was, now = getattr(first, name), getattr(view.after, name)
            if was != now:
                seen = f"{name} of the handle was {was}, and is {now}"
                origin = case.world.facts[view.handle].origin
                return Breach(f"{name} is {was}", seen, f"{view.path}{_after(view)}.{name}", _number(origin))
    return None


def _number(source: Source | None) -> int | None:
    return None if source is None else source.number


def _after(view: View) -> str:
    """The step from a wcc_data to its attributes."""
    return ".after" if view.path.endswith("wcc") else ""


@rule(
    "nfs3/attributes-agree",
    ATTRIBUTES_AGREE,
    of=ALL,
    killed_by=("getattr3-rounds-small-sizes-up", "link3-keeps-nlink"),
    when="shown",
)
def attributes_agree(case: Case) -> Breach | None:
    """Attributes that differ from the last ones, though nothing changed the object."""
    for view in case.views:
        if view.after is None or view.changes:
            continue
        facts = case.known(view.handle)
        if facts is None or facts.attributes is None:
            continue
        for name in _still(int(view.after.type)):
            was, now = getattr(facts.attributes, name), getattr(view.after, name)
            if was != now:
                seen = f"{name} is {now}, and was {was} with nothing in between that changes it"
                return Breach(
                    f"{name} is {was}", seen, f"{view.path}{_after(view)}.{name}", _number(facts.source)
                )
    return None


@rule(
    "nfs3/wcc-before",
    BEFORE_IS_BEFORE,
    of=ALL,
    killed_by=(
        "setattr3-before-is-after",
        "commit3-before-has-no-size",
        "wcc3-caches-files-by-connection",
    ),
    when="shown",
)
def wcc_before(case: Case) -> Breach | None:
    """A `before` that differs from the last attributes: one of the two is wrong."""
    return _before_differs(case, of_directories=False)


@rule(
    "nfs3/wcc-before-directory",
    BEFORE_OF_DIRECTORIES,
    of=ALL,
    killed_by=("wcc3-before-is-from-after", "wcc3-caches-directories-by-connection"),
    when="shown",
)
def wcc_before_directory(case: Case) -> Breach | None:
    """A `before` of a directory that differs from its last attributes: one of the two is wrong."""
    return _before_differs(case, of_directories=True)


def _before_differs(case: Case, *, of_directories: bool) -> Breach | None:
    for view in case.views:
        if view.before is None:
            continue
        facts = case.known(view.handle)
        if facts is None or facts.attributes is None or is_directory(facts.attributes) is not of_directories:
            continue
        name = _differs(view.before, facts.attributes, drifts=case.world.is_any(view.handle, "drifts"))
        if name is not None:
            was, now = _show(getattr(facts.attributes, name)), _show(getattr(view.before, name))
            seen = (
                f"before.{name} is {now}, and {name} was {was} with nothing in between that changes it: "
                f"this `before`, or the earlier {name}, is wrong"
            )
            return Breach(f"{name} is {was}", seen, f"{view.path}.before.{name}", _number(facts.source))
    return None


def _differs(before: WccAttr, known: Attributes, *, drifts: bool) -> str | None:
    if before.size != known.size:
        return "size"
    if drifts:
        return None
    return next((name for name in ("mtime", "ctime") if getattr(before, name) != getattr(known, name)), None)


def _show(value: t.Any) -> str:
    if isinstance(value, Timeval):
        return f"{value.seconds}.{value.useconds:06d}"
    return f"{value.seconds}.{value.nseconds:09d}" if isinstance(value, Nfstime3) else str(value)


def _order(moment: Nfstime3 | Timeval) -> tuple[int, int]:
    if isinstance(moment, Timeval):
        return moment.seconds, moment.useconds
    return moment.seconds, moment.nseconds


@rule("nfs3/ctime-backwards", TIMES_GO_ON, of=ALL, killed_by="getattr3-returns-an-old-ctime", when="shown")
def ctime_backwards(case: Case) -> Breach | None:
    """A ctime before the one that was seen last, of an object whose times nobody has set."""
    if sets_times(case.step):
        return None
    for view in case.views:
        facts = case.world.facts.get(view.handle)
        if (
            view.after is None
            or facts is None
            or facts.latest is None
            or case.world.first(view.handle) is None
        ):
            continue
        if case.world.is_any(view.handle, "drifts") or case.world.is_any(view.handle, "mtime_set"):
            continue
        if not case.is_alone(view.handle):
            continue
        was, now = facts.latest[0].ctime, view.after.ctime
        if _order(now) < _order(was):
            seen = f"ctime is {_show(now)}, and was {_show(was)}"
            return Breach(
                "ctime does not go back", seen, f"{view.path}{_after(view)}.ctime", facts.latest[1].number
            )
    return None


@rule("nfs3/ctime-stands", CTIME_MOVES, of=ALL, killed_by="write3-keeps-ctime", when="shown")
def ctime_stands(case: Case) -> Breach | None:
    """A ctime that stays what it was, though the size or the mtime of the file changed at least a tick later."""
    world = case.world
    if world.unseen or world.odd_times or sets_times(case.step):
        return None
    for view in case.views:
        facts = world.facts.get(view.handle)
        if view.after is None or facts is None or facts.latest is None or world.first(view.handle) is None:
            continue
        was, source = facts.latest
        if view.after.ctime != was.ctime or view.after.type != _REGULAR or not case.is_alone(view.handle):
            continue
        if any(world.is_any(view.handle, what) for what in ("mtime_set", "undefined", "unstable")):
            continue
        name = next(
            (name for name in ("mtime", "size") if getattr(view.after, name) != getattr(was, name)), None
        )
        if name is not None and _ticked(was, view.after, facts.clock):
            before, now = _show(getattr(was, name)), _show(getattr(view.after, name))
            seen = f"ctime is {_show(was.ctime)} as before, and {name} was {before} and is {now}"
            return Breach("another ctime", seen, f"{view.path}{_after(view)}.ctime", source.number)
    return None


def _ticked(was: Attributes, now: Attributes, clock: int | None) -> bool:
    """Whether times that the server chose show that a file changed at least a tick after its ctime."""
    ctime = moment(was.ctime)
    tick = _TICK if ctime % _SECOND else _COARSE_TICK
    if now.mtime != was.mtime and moment(now.mtime) >= ctime + tick:
        return True
    return clock is not None and clock >= ctime + _COARSE_TICK


LISTED_ATTRIBUTES_AGREE = stated(
    "RFC 1813",
    "3.3.17",
    "name_attributes are the attributes of the object that the entry names: nothing changed them since the last ones",
)


@rule(
    "nfs3/listed-attributes",
    LISTED_ATTRIBUTES_AGREE,
    of=(nfs3.READDIRPLUS,),
    killed_by="readdirplus3-remembers-attributes-by-name",
)
def listed_attributes(case: Case) -> Breach | None:
    """Attributes of an entry that differ from the last ones of its object, though nothing changed that.

    The object is the one of the handle in the entry, and the one that LOOKUP found by the name. That the two handles
    differ breaks nothing (section 2.5), nor does one that becomes stale: access may be revoked at any time.
    """
    if case.ok is None or case.args is None:
        return None
    for at, entry in enumerate(case.ok.entries):
        if entry.name_attributes is None:
            continue
        said = said_of(case, nfs3.Diropargs3(case.args.dir, entry.name))
        for handle in (entry.name_handle, None if said is None else said.handle):
            if handle is None:
                continue
            found = _listed_differs(case, handle, entry.name_attributes, f"resok.entries[{at}]")
            if found is not None:
                return found
    return None


def _listed_differs(case: Case, handle: bytes, listed: nfs3.Fattr3, path: str) -> Breach | None:
    facts = case.known(handle)
    if facts is None or facts.attributes is None or facts.attributes.fsid != listed.fsid:
        return None  # LOOKUP may have crossed into another file system
    for name in _still(int(listed.type)):
        was, now = getattr(facts.attributes, name), getattr(listed, name)
        if was != now:
            seen = f"{name} of the entry is {now}, and was {was} with nothing in between that changes it"
            return Breach(f"{name} is {was}", seen, f"{path}.name_attributes.{name}", _number(facts.source))
    return None


# ---------------------------------------------------------------- what changes have to show

SIZE_AFTER_WRITE = stated(
    "RFC 1813", "3.3.7", "after a WRITE the file reaches to the end of what was written", harm=Harm.DATA
)
SIZE_AFTER_SETATTR = stated(
    "RFC 1813", "3.3.2", "SETATTR of a size that succeeds leaves the file with that size"
)
NLINK_AFTER_LINK = should(
    "RFC 1813", "2.5", "nlink is the number of names, though it may be simulated: LINK that succeeds adds one"
)
GUARD_IS_COMPARED = must(
    "RFC 1813", "3.3.2", "a guard that is not the object's ctime must be answered with NOT_SYNC"
)


@rule("nfs3/write-size", SIZE_AFTER_WRITE, of=(nfs3.WRITE,), killed_by="write3-after-is-before")
def write_size(case: Case) -> Breach | None:
    """A file that ends before what was written firmly into it."""
    ok, args = case.ok, case.args
    if ok is None or args is None or ok.file_wcc.after is None or not ok.count or ok.count > args.count:
        return None
    if ok.committed is StableHow.UNSTABLE or not case.is_alone(args.file):
        return None
    size, end = ok.file_wcc.after.size, args.offset + ok.count
    if size >= end or ok.file_wcc.after.type is not Ftype3.NF3REG:
        return None
    return Breach(f"size is at least {end}", f"size is {size}", "resok.file_wcc.after.size")


@rule("nfs3/setattr-size", SIZE_AFTER_SETATTR, of=(nfs3.SETATTR,), killed_by="setattr3-after-is-before")
def setattr_size(case: Case) -> Breach | None:
    """Another size than was set."""
    if case.ok is None or case.args is None or case.ok.obj_wcc.after is None:
        return None
    wanted, after = case.args.new_attributes.size, case.ok.obj_wcc.after
    if wanted is None or wanted == after.size or after.type is not Ftype3.NF3REG:
        return None
    if not case.is_alone(case.args.object):
        return None
    return Breach(f"size is {wanted}", f"size is {after.size}, {wanted} was set", "resok.obj_wcc.after.size")


@rule("nfs3/link-nlink", NLINK_AFTER_LINK, of=(nfs3.LINK,), killed_by="link3-returns-the-old-nlink")
def link_nlink(case: Case) -> Breach | None:
    """A new link that nlink does not count."""
    if case.ok is None or case.args is None or case.ok.file_attributes is None:
        return None
    facts = case.known(case.args.file)
    if facts is None or facts.attributes is None or is_directory(facts.attributes):
        return None
    was, now = facts.attributes.nlink, case.ok.file_attributes.nlink
    if now == was + 1:
        return None
    return Breach(
        f"nlink is {was + 1}",
        f"nlink is {now}, and was {was}",
        "resok.file_attributes.nlink",
        _number(facts.source),
    )


@rule(
    "nfs3/guard-ignored",
    GUARD_IS_COMPARED,
    of=(nfs3.SETATTR,),
    killed_by=("setattr3-ignores-guard", "setattr3-guard-compares-seconds-only"),
)
def guard_ignored(case: Case) -> Breach | None:
    """OK though the guard is hours away from ctime, or is an earlier ctime of the object."""
    if case.ok is None or case.args is None or case.args.guard is None:
        return None
    facts = case.known(case.args.object)
    if facts is None or facts.attributes is None or case.world.is_any(case.args.object, "drifts"):
        return None
    known, guard = facts.attributes.ctime, case.args.guard
    is_earlier = facts.earlier_ctime == guard and abs(moment(known) - moment(guard)) >= _TICK
    if not is_earlier and abs(known.seconds - guard.seconds) < _HOUR:
        return None
    seen = f"OK with guard {_show(guard)}, and ctime was {_show(known)}"
    return Breach("NFS3ERR_NOT_SYNC", seen, "status", _number(facts.source))


# ---------------------------------------------------------------- statuses that contradict

GRANTED_IS_ALLOWED = should(
    "RFC 1813",
    "3.3.4",
    "ACCESS returns what the user is allowed to do, until the server revokes it: nothing changed the object since",
)
EXIST_OF_ABSENT = should("RFC 1813", "2.6", "EXIST says that the file specified already exists")
NOENT_OF_PRESENT = should("RFC 1813", "2.6", "NOENT says that the name specified does not exist")
FSINFO_IS_KEPT = stated(
    "RFC 1813", "3.3.19", "a file system with FSF_LINK or FSF_SYMLINK supports hard or symbolic links"
)
_WRITING: t.Final = ACCESS3_MODIFY | ACCESS3_EXTEND
_MAKING: t.Final = ACCESS3_LOOKUP | _WRITING
_RIGHTS: t.Final[dict[t.Any, tuple[str, int, int]]] = {
    nfs3.READ: ("file", _REGULAR, ACCESS3_READ),
    nfs3.WRITE: ("file", _REGULAR, _WRITING),
    nfs3.READDIR: ("dir", _DIRECTORY, ACCESS3_READ),
    nfs3.READDIRPLUS: ("dir", _DIRECTORY, ACCESS3_READ | ACCESS3_LOOKUP),
    nfs3.LOOKUP: ("what.dir", _DIRECTORY, ACCESS3_LOOKUP),
    nfs3.CREATE: ("where.dir", _DIRECTORY, _MAKING),
    nfs3.MKDIR: ("where.dir", _DIRECTORY, _MAKING),
}
"""Operation -> the handle in its arguments, the type of that object, and the rights that allow the operation.

Removing and renaming are not among them: rights to the entry, or a sticky bit, may forbid these.
"""
_PLAIN_NAME: t.Final = re.compile(rb"[A-Za-z0-9_-]{1,64}")
"""Names that any server can store: it may refuse others with ACCES (RFC 1813 section 3.2)."""
VERIFIER_STAYS = may(
    "RFC 1813", "3.3.7", "a write verifier changes where uncommitted data may have been lost, and may change"
)


def said_of(case: Case, where: t.Any) -> Named | None:
    """Whether a name was proved there or absent by a call of the same user just before."""
    name = bytes(where.name)
    said = case.world.names.get((where.dir, name))
    if said is None or name in {b"", b".", b".."} or b"/" in name or not case.is_alone(where.dir):
        return None
    return said if same_user(said[1], case.exchange) else None


def _is_plain(case: Case) -> bool:
    """Whether only rights to the object can be a reason for denying the call."""
    args = case.args
    if case.operation is nfs3.CREATE and args.how.mode is not CreateMode3.GUARDED:
        return False  # a file of this name may exist, and not be writable
    if case.operation in {nfs3.CREATE, nfs3.MKDIR}:
        new: Sattr3 = args.how.obj_attributes if case.operation is nfs3.CREATE else args.attributes
        sets = (new.uid, new.gid, new.size)
        if sets_times(case.step) or any(time is not None for time in sets) or (new.mode or 0) & ~0o777:
            return False
    where = getattr(args, "where", None) or getattr(args, "what", None)
    return where is None or _PLAIN_NAME.fullmatch(bytes(where.name)) is not None


@rule(
    "nfs3/denied-though-granted",
    GRANTED_IS_ALLOWED,
    of=tuple(_RIGHTS),
    killed_by="read3-denies-what-access-granted",
    when="refused",
)
def denied_though_granted(case: Case) -> Breach | None:
    """A denial of what ACCESS granted to the same user, though nothing changed the object since."""
    if case.args is None or case.status not in {Nfsstat3.NFS3ERR_ACCES, Nfsstat3.NFS3ERR_PERM}:
        return None
    path, kind, rights = _RIGHTS[case.operation]
    handle: bytes = attrgetter(path)(case.args)
    first, facts = case.world.first(handle), case.world.facts.get(handle)
    if first is None or first.type != kind or facts is None or facts.granted is None:
        return None
    granted, source, epoch = facts.granted
    if epoch != case.world.epoch or not case.is_alone(handle) or not same_user(source, case.exchange):
        return None
    if granted & rights != rights or not _is_plain(case):
        return None
    seen = f"{case.status.name}, and ACCESS granted {granted:#x} to this user"
    return Breach("the call is allowed", seen, "status", source.number)


@rule(
    "nfs3/exist-of-absent",
    EXIST_OF_ABSENT,
    of=MAKERS,
    killed_by="create3-guarded-always-exists",
    when="refused",
)
def exist_of_absent(case: Case) -> Breach | None:
    """EXIST of a name for which a LOOKUP just before found nothing."""
    if case.status is not Nfsstat3.NFS3ERR_EXIST or case.args is None or case.exchange.transport == "udp":
        return None
    if case.operation is nfs3.CREATE and case.args.how.mode is not CreateMode3.GUARDED:
        return None
    said = said_of(case, case.args.where)
    if said is None or said[0]:
        return None
    return Breach(
        "success, or another error", "EXIST of a name that LOOKUP did not find", "status", said[1].number
    )


@rule(
    "nfs3/noent-of-present",
    NOENT_OF_PRESENT,
    of=(nfs3.LOOKUP,),
    killed_by="create3-creates-nothing",
    when="refused",
)
def noent_of_present(case: Case) -> Breach | None:
    """NOENT of a name that was there just before."""
    if case.status is not Nfsstat3.NFS3ERR_NOENT or case.args is None:
        return None
    said = said_of(case, case.args.what)
    if said is None or not said[0]:
        return None
    return Breach("the name is there", "NOENT of a name that was there", "status", said[1].number)


@rule(
    "nfs3/notsupp-against-fsinfo",
    FSINFO_IS_KEPT,
    of=(nfs3.LINK, nfs3.SYMLINK),
    killed_by=("link3-is-not-supported", "symlink3-is-not-supported"),
    when="refused",
)
def notsupp_against_fsinfo(case: Case) -> Breach | None:
    """NOTSUPP for what FSINFO promises."""
    if case.status is not Nfsstat3.NFS3ERR_NOTSUPP or case.args is None:
        return None
    is_link = case.operation is nfs3.LINK
    first = case.world.first(case.args.file if is_link else case.args.where.dir)
    if first is None or first.type is not (Ftype3.NF3REG if is_link else Ftype3.NF3DIR):
        return None
    promised = case.world.properties.get(first.fsid)
    if promised is None or not promised[0] & (FSF3_LINK if is_link else FSF3_SYMLINK):
        return None
    seen = f"NOTSUPP, and properties of FSINFO are {promised[0]:#x}"
    return Breach("no NOTSUPP", seen, "status", promised[1].number)


@rule(
    "nfs3/write-verifier",
    VERIFIER_STAYS,
    of=(nfs3.WRITE, nfs3.COMMIT),
    killed_by="write3-verifier-by-stability",
)
def write_verifier(case: Case) -> Breach | None:
    """Another verifier than before, with no restart that is known of."""
    first = None if case.ok is None or case.args is None else case.world.first(case.args.file)
    if first is None:
        return None
    known = case.world.verifiers.get(first.fsid)
    verf = bytes(case.ok.verf)
    if known is None or known[0] == verf:
        return None
    return Breach(
        "one verifier", f"verf is {verf.hex()}, and was {known[0].hex()}", "resok.verf", known[1].number
    )
