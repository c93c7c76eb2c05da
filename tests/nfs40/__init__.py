# SPDX-License-Identifier: MIT
"""A client of NFSv4.0 (RFC 7530), for checks that ask for `Compounds`: it begins without a session."""
