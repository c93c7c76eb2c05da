# SPDX-License-Identifier: MIT
"""Text that came from a target, made harmless for where it goes, and shortened."""

from __future__ import annotations

import re

from nfsjudge.records import RequirementRecord

# Controls but tab and line feed; what changes the direction of text or cannot be seen; surrogates.
_CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff]"
)
# What the CI of GitHub, Azure or TeamCity takes for a command: `::add-mask::` where it begins a line, `##[error]`,
# `##vso[...]` and `##teamcity[...]` wherever they stand.
_COMMANDS = re.compile(r"(?m)^([^\S\n]*+)(?=::)|(##)(?=\w{0,20}\[)")
_ILLEGAL_IN_XML = re.compile("[^\t\n\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NUMBERED = re.compile(r"RFC (\d{1,5})")
_SECTION = re.compile(r"\d+(\.\d+)*")
_APPENDIX = re.compile(r"(?:Appendix )?([A-Z](?:\.\d+)*)")


def printable(text: str) -> str:
    """For a terminal or a log: control characters as ``\\x1b``, nothing that a CI takes for a command."""
    return _COMMANDS.sub(_no_command, _CONTROLS.sub(_escape, text))


def legal_in_xml(text: str) -> str:
    """For XML 1.0: what it cannot carry, or a parser would change, as ``\\x1b``; all else as it is."""
    return _ILLEGAL_IN_XML.sub(_escape, text)


def _no_command(match: re.Match[str]) -> str:
    return match[0] + "\\"


def _escape(match: re.Match[str]) -> str:
    number = ord(match[0])
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}"


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
