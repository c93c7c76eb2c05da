# SPDX-License-Identifier: MIT
"""Mutants: named deviations of the reference server, each of which breaks one rule.

Importing this package imports all of its modules, and so declares every mutant. `nfsmutants.form` has the form of a
declaration, `Mutants` switches mutants on and off in a server.
"""

from __future__ import annotations

import pkgutil
from importlib import import_module

from nfsmutants.form import Mutant, UnknownMutant, all_mutants, find_mutant
from nfsmutants.switching import Mutants

for _module in pkgutil.walk_packages(__path__, f"{__name__}."):
    import_module(_module.name)

__all__ = ["Mutant", "Mutants", "UnknownMutant", "all_mutants", "find_mutant"]
