# SPDX-License-Identifier: MIT
"""What one worker has made, for the ledgers of the others: they compare what they read and list with it, too.

At the end of a phase each worker says what is different in its ledger since the last time; before the next phase all
others learn it. Bytes are not sent: they follow from seed, file, version and offset.

Within a phase a worker does not know what others do. So a workload may be spread over workers only if no client
changes what a client of another worker uses in the same phase (`spec.Workload.is_spread`).
"""

from __future__ import annotations

import typing as t

from workloads.contents import LARGEST, FileState, Piece
from workloads.ledger import Ledger
from workloads.shape import Misshaped, Plain

_State: t.TypeAlias = tuple[int, int, tuple[Piece, ...]]


class News:
    """Watches the ledger of one worker."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self._files: dict[str, _State] = {}
        self._directories: set[str] = {""}
        self._links: dict[str, str] = {}

    def collect(self) -> Plain:
        """What has changed since the last `collect` or `learn`."""
        files = {path: _state_of(state) for path, state in self.ledger.files.items()}
        directories, links = set(self.ledger.children), dict(self.ledger.links)
        news = {
            "files": self._changed(files),
            "links": {path: text for path, text in links.items() if self._links.get(path) != text},
            "directories": sorted(directories - self._directories),
            "gone": sorted((self._files.keys() - files.keys()) | (self._links.keys() - links.keys())),
            "gone_directories": sorted(self._directories - directories),
        }
        self._files, self._directories, self._links = files, directories, links
        return news

    def _changed(self, files: dict[str, _State]) -> list[Plain]:
        """[all names, number, version, pieces] of each file that is different, or has another name."""
        objects = self.ledger.files
        changed = {id(objects[path]) for path, state in files.items() if state != self._files.get(path)}
        groups: dict[int, list[str]] = {}
        for path in files:
            if id(objects[path]) in changed:
                groups.setdefault(id(objects[path]), []).append(path)
        found = []
        for paths in groups.values():
            number, version, pieces = files[paths[0]]
            found.append([paths, number, version, [list(piece) for piece in pieces]])
        return found

    def learn(self, news: Plain) -> None:
        """Another worker has made this. Raises `Misshaped`."""
        try:
            self._learn(news)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise Misshaped(f"expected news of a ledger, got something else: {error!r:.200}") from None
        self.collect()

    def _learn(self, news: Plain) -> None:
        ledger = self.ledger
        for path in news["gone"]:
            ledger.remove(path)
        for path in news["gone_directories"]:
            ledger.rmdir(path)
        for path in news["directories"]:
            ledger.mkdir(path)
        for path, text in news["links"].items():
            ledger.symlink(path, text)
        for paths, number, version, pieces in news["files"]:
            known = [ledger.files[path] for path in paths if path in ledger.files]
            state = next((each for each in known if each.number == number), None)
            if state is None:
                state = FileState(paths[0], number, ledger.ticks)
            _set(state, version, pieces)
            ledger.adopt(paths, state)


def _state_of(state: FileState) -> _State:
    return state.number, state.version, tuple(state.pieces.between(0, LARGEST))


def _set(state: FileState, version: int, pieces: list[list[int]]) -> None:
    state.version = max(state.version, version)
    state.pieces.cut(0)
    for begin, end, piece_version, writer in pieces:
        state.pieces.put(begin, end, piece_version, writer)
    state.settle()
