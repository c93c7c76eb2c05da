# SPDX-License-Identifier: MIT
"""One target of a target file, for `nfsproof run FILE.toml`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from nfsclient.similar import similar_text
from nfsproof.events.file import BadEvent, Event, TargetEntry, load_event
from nfsproof.events.known import what_is_known
from nfsproof.exits import Trouble
from reports.idlist import known_ids

_FIRST = re.compile(r"\w+")


def names_checks(words: Sequence[str]) -> bool:
    """Whether words of the command line name checks: then those of a target file do not count."""
    beginnings = {"suites", *(check_id.partition("/")[0] for check_id in known_ids().present)}
    found = (_FIRST.match(word) for word in words)
    return any(match is not None and match[0].lower() in beginnings for match in found)


def load_target(word: str) -> TargetEntry:
    """The target that ``FILE`` or ``FILE#LABEL`` means. Raises Trouble."""
    name, _, label = word.partition("#")
    try:
        found = load_event(Path(name), what_is_known())
    except OSError as error:
        raise Trouble(f"cannot read {name}: {error.strerror}") from error
    except BadEvent as error:
        raise Trouble(str(error)) from error
    return _choose(found, name, label)


def _choose(event: Event, name: str, label: str) -> TargetEntry:
    names = [target.name for target in event.targets]
    if not label and len(names) == 1:
        return event.targets[0]
    for target in event.targets:
        if target.name == label:
            return target
    listed = ", ".join(f"{name}#{number}" for number in names)
    if label:
        raise Trouble(
            f"{name}: no target has the label {label!r}{similar_text(label, names)}; there are {listed}"
        )
    raise Trouble(f"{name} has {len(names)} targets; name one: {listed}")
