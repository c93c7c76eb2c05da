# SPDX-License-Identifier: MIT
"""NULL (RFC 1813 section 3.3.0): does nothing, and answers."""

from __future__ import annotations

from nfsclient.clients import Nfs3
from nfsjudge import Requirement, proves

NULL_ANSWERS = Requirement(
    rfc="RFC 1813", section="3.3.0", gist="NULL takes no arguments, returns no results, and is answered"
)


@proves(NULL_ANSWERS, killed_by="null3-returns-results")
def test_is_answered_without_results(nfs3: Nfs3) -> None:
    nfs3.null()
