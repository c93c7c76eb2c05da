# SPDX-License-Identifier: MIT
"""What the verdicts of a run come from: failures and findings grouped by cause, the rest by reason."""

from __future__ import annotations

from reports.causes.grouping import NewCauses, causes, causes_of
from reports.causes.model import Cause
from reports.causes.reasons import Reason, reasons
from reports.causes.severity import SEVERITIES, Severity
from reports.causes.shared import SharedCause, plain_causes, shared
from reports.causes.symptom import RED, signature

__all__ = [
    "RED",
    "SEVERITIES",
    "Cause",
    "NewCauses",
    "Reason",
    "Severity",
    "SharedCause",
    "causes",
    "causes_of",
    "plain_causes",
    "reasons",
    "shared",
    "signature",
]
