# SPDX-License-Identifier: MIT
"""`nfsproof new-check`: writes the frame of a check, of its clause and of its mutant, red until it is filled in."""

from __future__ import annotations

from nfsproof.newcheck.plan import CannotMake, Plan, Wish, make_plan
from nfsproof.newcheck.writing import Written, write_check

__all__ = ["CannotMake", "Plan", "Wish", "Written", "make_plan", "write_check"]
