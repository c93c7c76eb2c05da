# SPDX-License-Identifier: MIT
"""Symbolic links (RFC 5661 sections 18.16.4, 18.24.3): operations on their names are about the links themselves."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch
from nfsclient.clients.nfs4 import Compounds
from nfsjudge import Harm, proves, stated
from suites.nfs4.common import CommonNfs4
from suites.nfs4.opens import another_client
from suites.symlinks import OF_ATTRIBUTES, OF_NAMES, expect_target_kept, expect_text_of_now

TEXTS_ARE_NOT_INTERPRETED = stated(
    "RFC 5661",
    "18.24.3",
    "the data of a symbolic link is simply stored: an operation on the link leaves its target alone",
    harm=Harm.OBJECT,
    also={"4.0": ("RFC 7530", "16.25.4")},
)
LINKS_ARE_OBJECTS = stated(
    "RFC 5661",
    "5.8.1.2",
    "an object of type NF4LNK is a symbolic link, whatever names it has: other objects replace it by RENAME only",
    harm=Harm.OBJECT,
)
TEXT_IS_CURRENT = stated(
    "RFC 5661",
    "18.24.3",
    "READLINK reads the data of the link that has the name now, not of one that had it before",
    harm=Harm.DATA,
    also={"4.0": ("RFC 7530", "16.25.4")},
)


@pytest.mark.parametrize("act", OF_NAMES)
@proves(
    TEXTS_ARE_NOT_INTERPRETED,
    LINKS_ARE_OBJECTS,
    killed_by=("names4-of-links-reach-targets", "names4-of-links-leave-a-copy"),
    needs="nfs4_symlink",
)
def test_target_kept(compounds: Compounds, scratch: Nfs4Scratch, act: str) -> None:
    """An operation on a symbolic link leaves the target of the link as it is."""
    expect_target_kept(CommonNfs4(compounds), scratch, act, TEXTS_ARE_NOT_INTERPRETED, LINKS_ARE_OBJECTS)


@proves(TEXTS_ARE_NOT_INTERPRETED, killed_by="rename4-moves-into-targets-of-links", needs="nfs4_symlink")
def test_directory_kept(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """RENAME over a symbolic link to a directory puts nothing into that directory."""
    common, kept = CommonNfs4(compounds), TEXTS_ARE_NOT_INTERPRETED
    expect_target_kept(common, scratch, "replace-directory", kept, LINKS_ARE_OBJECTS)


@pytest.mark.parametrize("act", OF_ATTRIBUTES)
@proves(TEXTS_ARE_NOT_INTERPRETED, killed_by="setattr4-follows-links", needs="nfs4_symlink")
def test_not_set(compounds: Compounds, scratch: Nfs4Scratch, act: str) -> None:
    """SETATTR of a symbolic link sets nothing of its target."""
    expect_target_kept(CommonNfs4(compounds), scratch, act, TEXTS_ARE_NOT_INTERPRETED, LINKS_ARE_OBJECTS)


@proves(TEXT_IS_CURRENT, killed_by="readlink4-remembers-texts-by-name", needs="nfs4_symlink")
def test_text_of_now(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """A symbolic link that was removed and made again, or replaced by another one, has its new text."""
    clients = CommonNfs4(compounds), CommonNfs4(another_client(v4))
    expect_text_of_now([*clients], scratch, TEXT_IS_CURRENT)
