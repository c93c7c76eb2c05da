# SPDX-License-Identifier: MIT
"""One program on a server: its calls, what the other client sees after each, and whether the model allows it.

What must stay true: the model changes only by calls that were answered with success. A call that is refused leaves it
as it is; where the server may have done a part of it, the program ends (`Inconclusive`), and nothing is claimed. STALE
for a handle is legal at any time (RFC 1813 section 2.5), so objects are then looked for by their names again.
"""

from __future__ import annotations

import typing as t
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from nfsclient.errors import ProcUnavail, SystemErr
from nfsjudge import show
from suites.model.claims import Property
from suites.model.judging import Broken, Judge
from suites.model.players import Inconclusive, Player, Silence
from suites.model.seen import Answer
from suites.model.steps import MAKING, Program, Step, possible
from suites.model.things import Kind, Thing, World

MOST_PIECES: t.Final = 24
"""READs or WRITEs of one step, and of one look: a server may take a byte at a time."""
MARGIN: t.Final = 16
"""Bytes around a range that are looked at as well."""
MOST_AT_END: t.Final = 1 << 18
"""Bytes of a file that are read after the last step."""
_HOPELESS: t.Final = 2
"""Refusals after which steps of a kind are left out."""
_NOENT: t.Final = 2
_STALE: t.Final = (70, 10001, 10014)
"""STALE, BADHANDLE, FHEXPIRED."""
_LATER: t.Final = (10008, 10013)
"""JUKEBOX or DELAY, and GRACE, when all patience is used up."""


class Kinded(t.Protocol):
    """A step, as far as a server may refuse all of its kind."""

    @property
    def verb(self) -> str:
        """What it does."""
        ...

    @property
    def how(self) -> str:
        """The mode of CREATE."""
        ...


@dataclass(slots=True)
class Experience:
    """What the programs of a check have learned of a server."""

    refused: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Steps that it refused, by verb and mode of CREATE."""
    is_busy: bool = False
    """It answered JUKEBOX or DELAY until all patience was used up: no further program begins."""
    calls: int = 0

    def is_hopeless(self, step: Kinded) -> bool:
        """Whether steps of this kind are left out: it has refused several."""
        return self.refused[step.verb, step.how] >= _HOPELESS

    def leave_out(self, verb: str, how: str = "") -> None:
        """Leave steps of this kind out."""
        self.refused[verb, how] = _HOPELESS


class Machine:
    """Runs one program in an empty directory."""

    def __init__(
        self,
        players: Sequence[Player],
        roots: dict[str, bytes],
        experience: Experience,
        judged: frozenset[Property],
        *,
        is_over: Callable[[], bool],
    ) -> None:
        """`roots`: the handle of the directory by version; `is_over`: whether time or calls are used up."""
        self._players = players
        self._experience = experience
        self._is_over = is_over
        self.world = World()
        self._judge = Judge(self.world, judged)
        self._handles = {(version, self.world.root): handle for version, handle in roots.items()}
        self._moved: set[tuple[str, Thing]] = set()
        """Objects that have other paths since their handle was found, by version: handles may be paths."""
        self.done: list[Step] = []
        """The steps that were made."""

    @property
    def weak(self) -> dict[Property, Broken]:
        """What is only NONSTRICT."""
        return self._judge.weak

    def run(self, program: Program) -> None:
        """Make the steps and look at everything. Raises `Broken` for what is binding; see `Judge.weak`."""
        try:
            for step in program:
                if self._is_over():
                    break
                made = self._players[step.client - 1].adapt(step, self.world)
                if made is not None and possible(self.world, made) and not self._experience.is_hopeless(made):
                    self.done.append(made)
                    self._try(made)
            self._look_at_everything()
        except Silence:
            self._experience.is_busy = True
        except Inconclusive:
            return

    # ------------------------------------------------------------ handles and calls

    def _on(self, player: Player, thing: Thing, call: Callable[[bytes], Answer]) -> Answer:
        """Make a call with the handle of an object; again with another one if the server has revoked that."""
        self._experience.calls += 1
        answer = call(self._handle(player, thing))
        lost = (*_STALE, _NOENT) if (player.version, thing) in self._moved else _STALE
        if int(answer.status) in lost and thing is not self.world.root:
            self._handles.pop((player.version, thing), None)
            answer = call(self._handle(player, thing))
        if int(answer.status) in _LATER:
            self._experience.is_busy = True
            raise Inconclusive
        return answer

    def _handle(self, player: Player, thing: Thing) -> bytes:
        known = self._handles.get((player.version, thing))
        if known is not None:
            return known
        path = self.world.path_of(thing)
        if path is None:
            raise Inconclusive
        self._look_up(player, path, is_quiet=False)
        return self._handles[player.version, thing]

    def _look_up(self, player: Player, path: str, *, is_quiet: bool = True) -> None:
        """LOOKUP of a name that is there. `is_quiet`: no step is half done, so its attributes can be judged."""
        thing, name = self._there(path), path.rpartition("/")[2]
        answer = self._on(
            player, self.world.parent(path), lambda directory: player.lookup(directory, name.encode())
        )
        if not answer.is_ok and int(answer.status) != _NOENT:
            raise Inconclusive
        self._judge.claim(
            answer.is_ok,
            player,
            Property.NAMES,
            f"LOOKUP of {path}",
            "success",
            show(answer.status),
            answer,
            "status",
        )
        if answer.handle is None:
            raise Inconclusive
        key = player.version, thing
        if key in self._moved or key not in self._handles:
            self._handles[key] = answer.handle
            self._moved.discard(key)
        if is_quiet:
            self._judge.attributes(player, thing, path, answer)

    def _look_up_nothing(self, player: Player, path: str) -> None:
        """LOOKUP of a name that is not there."""
        parent, name = self.world.parent(path), path.rpartition("/")[2]
        answer = self._on(player, parent, lambda directory: player.lookup(directory, name.encode()))
        self._judge.claim(
            not answer.is_ok,
            player,
            Property.NAMES,
            f"LOOKUP of {path}",
            "NOENT",
            "success",
            answer,
            "status",
        )

    def _there(self, path: str) -> Thing:
        found = self.world.find(path)
        assert found is not None, path
        return found

    # ------------------------------------------------------------ steps

    def _try(self, step: Step) -> None:
        """A step. SYSTEM_ERR says nothing but that the server could not: such steps are left out from now on."""
        try:
            self._do(step)
        except (ProcUnavail, SystemErr) as error:
            self._experience.leave_out(step.verb, step.how)
            raise Inconclusive from error

    def _do(self, step: Step) -> None:
        self._judge.just_set = None
        player = self._players[step.client - 1]
        others = [each for each in self._players if each is not player]
        other = others[step.witness % len(others)]
        if step.verb in MAKING:
            is_new = self.world.find(step.path) is None
            done = self._make(player, other, step) if is_new else self._make_again(player, step)
        else:
            done = {
                "LINK": self._link,
                "REMOVE": self._remove,
                "RMDIR": self._remove,
                "RENAME": self._rename,
                "WRITE": self._write,
                "SETATTR": self._set,
                "COMMIT": self._commit,
                "READ": self._read_step,
                "LIST": self._list,
                "ACCESS": self._access,
            }[step.verb](player, step)
        if done:
            for each in others:
                self._look_at_change(each, step)
        self._look_at_witness(other, step)

    def _make(self, player: Player, other: Player, step: Step) -> bool:
        parent, name = self.world.parent(step.path), step.path.rpartition("/")[2].encode()
        answer = self._on(player, parent, lambda directory: player.make(directory, name, step))
        if not answer.is_ok:
            parent.touched()
            self._refused(step)
            self._need_absent(player, step.path)
            return False
        thing = Thing(t.cast("Kind", MAKING[step.verb]), text=step.text)
        self._judge.infos(player, step, [parent], answer)
        self.world.add(step.path, thing)
        if answer.handle is not None:
            self._handles[player.version, thing] = answer.handle
        if step.how != "EXCLUSIVE":
            self._judge.attributes(player, thing, step.path, answer)
            return True
        # The attributes are undefined until the client sets them (RFC 1813 section 3.3.8).
        thing.salt = step.salt
        self._make_again(other, replace(step, salt=step.salt + 1))
        setting = Step(client=step.client, verb="SETATTR", path=step.path, mode=step.mode, mtime=-1)
        if self._on(player, thing, lambda file: player.setattr(file, setting)).is_ok:
            thing.mode = step.mode
        thing.touched()
        thing.times_set()
        return True

    def _make_again(self, player: Player, step: Step) -> bool:
        """CREATE of a file that exists."""
        thing, parent = self._there(step.path), self.world.parent(step.path)
        if step.how == "EXCLUSIVE" and thing.salt == step.salt:
            return False
        name = step.path.rpartition("/")[2].encode()
        answer = self._on(player, parent, lambda directory: player.make(directory, name, step))
        if step.how != "UNCHECKED":
            which = Property.GUARDED if step.how == "GUARDED" else Property.EXCLUSIVE
            what = f"CREATE {step.how} of {step.path}, which exists"
            self._judge.claim(not answer.is_ok, player, which, what, "EXIST", "success", answer, "status")
            return True
        thing.touched()
        if not answer.is_ok:
            thing.nothing_known()
            self._need_size(player, thing)
            return True
        # RFC 1813 does not say whether the attributes are those of an existing file, too, nor whether its times move.
        thing.mode = thing.mtime = None
        if step.size == 0 and self._judge.is_truncated(
            player, thing, step.path, self._attributes(player, thing)
        ):
            if thing.resize(0):
                thing.data_changed(by_write=False)
            thing.times_set()
            thing.mtime = None
        return True

    def _link(self, player: Player, step: Step) -> bool:
        thing, parent = self._there(step.path), self.world.parent(step.other)
        name = step.other.rpartition("/")[2].encode()
        answer = self._on(
            player, parent, lambda place: self._on(player, thing, lambda file: player.link(file, place, name))
        )
        if not answer.is_ok:
            parent.touched()
            thing.touched()
            self._refused(step)
            self._need_absent(player, step.other)
            return False
        self._judge.infos(player, step, [parent], answer)
        self.world.add(step.other, thing)
        self._judge.attributes(player, thing, step.other, answer)
        return True

    def _remove(self, player: Player, step: Step) -> bool:
        parent, name = self.world.parent(step.path), step.path.rpartition("/")[2].encode()
        is_directory = step.verb == "RMDIR"
        answer = self._on(player, parent, lambda place: player.remove(place, name, is_directory=is_directory))
        if not answer.is_ok:
            parent.touched()
            self._refused(step)
            self._need_present(player, step.path)
            return False
        self._judge.infos(player, step, [parent], answer)
        self.world.remove(step.path)
        return True

    def _rename(self, player: Player, step: Step) -> bool:
        source, target = self.world.parent(step.path), self.world.parent(step.other)
        name, new = (path.rpartition("/")[2].encode() for path in (step.path, step.other))
        answer = self._on(
            player,
            source,
            lambda here: self._on(player, target, lambda there: player.rename(here, name, there, new)),
        )
        if not answer.is_ok:
            source.touched()
            target.touched()
            self._refused(step)
            self._need_present(player, step.path)
            if self.world.find(step.other) is None:
                self._need_absent(player, step.other)
            return False
        self._judge.infos(player, step, [source, target], answer)
        self.world.rename(step.path, step.other)
        moved = self._there(step.other)
        for thing in (moved, *(each for _, each in self.world.walk(moved))):
            self._moved |= {(each.version, thing) for each in self._players}
        return True

    def _write(self, player: Player, step: Step) -> bool:
        thing, data, at, differs = self._there(step.path), step.data, 0, False
        size = len(thing.data)
        for _ in range(MOST_PIECES):
            piece = data[at : at + player.per_write]
            answer = self._on(
                player,
                thing,
                lambda file: player.write(file, step.offset + at, piece, step.level),  # noqa: B023
            )
            if not answer.is_ok:
                return self._write_refused(player, step, thing, at, differs=differs)
            if at == 0:
                self._judge.before(player, thing, step.path, answer, size)
            differs |= thing.write(step.offset + at, piece[: answer.count])
            thing.is_dirty |= not answer.is_stable
            at += answer.count
            if at >= len(data) or not answer.count:
                break
        if differs:
            thing.data_changed(by_write=True)
        else:
            thing.touched()
            thing.mtime = None
        self._judge.attributes(player, thing, step.path, answer)
        return True

    def _write_refused(self, player: Player, step: Step, thing: Thing, at: int, *, differs: bool) -> bool:
        """The data that was taken before counts; of the rest nobody knows what is there."""
        if differs:
            thing.data_changed(by_write=True)
        thing.touched()
        thing.mtime, thing.left = None, None
        thing.forget(step.offset + at, len(step.data) - at)
        if not at:
            self._refused(step)
        self._need_size(player, thing)
        return False

    def _set(self, player: Player, step: Step) -> bool:
        thing = self._there(step.path)
        size = len(thing.data)
        answer = self._on(player, thing, lambda object_: player.setattr(object_, step))
        if not answer.is_ok:
            thing.nothing_known()
            if thing.kind == "file":
                self._need_size(player, thing)
            return False
        self._judge.before(player, thing, step.path, answer, size)
        self._apply(player, thing, step, answer)
        if step.mtime is not None:
            self._judge.just_set = thing
        self._judge.attributes(player, thing, step.path, answer)
        return True

    @staticmethod
    def _apply(player: Player, thing: Thing, step: Step, answer: Answer) -> None:
        """What SETATTR has set. To set a value that was there before need not change anything."""
        thing.touched()
        if step.size is not None:
            if thing.resize(step.size):
                thing.data_changed(by_write=False)
            else:
                thing.mtime = None
        if step.mode is not None:
            is_set = answer.has_set("mode")
            if is_set and thing.mode not in {None, step.mode}:
                thing.changed()
            thing.mode = step.mode if is_set else None
        if step.owner is not None:
            is_set = answer.has_set("owner") and answer.has_set("owner_group")
            if is_set and thing.owner not in {None, step.owner}:
                thing.changed()
            thing.owner = step.owner if is_set else None
        if step.mtime is not None:
            thing.times_set()
            is_set = answer.has_set("time_modify_set") and player.can_set_times
            thing.mtime = step.mtime * 10**9 if step.mtime >= 0 and is_set else None

    def _commit(self, player: Player, step: Step) -> bool:
        thing = self._there(step.path)
        answer = self._on(player, thing, player.commit)
        thing.touched()
        if answer.is_ok:
            if thing.is_dirty:
                thing.mtime = None
            thing.is_dirty = False
        else:
            self._refused(step)
        return True

    def _read_step(self, player: Player, step: Step) -> bool:
        self._read(player, step.path, step.offset, step.size or 0)
        return False

    def _access(self, player: Player, step: Step) -> bool:
        thing = self._there(step.path)
        answer = self._on(player, thing, player.access)
        if answer.is_ok:
            self._judge.attributes(player, thing, step.path, answer)
        return False

    def _list(self, player: Player, step: Step) -> bool:
        self._list_directory(player, step.path, plain=step.witness % 2 == 0)
        return True

    # ------------------------------------------------------------ refusals

    def _refused(self, step: Step) -> None:
        self._experience.refused[step.verb, step.how] += 1

    def _need_absent(self, player: Player, path: str) -> None:
        """After a refusal: go on only if the name is absent."""
        parent, name = self.world.parent(path), path.rpartition("/")[2].encode()
        answer = self._on(player, parent, lambda directory: player.lookup(directory, name))
        if int(answer.status) != _NOENT:
            raise Inconclusive

    def _need_present(self, player: Player, path: str) -> None:
        """After a refusal: go on only if the name is there."""
        parent, name = self.world.parent(path), path.rpartition("/")[2].encode()
        if not self._on(player, parent, lambda directory: player.lookup(directory, name)).is_ok:
            raise Inconclusive

    def _need_size(self, player: Player, thing: Thing) -> None:
        """After a refusal: go on only if the size is what it was."""
        seen = self._attributes(player, thing).attributes
        if seen is None or seen.size != len(thing.data):
            raise Inconclusive

    # ------------------------------------------------------------ looks

    def _attributes(self, player: Player, thing: Thing) -> Answer:
        return self._on(player, thing, player.getattr)

    def _look_at(self, player: Player, path: str) -> None:
        """GETATTR of an object."""
        thing = self._there(path)
        answer = self._attributes(player, thing)
        if int(answer.status) in {_NOENT, *_STALE}:
            self._look_up(player, path)  # if its name is there, the server has revoked both handles
            raise Inconclusive
        if not answer.is_ok:
            raise Inconclusive
        self._judge.attributes(player, thing, path or "the directory", answer)

    def _look_at_change(self, player: Player, step: Step) -> None:
        match step.verb:
            case "CREATE" | "MKDIR" | "SYMLINK" | "FIFO":
                self._look_up(player, step.path)
                if step.how and step.size == 0:
                    self._look_into(player, step.path)
            case "LINK":
                self._look_up(player, step.other)
                self._look_at(player, step.path)
            case "REMOVE" | "RMDIR":
                self._look_up_nothing(player, step.path)
            case "RENAME":
                self._look_up_nothing(player, step.path)
                self._look_up(player, step.other)
                self._look_at(player, step.other)
            case "WRITE":
                self._look_at(player, step.path)
                start = max(0, step.offset - MARGIN)
                self._read(player, step.path, start, step.offset - start + (step.size or 0) + MARGIN)
            case "SETATTR":
                self._look_at(player, step.path)
                if step.size is not None:
                    self._read(player, step.path, max(0, step.size - 4096), 8192)
            case _:
                self._look_at(player, step.path)
        if player.version == "v4" and step.verb not in {"WRITE", "SETATTR", "COMMIT", "LIST"}:
            self._look_at(player, step.path.rpartition("/")[0])

    def _look_at_witness(self, player: Player, step: Step) -> None:
        """Something that the step has not changed."""
        others = [path for path, _ in self.world.walk() if path not in {step.path, step.other}]
        if others:
            path = others[step.witness % len(others)]
            self._look_at(player, path)
            if step.witness % 3 == 0:
                self._look_into(player, path)

    def _look_into(self, player: Player, path: str, most: int = 4096) -> None:
        """The data of a file, the text of a symbolic link."""
        thing = self._there(path)
        if thing.kind == "file":
            self._read(player, path, max(0, len(thing.data) - most), most + MARGIN)
        elif thing.kind == "symbolic link":
            answer = self._on(player, thing, player.read_link)
            if answer.is_ok:
                self._judge.text(player, thing, path, answer)
                thing.was_read()

    def _read(self, player: Player, path: str, offset: int, count: int) -> None:
        thing, at = self._there(path), offset
        for _ in range(MOST_PIECES):
            wanted = min(player.per_read, offset + count - at)
            answer = self._on(player, thing, lambda file: player.read(file, at, wanted))  # noqa: B023
            if not answer.is_ok:
                return
            self._judge.data(player, thing, path, at, answer)
            thing.was_read()
            at += len(answer.data)
            if answer.is_end or not answer.data or at >= offset + count:
                return

    def _list_directory(self, player: Player, path: str, *, plain: bool) -> None:
        directory = self._there(path)
        plain = plain or self._experience.refused["READDIRPLUS", ""] > 0
        answer = self._on(player, directory, lambda handle: player.listing(handle, plain=plain))
        if answer.is_ok:
            self._judge.listing(player, directory, path, answer)
            directory.was_read()
        elif not plain:
            self._experience.refused["READDIRPLUS", ""] += 1

    def _look_at_everything(self) -> None:
        for number, player in enumerate(self._players):
            self._list_directory(player, "", plain=number == 1)
            for path, thing in [*self.world.walk()]:
                self._look_up(player, path)
                self._look_at(player, path)
                if thing.kind == "directory":
                    self._list_directory(player, path, plain=number == 0)
                else:
                    self._look_into(player, path, MOST_AT_END)
