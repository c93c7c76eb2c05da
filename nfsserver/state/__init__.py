# SPDX-License-Identifier: MIT
"""What a server remembers of its clients: share reservations, byte-range locks, and the state of NFSv4.

Nothing here knows a wire type, a socket or a clock: files and clients are whatever the caller identifies them by.

    shares, ranges            by owner, which is anything: one table of each for all protocols
    opens, locks              NFSv4: open-owners and lock-owners with stateids, over these tables
    delegations, clients, sessions, stateids, held, manager       NFSv4

Refusals of NFSv4's part are `StateError`s with the name of a status (``OLD_STATEID``), those of the two tables are
exceptions that say what is in the way.
"""
