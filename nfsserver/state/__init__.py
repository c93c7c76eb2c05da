# SPDX-License-Identifier: MIT
"""What a server remembers of its clients: opens, byte-range locks and delegations, under stateids.

Nothing here knows a wire type, a socket or a clock: files and clients are whatever the caller identifies them by, and
refusals are `StateError`s with the name of a status (``OLD_STATEID``). NFSv4 is the first user.
"""
