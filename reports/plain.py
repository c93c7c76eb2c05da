# SPDX-License-Identifier: MIT
"""Text that came from a target, made harmless for where it goes, and shortened."""

from __future__ import annotations

import re

from nfsjudge.records import RequirementRecord

HIDING = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters, but for tab and line end
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # they turn the order of text around
    "\u00ad\u180e\u200b-\u200d\u2060-\u2065\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff"  # they take no room
    "\u2028\u2029"  # ends of lines in JavaScript
    "\ud800-\udfff"  # halves of characters: no UTF-8 can be written of them
    "]"
)
"""Characters that hide themselves, or move others."""
# What the CI of GitHub, Azure or TeamCity takes for a command: `::add-mask::` where it begins a line, `##[error]`,
# `##vso[...]` and `##teamcity[...]` wherever they stand.
_COMMANDS = re.compile(r"(?m)^([^\S\n]*+)(?=::)|(##)(?=\w{0,20}\[)")
# All but \t, \n, \x20-\x7e, \x85, \xa0-\ud7ff, \ue000-\ufffd and what is above; a set of these takes long to compile.
_ILLEGAL_IN_XML = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")
_NUMBERED = re.compile(r"RFC (\d{1,5})")
_SECTION = re.compile(r"\d+(\.\d+)*")
_APPENDIX = re.compile(r"(?:Appendix )?([A-Z](?:\.\d+)*)")


def printable(text: str) -> str:
    """For a terminal or a log: control characters as ``\\x1b``, nothing that a CI takes for a command."""
    return _COMMANDS.sub(_no_command, HIDING.sub(escape, text))


def legal_in_xml(text: str) -> str:
    """For XML 1.0: what it cannot carry, or a parser would change, as ``\\x1b``; all else as it is."""
    return _ILLEGAL_IN_XML.sub(escape, text)


def _no_command(match: re.Match[str]) -> str:
    return match[0] + "\\"


def escape(match: re.Match[str]) -> str:
    """A character as Python writes it: ``\\x1b``, ``\\u202e``, ``\\U000e0041``."""
    number = ord(match[0])
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x1_0000 else f"\\U{number:08x}"


def shortened(text: str, length: int) -> str:
    """The text, or its beginning with three dots: at most `length` characters."""
    return text if len(text) <= length else text[: max(0, length - 3)] + "..."


def clause_url(requirement: RequirementRecord) -> str:
    """Where the clause can be read; empty for what is no RFC."""
    rfc = _NUMBERED.fullmatch(requirement.rfc)
    if rfc is None:
        return ""
    page = f"https://www.rfc-editor.org/rfc/rfc{rfc[1]}"
    if _SECTION.fullmatch(requirement.section):
        return f"{page}#section-{requirement.section}"
    appendix = _APPENDIX.fullmatch(requirement.section)
    return f"{page}#appendix-{appendix[1]}" if appendix else page
