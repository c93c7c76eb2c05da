# SPDX-License-Identifier: MIT
"""A plugin of pytest: checks of NFSv4 that hold for several minor versions speak 4.0, by `Client40`.

It is loaded before the checks, so that these find another `MINORS` than the suite has.
"""

from __future__ import annotations

import functools

import pytest

from fixtures.checks.dialects.nfs4 import BEGINNINGS
from suites.nfs4 import minors
from tests.nfs40.client import Client40

vars(minors)["MINORS"] = pytest.mark.parametrize("minor", [0], ids=["4.0"])
BEGINNINGS[0] = functools.partial(Client40.begin, names={})
