# SPDX-License-Identifier: MIT
"""Symbolic links (RFC 1813 section 3.3.5): calls with their names are about the links themselves.

What REMOVE, LINK, and RENAME over a link to a file do with them is with the checks of these.
"""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from nfsclient.clients import Nfs3
from nfsjudge import Harm, proves, should, stated
from suites.nfs3.common import CommonNfs3
from suites.symlinks import OF_ATTRIBUTES, OF_NAMES, expect_target_kept, expect_text_of_now

CREATE_LEAVES_TARGETS = should(
    # the text does not speak of links: it creates the file with the name in where
    "RFC 1813",
    "3.3.8",
    "CREATE is about the name in its arguments: it does not empty the target of a symbolic link",
    harm=Harm.OBJECT,
)
CREATE_KEEPS_LINKS = should(
    "RFC 1813",
    "3.3.8",
    "CREATE creates a regular file: it does not replace a symbolic link, nor make another object",
    harm=Harm.OBJECT,
)
RENAME_IS_TO_THE_NAME = stated(
    "RFC 1813",
    "3.3.14",
    "RENAME gives the object the name in its arguments: it does not move it to what a link of that name names",
    harm=Harm.OBJECT,
)
SETATTR_IS_OF_THE_LINK = stated(
    "RFC 1813",
    "3.3.2",
    "SETATTR changes the object of the file handle: with that of a symbolic link, not what the link names",
    harm=Harm.OBJECT,
)
TEXT_IS_CURRENT = stated(
    "RFC 1813",
    "3.3.5",
    "READLINK returns the data of the link that has the name now, not of one that had it before",
    harm=Harm.DATA,
)


@pytest.mark.parametrize("act", [name for name in OF_NAMES if name.startswith("create-")])
@proves(
    CREATE_LEAVES_TARGETS,
    CREATE_KEEPS_LINKS,
    killed_by=("create3-empties-targets-of-links", "create3-copies-links"),
    needs="symlink",
)
def test_target_kept(nfs3: Nfs3, scratch: Nfs3Scratch, act: str) -> None:
    """CREATE with the name of a symbolic link leaves the target of the link as it is."""
    expect_target_kept(CommonNfs3(nfs3), scratch, act, CREATE_LEAVES_TARGETS, CREATE_KEEPS_LINKS)


@proves(RENAME_IS_TO_THE_NAME, killed_by="rename3-moves-into-targets-of-links", needs="symlink")
def test_directory_kept(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """RENAME over a symbolic link to a directory puts nothing into that directory."""
    kept = RENAME_IS_TO_THE_NAME
    expect_target_kept(CommonNfs3(nfs3), scratch, "replace-directory", kept, kept)


@pytest.mark.parametrize("act", OF_ATTRIBUTES)
@proves(SETATTR_IS_OF_THE_LINK, killed_by="setattr3-follows-links", needs="symlink")
def test_not_set(nfs3: Nfs3, scratch: Nfs3Scratch, act: str) -> None:
    """SETATTR of a symbolic link sets nothing of its target."""
    kept = SETATTR_IS_OF_THE_LINK
    expect_target_kept(CommonNfs3(nfs3), scratch, act, kept, kept)


@proves(TEXT_IS_CURRENT, killed_by="readlink3-remembers-texts-by-name", needs="symlink")
def test_text_of_now(nfs3: Nfs3, second_client: Nfs3, scratch: Nfs3Scratch) -> None:
    """A symbolic link that was removed and made again, or replaced by another one, has its new text."""
    expect_text_of_now([CommonNfs3(nfs3), CommonNfs3(second_client)], scratch, TEXT_IS_CURRENT)
