# SPDX-License-Identifier: MIT
"""Symbolic links (RFC 1094 section 2.2.14): calls with their names are about the links themselves."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs2 import Nfs2Scratch
from nfsclient.clients import Nfs2
from nfsjudge import Harm, proves, should, stated
from suites.nfs2.clauses import SYMLINK_TEXT_IS_KEPT
from suites.nfs2.common import CommonNfs2
from suites.symlinks import OF_ATTRIBUTES, OF_NAMES, expect_target_kept, expect_text_of_now

TEXTS_ARE_NOT_INTERPRETED = stated(
    "RFC 1094",
    "2.2.14",
    "the server does not interpret the text of a symbolic link: a call with the link leaves its target alone",
    harm=Harm.OBJECT,
)
LINKS_ARE_OBJECTS = should(  # what CREATE does with the name of another object is the server's
    "RFC 1094",
    "2.3.2",
    "an object of type NFLNK is a symbolic link, whatever names it has: other objects replace it by RENAME only",
    harm=Harm.OBJECT,
)
_ACTS = [name for name in OF_NAMES if name not in {"create-guarded", "create-exclusive"}]


@pytest.mark.parametrize("act", _ACTS)
@proves(
    TEXTS_ARE_NOT_INTERPRETED,
    LINKS_ARE_OBJECTS,
    killed_by=("names2-of-links-reach-targets", "names2-of-links-leave-a-copy"),
    needs="nfs2_symlink",
)
def test_target_kept(nfs2: Nfs2, scratch: Nfs2Scratch, act: str) -> None:
    """A call with the name of a symbolic link leaves the target of the link as it is."""
    expect_target_kept(CommonNfs2(nfs2), scratch, act, TEXTS_ARE_NOT_INTERPRETED, LINKS_ARE_OBJECTS)


@proves(TEXTS_ARE_NOT_INTERPRETED, killed_by="rename2-moves-into-targets-of-links", needs="nfs2_symlink")
def test_directory_kept(nfs2: Nfs2, scratch: Nfs2Scratch) -> None:
    """RENAME over a symbolic link to a directory puts nothing into that directory."""
    common, kept = CommonNfs2(nfs2), TEXTS_ARE_NOT_INTERPRETED
    expect_target_kept(common, scratch, "replace-directory", kept, LINKS_ARE_OBJECTS)


@pytest.mark.parametrize("act", OF_ATTRIBUTES)
@proves(TEXTS_ARE_NOT_INTERPRETED, killed_by="setattr2-follows-links", needs="nfs2_symlink")
def test_not_set(nfs2: Nfs2, scratch: Nfs2Scratch, act: str) -> None:
    """SETATTR of a symbolic link sets nothing of its target."""
    expect_target_kept(CommonNfs2(nfs2), scratch, act, TEXTS_ARE_NOT_INTERPRETED, LINKS_ARE_OBJECTS)


@proves(SYMLINK_TEXT_IS_KEPT, killed_by="readlink2-remembers-texts-by-name", needs="nfs2_symlink")
def test_text_of_now(nfs2: Nfs2, second_client: Nfs2, scratch: Nfs2Scratch) -> None:
    """A symbolic link that was removed and made again, or replaced by another one, has its new text."""
    expect_text_of_now([CommonNfs2(nfs2), CommonNfs2(second_client)], scratch, SYMLINK_TEXT_IS_KEPT)
