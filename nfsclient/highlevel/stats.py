# SPDX-License-Identifier: MIT
"""The attributes of many paths: names of one directory together, whatever is special by the ordinary way."""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Iterable, Mapping, Sequence

from nfsclient.clients.nfs3 import is_jukebox
from nfsclient.errors import NfsStatusError, RpcError
from nfsclient.files import Attributes, FileType
from nfsclient.files.late import LateAttributes
from nfsclient.files.operations import Stat, file_type
from nfsclient.files.v3 import attributes_of
from nfsclient.paths import PathLike, as_bytes, names_of, shown
from nfsclient.protocol import nfs3 as p
from nfsclient.replies import status_error

if t.TYPE_CHECKING:
    from nfsclient.highlevel.resolve import Node
    from nfsclient.highlevel.session import StatelessCalls

_WINDOW: t.Final = 64
"""LOOKUPs that are under way."""

_NO_NAMES: t.Final = frozenset({b"", b".", b".."})

StatNames: t.TypeAlias = Callable[["Node", Sequence[bytes]], Sequence[Stat | None]]
"""The attributes of names in a directory, not followed; None for one that needs the ordinary way."""


def stat_many(
    paths: Iterable[PathLike],
    *,
    find: Callable[[bytes], Node],
    names: StatNames,
    stat_of: Callable[[bytes], Attributes],
    follow: bool,
) -> list[Stat]:
    """What `stat` of each path would return or raise, in order. `stat_of` is that `stat`."""
    wanted = [
        path.encode("utf-8", "surrogateescape") if type(path) is str else as_bytes(path) for path in paths
    ]
    found: list[Stat | None] = [None] * len(wanted)
    for parent, (places, last) in _by_directory(wanted).items():
        try:
            node = find(parent)
        except NfsStatusError:
            continue  # the ordinary way says which path it was about
        for place, stat in zip(places, names(node, last), strict=True):
            found[place] = stat
    for place, stat in enumerate(found):
        kind = getattr(stat, "type", None)
        if kind is not None and not (follow and kind is FileType.LINK):
            continue
        if isinstance(stat, NfsStatusError):
            stat.path = shown(wanted[place])
            continue
        try:
            found[place] = stat_of(wanted[place])
        except NfsStatusError as error:
            found[place] = error
    return t.cast("list[Stat]", found)


def _by_directory(paths: Sequence[bytes]) -> Mapping[bytes, tuple[Sequence[int], Sequence[bytes]]]:
    """Directory -> places among `paths`, and the names there. Paths without a name at their end are left out."""
    if _NO_NAMES.isdisjoint(paths) and b"/".join(paths).count(b"/") == len(paths) - 1:
        return {b"": (range(len(paths)), paths)}
    found: dict[bytes, tuple[list[int], list[bytes]]] = {}
    for place, path in enumerate(paths):
        parent, name = b"", path
        if b"/" in path or path in _NO_NAMES:
            names = names_of(path)
            if not names or b".." in names:
                continue
            parent, name = b"/".join(names[:-1]), names[-1]
        group = found.get(parent)
        if group is None:
            group = found[parent] = ([], [])
        group[0].append(place)
        group[1].append(name)
    return found


def stat_names(session: StatelessCalls, directory: Node, names: Sequence[bytes]) -> list[Stat | None]:
    """A window of LOOKUPs of NFSv3, which bring the attributes along; once more for those that JUKEBOX puts off."""
    found: list[Stat | None] = [None] * len(names)
    if session.rpc.core.transport != "tcp" or not session.rpc.is_open:
        return found
    wanted: Sequence[int] = range(len(names))
    pauses = session.patience.pauses()
    try:
        while True:
            put_off: list[int] = []
            calls = [p.Lookup3Args(p.Diropargs3(directory.handle, names[place])) for place in wanted]
            places = dict(zip(map(id, calls), wanted, strict=True))
            for args, reply in session.rpc.pipeline(p.LOOKUP, calls, outstanding=_WINDOW):
                place = places[id(args)]
                if is_jukebox(reply):
                    put_off.append(place)
                else:
                    found[place] = _stat_of(reply, directory.below(names[place]))
            if not put_off or next(pauses, None) is None:
                return found
            wanted = put_off
    except RpcError:
        return found  # what is missing is requested again, by who knows what to do


def _stat_of(reply: p.Lookup3Res, path: bytes) -> Stat | None:
    if reply.resok is not None:
        raw = reply.resok.obj_attributes
        return None if raw is None else LateAttributes(file_type(raw.type), raw, attributes_of)
    return status_error(reply.status, "LOOKUP", shown(path), reply)
