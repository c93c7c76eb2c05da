# SPDX-License-Identifier: MIT
"""What stands between a URL and a server that answers: `nfsproof doctor URL`.

The rooms must be importable first (`starter.put_home_first`). A run whose target does not answer prints the
same, so the work itself is in `nfstargets.diagnosis`.
"""

from __future__ import annotations

from nfstargets.diagnosis import Diagnosis, Outcome, Step, Telling, diagnose

__all__ = ["Diagnosis", "Outcome", "Step", "Telling", "diagnose"]
