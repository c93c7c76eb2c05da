# SPDX-License-Identifier: MIT
"""What can go wrong with files that a client caches."""

from __future__ import annotations

from nfsclient.errors import NfsClientError


class StateLost(NfsClientError):
    """The server has given the file to other clients without this one (section 3.2): open it again.

    Data that waited to be written is lost if the message says so.
    """
