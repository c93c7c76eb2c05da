# SPDX-License-Identifier: MIT
"""The command that runs a check again: what of the words of a run it repeats, and what of it others may see."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import PurePath

_KEPT = frozenset(
    {
        *("--knob", "--set", "--mutant", "--lacks", "--referral", "--call-timeout", "--seed"),
        *("--control", "--control-timeout", "--restart", "--restart-timeout"),
        *("--mount", "--umount", "--program", "--work-timeout"),
    }
)
"""Options that a check needs to meet the same server as before, with the same control of it, and to draw the same."""
_FLAGS = frozenset({"--thorough"})
"""Such options without a value."""
_WHOLE = frozenset({"--restart", "--mount", "--umount"})
"""Options whose value is a command and nothing else; others have a name before it."""
_PATH = "--referral"
_COMMANDS = frozenset({"--control", "--program", _PATH}) | _WHOLE
"""Their values are the owner's, for the shell as a rule, and may name hosts, users and paths."""
_TELLING = (*_COMMANDS, ".toml")
HIDDEN, COMMAND = "TARGET", "COMMAND"
"""What stands for a target, and for a command of its owner."""


def kept_options(words: Sequence[str]) -> list[str]:
    """The options among the words of a run that the command for one check repeats, as ``NAME=VALUE`` or ``NAME``."""
    found = []
    for number, word in enumerate(words):
        name, equals, _ = word.partition("=")
        if word in _FLAGS:
            found.append(word)
        elif name in _KEPT:
            found += [word] if equals else [f"{name}={value}" for value in words[number + 1 : number + 2]]
    return found


def is_file_of_targets(word: str) -> bool:
    """Whether a target is a file that describes it, perhaps with a label: ``my.toml#lab``."""
    return "://" not in word and word.partition("#")[0].endswith(".toml")


def for_others(command: str, target: str = "", *, hides_files: bool = False) -> str:
    """A command as others may see it: without `target`, the folder of a target file, and commands of the owner.

    With `hides_files` also without the name of that file.
    """
    if not any(sign in command for sign in _TELLING):  # nearly always, and there may be 100,000
        return _without(target, command)
    try:
        words = shlex.split(command)
    except ValueError:  # of a damaged record
        return ""
    shown = [_hidden_value(word, words[number - 1] if number else "") for number, word in enumerate(words)]
    if hides_files:
        shown = [HIDDEN if is_file_of_targets(word) else word for word in shown]
    return _without(target, shlex.join(shown))


def _without(target: str, command: str) -> str:
    return command.replace(shlex.quote(target), HIDDEN).replace(target, HIDDEN) if target else command


def _hidden_value(word: str, before: str) -> str:
    name, equals, value = word.partition("=")
    if name in _COMMANDS and equals:
        return f"{name}={_shown(name, value)}"
    if before in _COMMANDS:
        return _shown(before, word)
    return PurePath(word).name if is_file_of_targets(word) else word


def _shown(option: str, value: str) -> str:
    if option == _PATH:
        return "PATH"
    if option in _WHOLE:
        return COMMAND
    action, equals, _ = value.partition("=")
    return f"{action}={COMMAND}" if equals else action
