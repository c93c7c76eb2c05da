# SPDX-License-Identifier: MIT
"""Compares what replies show with the model. What the RFCs leave open is not compared; each rule says what that is."""

from __future__ import annotations

import enum
import typing as t
from collections import Counter
from collections.abc import Sequence

from nfsjudge import Requirement, show
from nfsjudge.deviation import Deviation
from nfsjudge.terms import outcome_of
from suites.model.claims import CLAIMS, Property
from suites.model.players import SECOND, Inconclusive, Player
from suites.model.seen import Answer, Entry, Seen
from suites.model.steps import Step
from suites.model.things import EXTENSION, GAP, UNKNOWN, WRITTEN, Thing, World

CLOCKS_DIFFER: t.Final = 10 * SECOND
"""Times that a server takes from several clocks (a coarse one, a fine one, those of two machines) are this close."""
_ORIGINS: t.Final = {WRITTEN: Property.DATA, GAP: Property.GAP, EXTENSION: Property.EXTENSION}

_KINDS: t.Final[t.Mapping[enum.StrEnum, Deviation]] = {
    **dict.fromkeys((Property.NAMES, Property.LISTED), Deviation.NAMES),
    **dict.fromkeys((Property.DATA, Property.GAP, Property.EXTENSION, Property.TEXT), Deviation.DATA),
}


class Broken(Exception):
    """A reply that the model does not allow."""

    def __init__(
        self, which: enum.StrEnum, requirement: Requirement, what: str, expected: str, observed: str
    ) -> None:
        super().__init__(f"{what}: expected {expected}, got {observed}")
        self.property = which
        self.requirement = requirement
        self.what = what
        self.expected = expected
        self.observed = observed
        kind = _KINDS.get(which, Deviation.FIELD)
        self.outcome = outcome_of((expected,), observed, kind=kind, field=which.name.lower())
        self.is_red = requirement.is_red(self.outcome)
        """FAIL rather than NONSTRICT."""
        self.subject: t.Any = None
        self.field: str | None = None
        self.may_pass = False
        """A server that keeps data in a cache for a while may show this once (`suites.steady`), but not again."""


class Judge:
    """Judges the replies of one program."""

    def __init__(self, world: World, judged: frozenset[Property]) -> None:
        """`judged`: the properties that count; what is wrong otherwise is not looked at."""
        self._world = world
        self._judged = judged
        self.weak: dict[Property, Broken] = {}
        """What is only NONSTRICT: the first of each kind. The program goes on."""
        self.just_set: Thing | None = None
        """The object whose times the running step has set."""

    def claim(
        self,
        holds: bool,
        player: Player,
        which: Property,
        what: str,
        expected: str,
        observed: str,
        answer: Answer,
        field: str | None = None,
        *,
        may_pass: bool = False,
    ) -> None:
        """Raise `Broken` unless the property holds; keep it for later if it is only NONSTRICT."""
        if holds or which in self.weak or which not in self._judged:
            return
        requirement = CLAIMS[player.version].get(which)
        if requirement is None:
            return
        broken = Broken(which, requirement, f"{what} by {player.title}", expected, observed)
        broken.subject, broken.field = getattr(answer.reply, "res", answer.reply), field
        broken.may_pass = may_pass
        if broken.is_red:
            raise broken
        self.weak[which] = broken

    def _equal(
        self, seen: object, wanted: object, player: Player, which: Property, what: str, answer: Answer
    ) -> None:
        name = what.partition(" ")[0]
        self.claim(seen == wanted, player, which, what, show(wanted, name), show(seen, name), answer)

    # ------------------------------------------------------------ attributes

    def attributes(self, player: Player, thing: Thing, path: str, answer: Answer) -> None:
        """Attributes in any reply after the last change of the object."""
        if answer.attributes is not None:
            self._attributes(player, thing, path, answer.attributes, answer)

    def _attributes(self, player: Player, thing: Thing, path: str, seen: Seen, answer: Answer) -> None:
        if seen.kind is not None:
            self._equal(seen.kind, thing.kind, player, Property.TYPE, f"type of {path}", answer)
        self._identity(player, thing, path, seen, answer)
        if thing.kind == "file" and seen.size is not None:
            self._equal(seen.size, len(thing.data), player, Property.SIZE, f"size of {path}", answer)
        if thing.mode is not None and seen.mode is not None:
            self._equal(seen.mode, thing.mode, player, Property.SET, f"mode of {path}", answer)
        if thing.owner is not None and None not in (seen.uid, seen.gid):
            ids = (seen.uid, seen.gid)
            self._equal(ids, thing.owner, player, Property.SET, f"owner and group of {path}", answer)
        if thing.kind != "directory" and seen.nlink is not None:
            self._equal(seen.nlink, thing.names, player, Property.NLINK, f"nlink of {path}", answer)
        if thing.kind == "file":
            self._times(player, thing, path, seen, answer)
        if seen.change is not None:
            self._change(player, thing, path, seen.change, answer)
        thing.last[player.version] = seen
        thing.fresh.add(player.version)
        thing.ctimes.add(player.version)
        thing.steady.add(player.version)

    def _identity(self, player: Player, thing: Thing, path: str, seen: Seen, answer: Answer) -> None:
        """No two objects that exist have the same file id, and it should stay. One of 0 means nothing.

        It may change when an object or its directory gets another name, so only those are compared that were seen since
        the last RENAME.
        """
        if seen.fileid is None or not seen.fileid[1]:
            return
        last = thing.last.get(player.version)
        if last is not None and last.fileid is not None:
            self._equal(
                seen.fileid[1], last.fileid[1], player, Property.FILEID_STAYS, f"fileid of {path}", answer
            )
        thing.identified[player.version] = self._world.moves
        for other, each in self._world.walk():
            known = each.last.get(player.version)
            is_current = each.identified.get(player.version) == self._world.moves
            if each is not thing and is_current and known is not None and known.fileid == seen.fileid:
                what, number = f"fileid of {path}", str(seen.fileid[1])
                expected = f"another one than {number}, which {other} has"
                self.claim(False, player, Property.FILEID, what, expected, number, answer)

    def _times(self, player: Player, thing: Thing, path: str, seen: Seen, answer: Answer) -> None:
        """While there is uncommitted data, times move by themselves, so only what they left counts."""
        if seen.mtime is None:
            return
        if thing.mtime is not None and not thing.is_dirty:
            is_close = abs(seen.mtime - thing.mtime) <= max(player.time_delta, SECOND)
            self.claim(
                is_close,
                player,
                Property.MTIME_SET if thing is self.just_set else Property.MTIME_STAYS,
                f"mtime of {path}",
                _time(thing.mtime),
                _time(seen.mtime),
                answer,
                may_pass=True,
            )
        if thing.left is not None and not (thing.left[1] and thing.is_dirty and player.version == "v4"):
            old, by_write = thing.left
            which = Property.WRITE_MOVES_MTIME if by_write else Property.SIZE_MOVES_MTIME
            was = f"another one than {_time(old)}, which it had before the data changed"
            what, now = f"mtime of {path}", _time(seen.mtime)
            self.claim(seen.mtime != old, player, which, what, was, now, answer, may_pass=True)
        last = thing.last.get(player.version)
        if last is None or player.version not in thing.steady:
            return
        for name in ("mtime", "ctime"):
            before, now = getattr(last, name), getattr(seen, name)
            if before is not None and now is not None:
                expected = f"{_time(before)} as before, or later"
                self.claim(
                    now >= before - CLOCKS_DIFFER,
                    player,
                    Property.TIMES_GO_ON,
                    f"{name} of {path}",
                    expected,
                    _time(now),
                    answer,
                )

    def _change(self, player: Player, thing: Thing, path: str, value: int, answer: Answer) -> None:
        """A value that was seen before the last change of the object must not come again."""
        epoch = thing.changes.get(value, thing.epoch)
        expected = f"another value than {value}, which it had before it was changed"
        self.claim(
            epoch == thing.epoch, player, Property.CHANGE, f"change of {path}", expected, str(value), answer
        )
        thing.changes[value] = thing.epoch

    # ------------------------------------------------------------ before and after

    def before(self, player: Player, thing: Thing, path: str, answer: Answer, size: int) -> None:
        """wcc_data.before of a file that nobody else changes. Its times are known if they were seen since."""
        if answer.before is None or thing.kind != "file":
            return
        seen_size, mtime, ctime = answer.before
        self._equal(seen_size, size, player, Property.BEFORE, f"size before the change of {path}", answer)
        last = thing.last.get(player.version)
        if last is None or player.version not in thing.fresh or thing.is_dirty:
            return
        for name, seen, known in (("mtime", mtime, last.mtime), ("ctime", ctime, last.ctime)):
            if known is None or (name == "ctime" and player.version not in thing.ctimes):
                continue
            what = f"{name} before the change of {path}"
            was, now = _time(known), _time(seen)
            self.claim(seen == known, player, Property.BEFORE, what, was, now, answer, may_pass=True)

    def infos(self, player: Player, step: Step, directories: Sequence[Thing], answer: Answer) -> None:
        """change_info4 of a change of entries, before the model has it.

        In one directory, RENAME may count as one change or as two.
        """
        is_same = len({id(each) for each in directories}) == 1
        for directory, info in zip(directories[:1] if is_same else directories, answer.infos, strict=False):
            last = directory.last.get(player.version)
            if info is None or last is None or last.change is None or player.version not in directory.fresh:
                continue
            what = f"change of the directory in the reply to {step.verb}, before it"
            was, seen = str(last.change), str(info.before)
            self.claim(was == seen, player, Property.BEFORE, what, was, seen, answer)
        known = [info for info in answer.infos if info is not None]
        pairs = [(info.before, info.after) for info in known]
        if is_same and len(known) == len(answer.infos) == 2:
            pairs = [(known[0].before, known[1].after)]
        for before, after in pairs:
            what = f"change of the directory in the reply to {step.verb}, after it"
            expected = f"another value than {before}, which it had before it"
            self.claim(before != after, player, Property.CHANGE, what, expected, str(after), answer)

    def is_truncated(self, player: Player, thing: Thing, path: str, answer: Answer) -> bool:
        """Whether CREATE UNCHECKED with size 0 has truncated an existing file; RFC 1813 leaves that open.

        Raises `Inconclusive` if nobody can see it.
        """
        seen = answer.attributes
        if seen is None or seen.size is None:
            raise Inconclusive
        if Property.TRUNCATES in self._judged and Property.TRUNCATES in CLAIMS[player.version]:
            self._equal(seen.size, 0, player, Property.TRUNCATES, f"size of {path}", answer)
            return True
        return seen.size == 0

    # ------------------------------------------------------------ data

    def data(self, player: Player, thing: Thing, path: str, offset: int, answer: Answer) -> None:
        """The bytes of a READ. It may be short, unless it says that it reaches the end."""
        seen, wanted = answer.data, bytes(thing.data[offset : offset + len(answer.data)])
        end = len(thing.data)
        if len(wanted) < len(seen):
            what, expected = f"data of {path}", f"none beyond the end at {end}"
            self.claim(False, player, Property.DATA, what, expected, f"{len(seen)} bytes at {offset}", answer)
        elif seen != wanted:
            self._wrong_byte(player, thing, path, offset, answer)
        if answer.is_end and offset + len(seen) < end:
            self.claim(
                False,
                player,
                Property.DATA,
                f"data of {path}",
                f"data up to {end}",
                f"eof after {len(seen)} bytes at {offset}",
                answer,
            )
        if seen == wanted:
            self.attributes(player, thing, path, answer)

    def _wrong_byte(self, player: Player, thing: Thing, path: str, offset: int, answer: Answer) -> None:
        """The first byte that differs and is known; the origin of what is expected says which clause it breaks."""
        for place in range(len(answer.data)):
            origin, seen = thing.origin[offset + place], answer.data[place]
            wanted = thing.data[offset + place]
            if seen != wanted and origin != UNKNOWN:
                what = f"data of {path} at offset {offset + place}"
                self.claim(False, player, _ORIGINS[origin], what, f"{wanted:02x}", f"{seen:02x}", answer)
                return

    def text(self, player: Player, thing: Thing, path: str, answer: Answer) -> None:
        """The text of a symbolic link."""
        self._equal(answer.data, thing.text, player, Property.TEXT, f"text of {path}", answer)

    # ------------------------------------------------------------ listings

    def listing(self, player: Player, directory: Thing, path: str, answer: Answer) -> None:
        """All pages of a listing: each name once. Names that begin with a dot may be the server's own."""
        place = path or "the directory"
        entries = [each for each in answer.entries if not each.name.startswith(b".")]
        counted = Counter(each.name.decode("latin-1") for each in entries)
        wanted = Counter(dict.fromkeys(directory.entries, 1))
        if counted != wanted:
            expected, observed = (_names(each) for each in (wanted, counted))
            self.claim(False, player, Property.LISTED, f"names in {place}", expected, observed, answer)
        positions = Counter((each.verifier, each.cookie) for each in entries)
        again = [cookie for (_, cookie), times in positions.items() if times > 1]
        if again:
            expected, observed = "another one in each entry", f"{again[0]} twice"
            self.claim(False, player, Property.COOKIES, f"cookies in {place}", expected, observed, answer)
        for entry in entries:
            thing = directory.entries.get(entry.name.decode("latin-1"))
            if thing is not None:
                self._entry(
                    player, thing, f"{path}/{entry.name.decode('latin-1')}".lstrip("/"), entry, answer
                )

    def _entry(self, player: Player, thing: Thing, path: str, entry: Entry, answer: Answer) -> None:
        if entry.attributes is not None:
            self._attributes(player, thing, f"{path} in the listing", entry.attributes, answer)
        last = thing.last.get(player.version)
        if entry.fileid and last is not None and last.fileid is not None:
            what = f"fileid of {path} in the listing"
            self._equal(entry.fileid, last.fileid[1], player, Property.FILEID_STAYS, what, answer)


def _names(counted: Counter[str]) -> str:
    names = [name if times == 1 else f"{name} {times} times" for name, times in sorted(counted.items())]
    return ", ".join(names) or "none"


def _time(nanoseconds: int) -> str:
    seconds, rest = divmod(nanoseconds, SECOND)
    return f"{seconds}.{rest:09}".rstrip("0").rstrip(".")
