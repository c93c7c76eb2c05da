# SPDX-License-Identifier: MIT
"""Files of several pages, and calls that must not change their data (RFC 1094 section 2.2.7)."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs2 import Nfs2Scratch
from nfsclient.clients import Nfs2
from nfsjudge import Harm, Requirement, proves, should
from suites.clauses import DATA_IS_CURRENT, NAMES_ARE_CURRENT, NEW_BYTES_ARE_ZERO
from suites.kept_data import (
    ATTRIBUTES,
    CREATE_AGAIN,
    EMPTIED,
    EMPTY,
    NAMES,
    SIZES,
    Clauses,
    KeptFile,
    keeps,
)
from suites.nfs2.clauses import READ_MAKES_PROGRESS
from suites.nfs2.common import CommonNfs2
from suites.nfs2.test_create import CREATE_IGNORES_MINUS_ONE

TRUNCATES_ALL_ALIKE = should(
    # the text leaves open whether the attributes are for a file that exists already
    "RFC 1094",
    "2.3.6",
    "if CREATE with a size of 0 truncates files that exist, it should truncate those of any size",
    harm=Harm.SUCCESS,
)


def _file(
    nfs2: Nfs2, second_client: Nfs2, scratch: Nfs2Scratch, current: Requirement = DATA_IS_CURRENT
) -> KeptFile:
    clauses = Clauses(current, current, NEW_BYTES_ARE_ZERO, NAMES_ARE_CURRENT, READ_MAKES_PROGRESS)
    return KeptFile(CommonNfs2(nfs2), CommonNfs2(second_client), scratch, clauses)


@pytest.mark.parametrize("change", NAMES)
@proves(DATA_IS_CURRENT, killed_by="names2-keep-one-page")
def test_names(nfs2: Nfs2, second_client: Nfs2, scratch: Nfs2Scratch, change: str) -> None:
    """A file of several pages keeps all of its data when it gets, changes or loses a name."""
    keeps(_file(nfs2, second_client, scratch), NAMES[change])


@pytest.mark.parametrize("change", ATTRIBUTES)
@proves(DATA_IS_CURRENT, killed_by="setattr2-keeps-one-page")
def test_attributes(nfs2: Nfs2, second_client: Nfs2, scratch: Nfs2Scratch, change: str) -> None:
    """A file of several pages keeps all of its data when SETATTR changes none of it."""
    keeps(_file(nfs2, second_client, scratch), ATTRIBUTES[change])


@pytest.mark.parametrize("change", SIZES)
@proves(DATA_IS_CURRENT, NEW_BYTES_ARE_ZERO, killed_by="setattr2-size-keeps-one-page")
def test_sizes(nfs2: Nfs2, second_client: Nfs2, scratch: Nfs2Scratch, change: str) -> None:
    """SETATTR of the size of a file of several pages keeps what is below both sizes, and adds zeros."""
    keeps(_file(nfs2, second_client, scratch), SIZES[change])


@proves(CREATE_IGNORES_MINUS_ONE, killed_by="create2-keeps-one-page")
def test_created_again(nfs2: Nfs2, second_client: Nfs2, scratch: Nfs2Scratch) -> None:
    """CREATE without a size keeps all data of a file of several pages."""
    keeps(_file(nfs2, second_client, scratch, CREATE_IGNORES_MINUS_ONE), CREATE_AGAIN)


@pytest.mark.parametrize("change", EMPTY)
@proves(TRUNCATES_ALL_ALIKE, killed_by="create2-truncates-one-page")
def test_emptied(nfs2: Nfs2, second_client: Nfs2, scratch: Nfs2Scratch, change: str) -> None:
    """CREATE with a size of 0 truncates a file of several pages, if it truncates a small one."""
    keeps(_file(nfs2, second_client, scratch, TRUNCATES_ALL_ALIKE), EMPTY[change])


@pytest.mark.parametrize("change", EMPTIED)
@proves(NEW_BYTES_ARE_ZERO, killed_by="create2-size-zero-frees-nothing")
def test_emptied_then(nfs2: Nfs2, second_client: Nfs2, scratch: Nfs2Scratch, change: str) -> None:
    """What CREATE with a size of 0 has truncated does not come back when the file grows."""
    keeps(_file(nfs2, second_client, scratch), EMPTIED[change])
